"""Find the things that a text says are absent, so that it does not rely on them."""

from __future__ import annotations

import re
from typing import Final

from conflicts.core.statements import Statement
from memories.core.topic_words import stems

# What follows is not there ("excludes VAT"), what stands before is not ("VAT is not included").
_WITHOUT: Final = re.compile(
    r"\b(?:exclud(?:es?|ing)|omit(?:s|ting)?|lack(?:s|ing)?|leav(?:es?|ing)\sout|without|"
    r"(?:exclusive|net|free)\sof|(?:has|have|had|contains?|includes?)\sno|"
    r"(?:(?:do|does|did)\snot|(?:do|does|did)n['’]t)\s(?:include|contain|cover|have))\b",
    re.IGNORECASE,
)
_LEFT_OUT: Final = re.compile(
    r"\b(?:excluded|omitted|left\sout|not\s(?:included|contained|covered|part))\b", re.IGNORECASE
)


def absent_stems(statement: Statement) -> frozenset[str]:
    """Return the stems of the things that a text says are absent."""
    found: set[str] = set()
    for clause in statement.clauses:
        if match := _WITHOUT.search(clause.text):
            found.update(stems(clause.text[match.end() :]))
        if match := _LEFT_OUT.search(clause.text):
            found.update(stems(clause.text[: match.start()]))
    return frozenset(found)
