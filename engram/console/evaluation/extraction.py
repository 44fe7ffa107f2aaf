"""Evaluate what becomes of transcripts: `--extraction TRANSCRIPTS`.

A row is a transcript with the facts worth keeping (`keep`: `fact`, `quote`) and statements that are
not (`refuse`: `text`, `reason`); `memories` are committed before it. A quote hits another one when
it contains it, or has half of the words of the shorter.

With `--against` a second extractor reads the same transcripts. What each has stored of all of them
is recalled from one workspace by the text of every fact worth keeping: p@1 and p@3 say whether the
first result, or one of the first three, was made of a quote that hits the fact's; MRR is the mean
of one over its rank. The verdict is `ship` when none of the three is lower, else `pause`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
from pydantic import Field

from engram.console.evaluation.lines import InputError, InputRow, read_rows, refuse_repeated_ids
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.scratch import EVALUATOR, commit_rows, roll_back, scratch_workspace
from engram.kernel import job_queue, llm
from engram.kernel.models import Job, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.extraction.extract import extract, facts_in
from memories.core.extraction.overlap import overlaps
from memories.core.extraction.turns import read_turns
from memories.core.metrics import Interval, bootstrap, bootstrap_difference, bootstrap_ratio
from memories.models import Extraction
from memories.services.commit.draft import Draft
from memories.services.extraction import ask_model, run
from memories.services.extraction.queue import KIND, queue_transcript
from memories.services.extraction.write import TranscriptReading, write_reading
from memories.services.recall.query import Query
from memories.services.recall.recall import recall

NOW: Final = datetime(2025, 1, 1, tzinfo=UTC)
RECALLED: Final = 10


class KeepRow(InputRow):
    """A fact that is worth keeping."""

    fact: str = Field(min_length=1)
    quote: str = Field(min_length=1)


class RefuseRow(InputRow):
    """A statement that is not."""

    text: str = Field(min_length=1)
    reason: str = ""


class MemoryRow(InputRow):
    """A memory that the workspace has before the conversation."""

    text: str = Field(min_length=1)


class TranscriptRow(InputRow):
    """A transcript with its labels."""

    id: str
    transcript: str
    keep: list[KeepRow] = Field(default_factory=list)
    refuse: list[RefuseRow] = Field(default_factory=list)
    memories: list[MemoryRow] = Field(default_factory=list)


Extractor = Callable[[Workspace, Job, str], TranscriptReading]


def _read_by_rules(workspace: Workspace, job: Job, transcript: str) -> TranscriptReading:
    return run.read_by_rules(transcript)


def _read_by_model(workspace: Workspace, job: Job, transcript: str) -> TranscriptReading:
    return ask_model.read_by_model(workspace, job, transcript, clock=lambda: NOW)


def _with_worth(worth: float) -> Extractor:
    def read_all(workspace: Workspace, job: Job, transcript: str) -> TranscriptReading:
        found = extract(transcript, lambda _: worth)
        return TranscriptReading(transcript, found.kept, found.refused)

    return read_all


# By name: the rules in use, the configured model, and two that show what each part is worth.
EXTRACTORS: Final[Mapping[str, Extractor]] = {
    "rules": _read_by_rules,
    "model": _read_by_model,
    "floor": _with_worth(1.0),  # everything that no rule bars
    "requests": _with_worth(0.0),  # only what the user asks to remember
}


@dataclass(frozen=True, slots=True)
class Answered:
    """What an extractor made of a transcript."""

    row: TranscriptRow
    result: Mapping[str, Any]

    @property
    def quotes(self) -> list[str]:
        """Return the quotes that it kept."""
        return [one["quote"] for one in self.result["kept"]]

    def hits(self, quote: str) -> bool:
        """Return whether a quote was kept."""
        return any(overlaps(quote, kept) for kept in self.quotes)

    def as_prediction(self) -> dict[str, Any]:
        """Return the row of the predictions file."""
        kept = [{n: one[n] for n in ("fact", "quote", "confidence")} for one in self.result["kept"]]
        refused = [{n: one[n] for n in ("text", "reason")} for one in self.result["refused"]]
        return {"id": self.row.id, "kept": kept, "refused": refused}


def read(path: Path) -> list[TranscriptRow]:
    """Read the transcripts."""
    rows = read_rows(path, TranscriptRow)
    refuse_repeated_ids(path, [row.id for row in rows])
    return rows


def measure(
    path: Path,
    *,
    seed: int,
    advance: Callable[[int], object],
    extractor: str = "rules",
    against: str = "",
) -> ModeResult:
    """Extract from every transcript, and compare with a second extractor where one is named."""
    rows = read(path)
    for name in filter(None, (extractor, against)):
        _demand_extractor(name)
    answered = [_answer(row, extractor, advance) for row in rows]
    found = score(answered, seed=seed)
    details = {"extractor": extractor, "transcripts": len(rows), **found.details}
    figures = dict(found.figures)
    if against:
        others = [_answer(row, against, advance) for row in rows]
        figures |= compare(answered, others, seed=seed, details=details)
        details["against"] = against
    predictions = [one.as_prediction() for one in answered]
    return ModeResult("extraction", figures, predictions, details)


def _demand_extractor(name: str) -> None:
    if name not in EXTRACTORS:
        raise InputError(f"no extractor is called {name}; known: {', '.join(EXTRACTORS)}")
    if name == "model" and not llm.model_name():
        raise InputError("no language model is configured")


def _answer(row: TranscriptRow, name: str, advance: Callable[[int], object]) -> Answered:
    with scratch_workspace() as workspace:
        if row.memories:
            drafts = [Draft(content=one.text) for one in row.memories]
            commit_rows(workspace, drafts, now=NOW - timedelta(days=1))
        result = extract_into(workspace, row.transcript, name) if row.transcript.strip() else _NONE
    advance(1)
    return Answered(row, result)


_NONE: Final[Mapping[str, Any]] = {"kept": [], "refused": [], "reasons": {}}


def extract_into(workspace: Workspace, transcript: str, name: str) -> Mapping[str, Any]:
    """Queue a transcript and do the job, as a worker does; return its result."""
    queued = queue_transcript(workspace, transcript, actor=EVALUATOR, now=NOW)
    job = job_queue.acquire(workspace, KIND, NOW)
    assert job is not None  # noqa: S101  it was just queued, and nobody else sees it
    with in_workspace(workspace):
        extraction = Extraction.objects.get(pk=queued.pk)
    reading = EXTRACTORS[name](workspace, job, extraction.transcript)
    write_reading(workspace, job, extraction, reading, actor=EVALUATOR, now=NOW)
    with in_workspace(workspace):
        result: Mapping[str, Any] = Job.objects.values_list("result", flat=True).get(pk=job.pk)
    return result


def score(answered: Sequence[Answered], *, seed: int) -> ModeResult:
    """Return precision, recall and the shares of refusals and requests that were kept."""
    rng = np.random.default_rng(seed)

    def ratio(parts: Sequence[float], wholes: Sequence[float]) -> Interval:
        return bootstrap_ratio(parts, wholes, rng=rng)

    right = [
        sum(any(overlaps(quote, keep.quote) for keep in one.row.keep) for quote in one.quotes)
        for one in answered
    ]
    found = [sum(one.hits(keep.quote) for keep in one.row.keep) for one in answered]
    stored = [sum(one.hits(refusal.text) for refusal in one.row.refuse) for one in answered]
    requests = [_requests(one.row.transcript) for one in answered]
    granted = [
        sum(one.hits(text) for text in asked) for one, asked in zip(answered, requests, strict=True)
    ]
    figures = {
        "precision": Figure(ratio(right, [len(one.quotes) for one in answered])),
        "recall": Figure(ratio(found, [len(one.row.keep) for one in answered])),
        "refusals_stored": Figure(ratio(stored, [len(one.row.refuse) for one in answered]), True),
    }
    if any(requests):
        figures["requests_kept"] = Figure(ratio(granted, [len(asked) for asked in requests]))
    return ModeResult("extraction", figures, (), _details(answered))


def _requests(transcript: str) -> list[str]:
    """Return the quotes of what a user asks to remember; a request that names nothing has none."""
    found = facts_in(transcript, read_turns(transcript))
    return [one.fact.quote for one in found if one.described.is_request and one.fact is not None]


def _details(answered: Sequence[Answered]) -> dict[str, Any]:
    """Count what was kept, and refusals by the label's reason and by the reason that was given."""
    labels: Counter[str] = Counter()
    stored: Counter[str] = Counter()
    same: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for one in answered:
        given.update(one.result["reasons"])
        for refusal in one.row.refuse:
            labels[refusal.reason] += 1
            stored[refusal.reason] += one.hits(refusal.text)
            reasons = {
                refused["reason"]
                for refused in one.result["refused"]
                if overlaps(refused["text"], refusal.text)
            }
            same[refusal.reason] += refusal.reason in reasons
    return {
        "facts": sum(len(one.quotes) for one in answered),
        "facts to keep": sum(len(one.row.keep) for one in answered),
        "refusals by reason": {
            reason: {"labelled": n, "stored": stored[reason], "same reason": same[reason]}
            for reason, n in sorted(labels.items())
        },
        "reasons given": dict(sorted(given.items())),
    }


def compare(
    answered: Sequence[Answered],
    others: Sequence[Answered],
    *,
    seed: int,
    details: dict[str, Any],
) -> dict[str, Figure]:
    """Return both extractors' recall of the facts, their paired differences, and the verdict."""
    rng = np.random.default_rng(seed)
    ours, theirs = _ranks(answered), _ranks(others)
    figures: dict[str, Figure] = {}
    is_worse = False
    for name, value in _OF_RANK.items():
        after, before = ([value(rank) for rank in ranks] for ranks in (ours, theirs))
        figures[name] = Figure(bootstrap(after, rng=rng))
        difference = bootstrap_difference(after, before, rng=rng)
        details[f"{name} over the other"] = {
            "mean": difference.mean, "low": difference.low, "high": difference.high
        }  # fmt: skip
        is_worse = is_worse or difference.mean < 0
    details["verdict"] = "pause" if is_worse else "ship"
    return figures


_OF_RANK: Final[Mapping[str, Callable[[int], float]]] = {
    "p@1": lambda rank: float(rank == 1),
    "p@3": lambda rank: float(1 <= rank <= 3),
    "mrr": lambda rank: 1 / rank if rank else 0.0,
}


def _ranks(answered: Sequence[Answered]) -> list[int]:
    """Return at which rank each fact worth keeping is recalled, 0 when it is not."""
    ranks = []
    with scratch_workspace() as workspace, roll_back():
        made_of = _store(workspace, answered)
        for one in answered:
            for keep in one.row.keep:
                query = Query(text=keep.fact, k=RECALLED, min_score=None, is_recorded=False)
                results = recall(workspace, query, now=NOW + timedelta(days=1)).results
                hits = [
                    any(
                        row_id == one.row.id and overlaps(quote, keep.quote)
                        for row_id, quote in made_of.get(result.memory.id, ())
                    )
                    for result in results
                ]
                ranks.append(hits.index(True) + 1 if True in hits else 0)
    return ranks


def _store(workspace: Workspace, answered: Sequence[Answered]) -> dict[UUID, list[tuple[str, str]]]:
    """Commit all facts to one workspace; return the quotes that each memory is made of."""
    made_of: dict[UUID, list[tuple[str, str]]] = {}
    facts = [(one.row.id, kept) for one in answered for kept in one.result["kept"]]
    drafts = [
        Draft(content=kept["fact"], provenance=kept["provenance"], confidence=kept["confidence"])
        for _, kept in facts
    ]
    if not drafts:
        return made_of
    for (row_id, kept), done in zip(facts, commit_rows(workspace, drafts, now=NOW), strict=True):
        if done is not None and done.memory is not None:
            made_of.setdefault(done.memory.id, []).append((row_id, kept["quote"]))
    return made_of
