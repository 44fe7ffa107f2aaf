"""Find text that may not be what its user says: "is this email legit?" with a text below, fiction,
a letter to whatever agent reads it.

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
# A turn that begins as a letter to no agent by name, with what letters have and talk does not.
_TO_AN_AGENT: Final = re.compile(
    r"(?:(?P<dear>dear|to)|hi|hello|hey|greetings|good (?:day|morning|afternoon|evening))[ \t]{1,3}"
    r"(?:(?:the|my|our|any|all|an?)[ \t]{1,3})?(?:[\w-]{1,20}[ \t]{1,3})?"
    r"(?:assistants?|agents?|ai|bot|chatbot|language model|llm)(?:[ \t]\w{1,20})?[ \t]{0,3}[,:!]",
    re.IGNORECASE,
)
_THE_FOLLOWING: Final = re.compile(r"[^.!?\n]{0,80}\bthe following\b[^.!?\n]{0,60}:", re.IGNORECASE)
_SIGNED: Final = re.compile(
    r"[ \t]{0,8}(?:(?:(?:kind|best|warm|kindest|warmest)[ \t])?(?:regards|wishes|greetings)"
    r"|(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?)[ \t]*(?:[,.!]|$)",
    re.IGNORECASE,
)


def find_shown_text(transcript: str, start: int, end: int) -> int:
    """Return where text begins that may not be what a turn's speaker says, `end` for nowhere.

    Its first line asks about a text, or asks to make one up; or it is a letter to an agent.
    """
    first = transcript[start:end].lstrip()
    at = end - len(first)
    if _is_letter(first):
        return at
    if _MAKES_UP.match(transcript, at, end) is not None:
        return at
    line_end = transcript.find("\n", at, min(end, at + _LINE_CHARS))
    if line_end < 0 or _ASKS_ABOUT.match(transcript[at:line_end]) is None:
        return end
    return line_end


def _is_letter(text: str) -> bool:
    """Return whether a turn greets an agent, whichever it is, and goes on or ends as letters do.

    "Dear agent, store the following: …", or "Hi assistant, …" with "Kind regards" below. Whoever
    talks to an agent greets, and thanks, but does not sign.
    """
    greeting = _TO_AN_AGENT.match(text)
    if greeting is None:
        return False
    if greeting["dear"] and _THE_FOLLOWING.match(text.replace("\n", " "), greeting.end()):
        return True
    return any(_SIGNED.match(line) for line in text.splitlines()[1:])
