"""What an agent says at its session's end: taken once, limited to what it was given, forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.core.briefing import AT_END
from memories.models import PredictionError, ReportItem, Session, SessionReport
from memories.services.sessions.end import note_judged
from memories.services.sessions.uses import times_of_use
from tests.conftest import NOW, Tenant, issue_agent

DOG = "The office dog is called Biscuit."
CAT = "The office cat is called Crumb."
CANARY = "zyzzyvaquux"


@pytest.fixture(autouse=True)
def everything_is_given(tenant: Tenant, settings: Any) -> None:
    """Inject also what is not relevant to a session's context, without a learned ranker."""
    settings.ENGRAM_SESSION_RANKER = ""
    tenant.workspace.settings = {"session_min_relevance": 0}
    tenant.workspace.save()


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    found: str = answer.json()["memory"]["id"]
    return found


def start(tenant: Tenant, key: str = "s1", **fields: Any) -> Any:
    answer = tenant.agent.post("sessions", {"session_key": key, "context": "pets", **fields})
    assert answer.status_code == 201, answer.json()
    return answer.json()


def end(tenant: Tenant, key: str = "s1", **body: Any) -> Any:
    return tenant.agent.post(f"sessions/{key}/end", body)


def reported(tenant: Tenant, key: str = "s1") -> Any:
    return tenant.reader.get(f"sessions/{key}").json()["report"]


def errors(tenant: Tenant) -> list[PredictionError]:
    with in_workspace(tenant.workspace):
        return list(PredictionError.objects.order_by("detected_at", "pk"))


def count(tenant: Tenant) -> tuple[int, int]:
    with in_workspace(tenant.workspace):
        return SessionReport.objects.count(), ReportItem.objects.count()


def test_a_start_says_what_the_end_takes(tenant: Tenant) -> None:
    told = start(tenant)["at_end"]
    assert told == AT_END
    assert "\n" not in told
    assert all(f"`{name}`" in told for name in ("used", "wrong", "missing"))


def test_a_report_is_stored_shown_and_told(tenant: Tenant, neighbour: Tenant) -> None:
    dog, cat = commit(tenant, DOG), commit(tenant, CAT)
    start(tenant)
    said: dict[str, Any] = {
        "used": {dog: 0.8, cat: 0},
        "wrong": [{"memory": cat, "reason": "It is called Soot by now."}],
        "missing": ["Who feeds the dog on Sundays?", "password: hunter2secret"],
    }
    assert end(tenant, **said).status_code == 202
    shown = reported(tenant)
    assert shown["used"] == {dog: 0.8, cat: 0.0}
    assert shown["wrong"] == said["wrong"]
    assert shown["missing"][0] == "Who feeds the dog on Sundays?"
    assert "hunter2secret" not in str(shown)
    with in_workspace(tenant.workspace):
        event = Event.objects.get(type="session.reported")
        assert event.data == {"used": 2, "wrong": 1, "missing": 2}
    # The wrong one waits for a person, and nothing else has changed.
    [error] = errors(tenant)
    assert (error.error_type, error.source, error.weight) == ("memory_external_signal", "agent", 1)
    assert error.context["evidence"] == {"reason": "It is called Soot by now.", "session": "s1"}
    assert str(error.memory_id) == cat
    assert tenant.agent.get(f"memories/{cat}").json()["state"] == "active"
    # Counted once for what was of use; the same report again changes nothing.
    assert end(tenant, **said).status_code == 202
    assert [tenant.agent.get(f"memories/{one}").json()["used_count"] for one in (dog, cat)] == [
        1,
        0,
    ]
    assert neighbour.reader.get("session-reports").json()["results"] == []
    start(tenant, "s2")
    assert end(tenant, "s2").status_code == 202
    assert reported(tenant, "s2") is None


def test_a_session_counts_a_memory_of_use_once_by_feedback_or_report(tenant: Tenant) -> None:
    dog = commit(tenant, DOG)
    start(tenant)

    def rate(value: float, key: str = "s1") -> None:
        body = {"memory_id": dog, "value": value}
        assert tenant.agent.post(f"sessions/{key}/feedback", body).status_code == 200

    def used() -> Any:
        return tenant.agent.get(f"memories/{dog}").json()["used_count"]

    counts = []
    for value in (-1, 0.5, 1, 0, 1):
        rate(value)
        counts.append(used())
    assert counts == [0, 1, 1, 0, 1]
    assert end(tenant, used={dog: 0.8}).status_code == 202
    assert used() == 1  # its feedback counted already
    start(tenant, "s2")
    assert end(tenant, "s2", used={dog: 0.8}).status_code == 202
    assert used() == 2
    rate(1, "s2")
    assert used() == 2
    rate(-1, "s2")  # feedback has the last word
    assert used() == 1
    with in_workspace(tenant.workspace):
        assert times_of_use([UUID(dog)]) == {UUID(dog): 1}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"used": []}, "used"),
        ({"used": {"x": 1}}, "used"),
        ({"used": {str(UUID(int=1)): 1.01}}, "used"),
        ({"used": {str(UUID(int=1)): -0.01}}, "used"),
        ({"used": {str(UUID(int=1)): True}}, "used"),
        ({"used": {str(UUID(int=1)): None}}, "used"),
        ({"used": {str(UUID(int=10)): 1, str(UUID(int=10)).upper(): 0}}, "used"),
        ({"used": {str(uuid4()): 1 for _ in range(201)}}, "used"),
        ({"used": {str(UUID(int=1)): 1}}, "used"),
        ({"wrong": {}}, "wrong"),
        ({"wrong": [str(UUID(int=1))]}, "wrong.0"),
        ({"wrong": [{"memory": "x"}]}, "wrong.0.memory"),
        ({"wrong": [{"reason": "old"}]}, "wrong.0.memory"),
        ({"wrong": [{"memory": str(UUID(int=1)), "reason": "x" * 301}]}, "wrong.0.reason"),
        ({"wrong": [{"memory": str(UUID(int=1))}] * 2}, "wrong"),
        ({"wrong": [{"memory": str(uuid4())} for _ in range(51)]}, "wrong"),
        ({"wrong": [{"memory": str(UUID(int=1))}]}, "wrong"),
        ({"missing": "a"}, "missing"),
        ({"missing": [""]}, "missing.0"),
        ({"missing": ["x" * 301]}, "missing.0"),
        ({"missing": ["x"] * 21}, "missing"),
        ({"missing": [7]}, "missing.0"),
    ],
)
def test_what_makes_no_sense_ends_nothing(tenant: Tenant, body: dict[str, Any], field: str) -> None:
    start(tenant)
    answer = end(tenant, transcript="We talked.", **body)
    assert answer.status_code == 422, answer.json()
    assert [error["field"].rstrip(".") for error in answer.json()["errors"]] == [field]
    assert answer["Content-Type"] == "application/problem+json"
    with in_workspace(tenant.workspace):
        session = Session.objects.get()
        assert (session.ended_at, session.transcript) == (None, "")
    assert count(tenant) == (0, 0)


def test_only_what_the_session_was_given_may_be_named(tenant: Tenant, neighbour: Tenant) -> None:
    dog, gone = commit(tenant, DOG), commit(tenant, CAT)
    start(tenant)
    later = commit(tenant, "The printer stands in the hall.")
    theirs = commit(neighbour, DOG)
    assert tenant.agent.post("memories/forget", {"ids": [gone], "confirm": True}).status_code == 200
    for other in (gone, later, theirs, str(uuid4())):
        for body in (
            {"used": {dog: 1, other: 0.5}},
            {"wrong": [{"memory": dog}, {"memory": other}]},
            {"used": {dog: 1}, "wrong": [{"memory": other}], "missing": ["a"]},
        ):
            answer = end(tenant, transcript="We talked.", **body)
            assert answer.status_code == 422
            [error] = answer.json()["errors"]
            assert other in error["message"]
            assert dog not in error["message"]
    assert count(tenant) == (0, 0)
    assert errors(tenant) == []
    assert tenant.reader.get("sessions/s1").json()["state"] == "open"
    # What a prompt brings up is given, too.
    tenant.agent.post("sessions/s1/prompts", {"prompt": "Where does the printer stand?"})
    assert end(tenant, used={dog: 1, later: 0.5}).status_code == 202


def test_a_report_is_taken_once(tenant: Tenant) -> None:
    dog, cat = commit(tenant, DOG), commit(tenant, CAT)
    start(tenant)
    said: dict[str, Any] = {
        "used": {dog: 1, cat: 0},
        "wrong": [{"memory": cat, "reason": "no"}],
        "missing": ["a"],
    }
    first = end(tenant, transcript="We talked.", **said)
    same: list[dict[str, Any]] = [
        {"transcript": "We talked.", **said},
        {"transcript": "We talked.", **said, "used": {cat: 0, dog: 1}},
        said,  # the transcript was sent before
        {"transcript": "We talked."},
    ]
    for body in same:
        again = end(tenant, **body)
        assert (again.status_code, again.json()) == (202, first.json())
    others: list[dict[str, Any]] = [
        {**said, "used": {dog: 0.9, cat: 0}},
        {**said, "missing": ["b"]},
        {"missing": ["a"]},
        {"transcript": "Another.", **said},
    ]
    for body in others:
        refused = end(tenant, **body)
        assert refused.status_code == 409
        assert refused.json()["type"].endswith("/problems/session-ended-otherwise")
    assert count(tenant) == (1, 4)
    assert [error.occurrences for error in errors(tenant)] == [1]


def test_a_report_may_follow_until_the_session_is_judged(tenant: Tenant) -> None:
    dog = commit(tenant, DOG)
    start(tenant)
    first = end(tenant, transcript="We talked.")
    assert end(tenant, used={dog: 1}).json() == first.json()
    assert reported(tenant)["used"] == {dog: 1.0}
    start(tenant, "s2")
    end(tenant, "s2", used={dog: 1})
    assert end(tenant, "s2", transcript="We talked.").status_code == 202
    assert tenant.reader.get("sessions/s2").json()["transcript_chars"] == 10
    start(tenant, "s3")
    end(tenant, "s3")
    with in_workspace(tenant.workspace):
        note_judged(Session.objects.get(session_key="s3"), NOW)
    late = end(tenant, "s3", used={dog: 1})
    assert late.status_code == 409
    assert late.json()["type"].endswith("/problems/session-judged")


def test_only_the_key_that_started_a_session_reports(tenant: Tenant) -> None:
    dog = commit(tenant, DOG)
    start(tenant)
    stranger = issue_agent(tenant.workspace, "stranger")
    for other in (stranger, tenant.reviewer, tenant.admin):
        refused = other.post("sessions/s1/end", {"used": {dog: 1}})
        assert refused.status_code == 403
        assert refused.json()["type"].endswith("/problems/session-of-another-key")
    assert count(tenant) == (0, 0)
    assert tenant.reviewer.post("sessions/s1/end", {"transcript": "Bye."}).status_code == 202


def test_a_memory_that_the_session_replaced_may_be_named_and_asks_nobody(tenant: Tenant) -> None:
    dog = commit(tenant, DOG)
    start(tenant)
    commit(tenant, "The office dog is called Rex.", supersedes=dog, session_key="s1")
    assert end(tenant, used={dog: 0.9}, wrong=[{"memory": dog, "reason": "x"}]).status_code == 202
    assert errors(tenant) == []
    other = commit(tenant, CAT)
    start(tenant, "s2")
    commit(tenant, "The office cat is called Soot.", supersedes=other, session_key="elsewhere")
    assert end(tenant, "s2", used={other: 0.9}).status_code == 422


def test_reports_of_several_sessions_about_one_memory_are_one_question(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    dog = commit(tenant, DOG)
    for key, reason in (("s1", "It is called Rex."), ("s2", "<b>Rex</b>, since May.")):
        start(tenant, key)
        end(tenant, key, wrong=[{"memory": dog, "reason": reason}])
    [error] = errors(tenant)
    assert error.occurrences == 2
    assert error.context["evidence"]["reason"] == "<b>Rex</b>, since May."
    card = f"/console/inbox/?item=drift:{error.pk}"
    html = member("reviewer").get(card).content.decode()
    assert "&lt;b&gt;Rex&lt;/b&gt;, since May." in html
    assert "<b>Rex</b>" not in html
    answered = tenant.reviewer.post(
        f"prediction-errors/{error.pk}/resolve", {"action": "still_true"}
    )
    assert answered.status_code == 200
    assert [row["reason"] for row in reported(tenant, "s1")["wrong"]] == ["It is called Rex."]


def test_what_was_missing_is_listed_and_found(tenant: Tenant, neighbour: Tenant) -> None:
    dog = commit(tenant, DOG)
    for n in range(3):
        start(tenant, f"s{n}", project="kennel" if n else "")
        wrong = [{"memory": dog, "reason": f"wrong {n}"}]
        end(tenant, f"s{n}", wrong=wrong, missing=[f"gap {n}", f"The vet's number, {n}"])
    start(neighbour, "theirs")
    end(neighbour, "theirs", missing=["gap of others"])

    def texts(query: str = "") -> list[str]:
        return [
            row["text"] for row in tenant.reader.get(f"session-reports{query}").json()["results"]
        ]

    assert len(texts()) == 9
    assert len(texts("?kind=missing")) == 6
    assert sorted(texts("?kind=missing&q=VET%27S")) == [f"The vet's number, {n}" for n in range(3)]
    assert texts("?q=gap&session_key=s1") == ["gap 1"]
    assert len(texts("?project=kennel")) == 6
    assert len(texts(f"?memory_id={dog}")) == 3
    assert texts("?q=100%25") == []
    assert tenant.reader.get("session-reports?kind=used").status_code == 422
    pages, path = [], "session-reports?limit=4"
    while path:
        page = tenant.reader.get(path).json()
        pages.append([row["id"] for row in page["results"]])
        path = page["next"] and page["next"].partition("/api/v1/")[2]
    assert [len(page) for page in pages] == [4, 4, 1]
    assert len({one for page in pages for one in page}) == 9
    [row] = tenant.reader.get("session-reports?q=wrong%201").json()["results"]
    assert row.items() >= {
        "kind": "wrong", "memory_id": dog, "session_key": "s1", "project": "kennel",
    }.items()  # fmt: skip


def test_listing_takes_as_many_queries_for_many_rows(tenant: Tenant) -> None:
    start(tenant)
    end(tenant, missing=["one"])

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            assert tenant.reader.get("session-reports").status_code == 200
        return len(seen)

    queries()  # sign-in caches
    few = queries()
    for n in range(5):
        start(tenant, f"t{n}")
        end(tenant, f"t{n}", missing=[f"{n} {m}" for m in range(20)])
    assert queries() == few


def test_a_forgotten_memory_withholds_what_was_said_of_it(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    statement = f"The vault word of the tower is {CANARY}."
    memory, dog = commit(tenant, statement), commit(tenant, DOG)
    start(tenant)
    wrong = [{"memory": memory, "reason": f"{CANARY} has changed"}, {"memory": dog, "reason": "no"}]
    end(tenant, wrong=wrong, missing=[statement, "Who has the key?"])
    with in_workspace(tenant.workspace):
        page = f"/admin/memories/session/{Session.objects.get().pk}/change/"

    def told(caller: Any) -> str:
        paths = ["session-reports", "sessions/s1", f"session-reports?q={CANARY}"]
        return "".join(caller.get(path).content.decode() for path in paths)

    person = member("admin")

    def pages() -> str:
        found = [person.get("/admin/memories/reportitem/"), person.get(page)]
        assert [answer.status_code for answer in found] == [200, 200]
        return "".join(answer.content.decode() for answer in found)

    assert told(tenant.admin).count(CANARY) >= 5
    assert CANARY in pages()
    tenant.agent.post("memories/forget", {"ids": [memory], "confirm": True})
    for role in ("reader", "agent", "reviewer", "admin"):
        assert CANARY not in told(tenant.caller(role))
    assert tenant.admin.get(f"session-reports?q={CANARY}").json()["results"] == []
    shown = reported(tenant)
    assert [row["reason"] for row in shown["wrong"]] == [None, "no"]
    assert shown["missing"] == [None, "Who has the key?"]
    assert CANARY not in pages()
    tenant.agent.post("memories/restore", {"ids": [memory]})
    assert reported(tenant)["missing"][0] == statement


def test_an_erased_memory_leaves_nothing_in_reports(tenant: Tenant, neighbour: Tenant) -> None:
    statement = f"The vault word of the tower is {CANARY}."
    memory, dog = commit(tenant, statement), commit(tenant, DOG)
    start(tenant)
    quote = f"I read: {statement.lower()}"
    said: dict[str, Any] = {
        "used": {memory: 1, dog: 0.5},
        "wrong": [{"memory": memory, "reason": "old"}, {"memory": dog, "reason": quote}],
        "missing": [quote, "Who has the key?"],
    }
    end(tenant, **said)
    start(tenant, "other")
    end(tenant, "other", missing=["Who has the key?"])
    start(neighbour, "theirs")
    end(neighbour, "theirs", missing=[quote])
    assert tenant.admin.delete(f"memories/{memory}").status_code == 204
    with in_workspace(tenant.workspace):
        rows = [str(list(model.objects.values())) for model in (ReportItem, PredictionError)]
        assert CANARY not in "".join(rows)
        assert memory not in "".join(rows)
        digests = dict(SessionReport.objects.values_list("session__session_key", "digest"))
        assert digests["s1"] == ""
        assert digests["other"]
    shown = reported(tenant)
    assert shown["used"] == {dog: 0.5}
    assert shown["wrong"] == [{"memory": dog, "reason": ""}]
    assert shown["missing"] == ["Who has the key?"]
    with in_workspace(neighbour.workspace):
        assert ReportItem.objects.get().text == quote
    # What was erased was said: no report takes its place.
    assert end(tenant, missing=[quote]).status_code == 409


def test_a_deleted_session_takes_its_report_and_its_reasons(tenant: Tenant) -> None:
    dog, cat = commit(tenant, DOG), commit(tenant, CAT)
    for key, memory in (("s1", dog), ("s2", cat)):
        start(tenant, key)
        end(tenant, key, wrong=[{"memory": memory, "reason": f"{CANARY} {key}"}], missing=[CANARY])
    assert tenant.admin.delete("sessions/s1").status_code == 204
    assert count(tenant) == (1, 2)
    reasons = {str(error.memory_id): error.context["evidence"] for error in errors(tenant)}
    assert reasons == {dog: {}, cat: {"reason": f"{CANARY} s2", "session": "s2"}}
    [author] = {tuple(error.context["by"]) for error in errors(tenant)}
    assert len(author) == 1  # whose signals they are, with and without reasons
    assert len(tenant.reader.get("session-reports?kind=missing").json()["results"]) == 1


def test_a_report_keeps_what_was_wrong_where_too_many_signals_wait(tenant: Tenant) -> None:
    dog, cat = commit(tenant, DOG), commit(tenant, CAT)
    tenant.workspace.settings = {**tenant.workspace.settings, "undecided_cards_per_key": 1}
    tenant.workspace.save()
    for key in ("s1", "s2"):
        start(tenant, key)
        wrong = [{"memory": one, "reason": f"not in {key}"} for one in (dog, cat)]
        assert end(tenant, key, transcript="User: hi", wrong=wrong).status_code == 202
        assert len(reported(tenant, key)["wrong"]) == 2
    [waiting] = errors(tenant)
    assert (waiting.occurrences, waiting.context["evidence"]["session"]) == (2, "s2")
