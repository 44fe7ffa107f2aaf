"""Two callers at once: one winner, a clear answer, history tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import OperationalError, connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.services.detection.detect import detect_due
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import CorpusSize, Memory, MergeSuggestion, Observation, TermCount
from memories.services.commit import second_look
from memories.services.commit.commit import commit, commit_all
from memories.services.commit.draft import Draft
from memories.services.gate import examine
from memories.services.gate.report import GateReport
from memories.tasks import sweep_second_looks
from tests.conftest import Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS

CALLERS = 6


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


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


def test_the_same_statement_at_once_is_one_row(shared_tenant: Tenant) -> None:
    answers = at_once(
        lambda n: shared_tenant.agent.post("memories", {"content": "The lift is out of order."})
    )
    outcomes = sorted(answer.json()["outcome"] for answer in answers)
    assert outcomes == ["created"] + ["duplicate"] * (CALLERS - 1)
    with in_workspace(shared_tenant.workspace):
        assert Memory.objects.count() == 1
        assert Observation.objects.count() == CALLERS


PHRASINGS = [
    "The docs repo is hosted on GitLab.",
    "The documentation repository runs on GitLab.",
    "GitLab hosts the repository of the documentation.",
    "Our documentation repo is hosted on GitLab.",
]


def test_phrasings_of_one_fact_at_once_leave_one_memory_or_suggestions(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    met = Barrier(len(PHRASINGS), timeout=PATIENCE_SECONDS)
    real_examine = examine.examine

    def examined_together(*args: Any, **options: Any) -> GateReport:
        report = real_examine(*args, **options)
        met.wait()  # nobody has written yet: none sees another
        return report

    monkeypatch.setattr(examine, "examine", examined_together)
    with ThreadPoolExecutor(len(PHRASINGS)) as pool:
        answers = list(pool.map(lambda text: _posted(shared_tenant, {"content": text}), PHRASINGS))
    assert [answer.status_code for answer in answers] == [201] * len(PHRASINGS)
    outcomes = sorted(answer.json()["outcome"] for answer in answers)
    # The first one may find the others too, where they are written before it looks again.
    assert outcomes[1:] == ["suggested"] * (len(PHRASINGS) - 1)
    assert outcomes[0] in {"created", "suggested"}
    with in_workspace(shared_tenant.workspace):
        memories = set(Memory.objects.recallable().values_list("pk", flat=True))
        pairs = set(MergeSuggestion.objects.values_list("memory", "other"))
        noted = sorted(Observation.objects.values_list("outcome", flat=True))
    assert noted == outcomes
    reached = {next(iter(memories))}
    for _ in memories:
        reached |= {i for pair in pairs if reached & set(pair) for i in pair}
    assert reached == memories


def test_contradictions_at_once_are_kept_apart_and_unlike_ones_are_not_touched(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        {"content": "The door code is 4417."},
        {"content": "The door code is 9020."},
        {"content": "The code of the door is 4417.", "scope": "other"},
        {"content": "Herons nest on the roof."},
    ]
    met = Barrier(len(texts), timeout=PATIENCE_SECONDS)
    real_examine = examine.examine

    def examined_together(*args: Any, **options: Any) -> GateReport:
        report = real_examine(*args, **options)
        met.wait()
        return report

    monkeypatch.setattr(examine, "examine", examined_together)
    with ThreadPoolExecutor(len(texts)) as pool:
        answers = list(pool.map(lambda body: _posted(shared_tenant, body), texts))
    outcomes = [answer.json()["outcome"] for answer in answers]
    # The first one may find the second, too, where that is written before it looks again.
    assert "kept_apart" in outcomes[:2]
    assert set(outcomes[:2]) <= {"created", "kept_apart"}
    assert outcomes[2:] == ["created", "created"]
    with in_workspace(shared_tenant.workspace):
        assert not MergeSuggestion.objects.exists()


def test_a_commit_alone_looks_once(shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_look, "mark_due", None)  # calling it would fail
    for text in PHRASINGS[:2]:
        assert _posted(shared_tenant, {"content": text}).status_code in (200, 201)


@contextmanager
def meanwhile(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], *, looks: int = 1
) -> Iterator[None]:
    """Let others act, with a connection of their own, once the gate has looked so many times.

    What they commit goes through the gate as well, undisturbed.
    """
    real_examine = examine.examine
    waiting = [*([lambda: None] * (looks - 1)), act][::-1]

    def examined(*args: Any, **options: Any) -> GateReport:
        report = real_examine(*args, **options)
        if waiting:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(_with_own_connection, waiting.pop()).result()
        return report

    with monkeypatch.context() as patch:
        patch.setattr(examine, "examine", examined)
        yield
    assert not waiting


def _with_own_connection(act: Callable[[], object]) -> None:
    try:
        act()
    finally:
        connections.close_all()


def _proposed(tenant: Tenant) -> list[set[str]]:
    with in_workspace(tenant.workspace):
        rows = MergeSuggestion.objects.select_related("memory", "other")
        return [{row.memory.content, row.other.content} for row in rows]


TWINS = set(PHRASINGS[:2])


def test_a_twin_that_began_long_ago_is_found_behind_newer_ones(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def others() -> None:
        began = timezone.now() - timedelta(hours=1)
        commit(shared_tenant.workspace, Draft(content=PHRASINGS[0]), actor=SYSTEM, now=began)
        for number in range(60):
            text = f"Locker {number} on the quay belongs to the crew of boat {number}."
            draft = Draft(content=text)
            commit_all(
                shared_tenant.workspace, [draft], actor=SYSTEM, now=timezone.now(), is_gated=False
            )

    with meanwhile(monkeypatch, others):
        answer = shared_tenant.agent.post("memories", {"content": PHRASINGS[1]})
    assert (answer.status_code, answer.json()["outcome"]) == (201, "suggested")
    assert _proposed(shared_tenant) == [TWINS]


def test_a_twin_is_found_although_something_else_was_erased_meanwhile(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = shared_tenant.agent.post("memories", {"content": "Herons nest on the roof."}).json()

    def others() -> None:
        commit(
            shared_tenant.workspace, Draft(content=PHRASINGS[0]), actor=SYSTEM, now=timezone.now()
        )
        erased = shared_tenant.admin.delete(f"memories/{known['memory']['id']}")
        assert erased.status_code == 204

    with meanwhile(monkeypatch, others):
        answer = shared_tenant.agent.post("memories", {"content": PHRASINGS[1]})
    assert answer.json()["outcome"] == "suggested"
    assert _proposed(shared_tenant) == [TWINS]


def test_a_commit_under_an_idempotency_key_is_compared_behind_it(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def others() -> None:
        commit(
            shared_tenant.workspace, Draft(content=PHRASINGS[0]), actor=SYSTEM, now=timezone.now()
        )

    body, key = {"content": PHRASINGS[1]}, {"Idempotency-Key": "once"}
    with meanwhile(monkeypatch, others):
        answer = shared_tenant.agent.post("memories", body, **key)
    assert (answer.status_code, answer.json()["outcome"]) == (201, "created")
    assert shared_tenant.agent.post("memories", body, **key).json() == answer.json()
    sweep_second_looks()
    assert _proposed(shared_tenant) == [TWINS]
    with in_workspace(shared_tenant.workspace):
        kept = Observation.objects.get(content=PHRASINGS[1])
        assert kept.outcome == "suggested"
        assert not Memory.objects.exclude(unseen_from=None).exists()


def test_a_second_look_that_failed_is_made_up_for(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def others() -> None:
        commit(
            shared_tenant.workspace, Draft(content=PHRASINGS[0]), actor=SYSTEM, now=timezone.now()
        )

    def lost(*_: Any, **__: Any) -> None:
        raise OperationalError

    with meanwhile(monkeypatch, others), monkeypatch.context() as patch:
        patch.setattr(second_look, "look_again", lost)
        answer = shared_tenant.agent.post("memories", {"content": PHRASINGS[1]})
    assert (answer.status_code, answer.json()["outcome"]) == (201, "created")
    assert _proposed(shared_tenant) == []
    at_once(lambda _: sweep_second_looks())
    assert _proposed(shared_tenant) == [TWINS]
    with in_workspace(shared_tenant.workspace):
        assert Event.objects.filter(type="merge.suggested").count() == 1


def test_what_a_person_keeps_apart_is_not_proposed_by_a_second_look(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def others() -> None:
        commit(
            shared_tenant.workspace, Draft(content=PHRASINGS[0]), actor=SYSTEM, now=timezone.now()
        )

    with meanwhile(monkeypatch, others):
        second = shared_tenant.agent.post("memories", {"content": PHRASINGS[1]}).json()["memory"]
    [card] = shared_tenant.reviewer.get("merge-suggestions").json()["results"]
    rejected = shared_tenant.reviewer.post(f"merge-suggestions/{card['id']}/reject", {})
    assert rejected.status_code == 200
    with in_workspace(shared_tenant.workspace):
        Memory.objects.filter(pk=second["id"]).update(unseen_from=0)
    sweep_second_looks()
    with in_workspace(shared_tenant.workspace):
        assert MergeSuggestion.objects.count() == 1
        assert not Memory.objects.exclude(unseen_from=None).exists()


def _commit_all(tenant: Tenant, texts: list[str], **options: bool) -> None:
    drafts = [Draft(content=text) for text in texts]
    commit_all(tenant.workspace, drafts, actor=SYSTEM, now=timezone.now(), **options)


def test_a_second_look_at_many_takes_as_many_statements_as_at_one_and_few_under_the_lock(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    for names in (["Ledger"], ["Billing", "Gateway", "Mailer", "Search", "Router", "Printer"]):
        texts = [f"{name} retries a failed request 3 times." for name in names]
        again = [f"{name} now retries a failed request 3 times." for name in names]
        others = partial(_commit_all, shared_tenant, again, is_gated=False)
        with (
            meanwhile(monkeypatch, others, looks=len(texts)),
            CaptureQueriesContext(connection) as queries,
        ):
            _commit_all(shared_tenant, texts)
        sent = [query["sql"] for query in queries]
        counted = next(i for i, sql in enumerate(sent) if "INTO memories_corpussize" in sql)
        ends = next(i for i, sql in enumerate(sent) if i > counted and sql == "COMMIT")
        # What the answer asks its writer comes after the look: one query, whatever the number.
        looked = next(i for i, sql in enumerate(sent) if i > ends and '"unseen_from" = NULL' in sql)
        looks.append((ends - counted, looked - ends))
        proposed = _proposed(shared_tenant)
        assert all({one, other} in proposed for one, other in zip(texts, again, strict=True))
    assert looks[0] == looks[1]
    assert looks[0][0] <= 5  # counts, marks, tells the detective, ends


def _posted(tenant: Tenant, body: dict[str, Any]) -> Any:
    try:
        return tenant.agent.post("memories", body)
    finally:
        connections.close_all()


def test_many_statements_at_once_are_counted_right(shared_tenant: Tenant) -> None:
    def commit(number: int) -> int:
        contents = [f"Crate {number} {n} smells of cedar and pine." for n in range(5)]
        status: int = shared_tenant.agent.post(
            "memories/batch", {"memories": [{"content": c} for c in contents]}
        ).status_code
        return status

    assert at_once(commit) == [201] * CALLERS
    with in_workspace(shared_tenant.workspace):
        stored = Memory.objects.count()
        size = CorpusSize.objects.get()
        assert size.memories == stored
        assert size.words == sum(Memory.objects.values_list("word_count", flat=True))
        assert TermCount.objects.get(term="cedar").memories == stored


def test_one_of_several_verdicts_wins(shared_tenant: Tenant) -> None:
    for limit in (1000, 5000):
        shared_tenant.agent.post(
            "memories", {"content": f"The API rate limit is {limit} requests per second."}
        )
    detect_due(shared_tenant.workspace, clock=timezone.now)
    card = shared_tenant.reader.get("conflicts").json()["results"][0]
    answers = at_once(
        lambda n: shared_tenant.reviewer.post(
            f"conflicts/{card['id']}/resolve", {"verdict": "dismiss", "version": card["version"]}
        )
    )
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] + [409] * (CALLERS - 1)


def test_one_of_several_detectives_reads(shared_tenant: Tenant) -> None:
    for limit in (1000, 5000):
        shared_tenant.agent.post(
            "memories", {"content": f"The API rate limit is {limit} requests per second."}
        )
    at_once(lambda n: detect_due(shared_tenant.workspace, clock=timezone.now))
    assert len(shared_tenant.reader.get("conflicts").json()["results"]) == 1


def test_forgetting_at_once_counts_each_memory_once(shared_tenant: Tenant) -> None:
    ids = [
        shared_tenant.agent.post("memories", {"content": f"Bench {n} is wet."}).json()["memory"][
            "id"
        ]
        for n in range(4)
    ]
    answers = at_once(
        lambda n: shared_tenant.agent.post("memories/forget", {"ids": ids, "confirm": True})
    )
    assert sum(answer.json()["forgotten"] for answer in answers) == len(ids)


def test_merging_batches_beside_single_commits_do_not_deadlock(shared_tenant: Tenant) -> None:
    shared_tenant.agent.post(
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
            return int(shared_tenant.agent.post("memories/batch", body).status_code)
        return int(shared_tenant.agent.post("memories", batch[0]).status_code)

    for _ in range(3):
        assert all(status in {200, 201} for status in at_once(write))


def test_a_commit_and_a_rewording_to_the_same_words_have_one_winner(shared_tenant: Tenant) -> None:
    memory = shared_tenant.agent.post("memories", {"content": "The pond is shallow."}).json()

    def write(number: int) -> int:
        if number % 2:
            path = f"memories/{memory['memory']['id']}"
            return int(
                shared_tenant.agent.patch(path, {"content": "The pond is deep."}).status_code
            )
        body = {"content": "The pond is deep."}
        return int(shared_tenant.agent.post("memories", body).status_code)

    assert set(at_once(write)) <= {200, 201, 409}
    live = shared_tenant.agent.get("memories").json()["results"]
    assert [m["content"] for m in live].count("The pond is deep.") == 1


def test_a_merge_racing_a_forget_has_one_winner(shared_tenant: Tenant) -> None:
    """Merged into what is forgotten at once, or kept as a memory of its own: nothing is lost."""
    said = "Deploys of the billing service take 9 minutes."
    again = "Deploys of the billing service take nine minutes."
    memory = shared_tenant.agent.post("memories", {"content": said}).json()["memory"]

    def act(number: int) -> tuple[int, str]:
        if number == 0:
            body = {"ids": [memory["id"]], "confirm": True}
            answer = shared_tenant.agent.post("memories/forget", body)
        else:
            answer = shared_tenant.agent.post("memories", {"content": again})
        return answer.status_code, answer.json().get("outcome", "forgotten")

    answers = at_once(act)
    assert {status for status, _ in answers} <= {200, 201}
    assert shared_tenant.agent.get(f"memories/{memory['id']}").json()["state"] == "forgotten"
    live = shared_tenant.agent.get("memories").json()["results"]
    kept = sum(outcome == "created" for _, outcome in answers)
    assert len(live) == kept <= 1
    with in_workspace(shared_tenant.workspace):
        suppressed = sum(outcome == "suppressed" for _, outcome in answers)
        assert Observation.objects.count() == CALLERS - suppressed


def test_a_supersede_racing_a_change_has_one_winner(shared_tenant: Tenant) -> None:
    memory = shared_tenant.agent.post("memories", {"content": "The pond is shallow."}).json()
    old = memory["memory"]["id"]

    def act(number: int) -> int:
        if number == 0:
            body = {"content": "The pond was filled in.", "supersedes": old}
            return int(shared_tenant.agent.post("memories", body).status_code)
        change = {"content": f"The pond is {number} metres deep."}
        return int(shared_tenant.agent.patch(f"memories/{old}", change).status_code)

    statuses = at_once(act)
    assert statuses[0] == 201
    assert set(statuses[1:]) <= {200, 409}
    shown = shared_tenant.agent.get(f"memories/{old}").json()
    assert shown["state"] == "superseded"
    assert shown["revision"] == 1 + statuses.count(200)
    live = shared_tenant.agent.get("memories").json()["results"]
    assert [row["content"] for row in live] == ["The pond was filled in."]


def test_several_supersedes_of_one_memory_have_one_winner(shared_tenant: Tenant) -> None:
    memory = shared_tenant.agent.post("memories", {"content": "The pond is shallow."}).json()
    old = memory["memory"]["id"]
    answers = at_once(
        lambda n: shared_tenant.agent.post(
            "memories", {"content": f"The pond is {n + 2} metres deep.", "supersedes": old}
        )
    )
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * (CALLERS - 1)
    assert len(shared_tenant.agent.get("memories").json()["results"]) == 1


def test_a_restore_racing_the_same_statement_leaves_one_live_row(shared_tenant: Tenant) -> None:
    said = {"content": "The pond is shallow."}
    memory = shared_tenant.agent.post("memories", said).json()["memory"]
    body = {"ids": [memory["id"]], "confirm": True}
    shared_tenant.agent.post("memories/forget", body)

    def act(number: int) -> int:
        if number % 2:
            answer = shared_tenant.agent.post("memories/restore", {"ids": [memory["id"]]})
        else:
            answer = shared_tenant.agent.post("memories", said | {"revive": True})
        return int(answer.status_code)

    assert set(at_once(act)) <= {200, 201, 409}
    assert len(shared_tenant.agent.get("memories").json()["results"]) == 1


def test_one_of_several_reviewers_accepts(shared_tenant: Tenant) -> None:
    stated = {"content": "The budget is 5000 euros.", "provenance": "user_stated"}
    memory = shared_tenant.agent.post("memories", stated).json()["memory"]
    asked = {"content": "The budget is 9 euros.", "supersedes": memory["id"]}
    reviews = at_once(lambda n: shared_tenant.agent.post("memories", asked).json()["review"])
    assert len(set(reviews)) == 1
    path = f"reviews/{reviews[0]}"
    answers = at_once(
        lambda n: shared_tenant.reviewer.post(f"{path}/{'accept' if n % 2 else 'reject'}", {})
    )
    assert sorted(a.status_code for a in answers) == [200] + [409] * (CALLERS - 1)


def test_erasing_beside_commits_and_forgets_does_not_deadlock(shared_tenant: Tenant) -> None:
    said = {"content": "Deploys of the billing service take 9 minutes."}
    for _ in range(3):
        memory = shared_tenant.agent.post("memories", said | {"revive": True}).json()["memory"]

        def act(number: int, erased: str = memory["id"]) -> int:
            if number == 0:
                return int(shared_tenant.admin.delete(f"memories/{erased}").status_code)
            if number == 1:
                body = {"ids": [erased], "confirm": True}
                return int(shared_tenant.agent.post("memories/forget", body).status_code)
            return int(shared_tenant.agent.post("memories", said).status_code)

        assert set(at_once(act)) <= {200, 201, 204}
    with in_workspace(shared_tenant.workspace):
        assert CorpusSize.objects.get().memories == Memory.objects.count()


def test_batches_that_merge_into_the_same_memories_in_opposite_order_end_well(
    shared_tenant: Tenant,
) -> None:
    names = ["Billing", "Gateway", "Mailer", "Search"]
    for name in names:
        stated = {"content": f"{name} retries a failed request 3 times."}
        assert shared_tenant.agent.post("memories", stated).json()["outcome"] == "created"

    fillers = ["now", "also", "still", "already"]

    def restate(number: int) -> Any:
        again = [
            {"content": f"{name} {fillers[number % 4]} retries a failed request 3 times."}
            for name in names
        ]
        ordered = again if number % 2 else again[::-1]
        return shared_tenant.agent.post("memories/batch", {"memories": ordered})

    answers = at_once(restate)

    written = [answer for answer in answers if answer.status_code == 201]
    assert written
    assert {answer.status_code for answer in answers} <= {201, 409}
    outcomes = {row["outcome"] for answer in written for row in answer.json()["results"]}
    assert outcomes == {"merged"}
    with in_workspace(shared_tenant.workspace):
        assert Memory.objects.count() == len(names)
        assert Observation.objects.count() == len(names) * (len(written) + 1)
