"""Find statements whose linked document no longer says what it said when they were written.

The earlier version of the document is the one in the commit that wrote the statement's line, so
that nothing is found without a Git repository.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from conflicts.core.questions import quote
from engram.console.audit.candidates import is_compared, is_record
from engram.console.audit.documents import Document, Statement, read_document
from engram.console.audit.findings import Finding, place_of
from engram.console.audit.gone import linked_document
from memories.core.drift.estimate import Estimate
from memories.core.drift.passages import Statement as Noted
from memories.core.drift.pointers import is_pointer
from memories.core.drift.support import support_of
from memories.core.drift.verdict import has_drifted
from memories.core.spelling import letters
from memories.core.topic_words import stems
from memories.services.drift.calibrations import calibration_of
from memories.services.drift.reading import score_statements

LEAST_EVIDENCE: Final = 0.7
MOST_CHECKED: Final = 60
# Statements of a document that share most words with the one that links it: what may support it,
# and what is embedded.
_SUPPORTING: Final = 5
_LEAST_COMMON: Final = 3
_EMBEDDED: Final = 25
_QUESTION_CHARS: Final = 160

Earlier = Callable[[Statement, Document], tuple[str, datetime] | None]


@dataclass(frozen=True, slots=True)
class Leaning:
    """A statement and the document that it links."""

    statement: Statement
    document: Document


def leanings_of(documents: Sequence[Document], known: Mapping[str, Document]) -> list[Leaning]:
    """Return the statements that claim something and link another document of the audit."""
    found = []
    for document in documents:
        if is_record(document.path):
            continue
        for statement in document.statements:
            linked = {
                to.path: to
                for link in statement.links
                if (to := linked_document(document, link, known)) is not None and to is not document
            }
            if linked and is_compared(statement) and not is_pointer(_marked(statement)):
                found += [Leaning(statement, to) for to in linked.values()]
    return found


def find_unsupported(
    leanings: Sequence[Leaning], earlier: Earlier, estimate: Estimate, model: str
) -> tuple[list[Finding], int]:
    """Return the statements that lost their support, and how many were left out of the check.

    `earlier` returns the text of a document when a statement was written, and that time.
    """
    findings: list[Finding] = []
    checked = left = 0
    for leaning in leanings:
        before = earlier(leaning.statement, leaning.document)
        if before is None:
            continue
        old = read_document(leaning.document.path, before[0])
        if _is_kept(leaning.statement, old, leaning.document):
            continue
        if checked == MOST_CHECKED:
            left += 1
            continue
        checked += 1
        if finding := _judge(leaning, old, before[1], estimate, model):
            findings.append(finding)
    return findings, left


def _is_kept(statement: Statement, old: Document, new: Document) -> bool:
    """Return whether all that may have supported a statement is still there, word for word."""
    there = {letters(s.text) for s in new.statements}
    words = set(stems(statement.text))
    return not any(
        letters(s.text) not in there and len(words.intersection(stems(s.text))) >= _LEAST_COMMON
        for s in _nearest(statement, old, _SUPPORTING)
    )


def _nearest(statement: Statement, document: Document, count: int) -> list[Statement]:
    """Return the statements of a document that share most words with another one."""
    words = set(stems(statement.text))
    ranked = sorted(document.statements, key=lambda s: -len(words.intersection(stems(s.text))))
    return ranked[:count]


def _judge(
    leaning: Leaning, old: Document, since: datetime, estimate: Estimate, model: str
) -> Finding | None:
    text = _marked(leaning.statement)
    versions = [
        [Noted(s.text, s.heading) for s in _nearest(leaning.statement, document, _EMBEDDED)]
        for document in (old, leaning.document)
    ]
    both = list(dict.fromkeys(noted for version in versions for noted in version))
    scored = {one.statement: one for one in score_statements([text], both, model)[0]}
    before, present = ([scored[noted] for noted in version] for version in versions)
    verdict = has_drifted(
        text, support_of(text, before), present, calibration=calibration_of(model),
        estimate=estimate, threshold=LEAST_EVIDENCE,
    )  # fmt: skip
    if not verdict.is_drifted:
        return None
    place = place_of(leaning.statement)
    there = next(
        (s for s in leaning.document.statements
         if verdict.sentence is not None and s.text == verdict.sentence.text), None,
    )  # fmt: skip
    return Finding(
        "unsupported",
        (place, place_of(there)) if there else (place,),
        f"Does {quote(leaning.statement.text, _QUESTION_CHARS)} still hold?",
        f"{leaning.document.path} was changed since this was written ({since:%Y-%m-%d}): "
        f"{'; '.join(verdict.reasons)}.",
    )


def _marked(statement: Statement) -> str:
    """Return a statement with its links as wiki links, as memories write them."""
    text = statement.text
    for link in statement.links:
        if link.wiki is None and link.label:
            text = text.replace(link.label, f"[[linked|{link.label}]]", 1)
    return text
