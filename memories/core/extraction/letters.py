"""Find the letters that a turn shows: their writer is not the one who speaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# Begins a line; what one says to an assistant is no letter.
_DEAR: Final = re.compile(
    r"[ \t]{0,8}dear\s(?!(?:assistant|agent|ai|bot|claude|copilot|chatgpt|gpt|gemini)\b)"
    r"[^\n,:!?.]{1,60}[,:!]",
    re.IGNORECASE,
)
# Stands alone on a line behind an empty one.
_HELLO: Final = re.compile(r"[ \t]{0,8}(?:hi|hello|hey)\s[A-Z][^\n,:!?.]{0,40},\s*$", re.IGNORECASE)
_CLOSING: Final = re.compile(
    r"[ \t>]{0,8}(?:(?:kind|best|warm|many)[ \t]){0,2}(?:regards|wishes|greetings|sincerely|"
    r"yours[ \t](?:sincerely|faithfully|truly)|cheers|thanks|best(?=[ \t]*(?:,|$)))\b"
    r"[^\n.?]{0,60}$",
    re.IGNORECASE,
)


def find_letters(lines: Sequence[str], labels: Sequence[int]) -> list[bool]:
    """Return of each line whether it is of a letter within a turn; linear.

    A letter never begins where the turn does: who begins with "Dear …" speaks. It ends behind the
    name below its closing, or with the turn. `labels` are the lengths of the labels of speakers, 0
    without one.
    """
    found = [False] * len(lines)
    is_open = has_closed = has_text = False
    before = ""
    for n, line in enumerate(lines):
        said = line[labels[n] :].rstrip()
        if labels[n] or (has_closed and not said):
            is_open = has_closed = False
        if not labels[n] and has_text and not is_open:
            is_open = bool(_DEAR.match(said) or (not before.strip() and _HELLO.match(said)))
        has_closed = has_closed or (is_open and _CLOSING.match(said) is not None)
        has_text = bool(said) or (has_text and not labels[n])
        found[n] = is_open
        before = line
    return found
