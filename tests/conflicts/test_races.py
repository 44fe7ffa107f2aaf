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
from conflicts.services.cards.file import one_filer
from conflicts.services.detection import detect
from conflicts.services.reports.judge import judge
from conflicts.services.reports.report import correct, gather, report
from engram.kernel.actors import Actor
from engram.kernel.models import Role
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conflicts.test_card_changes import both, commit
from tests.conftest import House, build_house

LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."


def cards(house: House) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.reader.get("conflicts").json()["results"]
    return found


def read_while(
    house: House, monkeypatch: pytest.MonkeyPatch, memory: str, changes: dict[str, Any]
) -> None:
    """Let the rules read what is due while somebody changes a memory."""
    find = detective.detect
    is_changed: list[int] = []

    def found_and_changed(*read: Any, **options: Any) -> Any:
        found = find(*read, **options)
        if not is_changed:
            is_changed.append(house.reviewer.patch(f"memories/{memory}", changes).status_code)
        return found

    monkeypatch.setattr(detect, "find", found_and_changed)
    detect.detect_due(house.workspace, clock=timezone.now)
    assert is_changed == [200]


def test_a_memory_reworded_while_it_is_read_is_read_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(house, LOW, observed_at="2026-01-10T09:00:00Z")
    later = commit(house, HIGH, observed_at="2026-03-10T09:00:00Z", scope="elsewhere")
    read_while(house, monkeypatch, later, {"content": "Bread is baked on Tuesday."})
    assert cards(house) == []
    house.reviewer.patch(f"memories/{later}", {"content": HIGH})
    detect.detect_due(house.workspace, clock=timezone.now)
    assert [len(card["memories"]) for card in cards(house)] == [2]


def test_a_memory_retagged_while_it_is_read_is_asked_about_all_the_same(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(house, LOW, observed_at="2026-01-10T09:00:00Z")
    later = commit(house, HIGH, observed_at="2026-03-10T09:00:00Z", scope="elsewhere")
    read_while(house, monkeypatch, later, {"tags": ["limits"]})
    assert [len(card["memories"]) for card in cards(house)] == [2]
    with in_workspace(house.workspace):
        assert not DetectionDue.objects.filter(awaits="all").exists()


def test_a_report_about_words_that_changed_is_refused(house: House) -> None:
    one, other = commit(house, LOW), commit(house, HIGH, scope="elsewhere")
    with in_workspace(house.workspace):
        seen = list(Memory.objects.filter(pk__in=[one, other]))
    house.reviewer.patch(f"memories/{other}", {"content": "Bread is baked on Tuesday."})
    with in_workspace(house.workspace), pytest.raises(StaleError):
        gather(seen, Comparisons(), model=house.workspace.embedding_model, now=timezone.now())


@pytest.fixture
def shared_house(transactional_db: None) -> House:
    """Return a workspace that several connections see."""
    return build_house("busy")


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
def test_the_only_filer_is_the_first_lock(shared_house: House, verb: str) -> None:
    house, actor = shared_house, _ann()
    a, b = UUID(commit(house, LOW)), UUID(commit(house, HIGH, scope="elsewhere"))
    verbs: dict[str, Callable[[], object]] = {
        "report": lambda: report(
            house.workspace, [a, b], note="", actor=actor, now=timezone.now()
        ),
        "judge": lambda: judge(
            house.workspace, a, other_id=b, relation="contradicts", reason="", actor=actor,
            now=timezone.now(),
        ),
        "correct": lambda: correct(
            house.workspace, a, right="The API rate limit is 7000 requests per second.",
            actor=actor, now=timezone.now(),
        ),
    }  # fmt: skip

    def call() -> Any:
        try:
            return verbs[verb]()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with in_workspace(house.workspace):
            one_filer()
            told = pool.submit(call)
            until = monotonic() + 10
            while not (held := _locks_of_who_waits()) and monotonic() < until:
                sleep(0.02)
        assert told.result(timeout=20)
    assert held == [(False, 1)]


def test_one_person_reports_and_corrects_at_once_without_a_deadlock(shared_house: House) -> None:
    house, actor = shared_house, _ann()
    for turn in range(4):
        a = UUID(commit(house, f"Crate {turn} holds cedar."))
        b = UUID(commit(house, f"Nothing but lamps came in delivery {turn}."))
        corrected, reported, judged = both(
            lambda a=a, turn=turn: correct(
                house.workspace, a, right=f"Crate {turn} holds oak, not cedar.", actor=actor,
                now=timezone.now(),
            ),
            lambda a=a, b=b: report(
                house.workspace, [a, b], note="", actor=actor, now=timezone.now()
            ),
            lambda a=a, b=b: judge(
                house.workspace, b, other_id=a, relation="different", reason="", actor=actor,
                now=timezone.now(),
            ),
        )  # fmt: skip
        assert (corrected.outcome, reported.outcome, judged.outcome) == (
            "opened",
            "opened",
            "noted",
        )
