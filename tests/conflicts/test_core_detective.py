"""The deterministic detective over small stories; no vectors unless a test says so."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.detective import Fact, Finding, detect

START = datetime(2025, 1, 6, 9, 0, tzinfo=UTC)
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def story(*contents: str, scope: str = "svc:shop", days: int = 20, session: str = "") -> list[Fact]:
    """Facts `days` apart in one scope, each in a session of its own unless one is named."""
    return [
        Fact(
            id=f"f{number}",
            lineage=f"l{number}",
            content=content,
            scope=scope,
            project="",
            agent="agent",
            session_key=session or f"s{number}",
            observed_at=START + timedelta(days=days * number),
            provenance="assistant_derived",
        )
        for number, content in enumerate(contents)
    ]


def similar(facts: list[Fact], cosine: float = 0.7) -> np.ndarray:
    """Unit vectors of which any two have the given cosine."""
    vectors = np.zeros((len(facts), 384), dtype=np.float32)
    vectors[:, 0] = np.sqrt(cosine)
    vectors[np.arange(len(facts)), 1 + np.arange(len(facts))] = np.sqrt(1 - cosine)
    return vectors


def blind(facts: list[Fact]) -> np.ndarray:
    return np.zeros((len(facts), 384), dtype=np.float32)


def summary(findings: list[Finding]) -> list[tuple[str, tuple[str, ...]]]:
    return [(finding.kind, finding.fact_ids) for finding in findings]


def test_detect_of_nothing_finds_nothing() -> None:
    assert detect([], np.zeros((0, 384), dtype=np.float32), now=NOW) == []


def test_detect_refuses_vectors_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="1 facts but 2 vectors"):
        detect(story("One."), np.zeros((2, 384), dtype=np.float32), now=NOW)


def test_state_that_comes_back_unannounced_is_a_reversal() -> None:
    facts = story("EIP-3 has status Draft", "EIP-3 has status Review", "EIP-3 has status Draft")
    findings = detect(facts, blind(facts), now=NOW)
    assert summary(findings) == [("reversal", ("f0", "f1", "f2"))]
    assert findings[0].yes_keeps == ("f0", "f2")
    assert findings[0].question == "Is Draft the current status of EIP-3, which was Review before?"


@pytest.mark.parametrize(
    "contents",
    [
        ("EIP-3 has status Draft", "EIP-3 has status Review", "EIP-3 has status Final"),
        ("EIP-3 has status Draft", "EIP-4 has status Review", "EIP-3 has status Draft"),
        ("EIP-3 has status Draft", "EIP-3 has status Draft"),
        ("EIP-3 has status Draft", "EIP-3 has status Review", "EIP-3 has status Draft again"),
        (
            "The status of ticket 4 is open",
            "The phase of ticket 4 is two",
            "The status of ticket 4 is open",
        ),
    ],
)
def test_progress_other_things_and_announced_returns_are_no_reversal(
    contents: tuple[str, ...],
) -> None:
    facts = story(*contents)
    assert detect(facts, similar(facts), now=NOW) == []


def test_state_history_is_one_finding_that_names_the_newest_value() -> None:
    values = ["Draft", "Stagnant", "Draft", "Stagnant", "Moved"]
    facts = story(*(f"EIP-9 has status {value}" for value in values))
    findings = detect(facts, blind(facts), now=NOW)
    assert summary(findings) == [("reversal", ("f0", "f1", "f2", "f3", "f4"))]
    assert findings[0].yes_keeps == ("f4",)
    assert (
        findings[0].question == "Is Moved the current status of EIP-9, which was Stagnant before?"
    )


def test_old_claim_restated_after_an_announced_change_is_a_reversal() -> None:
    facts = story(
        "The storefront keeps carts in Memcached.",
        "Moved the storefront carts from Memcached to Valkey.",
        "Cart lookups of the storefront read Memcached.",
    )
    assert summary(detect(facts, similar(facts), now=NOW)) == [("reversal", ("f0", "f1", "f2"))]


def test_return_that_is_announced_is_no_reversal() -> None:
    facts = story(
        "The storefront keeps carts in Memcached.",
        "Moved the storefront carts from Memcached to Valkey.",
        "Valkey lost carts, so the storefront went back to Memcached on purpose.",
        "Cart lookups of the storefront read Memcached.",
    )
    assert detect(facts, similar(facts), now=NOW) == []


def test_claim_that_leans_on_something_gone_is_stale() -> None:
    facts = story(
        "Nightly reports are read from replica orion-2.",
        "Terraform destroyed orion-2 and its volume.",
    )
    findings = detect(facts, similar(facts, 0.4), now=NOW)
    assert summary(findings) == [("stale", ("f0", "f1"))]
    assert findings[0].yes_keeps == ("f0",)
    assert findings[0].suggestion == "no"


@pytest.mark.parametrize(
    "gone",
    [
        "What if somebody destroyed orion-2 and its volume?",
        "orion-2 is shut for two weeks while the disks are swapped.",
        "Terraform destroyed vega-7 and its volume.",
    ],
)
def test_hypothetical_temporary_and_other_ends_make_nothing_stale(gone: str) -> None:
    facts = story("Nightly reports are read from replica orion-2.", gone)
    assert detect(facts, similar(facts, 0.4), now=NOW) == []


def test_one_conversation_is_never_a_conflict() -> None:
    contents = (
        "Nightly reports are read from replica orion-2.",
        "Terraform destroyed orion-2 and its volume.",
    )
    quick = story(*contents, session="one", days=0)
    assert detect(quick, similar(quick, 0.4), now=NOW) == []
    nameless = [
        Fact(f.id, f.lineage, f.content, f.scope, "", "a", "", f.observed_at, f.provenance)
        for f in quick
    ]
    assert len(detect(nameless, similar(nameless, 0.4), now=NOW)) == 1


def test_explicit_supersession_is_never_a_conflict() -> None:
    old, new = story(
        "Nightly reports are read from replica orion-2.",
        "Terraform destroyed orion-2 and its volume.",
    )
    new = Fact(
        new.id, new.lineage, new.content, new.scope, "", "a", "x", new.observed_at,
        new.provenance, supersedes=old.id,
    )  # fmt: skip
    assert detect([old, new], similar([old, new], 0.4), now=NOW) == []


def test_facts_from_the_future_are_not_read() -> None:
    facts = story("EIP-3 has status Draft", "EIP-3 has status Review", "EIP-3 has status Draft")
    assert detect(facts, blind(facts), now=facts[1].observed_at) == []


def test_triggers_limit_the_findings_to_their_own() -> None:
    facts = story(
        "EIP-3 has status Draft",
        "EIP-3 has status Review",
        "EIP-3 has status Draft",
        "Coffee is in the cupboard.",
    )
    assert detect(facts, blind(facts), now=NOW, triggers={"f3"}) == []
    assert detect(facts, blind(facts), now=NOW, triggers={"unknown"}) == []
    assert summary(detect(facts, blind(facts), now=NOW, triggers={"f1"})) == [
        ("reversal", ("f0", "f1", "f2"))
    ]


_TEXTS = st.sampled_from(
    [
        "EIP-3 has status Draft",
        "EIP-3 has status Review",
        "Nightly reports are read from replica orion-2.",
        "Terraform destroyed orion-2 and its volume.",
        "The storefront keeps carts in Memcached.",
        "Moved the storefront carts from Memcached to Valkey.",
        "Cart lookups of the storefront read Memcached.",
        "The upload limit is 25 MB.",
        "The upload limit is 50 MB.",
        "",
        "\x00 ؟ 🙂",
    ]
)


@given(st.lists(_TEXTS, max_size=9), st.randoms(use_true_random=False))
def test_order_of_input_does_not_matter(texts: list[str], rng: random.Random) -> None:
    facts = story(*texts)
    vectors = similar(facts)
    order = list(range(len(facts)))
    rng.shuffle(order)
    shuffled = detect([facts[i] for i in order], vectors[order], now=NOW)
    assert shuffled == detect(facts, vectors, now=NOW)


@given(st.lists(_TEXTS, max_size=9))
def test_findings_are_well_formed(texts: list[str]) -> None:
    facts = story(*texts)
    vectors = similar(facts)
    vectors[1::2] = np.nan
    position = {fact.id: i for i, fact in enumerate(facts)}
    for finding in detect(facts, vectors, now=NOW):
        places = [position[i] for i in finding.fact_ids]
        assert places == sorted(set(places))
        assert len(places) >= 2
        assert finding.yes_keeps
        assert set(finding.yes_keeps) <= set(finding.fact_ids)
        assert 0.0 <= finding.confidence <= 1.0
        assert finding.question.endswith("?")
        assert len(finding.question) <= 300
        assert "\n" not in finding.question


@given(st.lists(st.text(max_size=200), max_size=6))
def test_any_text_can_be_read(texts: list[str]) -> None:
    facts = story(*texts)
    found = detect(facts, similar(facts), now=NOW)
    assert found == detect(facts, similar(facts), now=NOW)


@pytest.mark.parametrize(
    "piece", ["until a ", "took a ", "a-", "1-", "(", "if ", "proposal ", "ab1-"]
)
def test_long_odd_texts_are_read_in_linear_time(piece: str) -> None:
    # 8,000 characters took seconds where a pattern looked ahead without a bound.
    facts = story(piece * (8000 // len(piece)), "The lease on the hall ended in May.")
    started = time.process_time()
    detect(facts, similar(facts), now=NOW)
    assert time.process_time() - started < 2.0
