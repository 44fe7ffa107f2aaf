"""Evaluate what becomes of transcripts: `--extraction TRANSCRIPTS`.

A row is a transcript with the facts worth keeping (`keep`: `fact`, `quote`) and statements that are
not (`refuse`: `text`, `reason`); `memories` are committed before it, `requests` are quotes of what
a user asks to remember. A quote hits another one when it contains it, or has half of the words of
the shorter.

With `--against` a second extractor reads the same transcripts (`extraction_ab`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from engram.console.evaluation.extraction_ab import compare
from engram.console.evaluation.extractors import NOW, Extractor, extract_into
from engram.console.evaluation.levels import EXTRACTION, levels_met
from engram.console.evaluation.outcome import Figure, ModeResult
from engram.console.evaluation.transcripts import Answered, TranscriptRow, read
from engram.console.scratch import commit_rows, scratch_workspace
from memories.core.extraction.describing import Describing
from memories.core.extraction.extract import facts_in
from memories.core.extraction.overlap import overlaps
from memories.core.metrics import Interval, bootstrap_ratio
from memories.services.commit.draft import Draft


def measure(
    path: Path,
    *,
    seed: int,
    advance: Callable[[int], object],
    by: Extractor,
    against: Extractor | None = None,
) -> ModeResult:
    """Extract from every transcript, and compare with a second extractor where one is named."""
    rows = read(path)
    answered = [_answer(row, by, advance) for row in rows]
    found = score(answered, seed=seed)
    details = {"extractor": by.name, "transcripts": len(rows), **found.details}
    details |= {"levels": levels_met(found.figures, EXTRACTION), **_of_model(answered)}
    figures = dict(found.figures)
    if against is not None:
        others = [_answer(row, against, advance) for row in rows]
        figures |= compare(answered, others, seed=seed, details=details)
        details["against"] = against.name
        details |= {f"{name} of the other": value for name, value in _of_model(others).items()}
    predictions = [one.as_prediction() for one in answered]
    return ModeResult("extraction", figures, predictions, details)


def _of_model(answered: Sequence[Answered]) -> dict[str, Any]:
    """Return by which prompt a model read, and how many transcripts it left to rules."""
    prompt = answered[0].by.details
    if prompt is None:
        return {}
    return {"prompt": prompt, "read by rules instead": sum(one.lacks_model for one in answered)}


def _answer(row: TranscriptRow, by: Extractor, advance: Callable[[int], object]) -> Answered:
    with scratch_workspace() as workspace:
        if row.memories:
            drafts = [Draft(content=one.text) for one in row.memories]
            commit_rows(workspace, drafts, now=NOW - timedelta(days=1))
        result = extract_into(workspace, row.transcript, by) if row.transcript.strip() else _NONE
    advance(1)
    return Answered(row, result, by)


_NONE: Final[Mapping[str, Any]] = {"kept": [], "refused": [], "reasons": {}}


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
    figures = {
        "precision": Figure(ratio(right, [len(one.quotes) for one in answered])),
        "recall": Figure(ratio(found, [len(one.row.keep) for one in answered])),
        "refusals_stored": Figure(ratio(stored, [len(one.row.refuse) for one in answered]), True),
    }
    for name, pairs in _requests(answered).items():
        granted = [sum(one.hits(text) for text in texts) for one, texts in pairs]
        if pairs:
            figures[name] = Figure(ratio(granted, [len(texts) for _, texts in pairs]))
    return ModeResult("extraction", figures, (), _details(answered))


def _requests(
    answered: Sequence[Answered],
) -> Mapping[str, Sequence[tuple[Answered, Sequence[str]]]]:
    """Return the requests of transcripts by figure.

    Where they are not labelled those that the rules recognise: nobody knows how many they miss.
    """
    without = [(one, _recognised(one.row)) for one in answered if one.row.requests is None]
    return {
        "requests_kept": [(one, one.row.requests) for one in answered if one.row.requests],
        "recognised_requests_kept": [(one, texts) for one, texts in without if texts],
    }


def _recognised(row: TranscriptRow) -> list[str]:
    """Return the quotes of requests that the rules see; a request that names nothing has none."""
    found = facts_in(Describing(row.transcript))
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
