"""Find text that a user may show when they ask about it: "is this email legit?", and a text below.

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


def find_shown_text(transcript: str, start: int, end: int) -> int:
    """Return where a text begins that a turn's first line asks about, `end` where none does."""
    first = transcript[start:end].lstrip()
    at = end - len(first)
    line_end = transcript.find("\n", at, min(end, at + _LINE_CHARS))
    if line_end < 0 or _ASKS_ABOUT.match(transcript[at:line_end]) is None:
        return end
    return line_end
