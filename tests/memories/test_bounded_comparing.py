"""What one call compares is bounded in characters; the rest is compared in the background."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.core import claims, comparing, reading
from memories.core.comparing import COMPARED_LATER, Comparer
from memories.core.likelihood import MAX_ESTIMATED
from memories.models import Memory, MergeSuggestion
from memories.services.commit import nearby
from memories.services.commit.commit import commit_all
from memories.services.commit.draft import Draft
from memories.tasks import sweep_second_looks
from tests.conftest import Tenant, build_tenant
from tests.memories.test_nearby import NEW, OLD

NAMES = ("north", "south", "west", "east", "harbour", "hill", "river", "market")


def long_text(number: int, sentences: int = 40) -> str:
    """Return prose whose neighbours are near, of more than 1,000 characters."""
    return " ".join(
        f"The {NAMES[(number + n) % len(NAMES)]} depot number {n} keeps {number + 3 * n} crates."
        for n in range(sentences)
    )


@pytest.fixture
def stored(tenant: Tenant) -> Tenant:
    """Return a workspace with eight long memories."""
    drafts = [Draft(content=long_text(number)) for number in range(8)]
    commit_all(
        tenant.workspace,
        drafts,
        actor=SYSTEM,
        now=timezone.now(),
        is_gated=False,
        is_detected=False,
    )
    return tenant


def batch(tenant: Tenant, texts: list[str]) -> list[dict[str, Any]]:
    body = {"memories": [{"content": text} for text in texts]}
    answer = tenant.agent.post("memories/batch", body)
    assert answer.status_code == 201, answer.json()
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def counting(
    monkeypatch: pytest.MonkeyPatch, name: str, modules: list[Any]
) -> list[tuple[Any, ...]]:
    """Return the arguments of the calls of a function, as they come."""
    calls: list[tuple[Any, ...]] = []
    original: Callable[..., Any] = getattr(modules[0], name)

    def counted(*args: Any) -> Any:
        calls.append(args)
        return original(*args)

    for module in modules:
        monkeypatch.setattr(module, name, counted)
    return calls


def test_a_commit_reads_each_long_text_once_and_none_for_an_ask(
    stored: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counting(monkeypatch, "read", [reading])
    answer = stored.agent.post("memories", {"content": long_text(90)})
    assert answer.status_code == 201
    texts = Counter(text for (text,) in read)
    assert max(texts.values()) == 1
    whole = [text for text in texts if len(text) > MAX_ESTIMATED]
    assert 2 <= len(whole) <= 6  # itself, and the five that the gate compares


def test_a_batch_compares_so_many_characters_and_leaves_the_rest_to_the_background(
    stored: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.services.commit.commit.CHARS_A_CALL", 40_000)
    compared = counting(monkeypatch, "compare", [comparing])
    texts = [long_text(100 + number) for number in range(6)]
    results = batch(stored, texts)
    whole = [(a.text, b.text) for a, b in compared if max(len(a.text), len(b.text)) > 1000]
    assert 0 < sum(len(a) + len(b) for a, b in whole) <= 40_000
    left = [row for row in results if row["gate"]["reasons"] == [COMPARED_LATER]]
    assert 0 < len(left) < 6
    assert {row["outcome"] for row in left} == {"created"}
    with in_workspace(stored.workspace):
        due = {
            str(pk) for pk in Memory.objects.exclude(unseen_from=None).values_list("pk", flat=True)
        }
    assert due == {row["memory"]["id"] for row in left}


def test_nothing_is_compared_for_asks_before_the_transaction_ends(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within it words are looked up; claims are compared when no lock is held any more."""
    within: list[bool] = []
    worth = nearby._worth

    def watched(*given: Any) -> Any:
        within.append(connection.in_atomic_block)
        return worth(*given)

    monkeypatch.setattr(nearby, "_worth", watched)
    asked = build_tenant("asks").agent
    for at, text in (("2026-01-10T09:00:00Z", OLD), ("2026-03-20T09:00:00Z", NEW)):
        sent = asked.post("memories", {"content": text, "observed_at": at})
        assert sent.status_code == 201
    assert len(sent.json()["nearby"]) == 1
    assert within == [False]


def test_what_was_left_is_compared_in_the_background_also_with_its_own_batch(
    stored: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.services.commit.commit.CHARS_A_CALL", 0)
    one = "The office is in Berlin."
    other = "Our office is located in Berlin."
    against = "The office is in Lisbon."
    results = batch(stored, [one, other, against])
    assert [row["outcome"] for row in results] == ["created"] * 3
    sweep_second_looks()
    with in_workspace(stored.workspace):
        assert not Memory.objects.exclude(unseen_from=None).exists()
        rows = MergeSuggestion.objects.select_related("memory", "other")
        assert [{row.memory.content, row.other.content} for row in rows] == [{one, other}]


def test_the_background_compares_a_bounded_part_at_a_time_until_all_is_done(
    stored: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.services.commit.commit.CHARS_A_CALL", 0)
    batch(stored, [long_text(200 + number) for number in range(5)])
    monkeypatch.setattr("memories.services.commit.second_look.CHARS_A_CALL", 40_000)
    rooms: list[float] = []
    create = Comparer.__init__

    def noted(self: Comparer, chars: float) -> None:
        rooms.append(chars)
        create(self, chars)

    monkeypatch.setattr(Comparer, "__init__", noted)
    sweep_second_looks()
    assert set(rooms) == {40_000}
    assert len(rooms) >= 2
    with in_workspace(stored.workspace):
        assert not Memory.objects.exclude(unseen_from=None).exists()


def test_a_pair_is_compared_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = counting(monkeypatch, "compare", [comparing])
    comparer = Comparer(100)
    for _ in range(3):
        assert comparer.has_room(["The door is red."], "The door is blue.")
        found = comparer.compare("The door is red.", "The door is blue.")
        assert found == claims.compare("The door is red.", "The door is blue.")
    assert (len(compared), comparer.left) == (1, 100 - 33)
    assert not comparer.has_room(["x" * 60], "y" * 8)
    assert comparer.left == 67


def test_ordinary_batches_have_room(tenant: Tenant) -> None:
    texts = [f"Batch item {i} lives in bay {i * 7} of hall {i % 13}." for i in range(100)]
    assert all(COMPARED_LATER not in row["gate"]["reasons"] for row in batch(tenant, texts))


def test_long_texts_that_the_gate_did_not_compare_are_not_asked_about(
    stored: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.services.commit.commit.CHARS_A_CALL", 0)
    with in_workspace(stored.workspace):
        Memory.objects.update(observed_at=timezone.now() - timedelta(days=90))
    answer = stored.agent.post("memories", {"content": long_text(90)})
    assert answer.json()["gate"]["reasons"] == [COMPARED_LATER]
    assert answer.json()["nearby"] == []
