"""Two callers at once: one winner, a clear answer, history tells."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from conflicts.services.detect import detect_due
from engram.kernel.tenancy import in_workspace
from memories.models import CorpusSize, Memory, MergeSuggestion, Observation, TermCount
from memories.services import commit, gate
from tests.conftest import House, build_house

CALLERS = 6


@pytest.fixture
def shared_house(transactional_db: None) -> House:
    """Return a workspace that several connections see."""
    return build_house("busy")


def at_once(call: Callable[[int], Any]) -> list[Any]:
    """Call from several threads, each with a connection of its own, starting together."""
    barrier = Barrier(CALLERS)

    def run(number: int) -> Any:
        barrier.wait()
        try:
            return call(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(CALLERS) as pool:
        return list(pool.map(run, range(CALLERS)))


def test_the_same_statement_at_once_is_one_row(shared_house: House) -> None:
    answers = at_once(
        lambda n: shared_house.agent.post("memories", {"content": "The lift is out of order."})
    )
    outcomes = sorted(answer.json()["outcome"] for answer in answers)
    assert outcomes == ["created"] + ["duplicate"] * (CALLERS - 1)
    with in_workspace(shared_house.workspace):
        assert Memory.objects.count() == 1
        assert Observation.objects.count() == CALLERS


PHRASINGS = [
    "The docs repo is hosted on GitLab.",
    "The documentation repository runs on GitLab.",
    "GitLab hosts the repository of the documentation.",
    "Our documentation repo is hosted on GitLab.",
]


def test_phrasings_of_one_fact_at_once_leave_one_memory_or_suggestions(
    shared_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = Barrier(len(PHRASINGS), timeout=30)
    examine = gate.examine

    def examined_together(*args: Any, **options: Any) -> gate.GateReport:
        report = examine(*args, **options)
        met.wait()  # nobody has written yet: none sees another
        return report

    monkeypatch.setattr(gate, "examine", examined_together)
    with ThreadPoolExecutor(len(PHRASINGS)) as pool:
        answers = list(pool.map(lambda text: _posted(shared_house, {"content": text}), PHRASINGS))
    assert [answer.status_code for answer in answers] == [201] * len(PHRASINGS)
    outcomes = sorted(answer.json()["outcome"] for answer in answers)
    assert outcomes == ["created"] + ["suggested"] * (len(PHRASINGS) - 1)
    with in_workspace(shared_house.workspace):
        memories = set(Memory.objects.recallable().values_list("pk", flat=True))
        pairs = set(MergeSuggestion.objects.values_list("memory", "other"))
        noted = sorted(Observation.objects.values_list("outcome", flat=True))
    assert noted == outcomes
    reached = {next(iter(memories))}
    for _ in memories:
        reached |= {i for pair in pairs if reached & set(pair) for i in pair}
    assert reached == memories


def test_contradictions_at_once_are_kept_apart_and_unlike_ones_are_not_touched(
    shared_house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        {"content": "The door code is 4417."},
        {"content": "The door code is 9020."},
        {"content": "The code of the door is 4417.", "scope": "other"},
        {"content": "Herons nest on the roof."},
    ]
    met = Barrier(len(texts), timeout=30)
    examine = gate.examine

    def examined_together(*args: Any, **options: Any) -> gate.GateReport:
        report = examine(*args, **options)
        met.wait()
        return report

    monkeypatch.setattr(gate, "examine", examined_together)
    with ThreadPoolExecutor(len(texts)) as pool:
        answers = list(pool.map(lambda body: _posted(shared_house, body), texts))
    outcomes = [answer.json()["outcome"] for answer in answers]
    assert sorted(outcomes[:2]) == ["created", "kept_apart"]
    assert outcomes[2:] == ["created", "created"]
    with in_workspace(shared_house.workspace):
        assert not MergeSuggestion.objects.exists()


def test_a_commit_alone_looks_once(shared_house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "look_again", None)  # calling it would fail
    for text in PHRASINGS[:2]:
        assert _posted(shared_house, {"content": text}).status_code in (200, 201)


def _posted(house: House, body: dict[str, Any]) -> Any:
    try:
        return house.agent.post("memories", body)
    finally:
        connections.close_all()


def test_many_statements_at_once_are_counted_right(shared_house: House) -> None:
    def commit(number: int) -> int:
        contents = [f"Crate {number} {n} smells of cedar and pine." for n in range(5)]
        status: int = shared_house.agent.post(
            "memories/batch", {"memories": [{"content": c} for c in contents]}
        ).status_code
        return status

    assert at_once(commit) == [201] * CALLERS
    with in_workspace(shared_house.workspace):
        stored = Memory.objects.count()
        size = CorpusSize.objects.get()
        assert size.memories == stored
        assert size.words == sum(Memory.objects.values_list("word_count", flat=True))
        assert TermCount.objects.get(term="cedar").memories == stored


def test_one_of_several_verdicts_wins(shared_house: House) -> None:
    for limit in (1000, 5000):
        shared_house.agent.post(
            "memories", {"content": f"The API rate limit is {limit} requests per second."}
        )
    detect_due(shared_house.workspace, clock=timezone.now)
    card = shared_house.reader.get("conflicts").json()["results"][0]
    answers = at_once(
        lambda n: shared_house.reviewer.post(
            f"conflicts/{card['id']}/resolve", {"verdict": "dismiss", "version": card["version"]}
        )
    )
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] + [409] * (CALLERS - 1)


def test_one_of_several_detectives_reads(shared_house: House) -> None:
    for limit in (1000, 5000):
        shared_house.agent.post(
            "memories", {"content": f"The API rate limit is {limit} requests per second."}
        )
    at_once(lambda n: detect_due(shared_house.workspace, clock=timezone.now))
    assert len(shared_house.reader.get("conflicts").json()["results"]) == 1


def test_forgetting_at_once_counts_each_memory_once(shared_house: House) -> None:
    ids = [
        shared_house.agent.post("memories", {"content": f"Bench {n} is wet."}).json()["memory"][
            "id"
        ]
        for n in range(4)
    ]
    answers = at_once(
        lambda n: shared_house.agent.post("memories/forget", {"ids": ids, "confirm": True})
    )
    assert sum(answer.json()["forgotten"] for answer in answers) == len(ids)


def test_merging_batches_beside_single_commits_do_not_deadlock(shared_house: House) -> None:
    shared_house.agent.post(
        "memories/batch",
        {"memories": [{"content": f"Deploys of service {n} take 9 minutes."} for n in range(6)]},
    )

    def write(number: int) -> int:
        batch = [
            {"content": f"Deploys of service {(number + n) % 6} take nine minutes on average."}
            for n in range(4)
        ]
        body = {"memories": batch}
        if number % 2:
            return int(shared_house.agent.post("memories/batch", body).status_code)
        return int(shared_house.agent.post("memories", batch[0]).status_code)

    for _ in range(3):
        assert all(status in {200, 201} for status in at_once(write))


def test_a_commit_and_a_rewording_to_the_same_words_have_one_winner(shared_house: House) -> None:
    memory = shared_house.agent.post("memories", {"content": "The pond is shallow."}).json()

    def write(number: int) -> int:
        if number % 2:
            path = f"memories/{memory['memory']['id']}"
            return int(shared_house.agent.patch(path, {"content": "The pond is deep."}).status_code)
        body = {"content": "The pond is deep."}
        return int(shared_house.agent.post("memories", body).status_code)

    assert set(at_once(write)) <= {200, 201, 409}
    live = shared_house.agent.get("memories").json()["results"]
    assert [m["content"] for m in live].count("The pond is deep.") == 1


def test_a_merge_racing_a_forget_has_one_winner(shared_house: House) -> None:
    """Merged into what is forgotten at once, or kept as a memory of its own: nothing is lost."""
    said = "Deploys of the billing service take 9 minutes."
    again = "Deploys of the billing service take nine minutes."
    memory = shared_house.agent.post("memories", {"content": said}).json()["memory"]

    def act(number: int) -> tuple[int, str]:
        if number == 0:
            body = {"ids": [memory["id"]], "confirm": True}
            answer = shared_house.agent.post("memories/forget", body)
        else:
            answer = shared_house.agent.post("memories", {"content": again})
        return answer.status_code, answer.json().get("outcome", "forgotten")

    answers = at_once(act)
    assert {status for status, _ in answers} <= {200, 201}
    assert shared_house.agent.get(f"memories/{memory['id']}").json()["state"] == "forgotten"
    live = shared_house.agent.get("memories").json()["results"]
    kept = sum(outcome == "created" for _, outcome in answers)
    assert len(live) == kept <= 1
    with in_workspace(shared_house.workspace):
        suppressed = sum(outcome == "suppressed" for _, outcome in answers)
        assert Observation.objects.count() == CALLERS - suppressed


def test_a_supersede_racing_a_change_has_one_winner(shared_house: House) -> None:
    memory = shared_house.agent.post("memories", {"content": "The pond is shallow."}).json()
    old = memory["memory"]["id"]

    def act(number: int) -> int:
        if number == 0:
            body = {"content": "The pond was filled in.", "supersedes": old}
            return int(shared_house.agent.post("memories", body).status_code)
        change = {"content": f"The pond is {number} metres deep."}
        return int(shared_house.agent.patch(f"memories/{old}", change).status_code)

    statuses = at_once(act)
    assert statuses[0] == 201
    assert set(statuses[1:]) <= {200, 409}
    shown = shared_house.agent.get(f"memories/{old}").json()
    assert shown["state"] == "superseded"
    assert shown["revision"] == 1 + statuses.count(200)
    live = shared_house.agent.get("memories").json()["results"]
    assert [row["content"] for row in live] == ["The pond was filled in."]


def test_several_supersedes_of_one_memory_have_one_winner(shared_house: House) -> None:
    memory = shared_house.agent.post("memories", {"content": "The pond is shallow."}).json()
    old = memory["memory"]["id"]
    answers = at_once(
        lambda n: shared_house.agent.post(
            "memories", {"content": f"The pond is {n + 2} metres deep.", "supersedes": old}
        )
    )
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * (CALLERS - 1)
    assert len(shared_house.agent.get("memories").json()["results"]) == 1


def test_a_restore_racing_the_same_statement_leaves_one_live_row(shared_house: House) -> None:
    said = {"content": "The pond is shallow."}
    memory = shared_house.agent.post("memories", said).json()["memory"]
    body = {"ids": [memory["id"]], "confirm": True}
    shared_house.agent.post("memories/forget", body)

    def act(number: int) -> int:
        if number % 2:
            answer = shared_house.agent.post("memories/restore", {"ids": [memory["id"]]})
        else:
            answer = shared_house.agent.post("memories", said | {"revive": True})
        return int(answer.status_code)

    assert set(at_once(act)) <= {200, 201, 409}
    assert len(shared_house.agent.get("memories").json()["results"]) == 1


def test_one_of_several_reviewers_accepts(shared_house: House) -> None:
    stated = {"content": "The budget is 5000 euros.", "provenance": "user_stated"}
    memory = shared_house.agent.post("memories", stated).json()["memory"]
    asked = {"content": "The budget is 9 euros.", "supersedes": memory["id"]}
    reviews = at_once(lambda n: shared_house.agent.post("memories", asked).json()["review"])
    assert len(set(reviews)) == 1
    path = f"reviews/{reviews[0]}"
    answers = at_once(
        lambda n: shared_house.reviewer.post(f"{path}/{'accept' if n % 2 else 'reject'}", {})
    )
    assert sorted(a.status_code for a in answers) == [200] + [409] * (CALLERS - 1)


def test_erasing_beside_commits_and_forgets_does_not_deadlock(shared_house: House) -> None:
    said = {"content": "Deploys of the billing service take 9 minutes."}
    for _ in range(3):
        memory = shared_house.agent.post("memories", said | {"revive": True}).json()["memory"]

        def act(number: int, erased: str = memory["id"]) -> int:
            if number == 0:
                return int(shared_house.admin.delete(f"memories/{erased}").status_code)
            if number == 1:
                body = {"ids": [erased], "confirm": True}
                return int(shared_house.agent.post("memories/forget", body).status_code)
            return int(shared_house.agent.post("memories", said).status_code)

        assert set(at_once(act)) <= {200, 201, 204}
    with in_workspace(shared_house.workspace):
        assert CorpusSize.objects.get().memories == Memory.objects.count()


def test_batches_that_merge_into_the_same_memories_in_opposite_order_end_well(
    shared_house: House,
) -> None:
    names = ["Billing", "Gateway", "Mailer", "Search"]
    for name in names:
        stated = {"content": f"{name} retries a failed request 3 times."}
        assert shared_house.agent.post("memories", stated).json()["outcome"] == "created"

    fillers = ["now", "also", "still", "already"]

    def restate(number: int) -> Any:
        again = [
            {"content": f"{name} {fillers[number % 4]} retries a failed request 3 times."}
            for name in names
        ]
        ordered = again if number % 2 else again[::-1]
        return shared_house.agent.post("memories/batch", {"memories": ordered})

    answers = at_once(restate)

    written = [answer for answer in answers if answer.status_code == 201]
    assert written
    assert {answer.status_code for answer in answers} <= {201, 409}
    outcomes = {row["outcome"] for answer in written for row in answer.json()["results"]}
    assert outcomes == {"merged"}
    with in_workspace(shared_house.workspace):
        assert Memory.objects.count() == len(names)
        assert Observation.objects.count() == len(names) * (len(written) + 1)
