"""What is written while a story is read or a report is filed: old words are asked about nowhere."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.utils import timezone

from conflicts.core import detective
from conflicts.core.comparisons import Comparisons
from conflicts.models import DetectionDue
from conflicts.services.cards.file import lock_filing
from conflicts.services.detection import detect
from conflicts.services.reports.judge import judge
from conflicts.services.reports.report import correct, lock_report, report
from engram.kernel.actors import Actor
from engram.kernel.models import Role
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conflicts.test_card_changes import both, commit
from tests.conftest import Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."


def cards(tenant: Tenant) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tenant.reader.get("conflicts").json()["results"]
    return found


def read_while(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, memory: str, changes: dict[str, Any]
) -> None:
    """Let the rules read what is due while somebody changes a memory."""
    find = detective.detect_in_turn
    is_changed: list[int] = []

    def found_and_changed(*read: Any, **options: Any) -> Any:
        found = find(*read, **options)
        if not is_changed:
            is_changed.append(tenant.reviewer.patch(f"memories/{memory}", changes).status_code)
        return found

    monkeypatch.setattr(detect, "detect_in_turn", found_and_changed)
    detect.detect_due(tenant.workspace, clock=timezone.now)
    assert is_changed == [200]


def test_a_memory_reworded_while_it_is_read_is_read_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tenant, LOW, observed_at="2026-01-10T09:00:00Z")
    later = commit(tenant, HIGH, observed_at="2026-03-10T09:00:00Z", scope="elsewhere")
    read_while(tenant, monkeypatch, later, {"content": "Bread is baked on Tuesday."})
    assert cards(tenant) == []
    tenant.reviewer.patch(f"memories/{later}", {"content": HIGH})
    detect.detect_due(tenant.workspace, clock=timezone.now)
    assert [len(card["memories"]) for card in cards(tenant)] == [2]


def test_a_memory_retagged_while_it_is_read_is_asked_about_all_the_same(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tenant, LOW, observed_at="2026-01-10T09:00:00Z")
    later = commit(tenant, HIGH, observed_at="2026-03-10T09:00:00Z", scope="elsewhere")
    read_while(tenant, monkeypatch, later, {"tags": ["limits"]})
    assert [len(card["memories"]) for card in cards(tenant)] == [2]
    with in_workspace(tenant.workspace):
        assert not DetectionDue.objects.filter(awaits="all").exists()


def test_a_report_about_words_that_changed_is_refused(tenant: Tenant) -> None:
    one, other = commit(tenant, LOW), commit(tenant, HIGH, scope="elsewhere")
    with in_workspace(tenant.workspace):
        seen = list(Memory.objects.filter(pk__in=[one, other]))
    tenant.reviewer.patch(f"memories/{other}", {"content": "Bread is baked on Tuesday."})
    with in_workspace(tenant.workspace), pytest.raises(StaleError):
        lock_report(seen, Comparisons(), model=tenant.workspace.embedding_model, now=timezone.now())


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


def _ann() -> Actor:
    ann = User.objects.create_user("ann")
    return Actor(kind="user", id=str(ann.pk), label="ann", role=Role.REVIEWER)


def _locks_of_who_waits() -> list[tuple[bool, int]]:
    """Return the locks of whoever waits for a named lock: whether granted, and how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT granted, count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid IN
                (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            GROUP BY granted
            """
        )
        held: list[tuple[bool, int]] = cursor.fetchall()
        return held


@pytest.mark.parametrize("verb", ["report", "judge", "correct"])
def test_the_only_filer_is_the_first_lock(shared_tenant: Tenant, verb: str) -> None:
    tenant, actor = shared_tenant, _ann()
    a, b = UUID(commit(tenant, LOW)), UUID(commit(tenant, HIGH, scope="elsewhere"))
    verbs: dict[str, Callable[[], object]] = {
        "report": lambda: report(
            tenant.workspace, [a, b], note="", actor=actor, now=timezone.now()
        ),
        "judge": lambda: judge(
            tenant.workspace, a, other_id=b, relation="contradicts", reason="", actor=actor,
            now=timezone.now(),
        ),
        "correct": lambda: correct(
            tenant.workspace, a, right="The API rate limit is 7000 requests per second.",
            actor=actor, now=timezone.now(),
        ),
    }  # fmt: skip

    def call() -> Any:
        try:
            return verbs[verb]()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with in_workspace(tenant.workspace):
            lock_filing()
            told = pool.submit(call)
            until = monotonic() + PATIENCE_SECONDS
            while not (held := _locks_of_who_waits()) and monotonic() < until:
                sleep(0.02)
        assert told.result(timeout=PATIENCE_SECONDS)
    assert held == [(False, 1)]


def test_one_person_reports_and_corrects_at_once_without_a_deadlock(shared_tenant: Tenant) -> None:
    tenant, actor = shared_tenant, _ann()
    for turn in range(4):
        a = UUID(commit(tenant, f"Crate {turn} holds cedar."))
        b = UUID(commit(tenant, f"Nothing but lamps came in delivery {turn}."))
        corrected, reported, judged = both(
            lambda a=a, turn=turn: correct(
                tenant.workspace, a, right=f"Crate {turn} holds oak, not cedar.", actor=actor,
                now=timezone.now(),
            ),
            lambda a=a, b=b: report(
                tenant.workspace, [a, b], note="", actor=actor, now=timezone.now()
            ),
            lambda a=a, b=b: judge(
                tenant.workspace, b, other_id=a, relation="different", reason="", actor=actor,
                now=timezone.now(),
            ),
        )  # fmt: skip
        assert (corrected.outcome, reported.outcome, judged.outcome) == (
            "opened",
            "opened",
            "noted",
        )
