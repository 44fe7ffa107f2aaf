"""The sessions that `benchmarks/sessions_http.py` tells."""

from __future__ import annotations

import random

import pytest

from benchmarks.sessions_http import (
    HALF,
    WORLDS,
    read_statements,
    read_tasks,
    score,
    transcript_of,
)


@pytest.mark.parametrize("world", WORLDS)
def test_every_task_names_memories_and_has_a_wording_to_hold_out(world: str) -> None:
    uses = {one.name: one.use for one in read_statements(world)}
    tasks = read_tasks(world)
    assert len(uses) == len(read_statements(world)) > 50
    assert sum(not use for use in uses.values()) == 8
    assert [len(task.wordings) for task in tasks] == [5] * len(tasks)
    assert all(uses[name] for task in tasks for name in task.relevance)


@pytest.mark.parametrize("world", WORLDS)
def test_a_transcript_speaks_of_what_is_needed_and_not_of_the_rest(world: str) -> None:
    uses = {one.name: one.use for one in read_statements(world)}
    task = read_tasks(world)[0]
    said = transcript_of(task, task.wordings[0], uses, random.Random(1))
    needed = {name for name, own in task.relevance.items() if own == 1}
    others = uses.keys() - task.relevance.keys()
    assert all(uses[name] in said for name in needed)
    assert not any(uses[name] and uses[name] in said for name in others)
    assert not any(one.content in said for one in read_statements(world))


def test_an_order_is_scored_by_the_labels_that_were_kept_apart() -> None:
    row = {"predictor_rank": None, "cosine": 0.1, "effectiveness": 0.5}
    records = [
        row | {"memory_id": "a", "rank": 2, "baseline_rank": 1},
        row | {"memory_id": "b", "rank": 1, "baseline_rank": 2, "cosine": 0.9},
    ]
    found = score(records, {"a": HALF, "b": 1.0, "absent": 0.0})
    assert found["model"] is None
    assert found["served"] == found["cosine"] == pytest.approx(1.0)
    assert found["baseline"] is not None
    assert found["baseline"] < 1
