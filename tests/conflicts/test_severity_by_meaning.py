"""Severity by the meaning of the claims: what it was not fitted on, and what it leaves alone."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from django.utils import timezone

from conflicts.core.facts import Fact, Finding
from conflicts.core.severity import severity_of
from conflicts.core.severity_by_meaning import LEVELS, WEIGHTS_FILE, rate, rate_findings
from conflicts.core.weights import Weights
from conflicts.models import Conflict
from conflicts.services.detection.detect import detect_due
from engram.kernel.embedding import embed_first_windows
from engram.kernel.minilm import NAME
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant

PAIRS = Path(__file__).parents[2] / "benchmarks" / "severity" / "pairs.jsonl"
BOAT = ("The sailing boat of the club is called Petrel.", "The club's boat is called Tern.")
CRANE = (
    "The crane lifts up to 12 tonnes at full reach.",
    "At full reach the crane lifts 8 tonnes.",
)


def fact(text: str, *, kind: str = "semantic") -> Fact:
    return Fact(
        id=text, lineage=text, content=text, scope="", project="", agent="", session_key="",
        observed_at=datetime(2026, 1, 1, tzinfo=UTC), provenance="assistant_derived", kind=kind,
    )  # fmt: skip


def vectors_of(texts: tuple[str, ...]) -> np.ndarray:
    found = np.asarray(embed_first_windows(list(texts), NAME), dtype=np.float32)
    return found.reshape(len(texts), -1)


def finding(texts: tuple[str, ...]) -> Finding:
    return Finding(
        "ambiguity", texts, texts[-1:], "Is it so?", "r", "medium", 0.9, None, ("ambiguity.choice",)
    )


@pytest.mark.parametrize(
    ("part", "pairs", "least", "two_off"),
    [("held", 30, 22, 1), ("held 2", 20, 15, 0), ("held 3", 20, 14, 1)],
)
def test_pairs_that_were_held_back_are_rated_as_a_person_did(
    part: str, pairs: int, least: int, two_off: int
) -> None:
    weights = Weights.load(WEIGHTS_FILE)
    held = [row for row in map(json.loads, PAIRS.read_text().splitlines()) if row["part"] == part]
    off = {"words": [0] * 3, "meaning": [0] * 3}
    for row in held:
        texts = (row["one"], row["other"])
        facts = [fact(text) for text in texts]
        by = {"words": severity_of(facts), "meaning": rate(facts, list(vectors_of(texts)), weights)}
        for name, rated in by.items():
            assert rated is not None
            off[name][abs(LEVELS.index(rated) - LEVELS.index(row["severity"]))] += 1
    assert len(held) == pairs
    assert off["words"][0] < least
    assert off["meaning"][0] >= least
    assert off["meaning"][2] <= two_off


@pytest.mark.parametrize(
    "texts",
    [
        (
            "The lost property desk keeps umbrellas for 14 days.",
            "The lost property desk keeps umbrellas for 30 days.",
        ),
        ("The harbour radio listens on channel 12.", "The harbour radio listens on channel 14."),
        (
            "The car deck of the Tern is 3.9 metres high.",
            "The car deck of the Tern is 4.2 metres high.",
        ),
        ("The fuel barge visits Quay 4 on Tuesdays.", "The fuel barge visits Quay 4 on Thursdays."),
    ],
)
def test_what_is_neither_clearly_grave_nor_clearly_slight_is_medium(
    texts: tuple[str, str],
) -> None:
    rated = rate(
        [fact(text) for text in texts], list(vectors_of(texts)), Weights.load(WEIGHTS_FILE)
    )
    assert rated == "medium"


def test_findings_take_the_severity_of_their_own_facts() -> None:
    texts = (*BOAT, *CRANE)
    facts = [fact(text) for text in texts]
    found = [finding(BOAT), finding(CRANE)]
    rated = rate_findings(found, facts, vectors_of(texts), NAME)
    assert [one.severity for one in rated] == ["low", "high"]
    assert rate_findings([], facts, vectors_of(texts), NAME) == []


@pytest.mark.parametrize("case", ["another model", "no vector"])
def test_without_vectors_of_the_model_the_words_decide(case: str) -> None:
    vectors = vectors_of(CRANE)
    if case == "no vector":
        vectors[1] = 0
    model = "text-embedding-3-small" if case == "another model" else NAME
    found = [finding(CRANE)]
    assert rate_findings(found, [fact(text) for text in CRANE], vectors, model) == found


def test_a_constraint_stays_grave_whatever_it_is_about() -> None:
    facts = [fact(BOAT[0]), fact(BOAT[1], kind="constraint")]
    [rated] = rate_findings([finding(BOAT)], facts, vectors_of(BOAT), NAME)
    assert rated.severity == "high"


def test_opposite_vectors_have_no_middle() -> None:
    one = vectors_of(BOAT[:1])[0]
    assert rate([fact(text) for text in BOAT], [one, -one], Weights.load(WEIGHTS_FILE)) is None


def test_a_card_has_the_severity_of_the_meaning(tenant: Tenant) -> None:
    assert Workspace.objects.get(pk=tenant.workspace.pk).embedding_model == NAME
    said = {
        "The choir wears green scarves.": "The choir wears red scarves.",
        "The crane lifts up to 12 tonnes.": "The crane lifts up to 8 tonnes.",
    }
    for text in (*said, *said.values()):
        assert tenant.agent.post("memories", {"content": text}).status_code == 201
    detect_due(tenant.workspace, clock=timezone.now)
    with in_workspace(tenant.workspace):
        cards = dict(Conflict.objects.values_list("question", "severity"))
    assert sorted(cards.values()) == ["high", "low"], cards
    assert [cards[one] for one in cards if "crane" in one] == ["high"]
