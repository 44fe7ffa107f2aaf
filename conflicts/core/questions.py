"""Word questions that a person can answer with yes or no without reading the facts.

Yes always means that the claim named first still holds.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from memories.core.quoting import legible

MAX_CHARS: Final = 300
ANSWER_CHARS: Final = 100  # of a question or an answer of a writer that a reasoning quotes
# Of some members of a finding: its reasoning may quote the others.
OF_SOME: Final = "These memories disagree and no later memory settles which one holds."
_RAW_ID = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE
)


def quote(text: str, limit: int) -> str:
    """Return ``text`` as one quoted line of at most ``limit`` characters (``limit`` > 10).

    Without control characters, and without those that would reorder the words around the quote.
    """
    line = legible(_RAW_ID.sub("…", text))
    line = " ".join(line.replace("“", "'").replace("”", "'").replace('"', "'").split())
    line = line.rstrip(" .!;,:?") or "…"
    room = limit - 2
    if len(line) > room:
        cut = line[: room - 1]
        head = cut.rsplit(" ", 1)[0] if " " in cut[room // 2 :] else cut
        line = head.rstrip(" .!;,:?") + "…"
    return f"“{line}”"


def quote_apart(one: str, other: str, limit: int) -> tuple[str, str]:
    """Return two texts as quoted lines that show where they differ (``limit`` > 20).

    Where one is too long and both begin with the same words, each begins with the last of them:
    "… may board by the bow ramp", "… must not board by the bow ramp".
    """
    quoted = quote(one, limit), quote(other, limit)
    if not any(text.endswith("…”") for text in quoted):
        return quoted
    a, b = one.split(), other.split()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
    if same < 2:
        return quoted
    first, second = (quote("… " + " ".join(words[same - 1 :]), limit) for words in (a, b))
    return first, second


def _fit(pattern: str, named: str, other: str) -> str:
    room = MAX_CHARS - len(pattern.format(named="", other=""))
    first = quote(named, max(room // 2, room - len(quote(other, room))))
    return pattern.format(named=first, other=quote(other, room - len(first)))


def ask_ambiguity(named: str, other: str) -> str:
    """Return the question about two contradicting claims; yes keeps ``named``."""
    return _fit("Does {named} hold, rather than {other}?", named, other)


def ask_reversal(named: str, change: str) -> str:
    """Return the question about an old value that is stated again; yes keeps ``named``."""
    return _fit("Does {named} hold, although {other} was announced before?", named, change)


def ask_stale(named: str, ended: str) -> str:
    """Return the question about a claim that relies on something gone; yes keeps ``named``."""
    return _fit("Does {named} still hold, given that {other}?", named, ended)


def ask_state(subject: str, attribute: str, value: str, between: str) -> str:
    """Return the question about a state that returned to an earlier value; yes keeps ``value``."""
    thing, now, then = quote(subject, 90), quote(value, 70), quote(between, 70)
    thing, now, then = thing[1:-1], now[1:-1], then[1:-1]
    return f"Is {now} the current {attribute} of {thing}, which was {then} before?"
