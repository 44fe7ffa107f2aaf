"""Tell what is still to be done from what is so: orders, and states that are not reached."""

from __future__ import annotations

import re
from typing import Final

from memories.core.clauses import fold_phrases, parse
from memories.core.spelling import normalise
from memories.core.tokeniser import tokenise
from memories.core.vocabulary import IRREGULAR_PAST, VERBS, lemma

_MAX_CHARS: Final = 300
# "not paid yet", "has not been paid", and of one thing "the deposit is not paid". "Invoices are not
# sent by email" is a rule.
_NOT: Final = r"(?: still)?(?: not|n't)"
_UNDONE: Final = re.compile(
    rf"\b(?:has|have|had){_NOT}(?: yet)? been\b"
    rf"|\b(?:is|are|was|were){_NOT} yet\b"
    rf"|\b(?:is|are|was|were|has|have|had) still not\b"
    rf"|\b(?:is|are|was|were|has|have|had){_NOT}\b[^.;\n]{{1,80}}\byet\b"
    rf"|^(?:the|our|my|this|that|his|her|their) [^.;,\n]{{1,60}}?\b(?:is|was|were){_NOT} \w+$",
    re.IGNORECASE,
)


def is_undone(text: str) -> bool:
    """Return whether a statement says that something has not been done so far."""
    return _UNDONE.search(text[:_MAX_CHARS].strip(" .!")) is not None


def is_order(text: str) -> bool:
    """Return whether a statement orders something: it begins with a verb in its plain form."""
    tokens = fold_phrases(tokenise(normalise(text[:_MAX_CHARS])))
    first = tokens[0].lower if len(tokens) > 1 else ""
    is_plain = not first.endswith(("ed", "ing")) and first not in IRREGULAR_PAST
    return is_plain and lemma(first) in VERBS and parse(tokens).is_imperative
