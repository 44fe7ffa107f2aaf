"""Sessions over HTTP: what comes back, what is refused, what is shown and deleted."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import chain
from threading import Barrier
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.models import Event, StageError
from engram.kernel.tenancy import in_workspace
from memories.core.briefing import AT_END, DECIDED, NOTES
from memories.core.content import normalise_quote
from memories.models import Memory, Observation, Session, SessionCandidate
from memories.services.sessions.end import close_idle
from memories.services.sessions.erase import HIDING, plain_pieces
from tests.conftest import NOW, Tenant, build_tenant

DOG = "The office dog is called Biscuit."
CAT = "The office cat is called Crumb."
UNDISPUTED = {"disputed": False, "conflicts": [], "contradicted_by": None}


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


def start(tenant: Tenant, key: str = "s1", status: int = 201, **wanted: Any) -> dict[str, Any]:
    answer = tenant.agent.post("sessions", {"session_key": key, **wanted})
    assert answer.status_code == status, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def detail(tenant: Tenant, key: str = "s1") -> dict[str, Any]:
    answer = tenant.reader.get(f"sessions/{quote(key, safe='')}")
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def test_a_start_answers_what_the_contract_says(tenant: Tenant) -> None:
    dog = commit(tenant, DOG, importance=0.4)
    rule = commit(tenant, "Never feed Biscuit.", kind="constraint", importance=0.9)
    body = start(tenant, context="the dog", project="office")
    assert body.pop("took_ms") > 0
    relevances = [memory.pop("relevance") for memory in body["memories"]]
    assert 0.05 < relevances[0] < relevances[1] < 1
    assert body == {
        "session_key": "s1",
        "memories": [
            {
                "id": rule,
                "content": "Never feed Biscuit.",
                "kind": "constraint",
                "rank": 1,
                "score": 1 / 14,  # it names no dog
                "source": "effective",
                "always": True,
                **UNDISPUTED,
            },
            {
                "id": dog,
                "content": DOG,
                "kind": "semantic",
                "rank": 2,
                "score": 1 / 13,
                "source": "effective",
                "always": False,
                **UNDISPUTED,
            },
        ],
        "constraints_left_out": [],
        "status_line": "[predictor: collecting | 0/10 sessions | baseline only]",
        "is_drafted": False,
        "reason": "",
        "decided_since": [],
        "at_end": AT_END,
        "text": f'{NOTES}\n- constraint: "Never feed Biscuit."\n- "{DOG}"',
    }
    again = start(tenant, status=200, context="something else", k=1)
    assert again.pop("took_ms") > 0
    assert [memory.pop("relevance") for memory in again["memories"]] == relevances
    assert again == body


def test_a_session_says_why_it_is_empty(tenant: Tenant, neighbour: Tenant) -> None:
    commit(neighbour, DOG)
    assert start(tenant, context="Who feeds the dog?")["reason"].startswith("no memories")

    commit(tenant, DOG)
    body = start(tenant, session_key="s2", context="Lunar eclipse photography with long exposure")
    assert (body["memories"], body["reason"][:16]) == ([], "nothing relevant")


def test_the_whole_course_of_a_session(tenant: Tenant) -> None:
    dog = commit(tenant, DOG)
    start(tenant)
    asked = tenant.agent.post("sessions/s1/prompts", {"prompt": "Is Biscuit the office dog?"})
    assert asked.status_code == 200
    [hit] = asked.json()["memories"]
    assert hit.pop("score") > 0
    assert hit.pop("relevance") > 0.9
    assert hit == {
        "id": dog,
        "content": DOG,
        "source": "effective",
        "injected": True,
        "hits": 1,
        **UNDISPUTED,
    }
    assert asked.json() | {"memories": []} == {
        "session_key": "s1",
        "memories": [],
        "counted": True,
        "prompts": 1,
    }
    rated = tenant.agent.post("sessions/s1/feedback", {"memory_id": dog, "value": 1})
    assert (rated.status_code, rated.json()) == (
        200,
        {"session_key": "s1", "memory_id": dog, "value": 1.0},
    )
    ended = tenant.agent.post("sessions/s1/end", {"transcript": "All done."})
    assert ended.status_code == 202
    assert ended.json().keys() == {"session_key", "ended_at", "job"}
    assert tenant.agent.post("sessions/s1/end", {"transcript": "All done."}).json() == ended.json()
    assert tenant.agent.post("sessions/s1/end", {"transcript": ""}).status_code == 409
    assert tenant.agent.post("sessions/s1/prompts", {"prompt": "More?"}).status_code == 409
    shown = detail(tenant)
    assert (shown["state"], shown["transcript_chars"], shown["prompts"]) == ("ended", 9, 1)
    assert (shown["candidates"], shown["injected"], shown["matched"]) == (1, 1, 1)
    [row] = shown["records"]
    assert (row["memory_id"], row["content"], row["hidden"]) == (dog, DOG, False)
    assert (row["rank"], row["baseline_rank"], row["predictor_rank"]) == (1, 1, None)
    assert (row["hits"], row["feedback"], row["injected"]) == (1, 1.0, True)
    assert "All done." not in str(shown)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "session_key"),
        ({"session_key": ""}, "session_key"),
        ({"session_key": "  "}, "session_key"),
        ({"session_key": "x" * 201}, "session_key"),
        ({"session_key": 7}, "session_key"),
        ({"session_key": "a/end"}, "session_key"),
        ({"session_key": "a/../b"}, "session_key"),
        ({"session_key": "a", "k": 0}, "k"),
        ({"session_key": "a", "k": 101}, "k"),
        ({"session_key": "a", "k": 2.5}, "k"),
        ({"session_key": "a", "budget_chars": -1}, "budget_chars"),
        ({"session_key": "a", "budget_chars": 10**9}, "budget_chars"),
        ({"session_key": "a", "context": "x" * 20_001}, "context"),
        ({"session_key": "a", "project": "x" * 201}, "project"),
        ({"session_key": "a", "scope": "a\nb"}, "scope"),
        ({"session_key": "a", "contxt": "typo"}, "contxt"),
    ],
)
def test_a_start_that_makes_no_sense_is_refused(
    tenant: Tenant, body: dict[str, Any], field: str
) -> None:
    answer = tenant.agent.post("sessions", body)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    with in_workspace(tenant.workspace):
        assert Session.objects.count() == 0


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("prompts", {"prompt": ""}, 422),
        ("prompts", {"prompt": "x" * 20_001}, 422),
        ("prompts", {"prompt": "x" * 20_000}, 200),
        ("prompts", {}, 422),
        ("feedback", {"memory_id": "x", "value": 1}, 422),
        ("feedback", {"memory_id": str(uuid4()), "value": 1}, 404),
        ("feedback", {"memory_id": str(uuid4()), "value": 1.01}, 422),
        ("feedback", {"memory_id": str(uuid4()), "value": True}, 422),
        ("end", {"transcript": "x" * 400_001}, 422),
        ("end", {"transcript": "x" * 400_000}, 202),
        ("end", {"transcript": ""}, 202),
        ("end", {}, 202),
        ("end", {"extract": True}, 422),
        ("end", {"extract": True, "transcript": "User: hello"}, 202),
        ("end", {"extract": 1}, 422),
        ("end", {"extract": False}, 202),
        ("end", {"transcript": None}, 422),
    ],
)
def test_bodies_of_a_session_are_checked(
    tenant: Tenant, path: str, body: dict[str, Any], status: int
) -> None:
    start(tenant)
    assert tenant.agent.post(f"sessions/s1/{path}", body).status_code == status
    assert tenant.agent.post(f"sessions/s2/{path}", body).status_code in {404, 422}


@pytest.mark.parametrize(
    "key", ["a/b", "/a", "a//b", "ü?&=#%", "prompts", "end", "a b\n", "…", "%2F", "x" * 200]
)
def test_a_key_may_hold_any_character(tenant: Tenant, key: str) -> None:
    commit(tenant, DOG)
    start(tenant, key)
    path = f"sessions/{quote(key, safe='')}"
    assert detail(tenant, key)["session_key"] == key
    assert tenant.agent.post(f"{path}/prompts", {"prompt": "Biscuit, the dog"}).status_code == 200
    assert tenant.agent.post(f"{path}/end", {}).status_code == 202
    assert tenant.admin.delete(path).status_code == 204
    assert tenant.reader.get(path).status_code == 404


def test_calls_sent_again_under_a_key_are_done_once(tenant: Tenant) -> None:
    dog = commit(tenant, DOG)
    again = {"Idempotency-Key": "k1"}
    first = tenant.agent.post("sessions", {"session_key": "s1"}, **again)
    repeat = tenant.agent.post("sessions", {"session_key": "s1"}, **again)
    assert (first.status_code, repeat.status_code) == (201, 201)
    assert repeat.json() == first.json()
    path, body = "sessions/s1/prompts", {"prompt": "Is Biscuit the office dog?"}
    sent = [tenant.agent.post(path, body, **{"Idempotency-Key": "k2"}).json() for _ in range(2)]
    assert sent[0] == sent[1]
    ended = [
        tenant.agent.post("sessions/s1/end", {}, **{"Idempotency-Key": "k3"}) for _ in range(2)
    ]
    assert [answer.status_code for answer in ended] == [202, 202]
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get(pk=dog)
    assert (memory.injected_count, memory.hit_count, memory.recall_count) == (1, 1, 0)


def test_keys_that_no_session_can_have_are_unknown(tenant: Tenant) -> None:
    for key in ("%00", "x" * 201, "%FF", "a%00b/prompts"):
        assert tenant.reader.get(f"sessions/{key}").status_code in {404, 405}


def test_a_feedback_about_another_workspaces_memory_finds_nothing(
    tenant: Tenant, neighbour: Tenant
) -> None:
    theirs = commit(neighbour, DOG)
    start(neighbour)
    start(tenant)
    answer = tenant.agent.post("sessions/s1/feedback", {"memory_id": theirs, "value": 1})
    assert answer.status_code == 404
    assert tenant.agent.post("sessions/s1/end", {}).status_code == 202
    assert detail(neighbour)["state"] == "open"


def test_hidden_memories_show_no_text(tenant: Tenant) -> None:
    dog, cat = commit(tenant, DOG), commit(tenant, CAT)
    start(tenant)
    tenant.agent.post("memories/forget", {"ids": [dog], "confirm": True})
    rows = {row["memory_id"]: row for row in detail(tenant)["records"]}
    assert (rows[dog]["content"], rows[dog]["hidden"]) == (None, True)
    assert (rows[cat]["content"], rows[cat]["hidden"]) == (CAT, False)
    assert [m["id"] for m in start(tenant, status=200)["memories"]] == [cat]


def test_the_list_filters_and_shows_no_texts(tenant: Tenant, neighbour: Tenant) -> None:
    commit(tenant, DOG)
    start(neighbour, "theirs", project="a")
    start(tenant, "one", project="a", context="secret context")
    start(tenant, "two", project="b")
    start(tenant, "three", project="a")
    tenant.agent.post("sessions/one/end", {"transcript": "secret transcript"})
    with in_workspace(tenant.workspace):
        old = timezone.now() - timedelta(days=3)
        Session.objects.filter(session_key="three").update(started_at=old)
    close_idle(tenant.workspace, now=timezone.now())

    def keys(**params: str) -> list[str]:
        answer = tenant.reader.get("sessions", params)
        assert answer.status_code == 200, answer.json()
        assert "secret" not in answer.content.decode()
        return [row["session_key"] for row in answer.json()["results"]]

    assert keys() == ["two", "one", "three"]
    assert keys(project="a") == ["one", "three"]
    assert keys(state="open") == ["two"]
    assert keys(state="ended") == ["one"]
    assert keys(state="abandoned") == ["three"]
    assert keys(since=(timezone.now() - timedelta(days=1)).isoformat()) == ["two", "one"]
    assert tenant.reader.get("sessions", {"state": "odd"}).status_code == 422
    page = tenant.reader.get("sessions", {"limit": 2}).json()
    rest = tenant.reader.get(page["next"]).json()
    assert [r["session_key"] for r in page["results"] + rest["results"]] == ["two", "one", "three"]


def test_one_and_many_sessions_take_as_many_queries(tenant: Tenant) -> None:
    commit(tenant, DOG)
    tenant.reader.get("sessions")

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            tenant.reader.get("sessions")
            tenant.reader.get("sessions/s0")
        return len(captured)

    start(tenant, "s0")
    one = queries()
    for n in range(1, 6):
        commit(tenant, f"Row {n} of the ledger names buyer {n * 7}.")
        start(tenant, f"s{n}")
    assert queries() == one


def test_reading_writes_nothing(tenant: Tenant) -> None:
    """Pitfall 40: a GET changes no row."""
    commit(tenant, DOG)
    start(tenant)
    tenant.reader.get("sessions")
    with CaptureQueriesContext(connection) as captured:
        tenant.reader.get("sessions")
        tenant.reader.get("sessions/s1")
    verbs = {query["sql"].split()[0] for query in captured}
    assert verbs <= {"SELECT", "SAVEPOINT", "RELEASE"}


def test_deleting_takes_records_and_transcript_and_is_told(tenant: Tenant) -> None:
    commit(tenant, DOG)
    start(tenant, context="the dog")
    tenant.agent.post("sessions/s1/end", {"transcript": "Biscuit!"})
    assert tenant.agent.delete("sessions/s1").status_code == 403
    assert tenant.admin.delete("sessions/s1").status_code == 204
    assert tenant.admin.delete("sessions/s1").status_code == 404
    with in_workspace(tenant.workspace):
        assert (Session.objects.count(), SessionCandidate.objects.count()) == (0, 0)
        told = Event.objects.get(type="session.deleted")
    assert (told.data, told.session_key) == ({"records": 1, "prompts": 0, "memories": 0}, "s1")
    assert len(start(tenant)["memories"]) == 1  # the key is free again


def test_memories_of_a_deleted_session_stay_and_name_it_no_more(
    tenant: Tenant, neighbour: Tenant
) -> None:
    for each in (tenant, neighbour):
        start(each)
        assert each.agent.post("memories", {"content": DOG, "session_key": "s1"}).status_code == 201
        # Another key may use the same session key; what it said is not of this session.
        sent = each.reviewer.post("memories", {"content": CAT, "session_key": "s1"})
        assert sent.status_code == 201
    assert tenant.admin.delete("sessions/s1").status_code == 204
    for each, named in ((tenant, {DOG: "", CAT: "s1"}), (neighbour, {DOG: "s1", CAT: "s1"})):
        with in_workspace(each.workspace):
            assert dict(Memory.objects.values_list("content", "session_key")) == named
            assert dict(Observation.objects.values_list("content", "session_key")) == named
    with in_workspace(tenant.workspace):
        assert Event.objects.get(type="session.deleted").data["memories"] == 1


def test_errors_of_a_deleted_session_are_deleted(tenant: Tenant, neighbour: Tenant) -> None:
    for each in (tenant, neighbour):
        start(each)
        with in_workspace(each.workspace):
            for key in ("s1", "s2"):
                StageError.objects.create(stage="judge", code="Timeout", session_key=key, at=NOW)
    assert tenant.admin.delete("sessions/s1").status_code == 204
    for each, left in ((tenant, ["s2"]), (neighbour, ["s1", "s2"])):
        with in_workspace(each.workspace):
            keys = StageError.objects.order_by("session_key")
            assert list(keys.values_list("session_key", flat=True)) == left


def test_answers_about_a_deleted_session_are_gone(tenant: Tenant, neighbour: Tenant) -> None:
    key, other = 'talk/\u2028"ü 100%', "talk/"
    for each in (tenant, neighbour):
        commit(each, DOG)
    path = f"sessions/{quote(key, safe='')}"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("sessions", {"session_key": key}),
        (f"{path}/prompts", {"prompt": "Is Biscuit the office dog?"}),
        (f"{path}/end", {}),
    ]
    noted = ("memories", {"content": CAT, "session_key": key})
    kept = ("sessions", {"session_key": other})

    def send(each: Tenant, call: tuple[str, dict[str, Any]]) -> Any:
        path, body = call
        return each.agent.post(path, body, **{"Idempotency-Key": f"{path}-{len(str(body))}"})

    for each in (tenant, neighbour):
        assert [send(each, call).status_code for call in calls] == [201, 200, 202]
    assert [send(tenant, call).status_code for call in (noted, kept)] == [201, 201]
    assert tenant.admin.delete(path).status_code == 204
    for call in calls:
        refused = send(tenant, call)
        assert (refused.status_code, DOG in refused.content.decode()) == (409, False)
        assert send(neighbour, call).status_code < 300
    assert send(tenant, kept).json()["session_key"] == other
    assert send(tenant, noted).json()["memory"]["content"] == CAT  # it is no part of the session
    assert tenant.reader.get(path).status_code == 404
    again = tenant.agent.post("sessions", {"session_key": key}, **{"Idempotency-Key": "new"})
    assert again.status_code == 201


def test_erasing_a_memory_takes_what_sessions_quote(tenant: Tenant, neighbour: Tenant) -> None:
    """Pitfall 39: no transcript keeps the words, and no record the memory."""
    dog = commit(tenant, DOG)
    start(tenant, "quoting", context=f"I wonder whether {DOG.lower()} is right")
    tenant.agent.post("sessions/quoting/end", {"transcript": f"Agent: {DOG}\nUser: thanks."})
    start(tenant, "other", context="the cat")
    tenant.agent.post("sessions/other/end", {"transcript": "Agent: the office has no dog."})
    commit(neighbour, DOG)
    start(neighbour, "theirs", context=DOG)
    assert tenant.admin.delete(f"memories/{dog}").status_code == 204
    with in_workspace(tenant.workspace):
        quoting, other = Session.objects.order_by("started_at")
        assert (quoting.context, quoting.transcript, quoting.transcript_digest) == ("", "", "")
        assert quoting.context_embedding is None
        assert other.transcript == "Agent: the office has no dog."
        assert other.context == "the cat"
        assert SessionCandidate.objects.count() == 0
    with in_workspace(neighbour.workspace):
        assert Session.objects.get().context == DOG
    # What was erased was said: no other transcript takes its place.
    assert tenant.agent.post("sessions/quoting/end", {"transcript": "Hi."}).status_code == 409


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("Große Grüße aus Straße.", "Große Grüße aus Straße."),
        ("The oﬃce ﬂoor.", "The office floor."),
        ("The office floor.", "The oﬃce ﬂoor."),
        ("Six kits are hidden here.", "\u017fix \u212aits are hidden here."),
    ],
)
def test_erasing_finds_what_folding_makes_one(tenant: Tenant, content: str, quote: str) -> None:
    memory = commit(tenant, content)
    start(tenant, "quoting", context=f"Is it so? {quote}")
    tenant.agent.post("sessions/quoting/end", {"transcript": f"Agent: {quote}"})
    assert tenant.admin.delete(f"memories/{memory}").status_code == 204
    with in_workspace(tenant.workspace):
        session = Session.objects.get()
        assert (session.context, session.transcript) == ("", "")


def test_a_plain_piece_is_in_every_text_that_folds_so() -> None:
    hides = re.compile(HIDING)
    # Planes 4 to 13 hold no character, and 15 and 16 none that has a meaning.
    for code in chain(range(0x80, 0x40000), range(0xE0000, 0xF0000)):
        text = f"abo{chr(code)}itur"
        if hides.search(text):  # every row that holds such a character is read
            continue
        for piece in plain_pieces(normalise_quote(text)):
            assert piece in text, text
    for text in ("It is 5 Mb", "It is 5 mW", "up to 3 mHz", "a 2 kb 1"):
        assert all(piece in text.lower() for piece in plain_pieces(normalise_quote(text))), text
    assert plain_pieces("the monthly vouchers") == ["the", "monthly", "voucher"]


def decide(tenant: Tenant, verdict: str = "dismiss") -> tuple[str, str]:
    """Report two memories as contradicting and answer the card; return it and its question."""
    ids = [commit(tenant, "The fair opens in May."), commit(tenant, "The fair opens in July.")]
    card = tenant.agent.post("conflicts", {"memory_ids": ids})
    assert card.status_code in {200, 201}, card.json()
    body = card.json()
    done = tenant.reviewer.post(f"conflicts/{body['id']}/resolve", {"verdict": verdict})
    assert done.status_code == 200, done.json()
    return body["id"], body["question"]


def test_a_start_tells_what_was_decided_since_the_callers_last(
    tenant: Tenant, neighbour: Tenant
) -> None:
    start(tenant, "first")
    start(neighbour, "theirs")
    card, question = decide(tenant, "yes")
    [standing] = tenant.reader.get("memories").json()["results"]
    outcome = standing["content"]
    told = [{"conflict": card, "question": question, "verdict": "yes", "outcome": outcome}]
    body = start(tenant, "second")
    assert body["decided_since"] == told
    quoted = json.dumps(question, ensure_ascii=False)
    assert body["text"].splitlines()[-2:] == [DECIDED, f'- {quoted}: "{outcome}"']
    assert start(tenant, "second", status=200)["decided_since"] == told
    assert start(tenant, "third")["decided_since"] == []
    assert start(neighbour, "theirs too")["decided_since"] == []
    by_reviewer = tenant.reviewer.post("sessions", {"session_key": "fourth"}).json()
    assert by_reviewer["decided_since"] == []  # the first of that key: nothing is news


def test_a_decision_about_what_was_forgotten_is_not_told(tenant: Tenant) -> None:
    start(tenant, "first")
    card, _ = decide(tenant, "yes")
    with in_workspace(tenant.workspace):
        members = list(Memory.objects.filter(conflict_members__conflict_id=card))
    tenant.reviewer.post("memories/forget", {"ids": [str(members[0].pk)], "confirm": True})
    assert start(tenant, "second")["decided_since"] == []


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


def test_the_same_key_at_once_is_one_session(shared_tenant: Tenant) -> None:
    """Two processes at once: the loser answers what the winner recorded, and counts nothing."""
    dog = UUID(commit(shared_tenant, DOG))
    barrier = Barrier(5)

    def call(number: int) -> tuple[int, Any]:
        barrier.wait()
        try:
            body = {"session_key": "s1", "context": f"the dog, said {number} times"}
            answer = shared_tenant.agent.post("sessions", body)
            return answer.status_code, answer.json()["memories"]
        finally:
            connections.close_all()

    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(call, range(5)))
    assert sorted(status for status, _ in answers) == [200, 200, 200, 200, 201]
    assert all(memories == answers[0][1] for _, memories in answers)
    with in_workspace(shared_tenant.workspace):
        assert Session.objects.count() == SessionCandidate.objects.count() == 1
        assert Memory.objects.get(pk=dog).injected_count == 1


def test_prompts_at_once_are_all_counted(shared_tenant: Tenant) -> None:
    dog = UUID(commit(shared_tenant, DOG))
    start(shared_tenant)
    start(shared_tenant, "s2")
    barrier = Barrier(6)

    def call(number: int) -> int:
        barrier.wait()
        try:
            path = f"sessions/s{1 + number % 2}/prompts"
            text = f"Is Biscuit the office dog of floor {number}?"
            return int(shared_tenant.agent.post(path, {"prompt": text}).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(call, range(6))) == {200}
    with in_workspace(shared_tenant.workspace):
        assert Memory.objects.get(pk=dog).hit_count == 6
        assert sorted(SessionCandidate.objects.values_list("fts_hit_count", flat=True)) == [3, 3]


def test_a_late_end_meets_the_closing_and_loses_nothing(shared_tenant: Tenant) -> None:
    """The sweep closes what an agent is just ending: whoever comes first, its words are kept."""
    keys = [f"s{n}" for n in range(4)]
    for key in keys:
        start(shared_tenant, key)
    barrier = Barrier(5)
    late = timezone.now() + timedelta(days=2)

    def close() -> int:
        return close_idle(shared_tenant.workspace, now=late)

    def call(key: str) -> int:
        barrier.wait()
        try:
            if not key:
                return close()
            body = {"transcript": f"said in {key}"}
            return int(shared_tenant.agent.post(f"sessions/{key}/end", body).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(5) as pool:
        closed, *answers = pool.map(call, ["", *keys])
    assert answers == [202] * 4
    with in_workspace(shared_tenant.workspace):
        found = Session.objects.order_by("session_key")
        told = [(one.state, one.transcript) for one in found]
        assert told == [("ended", f"said in {key}") for key in keys]
        assert Event.objects.filter(type="session.ended").count() == 4
        assert Event.objects.filter(type="session.transcript_taken").count() == closed


def test_ends_at_once_are_one_end(shared_tenant: Tenant) -> None:
    start(shared_tenant)
    barrier = Barrier(5)

    def call(number: int) -> int:
        barrier.wait()
        try:
            body = {"transcript": f"version {number % 2}"}
            return int(shared_tenant.agent.post("sessions/s1/end", body).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(call, range(5)))
    assert set(answers) == {202, 409}
    with in_workspace(shared_tenant.workspace):
        assert Event.objects.filter(type="session.ended").count() == 1
        taken = Session.objects.get().transcript
    assert answers.count(202) == (3 if taken == "version 0" else 2)
