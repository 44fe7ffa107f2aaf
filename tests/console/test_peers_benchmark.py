"""The comparison with other stores counts for them what it counts for Engram."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.ground.peers import locomo, relations, stories, toy
from benchmarks.ground.peers.engram_store import Engram
from benchmarks.ground.peers.peer import Item
from benchmarks.ground.peers.speed import take_turns
from engram.console.evaluation.stories import ExpectedRow, FactRow, StoryRow

NOW = datetime(2025, 1, 1, tzinfo=UTC)


class KeepsAll:
    """A store that keeps every text and answers the newest first."""

    name = "keeps all"

    def __init__(self) -> None:
        self.items: dict[str, list[Item]] = {}

    def load(self, items: Sequence[Item], *, group: str) -> None:
        for item in items:
            self.add(item, group=group)

    def add(self, item: Item, *, group: str) -> None:
        self.items.setdefault(group, []).append(item)

    def search(self, query: str, *, k: int, group: str) -> list[str]:
        return [item.key for item in reversed(self.items[group])][:k]

    def count(self, group: str) -> int:
        return len(self.items[group])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    toy.write(tmp_path / "data")
    return tmp_path / "data"


def opening(peer: KeepsAll) -> Callable[[object], object]:
    @contextmanager
    def open_it(_embedding: object) -> Iterator[list[KeepsAll]]:
        yield [peer]

    return open_it


@pytest.mark.django_db
def test_repeats_and_contradictions_are_counted(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relations, "open_peers", opening(KeepsAll()))
    found = relations.measure(data / "relation_pairs.jsonl", each=9)
    # The toy file repeats one first statement, so there are two different ones.
    assert found[Engram.name]["verbatim"]["stored_as_one"] == 2
    assert found[Engram.name]["contradicts"] == {
        "pairs": 1, "kept_as_two": 1, "stored_as_one": 0, "card_opened": 1, "named_in_answer": 1,
    }  # fmt: skip
    assert found[KeepsAll.name]["verbatim"] == {
        "pairs": 2, "kept_as_two": 2, "stored_as_one": 0,
        "card_opened": None, "named_in_answer": None,
    }  # fmt: skip


@pytest.mark.django_db
def test_peers_are_scored_on_the_same_questions(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = KeepsAll()
    monkeypatch.setattr(locomo, "open_peers", opening(peer))
    public = data / "public"
    found = locomo.measure(public / "locomo_memories.jsonl", public / "locomo_questions.jsonl")
    assert found[KeepsAll.name]["recall@10"]["n"] == found[Engram.name]["recall@10"]["n"] == 2
    assert found[KeepsAll.name]["recall@10"]["mean"] == 1
    # The four turns newest first: the answers stand at the fourth and the third place.
    assert found[KeepsAll.name]["ndcg@10"]["mean"] == pytest.approx((0.4307 + 0.5) / 2, abs=1e-3)
    assert peer.items["toy"][0].text == f"Ana: {toy.TURNS[0][1]}"


def test_a_fact_does_not_find_itself() -> None:
    facts = tuple(
        FactRow(id=f"f{i}", content=f"Fact {i}.", committed_at=NOW) for i in range(stories.K + 2)
    )
    expected = (
        ExpectedRow(fact_ids=("f0", f"f{stories.K + 1}")),  # the sixth of the others
        ExpectedRow(fact_ids=("f1", f"f{stories.K + 1}")),  # the fifth
    )
    story = StoryRow(id="s", now=NOW, facts=facts, expected=expected)
    assert stories.find_others(KeepsAll(), story, group="s") == [False, True]


def test_calls_take_turns_with_texts_of_their_own() -> None:
    seen: list[tuple[str, str]] = []
    calls = {
        name: lambda text, name=name: seen.append((name, text)) for name in ("Engram", "a", "b")
    }
    texts = (str(number) for number in itertools.count())
    found = take_turns(calls, texts, rounds=4)
    assert len({text for _, text in seen}) == len(seen) == 3 * (4 + 1)
    assert [name for name, _ in seen[:6]] == ["Engram", "a", "b", "a", "b", "Engram"]
    assert found["Engram"]["ratio"] == 1
