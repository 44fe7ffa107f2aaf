"""Find the letters that a turn shows: their writer is not the one who speaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

# What one says to an assistant is no letter.
_OTHERS: Final = r"(?!(?:assistant|agent|ai|bot|claude|copilot|chatgpt|gpt|gemini|there|again)\b)"
# Begins a line.
_DEAR: Final = re.compile(rf"[ \t]{{0,8}}dear\s{_OTHERS}[^\n,:!?.]{{1,60}}[,:!]", re.IGNORECASE)
# Begins a line behind an empty one; a name has a capital where text follows it.
_HELLO: Final = re.compile(
    rf"[ \t]{{0,8}}(?:hi|hello|hey)\s{_OTHERS}"
    r"(?:[^\W\d_][^\n,:!?.]{0,40},\s*$|(?-i:[A-Z])[\w'-]{0,20}(?: (?-i:[A-Z])[\w'-]{0,20})?,\s)",
    re.IGNORECASE,
)
_CLOSING: Final = re.compile(
    r"[ \t>]{0,8}(?:(?:kind|best|warm|many)[ \t]){0,2}(?:regards|wishes|greetings|sincerely|"
    r"yours[ \t](?:sincerely|faithfully|truly)|cheers|thanks|best(?=[ \t]*(?:,|$)))\b"
    r"[^\n.?]{0,60}$",
    re.IGNORECASE,
)


def find_letters(lines: Sequence[str], labels: Sequence[int]) -> list[bool]:
    """Return of each line whether it is of a letter within a turn; linear.

    Where a turn begins with "Dear …", its speaker speaks, unless a label stands before it and it
    has a closing, too: then it is shown. A letter ends behind the name below its closing, or with
    the turn. `labels` are the lengths of the labels of speakers, 0 without one.
    """
    found = [False] * len(lines)
    closes = _closings_after(lines, labels)
    is_open = has_closed = has_text = False
    before = ""
    for n, line in enumerate(lines):
        said = line[labels[n] :].rstrip()
        if labels[n] or (has_closed and not said):
            is_open = has_closed = False
        if labels[n]:
            is_open = closes[n] and _DEAR.match(said) is not None
        elif has_text and not is_open:
            is_open = bool(_DEAR.match(said) or (not before.strip() and _HELLO.match(said)))
        has_closed = has_closed or (is_open and _CLOSING.match(said) is not None)
        has_text = bool(said) or (has_text and not labels[n])
        found[n] = is_open
        before = line
    return found


def _closings_after(lines: Sequence[str], labels: Sequence[int]) -> list[bool]:
    """Return of each line whether a closing stands below it in its turn."""
    after = [False] * len(lines)
    has = False
    for n in range(len(lines) - 1, -1, -1):
        after[n] = has
        has = not labels[n] and (has or _CLOSING.match(lines[n].rstrip()) is not None)
    return after
