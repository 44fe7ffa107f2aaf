"""The severity of drift: what was turned round, pinned or a constraint; not how sure it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conflicts.core.drift_severity import rate_change
from conflicts.core.facts import Fact
from conflicts.core.severity import severity_of
from conflicts.services import drift_severity
from conflicts.services.drift_severity import rate_drift
from engram.kernel.embedding import EmbeddingUnavailableError
from memories.services.drift.severity import DriftFacts

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
BLOCKED = "The rollout of the departure displays is blocked until the vendor delivers its software."
GOES_ON = "The rollout is no longer blocked: seven of eleven quays show live departures."
KEPT = "Lost property is kept at the service desk for six weeks."
LONGER = "Things found on board are kept at the service desk for three months."


def fact(text: str, kind: str = "semantic") -> Fact:
    return Fact(
        id="1", lineage="1", content=text, scope="", project="", agent="", session_key="",
        observed_at=NOON, provenance="", kind=kind,
    )  # fmt: skip


def rated(
    memory: str, after: str | None, *, kind: str = "semantic", is_pinned: bool = False
) -> str:
    stated = fact(memory, kind)
    about = severity_of([stated, *([fact(after)] if after else [])])
    return rate_change(stated, after, about, is_pinned=is_pinned)


@pytest.mark.parametrize(
    ("memory", "after", "severity"),
    [
        (BLOCKED, GOES_ON, "high"),
        ("The billing page is enabled for partners.", "It is disabled for partners.", "high"),
        ("The migration is done.", "The migration is not done yet.", "high"),
        (KEPT, LONGER, "medium"),
        ("The desk opens at 8:00.", "The desk opens at 10:00.", "medium"),
        ("The kiln is opened below 200 degrees.", "The kiln is opened below 150 degrees.", "high"),
        ("The team's favourite colour is blue.", "Its favourite colour is green.", "low"),
        # Nothing stands against it: the note is silent, or says more than before.
        ("Marek signs the release notes.", None, "low"),
        ("Two sit at the desk, three on market days.", "Two, three on market days, four in May.",
         "low"),
    ],
)  # fmt: skip
def test_what_changed_is_weighed(memory: str, after: str | None, severity: str) -> None:
    assert rated(memory, after) == severity


def test_a_constraint_is_high_and_what_is_pinned_one_level_more() -> None:
    assert rated(KEPT, LONGER, kind="constraint") == "high"
    assert rated(KEPT, LONGER, is_pinned=True) == "high"
    assert rated("Marek signs the notes.", None, is_pinned=True) == "medium"


def test_several_are_rated_in_order_and_by_words_where_no_text_can_be_embedded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [
        DriftFacts(BLOCKED + " ([[projects/quays]])", "semantic", False, NOON, GOES_ON),
        DriftFacts("The favourite mug of the team is blue.", "semantic", False, NOON, None),
    ]
    assert rate_drift(found, "another-model") == ["high", "low"]

    def fail(texts: list[str], model: str) -> None:
        raise EmbeddingUnavailableError("down")

    monkeypatch.setattr(drift_severity, "embed", fail)
    assert rate_drift(found, "another-model") == ["high", "low"]
    assert rate_drift([], "another-model") == []
