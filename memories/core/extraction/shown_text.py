"""Find text that may not be what its user says: "is this email legit?" with a text below, fiction.

Nobody can tell such a text from what the user says themselves, so that a person decides.
"""

from __future__ import annotations

import re
from typing import Final

_LINE_CHARS: Final = 160
_SHOWN: Final = (
    r"(?:this|that|these|it|(?:the|my|our|his|her|their|an?|this|that|these) (?:\w{1,20} )?"
    r"(?:e-?mail|mail|message|letter|text|page|article|document|doc|file|csv|json|log|ticket|review"
    r"|readme|post|essay|poem|draft|story|speech|cv|resume|transcript|contract|note|comment|reply))"
)
# A whole line that asks about a text, or says that one came; the text stands below it.
_ASKS_ABOUT: Final = re.compile(
    r"[ \t]{0,8}(?:(?:hi|hello|hey|ok|okay|so|and|please|pls|well)[,!]? ){0,2}(?:"
    r"what (?:do you (?:think|make)|does|is|should i|would you|are)\b[^\n]{0,60}\b"
    rf"(?:{_SHOWN})\b[^\n]{{0,40}}"
    rf"|(?:is|are|does|do|was) {_SHOWN}\b[^\n]{{0,60}}\?"
    r"|how (?:should|do|would|can|could) (?:i|we) (?:react|reply|respond|answer)\b[^\n]{0,60}"
    r"|(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?:look at|check|review|proofread|rate|parse|read|summari[sz]e|translate|explain|analy[sz]e"
    r"|answer|reply to|respond to|correct|improve|rewrite"
    rf"|shorten|grade|edit) {_SHOWN}\b[^\n]{{0,40}}"
    r"|tl;?dr\b[^\n]{0,20}"
    rf"|(?:i|we) (?:found|got|received|saw|read) {_SHOWN}\b[^\n]{{0,80}}"
    r"|(?:my|our|the|this|a) (?:\w{1,20} ){1,2}(?:just )?"
    r"(?:texted|wrote|sent|e-?mailed|messaged|posted)(?: (?:me|us))?(?: (?:this|that))?"
    r"|here(?:['\u2019]s| is) what (?!(?:i|we|you)\b)[^\n]{1,60}"
    r"|see (?:attached|below|the attachment)"
    r")[ \t.!?:,]{0,4}$",
    re.IGNORECASE,
)
# What follows is made up, or the words of a text that is to be written.
_MAKES_UP: Final = re.compile(
    r"(?:(?:hi|hello|hey|ok|okay|so|and|please|now|let['\u2019]s)[,!]? ){0,3}"
    r"(?:(?:pretend|imagine|suppose|assume|role-?play|act as)\b"
    r"|(?:write|draft|compose|translate|rewrite|paraphrase|rephrase|for example)\b"
    r"(?! (?:this|that|it|the following)? ?down\b)[^.!?\n]{0,60}:"
    r"|(?:write|draft|compose) (?:me )?(?:an? )?(?:[\w-]{1,20} ){0,3}"
    r"(?:bio|biography|story|monologue|dialogue|persona|character|profile|letter|e-?mail|poem)\b"
    r"|use (?:this|these|the following|some) (?:[\w-]{1,20} ){0,2}data\b"
    r"|(?:in|for) (?:my|the|our) (?:novel|story|play|game|script|screenplay|campaign)\b)",
    re.IGNORECASE,
)


def find_shown_text(transcript: str, start: int, end: int) -> int:
    """Return where text begins that may not be what a turn's speaker says, `end` for nowhere.

    Its first line asks about a text, or asks to make one up.
    """
    first = transcript[start:end].lstrip()
    at = end - len(first)
    if _MAKES_UP.match(transcript, at, end) is not None:
        return at
    line_end = transcript.find("\n", at, min(end, at + _LINE_CHARS))
    if line_end < 0 or _ASKS_ABOUT.match(transcript[at:line_end]) is None:
        return end
    return line_end
