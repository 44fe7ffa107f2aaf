"""A long transcript is read in turns: others are served meanwhile, and nothing is read twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from engram.kernel import job_queue
from engram.kernel.tenancy import in_workspace
from memories.core.extraction import describing as module
from memories.core.extraction.describing import Describing
from memories.core.extraction.extract import extract, extract_from
from memories.models import Extraction
from memories.services.extraction import run
from tests.conftest import Tenant, build_tenant
from tests.memories.test_extraction_jobs import OWNS, TALK, contents, queue, show
from tests.memories.test_killed_extraction import written

SESSIONS = Path(__file__).parents[2] / "benchmarks" / "extraction" / "transcripts.jsonl"
TRANSCRIPTS = [json.loads(line)["transcript"] for line in SESSIONS.read_text().splitlines()[:12]]
MIXED = (
    "User: We ship on Mondays.\nUser: No, on Tuesdays, sorry.\nAgent: Noted.\nUser: Remember:\n"
    "- Bo owns payroll\n- the gate is at é 7\nUser: Off the record, Bo is ill.\n```\nls -l\n```\n"
    "User: Forget that about the gate.\nUser: Is Bo paid? Remember to breathe.\n"
)


@pytest.mark.parametrize("transcript", [*TRANSCRIPTS, TALK, MIXED, "", " \n"])
def test_what_is_described_in_turns_is_what_is_described_at_once(transcript: str) -> None:
    stored, parts = None, 0
    while (part := Describing(transcript, stored=stored)).go_on():
        for _ in range(6):
            part.go_on()
        stored, parts = json.loads(json.dumps(part.store())), parts + 1
    whole = Describing(transcript)
    assert part.describe_all() == whole.describe_all()
    assert extract_from(part) == extract(transcript)
    assert parts > 0 or not transcript.strip()


@pytest.mark.parametrize("other", [(TALK + "User: no", ""), (TALK, "Agent")])
def test_what_is_stored_of_another_reading_is_left_aside(other: tuple[str, str]) -> None:
    stored = Describing(*other).store()
    assert Describing(TALK, stored=stored).describe_all() == Describing(TALK).describe_all()
    old = {**Describing(TALK).store(), "form": [0]}
    assert Describing(TALK, stored=old).describe_all() == Describing(TALK).describe_all()


def turn(tenant: Tenant) -> int:
    """Do the least that a turn does."""
    return run.extract_turn(tenant.workspace.pk, clock=timezone.now, seconds=0, may_ask=False)


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the statements that are described, as they are."""
    seen: list[str] = []
    real = module._describe

    def note(statement: Any, *rest: Any) -> Any:
        seen.append(statement.text)
        return real(statement, *rest)

    monkeypatch.setattr(module, "_describe", note)
    return seen


def test_a_short_transcript_does_not_wait_for_a_long_one(
    tenant: Tenant, described: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = build_tenant("calm")
    queue(calm.agent, TALK * 2)
    run.extract_turn(calm.workspace.pk, clock=timezone.now, seconds=60, may_ask=False)
    once, described[:] = list(described), []

    woken: list[Any] = []
    monkeypatch.setattr(job_queue, "wake", lambda task, *ids: woken.append((task, *ids)))
    long = queue(tenant.agent, TALK * 2)
    woken.clear()
    told, turns = [0.0], 0
    assert turn(tenant) == 0
    short = queue(tenant.agent, "User: Remember that Bo owns payroll.", project="other")
    woken.clear()
    while show(tenant.agent, long)["status"] != "done":
        turns += 1
        assert turns < 50
        turn(tenant)
        assert len(woken) <= 1  # else each turn would wake more and more
        woken.clear()
        shown = show(tenant.agent, long)
        told.append(shown["progress"])
        assert shown["error"] == ""
        if turns == 4:  # each has a turn
            assert show(tenant.agent, short)["status"] == "done"
    assert turns > 6
    assert told == sorted(told)
    assert sorted(described) == sorted([*once, "Remember that Bo owns payroll."])
    of_long = show(tenant.agent, long)["result"]["kept"]
    assert [one["fact"] for one in of_long] == contents(calm)
    with in_workspace(tenant.workspace):
        left = Extraction.objects.values_list("transcript", "described")
        assert set(left) == {("", None)}


def test_what_is_described_is_erased_with_the_transcript(tenant: Tenant) -> None:
    tenant.agent.post("sessions", {"session_key": "s1", "context": "staging"})
    tenant.agent.post("sessions/s1/end", {"transcript": TALK, "extract": True})
    assert turn(tenant) == 0
    with in_workspace(tenant.workspace):
        assert Extraction.objects.exclude(described=None).count() == 1
        with pytest.raises(IntegrityError), transaction.atomic():
            Extraction.objects.update(transcript="")
    assert tenant.admin.delete("sessions/s1").status_code == 204
    with in_workspace(tenant.workspace):
        assert list(Extraction.objects.values_list("transcript", "described")) == [("", None)]
    for _ in range(3):
        turn(tenant)
    assert contents(tenant) == []


def test_a_transcript_that_is_erased_during_a_turn_keeps_nothing_of_it(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = queue(tenant.agent, session_key="s1")
    go_on = Describing.go_on

    def erase(self: Describing) -> bool:
        with in_workspace(tenant.workspace):
            Extraction.objects.update(transcript="")
        return go_on(self)

    monkeypatch.setattr(Describing, "go_on", erase)
    assert turn(tenant) == 0
    with in_workspace(tenant.workspace):
        assert list(Extraction.objects.values_list("transcript", "described")) == [("", None)]
    assert turn(tenant) == 1
    assert show(tenant.agent, job)["result"]["kept"] == []


def test_a_job_that_is_read_in_many_turns_is_not_given_up(tenant: Tenant) -> None:
    job = queue(tenant.agent)
    turns = 0
    while not turn(tenant):
        turns += 1
    assert turns > job_queue.ATTEMPTS_MAX
    assert show(tenant.agent, job)["status"] == "done"
    assert written(tenant)["facts"][OWNS] == 1
