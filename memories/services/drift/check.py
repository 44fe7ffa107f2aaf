"""Compare memories with the notes that they link, in the background.

1. Read what is due, and the texts. 2. Embed and compare, outside a transaction. 3. Write the
verdicts of rows that nobody has marked again meanwhile. 4. Report drift of memories that were given
before it was known. A recall only reads the verdicts.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models.functions import Length

from engram.kernel import telemetry
from engram.kernel.collisions import retry_on_collision
from engram.kernel.embedding import EmbeddingUnavailableError
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer
from memories.core.drift.accepted import NoteWords, is_as_accepted, passage_of
from memories.core.drift.passages import FORM, MAX_STATEMENTS, Statement, statements_of
from memories.core.drift.support import Scored, Support, support_of
from memories.core.drift.verdict import Verdict, has_drifted
from memories.models import Memory, Note, NoteSupport, Resolution
from memories.services.drift.calibrations import calibration_of
from memories.services.drift.due import lock_supports, record_failure, select_due
from memories.services.drift.move import may_link
from memories.services.drift.reading import Estimator, score_anew, score_statements
from memories.services.drift.report import report_served
from memories.services.drift.resolve import resolve_drift
from memories.services.drift.severity import DriftFacts, rate_all
from memories.services.index.given_answers import answers_by_memory

log = logging.getLogger(__name__)
A_TURN = 50  # memories that are read at once, of one note or several
AT_ONCE = 5  # memories that a change of a note checks before it is answered
AT_ONCE_CHARS = 5_000  # of a note: some 0.5 s on a busy machine; a longer one waits for a worker
TURN_SECONDS = 5.0
FIRST_PAUSE = timedelta(minutes=1)  # after a failed check; each further one waits twice as long
_WRITTEN = (
    "support", "model", "note_version", "earlier", "earlier_version", "checked_version",
    "checked_hash", "checked_at", "is_drifted", "distance", "evidence", "verdict", "due_at",
    "attempts",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Due:
    """A support to check, with the texts as they were read."""

    row: NoteSupport
    memory: Memory
    note: Note
    tags: tuple[str, ...]
    answers: Sequence[Answer]


@dataclass(frozen=True, slots=True)
class _Checked:
    """What a check found: the support as read anew, None if it was not, and the verdict."""

    due: _Due
    support: Support | None
    support_version: int | None
    verdict: Verdict
    present: Sequence[Statement]  # of the note
    bearing: str | None  # digest of what is about the memory; None where it has not drifted
    is_cut: bool  # the note is longer than what is read of it
    severity: str = ""  # of drift


def check_due(workspace: Workspace, *, now: datetime, seconds: float = TURN_SECONDS) -> int:
    """Check due supports of a workspace for some seconds; return how many.

    Never raises, so that a sweep goes on to the next workspace: what fails here stays due. While
    texts cannot be embedded, the turn ends.
    """
    began, total = monotonic(), 0
    try:
        while monotonic() - began < seconds:
            checked = _check_some(workspace, None, A_TURN, now)
            total += checked
            if checked < A_TURN:
                break
    except EmbeddingUnavailableError as error:
        _record_outage(workspace, error, now)
    except Exception as error:
        log.exception("checking memories against their notes failed")
        record_failure(workspace, error, now)
    return total


def check_note(workspace: Workspace, note_id: UUID, *, now: datetime) -> None:
    """Check a few memories that link a note which was just written; others wait for a worker.

    Never raises: what fails here is due.
    """
    try:
        with in_workspace(workspace):
            short = Note.objects.annotate(chars=Length("content")).filter(chars__lte=AT_ONCE_CHARS)
            is_short = short.filter(pk=note_id).exists()
        if is_short:
            _check_some(workspace, note_id, AT_ONCE, now)
    except EmbeddingUnavailableError as error:
        _record_outage(workspace, error, now)
    except Exception as error:
        log.exception("checking the memories of a note failed")
        record_failure(workspace, error, now)


def _check_some(workspace: Workspace, note_id: UUID | None, most: int, now: datetime) -> int:
    """Check up to so many due supports; return how many were due.

    Raise `EmbeddingUnavailableError` when texts cannot be embedded; what is left stays due.
    """
    with in_workspace(workspace):
        rows = select_due().filter(due_at__lte=now)
        rows = rows if note_id is None else rows.filter(note=note_id)
        taken = list(rows.order_by("due_at", "pk")[:most])
        due = _read(taken, now)
    by_note: dict[UUID, list[_Due]] = defaultdict(list)
    for one in due:
        by_note[one.note.pk].append(one)
    for several in by_note.values():
        try:
            drifted = _write(workspace, _compare(workspace, several), now)
            report_served(workspace, drifted, now=now)
        except EmbeddingUnavailableError:
            raise
        except Exception as error:
            log.exception("comparing memories with a note failed")
            _count_failure(workspace, several, error, now)
    _settle_others(workspace, [row for row in taken if row.pk not in {d.row.pk for d in due}], now)
    return len(taken)


def _read(taken: Sequence[NoteSupport], now: datetime) -> list[_Due]:
    """Read the texts of due supports whose memory can be recalled and still links the note."""
    memories = Memory.objects.recallable(now).in_bulk([row.memory_id for row in taken])
    notes = Note.objects.in_bulk({row.note_id for row in taken})
    linking = _linking(taken)
    tags: Mapping[UUID, list[str]] = _tags_of(memories)
    answers = answers_by_memory(memories)
    return [
        _Due(
            row,
            memories[row.memory_id],
            notes[row.note_id],
            tuple(tags.get(row.memory_id, ())),
            answers[row.memory_id],
        )
        for row in taken
        if row.pk in linking and row.memory_id in memories
    ]


def _linking(rows: Sequence[NoteSupport]) -> set[int]:
    """Return which of these supports, by id, have a link to their note, or one that may mean it."""
    found = NoteSupport.objects.filter(may_link(), pk__in=[row.pk for row in rows])
    return set(found.order_by().values_list("pk", flat=True))


def _tags_of(memories: Mapping[UUID, Memory]) -> dict[UUID, list[str]]:
    found: dict[UUID, list[str]] = defaultdict(list)
    rows = Memory.objects.filter(pk__in=list(memories), tags__tag__isnull=False).order_by()
    for memory_id, tag in rows.values_list("pk", "tags__tag"):
        found[memory_id].append(tag)
    return found


def _compare(workspace: Workspace, due: Sequence[_Due]) -> list[_Checked]:
    """Compare memories with one note that they link; each text of it is embedded once.

    Supports that were stored of a note read in another form are compared with the note in that.
    """
    model = workspace.embedding_model
    known = _known_supports(due, model)
    by_form: dict[int, list[_Due]] = defaultdict(list)
    for one in due:
        is_stored = one.row.pk in known and one.row.note_version != one.note.version
        by_form[known[one.row.pk].form if is_stored else FORM].append(one)
    return _rate(
        [
            checked
            for form, several in by_form.items()
            for checked in _compare_in(form, workspace, several, known)
        ],
        model,
    )


def _rate(checked: Sequence[_Checked], model: str) -> list[_Checked]:
    """Return what checks found with the severity of each drift."""
    drifted = [one for one in checked if one.verdict.is_drifted]
    severities = iter(rate_all([_facts_of(one) for one in drifted], model))
    return [
        replace(one, severity=next(severities).value) if one.verdict.is_drifted else one
        for one in checked
    ]


def _facts_of(one: _Checked) -> DriftFacts:
    memory, after = one.due.memory, one.verdict.sentence
    text = None if after is None or one.verdict.is_removed else after.text
    return DriftFacts(memory.content, memory.kind, memory.is_pinned, memory.observed_at, text)


def _compare_in(
    form: int, workspace: Workspace, due: Sequence[_Due], known: Mapping[int, Support]
) -> list[_Checked]:
    """Compare memories with a note that is read in one form.

    Of a note that was not read to its end a statement may only seem to be gone: where it may stand
    in the rest, what was known before stays.
    """
    model, config = workspace.embedding_model, workspace.config
    contents = [one.memory.content for one in due]
    statements = statements_of(due[0].note.content, form=form)
    is_cut = len(statements) >= MAX_STATEMENTS
    present = score_statements(contents, statements, model)
    then = _scored_then(due, model)
    estimate, calibration, words = Estimator(model), calibration_of(model), NoteWords(statements)
    checked = []
    for one, scored in zip(due, present, strict=True):
        support, version = _support(one, scored, then, known)
        verdict = has_drifted(
            one.memory.content,
            support,
            scored,
            calibration=calibration,
            estimate=estimate,
            tags=one.tags,
            answers=one.answers,
            threshold=config.drift_threshold,
        )
        if is_cut and not _holds_of_part(verdict, due[0].note, form):
            verdict = replace(verdict, is_drifted=one.row.is_drifted)
        is_drifted = verdict.is_drifted
        bearing = words.bearing_on(one.memory.content, one.answers) if is_drifted else None
        checked.append(_Checked(one, support, version, verdict, statements, bearing, is_cut))
    return checked


def _holds_of_part(verdict: Verdict, note: Note, form: int) -> bool:
    """Return whether a verdict on the beginning of a note holds of the whole note.

    That is: nothing is missing, a statement excludes the memory for sure, or what it leaned on
    stands nowhere in the note.
    """
    if not verdict.is_drifted or verdict.is_certain:
        return True
    before = verdict.before
    everything = statements_of(note.content, form=form, most=None) if before else ()
    return before is not None and all(one.text != before.text for one in everything)


def _scored_then(due: Sequence[_Due], model: str) -> dict[int, list[Scored]]:
    """Return the statements of the note as it was for memories whose support is still to be read.

    By the row of the support; memories that saw the same text share the embedding of it.
    """
    by_text: dict[str, list[_Due]] = defaultdict(list)
    for one in due:
        if one.row.support is None and one.row.earlier is not None:
            by_text[one.row.earlier].append(one)
    found: dict[int, list[Scored]] = {}
    for text, several in by_text.items():
        contents = [one.memory.content for one in several]
        rows = score_statements(contents, statements_of(text), model)
        found |= {one.row.pk: row for one, row in zip(several, rows, strict=True)}
    return found


def _known_supports(due: Sequence[_Due], model: str) -> dict[int, Support]:
    """Return the stored supports by their rows; those of another model with the cosines of this."""
    stored = [(one, Support.from_record(one.row.support)) for one in due if one.row.support]
    found = {one.row.pk: support for one, support in stored}
    others = [(one, support) for one, support in stored if one.row.model != model]
    texts = [(one.memory.content, support) for one, support in others]
    for (one, _), support in zip(others, score_anew(texts, model), strict=True):
        found[one.row.pk] = support
    return found


def _support(
    due: _Due,
    present: Sequence[Scored],
    then: Mapping[int, Sequence[Scored]],
    known: Mapping[int, Support],
) -> tuple[Support, int | None]:
    """Return what a memory leans on, read from the note's text then where nobody has read it.

    It is read again from a note that has not changed since, for answers that came later, or where
    notes were read in another form.
    """
    row, content, answers = due.row, due.memory.content, due.answers
    stored = known.get(row.pk)
    is_unchanged = row.note_version == due.note.version
    if stored and not (is_unchanged and (answers or stored.form != FORM)):
        return stored, row.note_version
    if row.pk in then:
        return support_of(content, then[row.pk], answers), row.earlier_version
    return support_of(content, present, answers), due.note.version


@retry_on_collision
def _write(workspace: Workspace, checked: Sequence[_Checked], now: datetime) -> list[int]:
    """Write the verdicts on one note, but of rows that were marked again since they were read.

    Return the supports, of these, whose memory has drifted.

    Every writer locks supports first, by memory and note, and then errors.
    """
    by_row = {found.due.row.pk: found for found in checked}
    with in_workspace(workspace):
        rows = [row for row in _hold(by_row) if row.due_at == by_row[row.pk].due.row.due_at]
        for row in rows:
            _judge(row, by_row[row.pk], workspace.embedding_model, now)
        NoteSupport.objects.bulk_update(rows, _WRITTEN)
        agreeing = [row.memory_id for row in rows if not row.is_drifted]
        if agreeing:
            resolve_drift(agreeing, rows[0].note_id, Resolution.NOTE_AGREES, now=now)
    return [row.pk for row in rows if row.is_drifted]


def _hold(support_ids: Collection[int]) -> list[NoteSupport]:
    return lock_supports(NoteSupport.objects.filter(pk__in=support_ids))


def _judge(row: NoteSupport, found: _Checked, model: str, now: datetime) -> None:
    """Set the verdict on one support."""
    due, verdict = found.due, found.verdict
    row.support = found.support.as_record() if found.support else None
    row.model, row.note_version = model, found.support_version
    row.earlier, row.earlier_version = None, None
    row.checked_version, row.checked_hash = due.note.version, due.memory.content_hash
    row.checked_at, row.due_at, row.attempts = now, None, 0
    is_held = verdict.is_drifted and _is_held(row, found)
    is_answered = row.still_true_version == due.note.version
    row.is_drifted = verdict.is_drifted and not (is_held or is_answered)
    row.distance, row.evidence = verdict.distance, verdict.evidence
    if not is_held:  # else what the answer was given on stays
        more = {"is_cut": found.is_cut, "bearing": found.bearing, "severity": found.severity}
        row.verdict = record_of(verdict) | more


def _is_held(row: NoteSupport, found: _Checked) -> bool:
    """Return whether "still true", said of another version of the note, holds for this one."""
    if row.is_drifted or row.still_true_version in (None, found.due.note.version):
        return False
    return is_as_accepted(row.verdict, found.verdict, found.bearing, found.present)


def record_of(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as it is stored and shown."""
    return {
        "reasons": list(verdict.reasons),
        "passage": passage_of(verdict.sentence),
        "before": passage_of(verdict.before),
        "is_removed": verdict.is_removed,
        "is_supported": verdict.is_supported,
        "is_calibrated": verdict.is_calibrated,
    }


@retry_on_collision
def _settle_others(workspace: Workspace, rows: Sequence[NoteSupport], now: datetime) -> None:
    """Drop supports whose link is gone; those of hidden memories wait for nothing."""
    if not rows:
        return
    with in_workspace(workspace):
        held = _hold([row.pk for row in rows])
        kept = _linking(held)
        gone = [row for row in held if row.pk not in kept]
        NoteSupport.objects.filter(pk__in=kept, due_at__lte=now).update(due_at=None)
        NoteSupport.objects.filter(pk__in=[row.pk for row in gone]).delete()
        for row in gone:
            resolve_drift([row.memory_id], row.note_id, Resolution.LINK_GONE, now=now)


def _count_failure(
    workspace: Workspace, due: Sequence[_Due], error: Exception, now: datetime
) -> None:
    """Count a failed check; it is due again after a pause.

    A support is given up after MAX_ATTEMPTS until something changes.
    """
    with in_workspace(workspace):
        for one in sorted(due, key=lambda one: one.row.memory_id):  # all are of one note
            NoteSupport.objects.filter(pk=one.row.pk, due_at=one.row.due_at).update(
                attempts=one.row.attempts + 1, due_at=now + FIRST_PAUSE * 2**one.row.attempts
            )
    record_failure(workspace, error, now)


def _record_outage(workspace: Workspace, error: EmbeddingUnavailableError, now: datetime) -> None:
    telemetry.record_outage(
        "embedding", "embedding_unavailable", detail=str(error)[:200], now=now, workspace=workspace
    )
