"""Transcripts become memories in the background: jobs, provenance, refusals, races, tenancy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from engram.kernel import job_queue
from engram.kernel.actors import Actor
from engram.kernel.embedding import EmbeddingUnavailableError
from engram.kernel.models import Job, Membership, Role
from engram.kernel.tenancy import in_workspace
from memories import tasks
from memories.core.extraction.describing import Describing
from memories.models import ExtractedQuote, Extraction, ExtractionRefusal, Memory, Session
from memories.services.extraction import run
from memories.services.extraction.queue import queue_transcript
from memories.services.sessions.erase_extracted import erase_extracted
from tests.conftest import Caller, Tenant, issue_agent
from tests.memories.test_session_collisions import wait_until_it_waits
from tests.statements import statements

TALK = """\
User: The staging deploy failed again, can you look?
Agent: The disk is full. I'll clean it up.
User: Thanks. For the record: from now on Mirjam owns the staging cluster, not Ole.
Agent: Noted. Deploys always run from the release branch on Fridays.
User: Deploys always run from the release branch on Fridays, right.
User: I think we could maybe try blue-green some day.
"""
OWNS = "From now on Mirjam owns the staging cluster, not Ole."


def queue(caller: Caller, transcript: str = TALK, **fields: Any) -> str:
    """Queue a transcript; return the job's id."""
    answer = caller.post("memories/extract", {"transcript": transcript, **fields})
    assert answer.status_code == 202, answer.json()
    return str(answer.json()["job"])


def work(tenant: Tenant, *, later: timedelta = timedelta(0)) -> int:
    """Do the due extractions of a workspace."""
    return run.extract_turn(
        tenant.workspace.pk, clock=lambda: timezone.now() + later, seconds=60, may_ask=True
    )


def show(caller: Caller, job: str) -> dict[str, Any]:
    """Return a job."""
    answer = caller.get(f"jobs/{job}")
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def extract(tenant: Tenant, transcript: str = TALK, **fields: Any) -> dict[str, Any]:
    """Extract from a transcript, and return the result."""
    job = queue(tenant.agent, transcript, **fields)
    work(tenant)
    shown = show(tenant.agent, job)
    assert shown["status"] == "done", shown
    result: dict[str, Any] = shown["result"]
    return result


def forget(tenant: Tenant, *ids: str) -> None:
    """Forget memories."""
    body = {"ids": list(ids), "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).status_code == 200


def contents(tenant: Tenant) -> list[str]:
    """Return what the workspace remembers, the oldest first."""
    with in_workspace(tenant.workspace):
        return list(Memory.objects.order_by("created_at", "pk").values_list("content", flat=True))


def test_a_long_transcript_tells_how_far_it_is_read(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[float] = []
    note = job_queue.note_progress

    def listen(job: Job, progress: float, *, now: datetime) -> None:
        told.append(progress)
        note(job, progress, now=now)

    monkeypatch.setattr(job_queue, "note_progress", listen)
    queue(tenant.agent, TALK * 30)
    assert work(tenant) == 1
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.1, 0.8)
    assert 10 <= len(told) <= 20  # a row is written for each


def test_a_job_is_queued_first_and_done_in_the_background(tenant: Tenant) -> None:
    job = queue(tenant.agent, session_key="s7", project="shop", scope="infra")
    shown = show(tenant.agent, job)
    assert (shown["status"], shown["progress"], shown["result"]) == ("queued", 0.0, {})
    assert contents(tenant) == []
    assert work(tenant) == 1
    shown = show(tenant.agent, job)
    assert (shown["status"], shown["progress"]) == ("done", 1.0)
    first = shown["result"]["kept"][0]
    assert (first["fact"], first["outcome"]) == (OWNS, "created")
    memory = tenant.agent.get(f"memories/{first['memory']}").json()
    assert (memory["content"], memory["project"], memory["scope"]) == (OWNS, "shop", "infra")
    assert (memory["session_key"], memory["source"]) == ("s7", "session s7")
    assert (memory["tags"], memory["provenance"]) == (["extracted"], "user_stated")
    with in_workspace(tenant.workspace):
        assert Extraction.objects.get(pk=job).transcript == ""


def test_a_key_gets_no_more_trust_than_it_has(tenant: Tenant) -> None:
    plain = issue_agent(tenant.workspace)
    job = queue(plain)
    work(tenant)
    kept = show(plain, job)["result"]["kept"]
    assert {one["provenance"] for one in kept} == {"assistant_derived"}
    with in_workspace(tenant.workspace):
        assert Memory.objects.exclude(provenance="assistant_derived").count() == 0


def test_what_an_assistant_said_is_not_user_stated(tenant: Tenant) -> None:
    said = extract(tenant, "Agent: Backups stay in Oslo for good.\n"
                   "User: Remember: Backups stay in Oslo for good.\n")["kept"]  # fmt: skip
    assert [one["provenance"] for one in said] == ["assistant_derived"]


@pytest.mark.parametrize(
    ("said", "echo"),
    [
        ("From now on backups stay in Oslo.", "Noted: from now on backups stay in Oslo."),
        ("From now on backups stay in Oslo.", "From now on backups always stay in Oslo."),
        ("Remember: Backups stay in Oslo for good.", "Ok. Backups stay in Oslo for good."),
        ("Backups stay in Oslo.", "Got it, backups stay in Oslo.\nUser: Remember that backups stay"
         " in Oslo."),
    ],
)  # fmt: skip
def test_what_the_user_said_stays_theirs_though_an_assistant_repeats_it(
    tenant: Tenant, said: str, echo: str
) -> None:
    [found] = extract(tenant, f"User: {said}\nAgent: {echo}\n")["kept"]
    assert (found["provenance"], found["speaker"]) == ("user_stated", "User")
    assert found["confidence"] >= 0.9


def test_what_is_pasted_into_a_users_turn_is_not_said_by_them_first(tenant: Tenant) -> None:
    talk = (
        "User: see:\n> Backups stay in Oslo for good.\nAgent: Backups stay in Oslo for good.\n"
        "User: Remember: Backups stay in Oslo for good.\n"
    )
    assert [one["provenance"] for one in extract(tenant, talk)["kept"]] == ["assistant_derived"]


TIMO = "From now on Timo always owns the rye recipe."


@pytest.mark.parametrize(
    ("asks", "says", "agent", "provenance"),
    [
        ("Maya", "Claude", "", "assistant_derived"),
        ("Maya", "Claude", "claude", "assistant_derived"),
        ("Claude", "Maya", "", "assistant_derived"),
        ("Claude", "Maya", "claude", "user_stated"),
        ("User", "Claude", "", "assistant_derived"),
        ("Agent", "Maya", "", "user_stated"),
        ("Claude", "User", "", "user_stated"),
    ],
)
def test_what_a_named_speaker_said_is_the_users_only_where_the_assistant_is_another(
    tenant: Tenant, asks: str, says: str, agent: str, provenance: str
) -> None:
    caller = issue_agent(tenant.workspace, agent=agent, provenance_ceiling="user_stated")
    talk = f"{asks}: Hello there.\n{says}: {TIMO}\n{asks}: I see, thank you.\n{says}: Sure.\n"
    job = queue(caller, talk)
    work(tenant)
    kept = show(caller, job)["result"]["kept"]
    rows = tenant.reviewer.get("memories/extraction-refusals").json()["results"]
    found = {one["fact"]: one["provenance"] for one in [*kept, *rows]}
    assert found[TIMO] == provenance


def test_every_refusal_has_a_reason(tenant: Tenant) -> None:
    result = extract(tenant)
    assert result["refused"]
    assert all(one["reason"] for one in result["refused"])
    listed = tenant.reviewer.get("memories/extraction-refusals").json()["results"]
    assert {one["id"] for one in listed} == {one["id"] for one in result["refused"]}
    assert all(one["why"] for one in listed)
    assert sum(result["reasons"].values()) == len(result["refused"])
    path = "memories/extraction-refusals"
    asked = tenant.reviewer.get(path, {"borderline": "true"}).json()["results"]
    others = tenant.reviewer.get(path, {"borderline": "false"}).json()["results"]
    assert all(one["borderline"] for one in asked)
    assert len(asked) + len(others) == len(listed)
    assert tenant.reviewer.get(path, {"borderline": "maybe"}).status_code == 422


def test_what_is_not_to_be_stored_is_in_no_refusal(tenant: Tenant) -> None:
    talk = "User: Lunch is at the Falcon. Do not store this: my salary is 5013. We eat at noon.\n"
    result = extract(tenant, talk)
    assert result["reasons"]["not_to_be_stored"] == 1
    with in_workspace(tenant.workspace):
        rows = list(ExtractionRefusal.objects.all())
    assert rows
    assert not [row for row in rows if "5013" in f"{row.text}{row.fact}{row.before}{row.after}"]


@pytest.mark.parametrize("known", [OWNS, "From now on Mirjam owns the staging cluster, not Ole!"])
def test_a_known_fact_is_refused_as_known(tenant: Tenant, known: str) -> None:
    tenant.agent.post("memories", {"content": known})
    result = extract(tenant)
    refused = {one["text"]: one["reason"] for one in result["refused"]}
    assert [reason for text, reason in refused.items() if "Mirjam" in text] == ["already_known"]
    assert OWNS not in {one["fact"] for one in result["kept"]}


def test_a_person_is_not_asked_about_what_is_known(tenant: Tenant) -> None:
    extract(tenant)
    again = extract(tenant)
    known = [one for one in again["refused"] if one["reason"] == "already_known"]
    assert known
    assert not any(one["borderline"] for one in known)


def test_a_fact_that_a_memory_says_more_exactly_is_known(tenant: Tenant) -> None:
    known = "The staging database is kept in Frankfurt on three servers."
    tenant.agent.post("memories", {"content": known})
    said = "User: Note that the staging database is kept in Frankfurt.\n"
    assert [one["reason"] for one in extract(tenant, said)["refused"]] == ["already_known"]
    assert contents(tenant) == [known]


def test_a_job_that_died_is_done_by_another_worker(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queue(tenant.agent)
    taken = job_queue.acquire(tenant.workspace, "extraction", timezone.now())
    assert taken is not None  # and its worker is killed
    assert show(tenant.agent, job)["status"] == "running"
    assert work(tenant) == 0
    woken: list[Any] = []
    monkeypatch.setattr(job_queue, "wake", lambda task, *ids: woken.append((task, *ids)))
    job_queue.wake_stalled(timezone.now())
    assert woken == []
    late = timezone.now() + Job.silence + timedelta(seconds=1)
    job_queue.wake_stalled(late)
    assert woken == [("memories.extract", tenant.workspace.pk)]
    assert work(tenant, later=Job.silence + timedelta(seconds=1)) == 1
    assert show(tenant.agent, job)["status"] == "done"
    assert contents(tenant).count(OWNS) == 1


def test_a_worker_that_was_taken_over_commits_nothing(tenant: Tenant) -> None:
    """Both read the transcript; the facts are committed once."""
    job = queue(tenant.agent)
    slow = job_queue.acquire(tenant.workspace, "extraction", timezone.now())
    assert slow is not None
    assert work(tenant, later=Job.silence + timedelta(seconds=1)) == 1
    before = contents(tenant)
    assert not run._do(tenant.workspace, slow, clock=timezone.now, until=monotonic() + 60)
    assert contents(tenant) == before
    assert show(tenant.agent, job)["status"] == "done"


def test_a_second_task_does_nothing(tenant: Tenant) -> None:
    queue(tenant.agent)
    tasks.extract_workspace(str(tenant.workspace.pk))
    before = contents(tenant)
    assert before
    tasks.extract_workspace(str(tenant.workspace.pk))
    tasks.extract_workspace(str(uuid4()))
    assert contents(tenant) == before


def test_a_job_that_fails_is_put_off_and_given_up_at_last(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queue(tenant.agent)

    def fail(*args: Any, **fields: Any) -> Any:
        raise ValueError(TALK)

    monkeypatch.setattr(run, "read_by_rules", fail)
    assert work(tenant) == 0
    assert (show(tenant.agent, job)["status"], show(tenant.agent, job)["error"]) == (
        "queued",
        "ValueError",
    )
    assert work(tenant) == 0  # not yet due again
    for n in range(job_queue.ATTEMPTS_MAX):
        work(tenant, later=timedelta(hours=n + 1))
    assert show(tenant.agent, job)["status"] == "failed"


def test_a_turn_ends_at_its_deadline_though_no_job_ends(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [queue(tenant.agent) for _ in range(3)]
    read = Mock(side_effect=ValueError)
    monkeypatch.setattr(run, "Describing", read)
    woken: list[Any] = []
    monkeypatch.setattr(job_queue, "wake", lambda task, *ids: woken.append((task, *ids)))
    pk = tenant.workspace.pk
    assert run.extract_turn(pk, clock=timezone.now, seconds=0, may_ask=True) == 0
    assert read.call_count == 1
    assert woken == [("memories.extract", pk)]  # for the others
    assert [show(tenant.agent, job)["error"] for job in jobs] == ["ValueError", "", ""]


def test_a_turn_ends_with_an_outage_of_embedding(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [queue(tenant.agent) for _ in range(3)]
    monkeypatch.setattr(run, "read_by_rules", Mock(side_effect=EmbeddingUnavailableError))
    assert work(tenant) == 0
    errors = [show(tenant.agent, job)["error"] for job in jobs]
    assert errors == ["EmbeddingUnavailableError", "", ""]


def test_a_failed_job_keeps_no_transcript_and_the_session_is_extracted_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **fields: Any) -> Any:
        raise ValueError

    tenant.agent.post("sessions", {"session_key": "s1", "context": "staging"})
    end = {"transcript": TALK, "extract": True}
    failed = tenant.agent.post("sessions/s1/end", end).json()["job"]
    with monkeypatch.context() as patched:
        patched.setattr(run, "read_by_rules", fail)
        for n in range(job_queue.ATTEMPTS_MAX + 1):
            work(tenant, later=timedelta(hours=n))
    assert show(tenant.agent, failed)["status"] == "failed"
    with in_workspace(tenant.workspace):
        assert Extraction.objects.get(pk=failed).transcript == ""
    again = tenant.agent.post("sessions/s1/end", end).json()["job"]
    assert again != failed
    assert work(tenant) == 1
    assert show(tenant.agent, again)["result"]["kept"][0]["fact"] == OWNS


def test_the_job_of_a_revoked_key_fails(tenant: Tenant) -> None:
    plain = issue_agent(tenant.workspace, "goes")
    job = queue(plain)
    [key] = [k for k in tenant.admin.get("keys").json()["results"] if k["name"] == "goes"]
    assert tenant.admin.delete(f"keys/{key['id']}").status_code == 204
    work(tenant)
    shown = show(tenant.reviewer, job)
    assert (shown["status"], shown["error"]) == ("failed", job_queue.NO_CALLER)
    assert contents(tenant) == []
    with in_workspace(tenant.workspace):
        assert Extraction.objects.get(pk=job).transcript == ""


def test_jobs_and_refusals_belong_to_their_workspace_and_caller(
    tenant: Tenant, neighbour: Tenant
) -> None:
    job = queue(tenant.agent)
    work(tenant)
    [first, *_] = tenant.reviewer.get("memories/extraction-refusals").json()["results"]
    assert tenant.reviewer.get(f"jobs/{job}").status_code == 200
    assert issue_agent(tenant.workspace).get(f"jobs/{job}").status_code == 404
    assert tenant.reader.get(f"jobs/{job}").status_code == 403
    for caller in (neighbour.agent, neighbour.admin):
        assert caller.get(f"jobs/{job}").status_code == 404
    assert neighbour.admin.get("memories/extraction-refusals").json()["results"] == []
    for verb in ("accept", "reject"):
        path = f"memories/extraction-refusals/{first['id']}/{verb}"
        assert neighbour.admin.post(path).status_code == 404
        assert tenant.agent.post(path).status_code == 403


def test_a_refusal_is_kept_or_left_out_once(tenant: Tenant) -> None:
    extract(tenant)
    first, second, *_ = tenant.reviewer.get("memories/extraction-refusals").json()["results"]
    path = "memories/extraction-refusals"
    kept = tenant.reviewer.post(f"{path}/{first['id']}/accept").json()
    assert (kept["decision"], bool(kept["memory"])) == ("kept", True)
    memory = tenant.agent.get(f"memories/{kept['memory']}").json()
    assert memory["content"] == first["fact"]
    left = tenant.reviewer.post(f"{path}/{second['id']}/reject").json()
    assert (left["decision"], left["memory"]) == ("left_out", None)
    for one in (first, second):
        assert tenant.reviewer.post(f"{path}/{one['id']}/accept").status_code == 409
    assert tenant.reviewer.post(f"{path}/{uuid4()}/accept").status_code == 404
    undecided = tenant.reviewer.get(path, {"decision": "undecided"}).json()["results"]
    assert {first["id"], second["id"]}.isdisjoint(one["id"] for one in undecided)


def test_a_decision_about_a_refusal_is_taken_back(tenant: Tenant) -> None:
    """A memory that keeping has brought back is forgotten again."""
    extract(tenant)
    [first, *_] = tenant.reviewer.get("memories/extraction-refusals").json()["results"]
    committed = tenant.reviewer.post("memories", {"content": first["fact"]}).json()["memory"]["id"]
    tenant.reviewer.post("memories/forget", {"ids": [committed], "confirm": True})
    path = f"memories/extraction-refusals/{first['id']}"
    assert tenant.reviewer.post(f"{path}/undo").status_code == 409
    assert tenant.reviewer.post(f"{path}/accept").json()["memory"] == committed
    undone = tenant.reviewer.post(f"{path}/undo").json()
    assert (undone["decision"], undone["memory"]) == ("undecided", None)
    assert tenant.agent.get(f"memories/{committed}").json()["forgotten_at"] is not None
    refused = tenant.reviewer.post(f"{path}/undo")
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/nothing-to-undo")


def test_a_memory_that_was_said_again_stays_when_the_decision_is_taken_back(
    tenant: Tenant,
) -> None:
    extract(tenant)
    [first, *_] = tenant.reviewer.get("memories/extraction-refusals").json()["results"]
    path = f"memories/extraction-refusals/{first['id']}"
    memory = tenant.reviewer.post(f"{path}/accept").json()["memory"]
    again = tenant.agent.post("memories", {"content": first["fact"]}).json()
    assert (again["outcome"], again["memory"]["id"]) == ("duplicate", memory)
    assert tenant.reviewer.post(f"{path}/undo").json()["decision"] == "undecided"
    assert tenant.agent.get(f"memories/{memory}").json()["forgotten_at"] is None


def test_what_others_say_is_not_stated_by_the_user(tenant: Tenant) -> None:
    talk = (
        "User: hi\nAgent: Hello.\nPriya: From now on Bo always owns payroll, not Ole.\n"
        "User: Remember that.\nPriya: Please remember that the ramp is shut.\nAgent: Fine.\n"
        "Priya: ok then\nUser: Remember that the lift is new.\n"
        "User: Keep my rent off the record. My rent is always 900.\n"
    )
    result = extract(tenant, talk)
    by_fact = {one["fact"]: one["provenance"] for one in result["kept"]}
    assert by_fact == {
        "From now on Bo always owns payroll, not Ole.": "assistant_derived",
        "The lift is new.": "user_stated",
    }
    rows = tenant.reviewer.get("memories/extraction-refusals").json()["results"]
    shown = " ".join(row[name] for row in rows for name in ("text", "fact", "before", "after"))
    assert "rent" not in shown


def test_what_a_reviewer_keeps_has_the_class_of_who_said_it(tenant: Tenant) -> None:
    """Though the key of the job may not claim it, the person who keeps it may."""
    talk = "User: The pump is in the shed by house 4.\nAgent: The log says it ran for hours.\n"
    queue(issue_agent(tenant.workspace), talk)
    work(tenant)
    path = "memories/extraction-refusals"
    rows = tenant.reviewer.get(path, {"decision": "undecided"}).json()["results"]
    by_speaker = {row["speaker"]: row for row in rows}
    for speaker, provenance in (("User", "user_stated"), ("Agent", "assistant_derived")):
        kept = tenant.reviewer.post(f"{path}/{by_speaker[speaker]['id']}/accept").json()
        memory = tenant.agent.get(f"memories/{kept['memory']}").json()
        assert memory["provenance"] == provenance


def test_a_forgotten_fact_is_gone_from_its_job_and_its_refusal(tenant: Tenant) -> None:
    job = queue(tenant.agent)
    work(tenant)
    path = "memories/extraction-refusals"
    [first, *_] = tenant.reviewer.get(path).json()["results"]
    kept = tenant.reviewer.post(f"{path}/{first['id']}/accept").json()["memory"]
    [fact, *_] = show(tenant.agent, job)["result"]["kept"]
    body = {"ids": [fact["memory"], kept], "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).status_code == 200
    [left, *_] = show(tenant.agent, job)["result"]["kept"]
    assert left.keys() == fact.keys() - {"fact", "quote"}
    [row] = [r for r in tenant.reviewer.get(path).json()["results"] if r["id"] == first["id"]]
    assert (row["text"], row["fact"], row["memory"]) == ("", "", kept)


def test_neighbours_of_a_forgotten_fact_do_not_show_it(tenant: Tenant) -> None:
    job = queue(tenant.agent)
    work(tenant)
    path = "memories/extraction-refusals"
    [first, *_] = tenant.reviewer.get(path).json()["results"]
    kept = tenant.reviewer.post(f"{path}/{first['id']}/accept").json()["memory"]
    [fact, *_] = show(tenant.agent, job)["result"]["kept"]
    assert fact["quote"] in str(tenant.reviewer.get(path).json())
    forget(tenant, fact["memory"], kept)
    result = show(tenant.agent, job)["result"]
    assert not any(first["text"] == one.get("text") for one in result["refused"])
    assert fact["quote"] not in str([result, tenant.reviewer.get(path).json()])
    one = tenant.reviewer.post(f"{path}/{result['refused'][-1]['id']}/reject").json()
    assert fact["quote"] not in str(one)


def test_a_known_fact_is_not_shown_once_its_memory_is_forgotten(tenant: Tenant) -> None:
    known = tenant.agent.post("memories", {"content": OWNS}).json()["memory"]["id"]
    job = queue(tenant.agent)
    work(tenant)
    path = "memories/extraction-refusals"
    assert "Mirjam" in str(show(tenant.agent, job)["result"])
    forget(tenant, known)
    assert "Mirjam" not in str(show(tenant.agent, job)["result"])
    assert "Mirjam" not in str(tenant.reviewer.get(path).json())


def test_a_suppressed_fact_is_not_shown(tenant: Tenant) -> None:
    forget(tenant, tenant.agent.post("memories", {"content": OWNS}).json()["memory"]["id"])
    result = extract(tenant)
    assert "suppressed" in [one["outcome"] for one in result["kept"]]
    assert "Mirjam" not in str(result)
    assert "Mirjam" not in str(tenant.reviewer.get("memories/extraction-refusals").json())


def test_refusals_take_as_many_queries_for_one_as_for_many(tenant: Tenant) -> None:
    path = "memories/extraction-refusals"

    def listed() -> tuple[int, int]:
        with statements() as sent:
            found = tenant.reviewer.get(path).json()["results"]
        return len(found), len(sent)

    extract(tenant, "User: I had tea.\nUser: Remember that the pool opens at nine.\n")
    one = listed()
    extract(tenant)
    many = listed()
    assert one[0] == 1
    assert many[0] > 3
    assert one[1] == many[1]


CANARY = "Von nun an heißt der Kanarienvogel Zaunkönig-77"


def leftovers(tenant: Tenant, text: str) -> list[str]:
    """Return the rows of extraction that hold a text."""
    with in_workspace(tenant.workspace):
        rows: list[Any] = [
            *Extraction.objects.values_list("transcript", flat=True),
            *ExtractionRefusal.objects.values_list("text", "fact", "before", "after"),
            *Job.objects.values_list("result", flat=True),
        ]
        rows += ExtractedQuote.objects.values_list("text", flat=True)
    return [str(row) for row in rows if text in str(row)]


@pytest.fixture
def told(tenant: Tenant) -> dict[str, Any]:
    """Extract a fact about "I", which is stored in other words than it was said in."""
    talk = (
        f"User: Remember that I always say: {CANARY}.\nAgent: Why would that be, I wonder?\n"
        "User: No idea, it is what it is.\n"
    )
    tenant.agent.post("sessions", {"session_key": "s1", "context": "birds"})
    ended = tenant.agent.post("sessions/s1/end", {"transcript": talk, "extract": True})
    assert ended.status_code == 202, ended.json()
    again = tenant.agent.post("sessions/s1/end", {"transcript": talk, "extract": True})
    assert again.json() == ended.json()
    assert work(tenant) == 1
    result: dict[str, Any] = show(tenant.agent, ended.json()["job"])["result"]
    assert CANARY in result["kept"][0]["quote"]
    assert len(leftovers(tenant, CANARY)) > 1
    queue(tenant.agent, talk)  # waits
    return result


def test_an_erased_memory_is_gone_from_jobs_refusals_and_transcripts(
    tenant: Tenant, told: dict[str, Any]
) -> None:
    assert tenant.admin.delete(f"memories/{told['kept'][0]['memory']}").status_code == 204
    assert leftovers(tenant, CANARY) == []
    with in_workspace(tenant.workspace):
        assert CANARY not in Session.objects.get().transcript
    work(tenant)
    assert [text for text in contents(tenant) if CANARY in text] == []


@pytest.mark.django_db(transaction=True)
def test_of_two_erasures_at_once_neither_brings_the_others_text_back(tenant: Tenant) -> None:
    talk = (
        "User: Remember that the harbour gate code lives with Ole Bakken.\nAgent: Yes.\n"
        "User: Fine.\nAgent: Yes.\nUser: Remember that Mirjam owns the cluster in Tromso.\n"
    )
    first, second = extract(tenant, talk)["kept"]

    def erase(entry: dict[str, Any]) -> None:
        with in_workspace(tenant.workspace):
            erase_extracted(lambda value: entry["quote"] in str(value), [""])

    def erase_alone() -> None:
        try:
            erase(second)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with in_workspace(tenant.workspace):
            erase(first)
            doing = pool.submit(erase_alone)
            wait_until_it_waits(doing)
        doing.result()
    for entry in (first, second):
        assert leftovers(tenant, entry["quote"]) == []


def test_a_deleted_session_takes_its_texts_along(tenant: Tenant, told: dict[str, Any]) -> None:
    with in_workspace(tenant.workspace):
        Extraction.objects.filter(session_key="").update(transcript="", session_key="")
    assert tenant.admin.delete("sessions/s1").status_code == 204
    assert leftovers(tenant, CANARY) == []


def test_what_is_erased_while_it_is_read_is_not_written(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue(tenant.agent)
    read = run.read_by_rules

    def read_late(describing: Describing, **fields: Any) -> Any:
        found = read(describing, **fields)
        with in_workspace(tenant.workspace):
            Extraction.objects.update(transcript="")
        return found

    monkeypatch.setattr(run, "read_by_rules", read_late)
    assert work(tenant) == 0
    assert contents(tenant) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"transcript": ""}, 422),
        ({"transcript": " \n"}, 422),
        ({"transcript": 7}, 422),
        ({"transcript": "x" * 400_001}, 422),
        ({"transcript": "User: hi\x00"}, 400),
        ({"transcript": "User: hi", "session_key": "k" * 201}, 422),
        ({"transcript": "User: hi", "unknown": 1}, 422),
        ({"transcript": "x" * 400_000}, 202),
        ({"transcript": "\u2603" * 10 + "\x07\x1b[31m"}, 202),
        ({"transcript": "Zork: blip\nQuux: blop"}, 202),
    ],
)
def test_bad_transcripts_are_refused_or_read_as_they_are(
    tenant: Tenant, body: dict[str, Any], status: int
) -> None:
    answer = tenant.agent.post("memories/extract", body)
    assert answer.status_code == status, answer.content[:300]
    if status == 202:
        work(tenant)
        assert show(tenant.agent, answer.json()["job"])["status"] == "done"


def test_who_switches_extraction_off_gets_none(tenant: Tenant) -> None:
    tenant.workspace.settings = {"extraction_enabled": False}
    tenant.workspace.save()
    answer = tenant.agent.post("memories/extract", {"transcript": TALK})
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/extraction-off")
    tenant.agent.post("sessions", {"session_key": "s1"})
    ended = tenant.agent.post("sessions/s1/end", {"transcript": TALK, "extract": True})
    assert ended.status_code == 409
    assert tenant.agent.get("sessions/s1").json()["state"] == "open"


def test_a_session_without_a_transcript_cannot_be_extracted(tenant: Tenant) -> None:
    tenant.agent.post("sessions", {"session_key": "s1"})
    assert tenant.agent.post("sessions/s1/end", {"extract": True}).status_code == 422


@pytest.mark.parametrize("secret", ["AKIAIOSFODNN7EXAMPLQ", "531-08-2467", "4929 1063 7218 5541"])
def test_a_credential_is_neither_kept_nor_listed(tenant: Tenant, secret: str) -> None:
    result = extract(tenant, f"User: Remember: the key of the bucket is {secret} from now on.\n")
    assert result["kept"] == []
    assert secret not in str(result)


def test_old_jobs_are_dropped_with_their_refusals(tenant: Tenant) -> None:
    extract(tenant)
    with in_workspace(tenant.workspace):
        Job.objects.update(finished_at=timezone.now() - job_queue.KEPT_FOR)
    assert job_queue.drop_old(tenant.workspace, now=timezone.now()) == 1
    with in_workspace(tenant.workspace):
        assert ExtractionRefusal.objects.count() == 0
        assert Memory.objects.count() > 0


def test_a_member_may_ask_and_is_asked_again_for_the_role(tenant: Tenant) -> None:
    """A person's job runs with the role that the person has by then."""
    person = User.objects.create_user("ines", is_staff=True)
    member = Membership.objects.create(workspace=tenant.workspace, user=person, role=Role.AGENT)
    asked = Actor(kind="user", id=str(person.pk), label="ines", role=Role.AGENT)
    queue_transcript(tenant.workspace, TALK, actor=asked, now=timezone.now())
    work(tenant)
    assert OWNS in contents(tenant)
    job = queue_transcript(tenant.workspace, TALK, actor=asked, now=timezone.now())
    member.role = Role.READER
    member.save()
    work(tenant)
    assert show(tenant.reviewer, str(job.id))["error"] == job_queue.NO_CALLER
