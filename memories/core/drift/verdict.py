"""Decide whether a note has moved away from a memory that links it.

Six signals, the surest first: claims of the memory and of the note exclude each other; both
answer one question differently; an edit narrowed what the memory leans on; the note says of that
part that it no longer holds; an edit put other words in the place of the memory's own; what the
memory leans on was replaced by something else. The last two are weighed by
`memories/core/drift/phrases.py` and `memories/core/drift/evidence.py`, which are calibrated for an
embedding model; for others only the first four count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memories.core.answer_values import compare_values
from memories.core.answers import Answer
from memories.core.claims import compare
from memories.core.drift.answered import (
    answered_otherwise,
    carries_an_answer,
    lost_answers,
    said_otherwise,
)
from memories.core.drift.calibration import Calibration
from memories.core.drift.edits import CARRIED, Edit, new_statements
from memories.core.drift.estimate import Estimate
from memories.core.drift.evidence import (
    Evidence,
    evidence_of,
    is_reworded,
    weighty_edits,
)
from memories.core.drift.headings import is_under_new_name
from memories.core.drift.narrowing import narrowing
from memories.core.drift.parts import values_of
from memories.core.drift.passages import Statement, plain_of, without_links
from memories.core.drift.phrases import replaced_phrase
from memories.core.drift.pointers import is_pointer
from memories.core.drift.substitution import substitution
from memories.core.drift.support import Scored, Support
from memories.core.drift.tasks import changed_task, is_still_to_do
from memories.core.drift.withdrawn import withdrawn_since
from memories.core.typed_answers import typed_answers

CERTAIN: Final = 0.95  # evidence of a contradiction that a rule found
REPLACED: Final = 0.8  # evidence of words of the memory in the place of which others stand
_NEAR: Final = 8  # statements whose claims are compared
_LEAST_SIMILARITY: Final = 0.3
_BEHIND_BEST: Final = 0.3
# Distance to the nearest statement from which a note without stored support is about something
# else. Of notes that agree with their memory none was beyond .72.
FAR: Final = 0.8
FROM_THE_START: Final = "the note says so since the memory links it"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a note still carries a memory.

    Attributes
    ----------
    is_drifted : bool
    distance : float
        1 - cosine of the nearest statement, 0..2.
    evidence : float
        0..1, how sure the finding is; compared with the threshold.
    reasons : tuple of str
        Short sentences for people.
    sentence : Statement or None
        Of the present note: what contradicts, or stands in the place of the support; None where
        that was removed.
    before : Statement or None
        The supporting statement that it replaced, where one was stored.
    is_supported : bool
        False where no support was stored: then claims and distance are all there is.
    is_calibrated : bool
        False for an embedding model without calibration: then only claims and answers count.
    is_certain : bool
        Whether a claim or an answer is excluded, which is no matter of weights.
    is_removed : bool
        Whether the supporting statement is gone, and nothing was written in its place.
    """

    is_drifted: bool
    distance: float
    evidence: float
    reasons: tuple[str, ...]
    sentence: Statement | None = None
    before: Statement | None = None
    is_supported: bool = True
    is_calibrated: bool = True
    is_certain: bool = False
    is_removed: bool = False


def has_drifted(
    memory: str,
    support: Support | None,
    present: Sequence[Scored],
    *,
    calibration: Calibration | None,
    estimate: Estimate | None = None,
    tags: Iterable[str] = (),
    answers: Sequence[Answer] = (),
    threshold: float | None = None,
) -> Verdict:
    """Decide whether a memory and the present version of a note it links have come apart.

    Parameters
    ----------
    memory : str
        Its text, with its links.
    support : Support or None
        What was stored when the memory linked the note; None for memories that came without.
    present : sequence of Scored
        All statements of the present note, in any order.
    calibration : Calibration or None
        Of the embedding model that made the cosines; None: not calibrated.
    estimate : callable, optional
        How likely two statements say the same; without it a rewording is judged by words alone.
    tags, answers
        Of the memory.
    threshold : float, optional
        Evidence, 0..1, from which a memory has drifted; default: that of the calibration.
    """
    near = sorted(present, key=lambda scored: -scored.cosine)
    distance = 1.0 - (near[0].cosine if near else 0.0)
    is_known = calibration is not None
    quiet = Verdict(False, distance, 0.0, (), near[0].statement if near else None, None,
                    support is not None, is_known)  # fmt: skip
    if is_pointer(memory, tags):
        return replace(quiet, reasons=("the memory only points at the note",))
    text = without_links(memory)
    edits = _edits(text, support, present) if support else ()
    least = threshold if threshold is not None else (calibration or Calibration()).threshold
    if certain := _certain(text, near, support, edits, answers):
        sentence, before, reasons = certain
        return replace(quiet, is_drifted=least <= CERTAIN, evidence=CERTAIN, reasons=reasons,
                       sentence=sentence, before=before, is_certain=True)  # fmt: skip
    if calibration is None:
        return replace(quiet, reasons=("not calibrated for this model: claims only",))
    if support is None or not edits:
        return quiet if support else _by_distance(quiet, least)
    evidence = evidence_of(text, support, edits, present, estimate=estimate, answers=answers)
    if not _was_carried(support, evidence, edits, answers):
        return quiet
    found = _by_support(quiet, evidence, edits, calibration, answers)
    if estimate and calibration.near_phrases > -1:
        found = _with_phrases(found, text, edits, estimate, near=calibration.near_phrases)
    return replace(found, is_drifted=found.evidence >= least)


def _was_carried(
    support: Support, found: Evidence, edits: Sequence[Edit], answers: Sequence[Answer]
) -> bool:
    """Return whether the note said what edits may have changed: else only claims count.

    What a note never carried it cannot stop carrying. Where it only gave an answer of the memory,
    and is not near to it, words of that answer must be gone.
    """
    if support.similarity >= CARRIED:
        return True
    is_answered = carries_an_answer(support, answers)
    return is_answered and bool(lost_answers(answers, found.lost_words, edits))


def _with_phrases(
    found: Verdict, text: str, edits: Sequence[Edit], estimate: Estimate, *, near: float
) -> Verdict:
    """Raise the evidence to `REPLACED` where an edit replaced words of the memory by others."""
    replaced = replaced_phrase(text, edits, estimate, near=near)
    if replaced is None:
        return found
    edit, reason = replaced
    return replace(
        found,
        evidence=max(found.evidence, REPLACED),
        reasons=(reason, *(found.reasons if found.evidence else ())),
        sentence=edit.replacement,
        before=edit.before.statement,
        is_removed=False,
    )


def _edits(text: str, support: Support, present: Sequence[Scored]) -> tuple[Edit, ...]:
    """Return the edits of supporting statements that may say something else."""
    return tuple(
        edit
        for edit in weighty_edits(text, support, present)
        if not _says_the_same(edit) and not is_under_new_name(edit, support, present)
    )


def _certain(
    text: str,
    near: Sequence[Scored],
    support: Support | None,
    edits: Sequence[Edit],
    answers: Sequence[Answer],
) -> tuple[Statement | None, Statement | None, tuple[str, ...]] | None:
    """Return what excludes or narrows a claim or an answer, what stood there before, and why."""
    if contradiction := _contradiction(text, near, support, answers):
        sentence, reasons = contradiction
        before = next((e.before.statement for e in edits if e.after is sentence), None)
        return sentence, before, reasons
    if support and (task := changed_task(text, support, near)):
        return task.after, task.before, (task.reason,)
    if other := answered_otherwise(answers, edits, near):
        return other.edit.after, other.edit.before.statement, (other.reason,)
    for edit in edits:
        if said := narrowing(text, edit, near) or substitution(text, edit, near):
            return edit.after, edit.before.statement, (said,)
    if support and (gone := withdrawn_since(text, support, near)):
        return gone, None, (f"the note says of this part: {gone.withdrawn}",)
    return None


def _by_distance(quiet: Verdict, least: float) -> Verdict:
    """Judge by the absolute distance, which is all there is without stored support."""
    unsupported = "no support was stored: only claims and the distance were compared"
    if quiet.distance <= FAR:
        return replace(quiet, reasons=(unsupported,))
    far = "no statement of the note is about this"
    return replace(quiet, is_drifted=least <= 0.5, evidence=0.5, reasons=(far, unsupported))


def _by_support(
    quiet: Verdict,
    found: Evidence,
    edits: Sequence[Edit],
    calibration: Calibration,
    answers: Sequence[Answer],
) -> Verdict:
    """Weigh the changed support; the verdict shows the edit that covered most of the memory."""
    foremost = max(edits, key=lambda edit: (len(edit.before.shared), edit.before.cosine))
    shown = replace(quiet, sentence=foremost.replacement, before=foremost.before.statement,
                    is_removed=foremost.replacement is None)  # fmt: skip
    if is_reworded(found):
        return replace(shown, reasons=("the supporting sentence was reworded",))
    reasons = _reasons(found, foremost, lost_answers(answers, found.lost_words, edits))
    return replace(shown, evidence=calibration.probability(found), reasons=reasons)


def _contradiction(
    text: str, near: Sequence[Scored], support: Support | None, answers: Sequence[Answer]
) -> tuple[Statement, tuple[str, ...]] | None:
    """Return the nearest statement that excludes a claim or an answer of the memory, and why.

    Of statements that stood there when the support was stored, only the nearest of all is read.
    """
    if not near:
        return None
    least = max(_LEAST_SIMILARITY, near[0].cosine - _BEHIND_BEST)
    told = (*answers, *typed_answers(text))
    fresh = new_statements(support, near) if support else near
    fresh = [scored for scored in fresh if not scored.statement.withdrawn]
    for scored in fresh[:_NEAR]:
        if scored.cosine < least:
            break
        if reason := _exclusion(text, scored.statement, told):
            return scored.statement, (reason,)
    nearest = near[0].statement
    if near[0] in fresh or near[0].cosine < least or _says_all_values(nearest, text):
        return None
    reason = _exclusion(text, nearest, told)
    return (nearest, (reason, FROM_THE_START)) if reason else None


def _exclusion(text: str, statement: Statement, told: Iterable[Answer]) -> str:
    """Return why a statement excludes a claim or an answer of a memory, "" where none is sure."""
    relations = set()
    for wording in dict.fromkeys((statement.text, statement.in_context)):
        found = compare(text, wording)
        if found.relation == "contradicts" and not is_still_to_do(text, statement, found):
            return f"the claims exclude each other: {found.reasons[0]}"
        relations.add(found.relation)
    if relations & {"same", "refines"}:
        return ""
    return _other_answer(told, typed_answers(statement.text))


def _says_all_values(statement: Statement, text: str) -> bool:
    """Return whether a statement has all values of a memory, and others: a row of a table."""
    values = values_of(text).keys()
    said = values_of(statement.in_context).keys()
    return bool(values) and values < said


def _other_answer(told: Iterable[Answer], noted: Sequence[Answer]) -> str:
    """Return a reason when the note answers a question of the memory differently, else ""."""
    for note in noted:
        for own in told:
            is_other = compare_values(own.answer, note.answer) == "other"
            if own.identity == note.identity and is_other:
                return said_otherwise(own, note.answer)
    return ""


def _says_the_same(edit: Edit) -> bool:
    before = edit.before.statement
    if edit.after is None or (before.heading, before.task) != (edit.after.heading, edit.after.task):
        return False
    return compare(edit.before.text, edit.after.text).relation == "same"


def _reasons(found: Evidence, edit: Edit, unanswered: Sequence[Answer]) -> tuple[str, ...]:
    reasons = [f"no longer answered: {plain_of(one.question)} {one.answer}" for one in unanswered]
    is_replaced = edit.replacement is not None
    reasons.append(f"the supporting sentence was {'changed' if is_replaced else 'removed'}")
    if found.lost_words:
        reasons.append("no longer said: " + ", ".join(found.lost_words.values()))
    if found.new_values and is_replaced:
        how = "instead" if found.lost_words else "in addition"
        reasons.append(f"said {how}: {', '.join(found.new_values)}")
    if found.is_opposed and is_replaced:
        reasons.append(found.is_opposed)
    if found.fall >= 0.1:
        reasons.append(f"similarity fell by {100 * found.fall:.0f} points of 100")
    return tuple(reasons)
