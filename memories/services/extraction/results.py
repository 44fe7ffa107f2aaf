"""Show results and refusals of extraction jobs without what was forgotten since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import UUID

from engram.kernel.models import Job
from memories.core.content import normalise_quote
from memories.core.extraction.extract import repeats
from memories.core.text import terms
from memories.models import ExtractedQuote, ExtractionRefusal, Memory

SUPPRESSED: Final = "suppressed"
TEXTS: Final = ("text", "fact", "before", "after")
_OF_RESULT: Final = frozenset({"fact", "quote", "text"})


class ForgottenWords:
    """Of some jobs, the words of their transcripts that forgotten memories say.

    Whatever of a job is shown, in a result, a list or a page, is compared with them.
    """

    def __init__(self, job_ids: Collection[UUID]) -> None:
        self._by_job: defaultdict[UUID, set[str]] = defaultdict(set)
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


def shown_texts(rows: Collection[ExtractionRefusal]) -> dict[UUID, dict[str, str]]:
    """Return the texts of refusals by id, "" where they may show words of a forgotten memory."""
    forgotten = ForgottenWords({row.job_id for row in rows})
    shown = {}
    for row in rows:
        hidden: tuple[str, ...] = ()
        if forgotten.are_in(row.job_id, row.text, row.fact):
            hidden = TEXTS
        elif forgotten.of(row.job_id):
            hidden = ("before", "after")
        shown[row.pk] = {name: "" if name in hidden else getattr(row, name) for name in TEXTS}
    return shown


def without_forgotten(job: Job) -> dict[str, Any]:
    """Return a job's result without the texts of memories that are forgotten or erased."""
    result = dict(job.result)
    kept, refused = result.get("kept", []), result.get("refused", [])
    if not kept and not refused:
        return result
    forgotten = ForgottenWords([job.pk])
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
