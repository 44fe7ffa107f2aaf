"""Compare two extractors, or one model by two prompts, on the same transcripts.

What each has stored of all of them is recalled from one workspace by the text of every fact worth
keeping: p@1 and p@3 say whether the first result, or one of the first three, was made of a quote
that hits the fact's; MRR is the mean of one over its rank. The verdict is `ship` when none of the
three is lower, else `pause`. A transcript that rules read because the model gave no usable answer
says nothing of its prompt, and is left out of both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import numpy as np

from engram.console.evaluation.extractors import NOW
from engram.console.evaluation.lines import InputError
from engram.console.evaluation.outcome import Figure
from engram.console.evaluation.transcripts import Answered
from engram.console.scratch import commit_rows, roll_back, scratch_workspace
from engram.kernel.models import Workspace
from memories.core.extraction.overlap import overlaps
from memories.core.metrics import bootstrap, bootstrap_difference
from memories.services.commit.draft import Draft
from memories.services.recall.query import Query
from memories.services.recall.recall import recall

RECALLED: Final = 10


def compare(
    answered: Sequence[Answered],
    others: Sequence[Answered],
    *,
    seed: int,
    details: dict[str, Any],
) -> dict[str, Figure]:
    """Return both extractors' recall of the facts, their paired differences, and the verdict."""
    rng = np.random.default_rng(seed)
    both = [
        pair
        for pair in zip(answered, others, strict=True)
        if not any(one.lacks_model for one in pair)
    ]
    if not both:
        raise InputError("the model gave no usable answer for any transcript")
    details["transcripts compared"] = len(both)
    ours, theirs = (_ranks(side) for side in zip(*both, strict=True))
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
