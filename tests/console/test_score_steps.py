"""The steps that a page shows of a score: each is what its words say, and they add up."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from engram.console.memories.steps import DIGITS, Step, steps_of
from memories.core.associations import joined
from memories.core.fusion import Candidate, fuse

ROUNDING = 0.0021  # of two rounded values, and of factors kept with four digits


def some_explain(rng: np.random.Generator, **fixed: Any) -> tuple[dict[str, Any], float]:
    """Return the factors of one of three turns of a session as recall explains them, rounded."""
    turns = [
        Candidate(
            id=number,
            cosine=float(rng.random()),
            text=float(rng.random()),
            previous=number - 1,
            next=number + 1,
            agent="ann" if number else "bob",
            provenance_weight=float(rng.uniform(0.5, 1)),
            confidence=float(rng.random()),
            freshness=float(rng.uniform(0.85, 1)),
            session="s",
            words=int(rng.integers(5, 60)),
            **{
                "late": float(rng.random()),
                "weight_factor": float(rng.uniform(0.5, 1)),
                "confidence_factor": float(rng.uniform(0.5, 1)),
                "question": float(rng.random()),
                **fixed,
            },
        )
        for number in range(3)
    ]
    found = fuse(turns, named_agents=["ann"])[-1]
    diversity, activation = float(rng.uniform(0.5, 1)), float(rng.uniform(0.2, 1))
    direct, best = found.fused, 0.9
    found.join(joined(direct, activation, best))
    explain = asdict(found) | {
        "text_rank": 2, "vector_rank": 1, "diversity": diversity, "repeats": "x",
        "graph_activation": activation, "direct": direct, "best_direct": best,
    }  # fmt: skip
    kept = {name: round(v, 4) if isinstance(v, float) else v for name, v in explain.items()}
    return kept, found.score * diversity


def changes_of(steps: list[Step]) -> list[float]:
    return [float(one.change.replace("−", "-")) for one in steps if not one.is_sum]


def change_of(steps: list[Step], name: str) -> float:
    [found] = [one for one in steps if one.name == name]
    return found.after - found.before


@pytest.mark.parametrize("seed", range(20))
def test_the_shown_changes_add_up_to_the_shown_score(seed: int) -> None:
    explain, score = some_explain(np.random.default_rng(seed))
    steps = steps_of(explain, score)
    assert f"{sum(changes_of(steps)):.{DIGITS}f}" == f"{score:.{DIGITS}f}"
    assert f"{steps[-1].after:.{DIGITS}f}" == f"{score:.{DIGITS}f}"
    place = next(number for number, one in enumerate(steps) if one.name == "Match")
    assert steps[place].after == pytest.approx(explain["fused"], abs=0.0006)
    assert sum(changes_of(steps[:place])) == pytest.approx(steps[place].after)
    for one, following in pairwise(steps):
        assert one.after == following.before
        assert not one.is_sum or one.before == one.after


@pytest.mark.parametrize("seed", range(20))
def test_each_change_is_what_its_words_say(seed: int) -> None:
    explain, score = some_explain(np.random.default_rng(seed))
    steps, at = steps_of(explain, score), {}
    for one in steps:
        at[one.name] = one.before
    of = explain
    said = {
        "Words": of["text"] * 0.35 * 0.6,
        "Meaning": of["vector"] * 0.35 * 0.4,
        "Closer look": of["late"] * 0.65,
        "A question that it answers": max(
            0, of["question"] ** 1.5 * 0.6 - at["A question that it answers"]
        ),
        "Neighbours": (1 - at["Neighbours"]) * of["context"],
        "Links": joined(at["Links"], of["graph_activation"], of["best_direct"]) - at["Links"],
        "Trust": at["Trust"] * (of["provenance_weight"] - 1),
        "Lowered by the janitor": at["Lowered by the janitor"] * (of["weight_factor"] - 1),
        "Confidence": at["Confidence"] * (of["confidence_term"] - 1),
        "Freshness": at["Freshness"] * (of["freshness"] - 1),
        "Diversity": at["Diversity"] * (of["diversity"] - 1),
    }
    if of["agent"] != 1:
        said["Agent"] = at["Agent"] * (of["agent"] - 1)
    if "Session" in at:
        said["Session"] = (of["session"] - at["Session"]) * of["session_weight"]
    assert {one.name for one in steps if not one.is_sum} == said.keys()
    for name, change in said.items():
        assert change_of(steps, name) == pytest.approx(change, abs=ROUNDING), name


def test_a_memory_without_a_closer_look_question_and_janitor_has_no_such_step() -> None:
    explain, score = some_explain(
        np.random.default_rng(0),
        late=None, question=None, weight_factor=1.0, confidence_factor=1.0,
    )  # fmt: skip
    names = {one.name for one in steps_of(explain, score)}
    assert not names & {"Closer look", "A question that it answers", "Lowered by the janitor"}
    assert {"Words", "Meaning", "Match", "Score"} <= names
