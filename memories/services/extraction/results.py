"""Show results and refusals of extraction jobs without what was forgotten since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from engram.kernel.models import Event, Job
from memories.core.content import content_hash, normalise_quote
from memories.core.extraction.overlap import repeats
from memories.core.extraction.statements import read_statements
from memories.core.extraction.turns import read_turns
from memories.core.text import terms
from memories.models import ExtractedQuote, ExtractionRefusal, Memory
from memories.services.index.statement_hashes import forgotten_wordings

SUPPRESSED: Final = "suppressed"
TEXTS: Final = ("text", "fact", "before", "after")
TAKEN_BACK: Final = "refusal"  # in the data of the event of a memory that is forgotten so
CHECKED_AT_ONCE: Final = 500
_OF_RESULT: Final = frozenset({"fact", "quote", "text"})


class ForgottenWords:
    """Of some jobs, the words of their transcripts that forgotten memories say.

    Whatever of a job is shown or searched, in a result, a list or a page, is compared with them.
    `said` are the statements of each job that a forgotten memory may say which no extraction wrote.
    """

    def __init__(self, job_ids: Collection[UUID], said: Iterable[tuple[UUID, str]]) -> None:
        self._by_job: defaultdict[UUID, set[str]] = defaultdict(set)
        hashed = [(job_id, text, content_hash(text)) for job_id, text in said if text]
        statements = _forgotten_statements({digest for _, _, digest in hashed})
        for job_id, text, digest in hashed:
            if digest in statements:
                self._add(job_id, text)
        quotes = ExtractedQuote.objects.filter(job__in=job_ids).exclude(memory__forgotten_at=None)
        for job_id, text in quotes.values_list("job_id", "text"):
            self._add(job_id, text)
        suppressed = Job.objects.filter(
            pk__in=job_ids, result__kept__contains=[{"outcome": SUPPRESSED}]
        )
        for job_id, kept in suppressed.values_list("pk", "result__kept"):
            for one in kept:
                if one.get("outcome") == SUPPRESSED:
                    self._add(job_id, one.get("quote", ""))
                    self._add(job_id, one.get("fact", ""))

    def _add(self, job_id: UUID | None, text: str) -> None:
        if job_id is not None and text.strip():
            self._by_job[job_id].add(normalise_quote(text))

    def of(self, job_id: UUID) -> bool:
        """Return whether a forgotten memory says something of the job's transcript."""
        return job_id in self._by_job

    def are_in(self, job_id: UUID, *texts: str) -> bool:
        """Return whether one of the texts says what a forgotten memory says."""
        if not self.of(job_id):
            return False
        return any(
            _is_said(normalise_quote(text), words)
            for text in texts
            for words in self._by_job[job_id]
        )


def _is_said(text: str, words: str) -> bool:
    return (
        words in text or text in words or repeats(frozenset(terms(text)), frozenset(terms(words)))
    )


def _forgotten_statements(hashes: Collection[str]) -> frozenset[str]:
    """Return the hashes that are of a forgotten memory, also of one that no extraction wrote.

    Not of one that was forgotten only because a person took back to keep the statement, which
    waits again.
    """
    found = frozenset(forgotten_wordings(hashes))
    if not found:
        return found
    of_them = Memory.objects.exclude(forgotten_at=None).filter(content_hash__in=found)
    ids = [str(pk) for pk in of_them.order_by().values_list("pk", flat=True)]
    events = Event.objects.filter(type="memory.forgotten", object_id__in=ids).order_by()
    by_memory: defaultdict[str, set[bool]] = defaultdict(set)
    for memory_id, data in events.values_list("object_id", "data"):
        by_memory[memory_id].add(TAKEN_BACK in data)
    apart = [UUID(memory_id) for memory_id, how in by_memory.items() if how == {True}]
    return frozenset(forgotten_wordings(found, apart_from=apart)) if apart else found


def _words_in(rows: Collection[ExtractionRefusal]) -> ForgottenWords:
    """Return what is forgotten of the jobs of some refusals, also what another of them says."""
    job_ids = {row.job_id for row in rows}
    of_jobs = ExtractionRefusal.objects.filter(job__in=job_ids).order_by()
    stored = of_jobs.values_list("job_id", "text", "fact")
    return ForgottenWords(job_ids, [(job_id, said) for job_id, *texts in stored for said in texts])


def _around(row: ExtractionRefusal) -> list[str]:
    """Return the hashes of the sentences that are shown around a statement."""
    return [
        content_hash(one.text)
        for text in (row.before, row.after)
        for one in read_statements(text, read_turns(text))
    ]


def shown_texts(rows: Collection[ExtractionRefusal]) -> dict[UUID, dict[str, str]]:
    """Return the texts of refusals by id, "" where they may show words of a forgotten memory."""
    forgotten = _words_in(rows)
    around = {row.pk: _around(row) for row in rows}
    stating = _forgotten_statements({digest for found in around.values() for digest in found})
    shown = {}
    for row in rows:
        hidden: tuple[str, ...] = ()
        if forgotten.are_in(row.job_id, row.text, row.fact):
            hidden = TEXTS
        elif forgotten.of(row.job_id) or not stating.isdisjoint(around[row.pk]):
            hidden = ("before", "after")
        shown[row.pk] = {name: "" if name in hidden else getattr(row, name) for name in TEXTS}
    return shown


def with_hidden_text(found: QuerySet[ExtractionRefusal]) -> list[UUID]:
    """Return the ids of those refusals whose texts are not shown: no search may find them."""
    rows = found.only("pk", "job_id", "text", "fact").order_by().iterator(CHECKED_AT_ONCE)
    hidden: list[UUID] = []
    while some := list(islice(rows, CHECKED_AT_ONCE)):
        words = _words_in(some)
        hidden += [row.pk for row in some if words.are_in(row.job_id, row.text, row.fact)]
    return hidden


def without_forgotten(job: Job) -> dict[str, Any]:
    """Return a job's result without the texts of memories that are forgotten or erased."""
    result = dict(job.result)
    kept, refused = result.get("kept", []), result.get("refused", [])
    if not kept and not refused:
        return result
    texts = [one[name] for one in [*kept, *refused] for name in _OF_RESULT & one.keys()]
    forgotten = ForgottenWords([job.pk], [(job.pk, text) for text in texts])
    named = {one["memory"] for one in kept if one.get("memory")}
    live = Memory.objects.filter(pk__in=named, forgotten_at=None).values_list("pk", flat=True)
    ids = {str(pk) for pk in live} | {None}

    def is_shown(one: Mapping[str, Any]) -> bool:
        if one.get("memory") not in ids or one.get("outcome") == SUPPRESSED:
            return False
        return not forgotten.are_in(job.pk, *(one[name] for name in _OF_RESULT & one.keys()))

    return result | {
        name: [one if is_shown(one) else _without_texts(one) for one in entries]
        for name, entries in (("kept", kept), ("refused", refused))
    }


def _without_texts(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in _OF_RESULT}
