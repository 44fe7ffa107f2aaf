"""Commit the facts of a transcript and store the refusals, in the transaction that ends the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from engram.kernel import job_queue
from engram.kernel.actors import Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.credentials import HIDDEN, credential_in
from engram.kernel.history import record
from engram.kernel.models import Job, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer
from memories.core.extraction.echoes import SpokenWords
from memories.core.extraction.extract import Kept, Refused, refuse
from memories.core.extraction.language import seems_english
from memories.core.extraction.statements import read_statements
from memories.core.extraction.turns import Turn, read_turns, unsure_speakers
from memories.models import (
    ExtractedQuote,
    Extraction,
    ExtractionRefusal,
    Memory,
    Provenance,
    Session,
)
from memories.models.extraction import WITHOUT_TRANSCRIPT
from memories.services.commit import commit
from memories.services.commit.commit import Committed, Prepared
from memories.services.commit.draft import Draft
from memories.services.extraction.known import find_known
from memories.services.locks import share_lock

TAG: Final = "extracted"
REFUSALS_LISTED: Final = 50  # of a job, those that are worth most
BORDERLINE_OF_JOB: Final = 3  # a person is asked about
UNSHOWN: Final = frozenset(["credential", "not_to_be_stored"])  # reasons whose text is not stored
# Reasons of what nobody of the transcript wrote, and of what was taken out.
NOT_IN_OWN_WORDS: Final = frozenset(["procedural_fragment", "third_party_text", "credential"])
NOT_ENGLISH: Final = (
    "The text does not seem to be English: without a language model only English is read, and"
    " little of it is kept."
)
CONTEXT_CHARS: Final = 400  # before and after a refused statement


@dataclass(frozen=True, slots=True)
class ExtractionRun:
    """A job that is being done: what it reads, for whom, with what its speakers said."""

    workspace: Workspace
    job: Job
    extraction: Extraction
    actor: Actor
    turns: Sequence[Turn]
    spoken: SpokenWords
    unsure: frozenset[str]  # speakers who may be assistants
    said_at: datetime


@dataclass(frozen=True, slots=True)
class TranscriptReading:
    """What was read in a transcript, by rules or by a model, and why a model did not read it."""

    transcript: str
    kept: tuple[Kept, ...]
    refused: tuple[Refused, ...]
    read_by: str = "rules"
    model: str = ""
    note: str = ""
    answers: dict[int, tuple[Answer, ...]] = field(default_factory=dict)  # by `Kept.start`


class ErasedMeanwhileError(Exception):
    """A text of the transcript, or a memory that says it, was erased while it was read."""


def write_reading(
    workspace: Workspace,
    job: Job,
    extraction: Extraction,
    reading: TranscriptReading,
    *,
    actor: Actor,
    now: datetime,
) -> None:
    """Commit what is new, store refusals, and end the job; all or nothing.

    Raise `TakenOverError` when another worker has the job by now.
    """
    turns = read_turns(reading.transcript, extraction.agent)
    spoken = SpokenWords(turns, read_statements(reading.transcript, turns), reading.transcript)
    with in_workspace(workspace):
        at = said_at(extraction, job.created_at)
    run = ExtractionRun(
        workspace, job, extraction, actor, turns, spoken, unsure_speakers(turns), at
    )
    clean = [one for one in reading.kept if not _holds_credential(one)]
    refused = [refuse(one, "credential") for one in reading.kept if _holds_credential(one)]
    drafts = [_draft(run, one, reading.answers.get(one.start, ())) for one in clean]
    prepared = commit.prepare(drafts, workspace.embedding_model)
    with in_workspace(workspace):
        known = find_known(
            [draft.content for draft in drafts], prepared.windows, prepared.model,
            project=extraction.project, now=now,
        )  # fmt: skip
    refused += [refuse(clean[position], "already_known") for position in sorted(known)]
    new = [position for position in range(len(clean)) if position not in known]
    kept = tuple(clean[position] for position in new)
    left = replace(reading, kept=kept, refused=(*reading.refused, *refused))
    said = [(pk, clean[position]) for position, pk in known.items()]
    _write(run, left, _only(prepared, new), said, now=now)


def said_at(extraction: Extraction | None, sent_at: datetime) -> datetime:
    """Return when a transcript was ended: by its session, else when it was sent."""
    if extraction is None or not extraction.is_of_session:
        return sent_at
    session = Session.objects.filter(session_key=extraction.session_key)
    ended_at = session.values_list("ended_at", flat=True).first()
    return min(ended_at or sent_at, sent_at)


def _holds_credential(one: Kept) -> bool:
    return _is_hidden(one.fact.text) or credential_in(one.fact.text) is not None


def _is_hidden(text: str) -> bool:
    """Return whether a credential was removed from a text."""
    return HIDDEN.partition("{")[0] in text


def _only(prepared: Prepared, positions: Sequence[int]) -> Prepared:
    return Prepared(
        tuple(prepared.drafts[n] for n in positions),
        tuple(prepared.hashes[n] for n in positions),
        tuple(prepared.windows[n] for n in positions),
        prepared.model,
    )


def _draft(run: ExtractionRun, one: Kept, answers: Sequence[Answer]) -> Draft:
    extraction, asserted = run.extraction, provenance_of(run, one)
    session = extraction.session_key
    return Draft(
        content=one.fact.text,
        scope=extraction.scope,
        project=extraction.project,
        provenance=asserted if run.actor.may_claim(asserted) else Provenance.ASSISTANT_DERIVED,
        confidence=one.fact.confidence,
        tags=(TAG,),
        agent=extraction.agent,
        session_key=session,
        source=f"session {session}" if session else "transcript",
        observed_at=run.said_at,
        answers=tuple(answers),
    )


def provenance_of(run: ExtractionRun, one: Kept | Refused) -> Provenance:
    """Return who asserted a fact.

    What an assistant said first, or may have said, is never `user_stated`, even where a user's turn
    repeats it; what the user said first is, even where an assistant repeats it.
    """
    fact = one.fact
    is_users = (
        one.role == "user"
        and one.speaker not in run.unsure
        and fact is not None
        and not fact.has_others_words
        and not run.spoken.others_said_first(fact.quote)
    )
    return Provenance.USER_STATED if is_users else Provenance.ASSISTANT_DERIVED


@retry_on_collision
def _write(
    run: ExtractionRun,
    reading: TranscriptReading,
    prepared: Prepared,
    said: Sequence[tuple[UUID, Kept]],
    *,
    now: datetime,
) -> None:
    """Write all in one transaction; `said` are the facts that memories say already."""
    job, extraction = run.job, run.extraction
    with in_workspace(run.workspace):
        committed: list[Committed] = []
        if prepared.drafts:
            committed = commit.write(run.workspace, prepared, actor=run.actor, now=now, asks=False)
        ids = [one.memory.id for one in committed if one.memory is not None]
        known = {pk for pk, _ in said}
        share_lock([*ids, *known])
        if known and Memory.objects.filter(pk__in=known).count() < len(known):
            raise ErasedMeanwhileError
        said_by = [
            (done.memory.id, one)
            for one, done in zip(reading.kept, committed, strict=True)
            if done.memory is not None
        ]
        ExtractedQuote.objects.bulk_create(
            ExtractedQuote(
                memory_id=memory_id, job=job, session_key=extraction.session_key, text=text
            )
            for memory_id, one in [*said_by, *said]
            for text in (one.fact.quote, one.fact.asked)
            if text
        )
        rows = _refusals(run, reading, now)
        ExtractionRefusal.objects.bulk_create(rows)
        result = _result(reading, prepared, committed, rows)
        # Last of all but the job: who erases a text empties the transcript first, and either finds
        # these rows, or is found here.
        as_read = Extraction.objects.filter(pk=extraction.pk, transcript=reading.transcript)
        if not as_read.update(**WITHOUT_TRANSCRIPT):
            raise ErasedMeanwhileError
        record(
            "extraction.finished", of=("job", job.id), actor=run.actor, now=now,
            session_key=extraction.session_key,
            data={"kept": len(ids), "refused": len(reading.refused)},
        )  # fmt: skip
        job_queue.finish(job, result, note=reading.note, now=now)


def _refusals(
    run: ExtractionRun, reading: TranscriptReading, now: datetime
) -> list[ExtractionRefusal]:
    """Return the rows of the refusals that are worth most; of a few a person is asked."""
    safe = [one for one in reading.refused if not _is_hidden(one.text)]
    safe = [one for one in safe if one.reason not in UNSHOWN and credential_in(one.text) is None]
    transcript = _without_private(reading)
    ranked = sorted(safe, key=lambda one: (-one.worth, one.start))[:REFUSALS_LISTED]
    asked = {id(one) for one in [one for one in ranked if one.is_borderline][:BORDERLINE_OF_JOB]}
    rows, extraction = [], run.extraction
    for one in sorted(ranked, key=lambda one: one.start):
        before, after = _around(transcript, run.turns, one)
        rows.append(
            ExtractionRefusal(
                job=run.job, text=one.text, fact=one.fact.text if one.fact else one.text,
                before=before, after=after, reason=one.reason, worth=round(one.worth, 4),
                confidence=one.fact.confidence if one.fact else 0.5,
                provenance=provenance_of(run, one),
                speaker=one.speaker[:100], position=one.start,
                session_key=extraction.session_key, project=extraction.project,
                scope=extraction.scope, agent=extraction.agent,
                is_borderline=id(one) in asked, created_at=now,
            )
        )  # fmt: skip
    return rows


def _without_private(reading: TranscriptReading) -> str:
    """Return the transcript with blanks for what is not to be stored; positions stay."""
    shown = list(reading.transcript)
    for one in reading.refused:
        end = one.start + len(one.text)
        if one.reason == "not_to_be_stored" and reading.transcript.startswith(one.text, one.start):
            shown[one.start : end] = " " * len(one.text)
    return "".join(shown)


def _around(transcript: str, turns: Sequence[Turn], one: Refused) -> tuple[str, str]:
    """Return what was said before and after a statement: its turn and the two around it."""
    at = next((n for n, turn in enumerate(turns) if turn.start <= one.start < turn.end), 0)
    first = turns[max(at - 1, 0)].start if turns else 0
    first = transcript.rfind("\n", 0, first) + 1  # with its speaker
    last = turns[min(at + 1, len(turns) - 1)].end if turns else len(transcript)
    end = one.start + len(one.text)
    before = transcript[max(first, one.start - CONTEXT_CHARS) : one.start]
    return before.strip(), transcript[end : min(last, end + CONTEXT_CHARS)].strip()


def _note_of_language(reading: TranscriptReading) -> str:
    """Return a note where rules, which read English only, found another language, else ""."""
    written = [one.text for one in reading.refused if one.reason not in NOT_IN_OWN_WORDS]
    written += [one.fact.quote for one in reading.kept]
    return "" if reading.read_by != "rules" or seems_english(written) else NOT_ENGLISH


def _result(
    reading: TranscriptReading,
    prepared: Prepared,
    committed: Sequence[Committed],
    rows: Sequence[ExtractionRefusal],
) -> dict[str, Any]:
    kept = [
        {
            "memory": str(done.memory.id) if done.memory else None,
            "outcome": done.outcome,
            "fact": draft.content,
            "quote": one.fact.quote,
            "speaker": one.speaker,
            "provenance": str(draft.provenance),
            "confidence": one.fact.confidence,
        }
        for one, draft, done in zip(reading.kept, prepared.drafts, committed, strict=True)
    ]
    return {
        "kept": kept,
        "refused": [
            {"id": str(row.id), "text": row.text, "reason": row.reason,
             "borderline": row.is_borderline}
            for row in rows
        ],
        "reasons": dict(Counter(one.reason for one in reading.refused)),
        "read_by": reading.read_by,
        "model": reading.model,
        "note": " ".join(filter(None, [reading.note, _note_of_language(reading)])),
    }  # fmt: skip
