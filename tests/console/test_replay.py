"""What other settings would have done: read, never written."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import InternalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Conflict, ConflictMember, DetectionRun
from conflicts.services.detection import replay as replaying
from conflicts.services.detection.detect import detect_due
from conflicts.services.verdicts.resolve import resolve
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, IdempotentAnswer, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core import claims, comparing
from memories.core.claims import Comparison, Reading
from memories.models import Memory, Merge, MergeSuggestion, Observation
from memories.services.gate import replay
from tests.conflicts.test_quality import ask, decide
from tests.conftest import House

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."
OTHER = "The deploy runs on Monday at 9:00 UTC."


def commit(house: House, content: str, **fields: Any) -> dict[str, Any]:
    answer = house.agent.post("memories", {"content": content, "scope": "ops", **fields})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def replayed(house: House, settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = house.reviewer.post("workspace/settings/replay", {"settings": settings, **more})
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


KEPT = (
    Memory, Observation, Merge, MergeSuggestion, Conflict, ConflictMember, DetectionRun, Event,
    IdempotentAnswer,
)  # fmt: skip


def rows_of(house: House) -> list[Any]:
    with in_workspace(house.workspace):
        rows: list[Any] = [list(model.objects.order_by("pk").values()) for model in KEPT]
        return [*rows, Workspace.objects.get(pk=house.workspace.pk).settings]


def test_an_empty_month_answers_with_zeros(house: House, neighbour: House) -> None:
    commit(neighbour, PLAIN)
    commit(neighbour, FINER)
    decide(neighbour.workspace, "dismiss", at=timezone.now())
    done = replayed(house, {"gate_threshold": 0.95, "detection_min_confidence": 0.99})
    nothing = {"created": 0, "merged": 0, "suggested": 0, "kept_apart": 0}
    assert (done["gate"]["commits"], done["gate"]["as_set"], done["gate"]["as_asked"]) == (
        0, nothing, nothing,
    )  # fmt: skip
    assert done["detection"]["cards"] == 0
    assert done["detection"]["dismissed_spared"] == []


def test_settings_that_stand_change_nothing(house: House) -> None:
    commit(house, PLAIN)
    commit(house, FINER)
    done = replayed(house, {"gate_threshold": 0.6})
    assert (done["changed"], done["gate"]["moves"], done["gate"]["examples"]) == ([], [], [])
    assert done["gate"]["as_set"] == done["gate"]["as_asked"]


def test_a_higher_threshold_merges_less_and_names_the_commits(house: House) -> None:
    first = commit(house, PLAIN)
    merged = commit(house, FINER)
    assert merged["outcome"] == "merged"
    done = replayed(house, {"gate_threshold": 0.99})
    assert done["changed"] == [{"name": "gate_threshold", "value": 0.6, "asked": 0.99}]
    gate = done["gate"]
    assert (gate["commits"], gate["replayed"], gate["is_cut"]) == (2, 2, False)
    assert gate["as_set"] == {"created": 1, "merged": 1, "suggested": 0, "kept_apart": 0}
    assert gate["as_asked"] == {"created": 2, "merged": 0, "suggested": 0, "kept_apart": 0}
    assert gate["moves"] == [{"before": "merged", "after": "created", "commits": 1}]
    (example,) = gate["examples"]
    assert (example["memory"], example["nearest"]) == (first["memory"]["id"],) * 2
    assert (example["before"], example["after"], example["said"]) == ("merged", "created", None)
    assert "Thursday" not in str(done)


def test_a_gate_that_was_off_is_replayed_with_its_neighbours(house: House) -> None:
    house.admin.patch("workspace/settings", {"gate_policy": "off"})
    first = commit(house, PLAIN)
    second = commit(house, FINER)
    assert (first["outcome"], second["outcome"]) == ("created", "created")
    gate = replayed(house, {"gate_policy": "merge"})["gate"]
    assert gate["as_set"]["created"] == 2
    assert (gate["as_asked"]["created"], gate["as_asked"]["merged"]) == (1, 1)
    (example,) = gate["examples"]
    assert (example["memory"], example["nearest"]) == (
        second["memory"]["id"], first["memory"]["id"],
    )  # fmt: skip
    gate = replayed(house, {"gate_policy": "suggest"})["gate"]
    assert gate["as_asked"]["suggested"] == 1


def test_what_people_said_since_stands_beside(house: House) -> None:
    commit(house, PLAIN)
    merged = commit(house, FINER)
    memory = merged["memory"]["id"]
    with in_workspace(house.workspace):
        observation = Merge.objects.get().observation_id
    split = house.agent.post(f"memories/{memory}/split", {"observation_id": str(observation)})
    assert split.status_code == 200, split.json()
    house.admin.patch("workspace/settings", {"gate_threshold": 1.0})
    gate = replayed(house, {"gate_threshold": 0.6})["gate"]
    said = [(e["after"], e["said"]) for e in gate["examples"]]
    assert ("merged", "apart") in said
    assert gate["merged_against_people"] >= 1


def test_other_places_and_later_memories_are_no_neighbours(house: House) -> None:
    house.admin.patch("workspace/settings", {"gate_policy": "off"})
    commit(house, PLAIN, scope="elsewhere")
    commit(house, FINER)
    assert replayed(house, {"gate_policy": "merge"})["gate"]["moves"] == []


def test_what_is_forgotten_is_left_out(house: House) -> None:
    house.admin.patch("workspace/settings", {"gate_policy": "off"})
    first = commit(house, PLAIN)
    commit(house, FINER)
    house.agent.post("memories/forget", {"ids": [first["memory"]["id"]], "confirm": True})
    done = replayed(house, {"gate_policy": "merge"})
    assert (done["gate"]["replayed"], done["gate"]["moves"]) == (1, [])
    assert first["memory"]["id"] not in str(done)


def test_a_higher_confidence_spares_dismissed_cards_and_misses_confirmed_ones(
    house: House,
) -> None:
    now = timezone.now()
    asked: dict[str, Any] = {"at": now - timedelta(days=1), "confidence": 0.6}
    dismissed = decide(house.workspace, "dismiss", **asked)
    confirmed = decide(house.workspace, "yes", kind="reversal", **asked)
    open_one = ask(house.workspace, **asked)
    sure = ask(house.workspace, at=now - timedelta(days=1), confidence=0.9)
    reported = ask(house.workspace, found_by="person", **asked)
    told = ask(house.workspace, found_by="narrative", **asked)
    old = decide(house.workspace, "dismiss", at=now - timedelta(days=40), confidence=0.6)
    found = replayed(house, {"detection_min_confidence": 0.8})["detection"]
    assert found["cards"] == 6
    assert found["as_set"] == {"reversal": 1, "ambiguity": 5, "stale": 0}
    assert found["as_asked"] == {"reversal": 0, "ambiguity": 3, "stale": 0}
    assert found["dismissed_spared"] == [str(dismissed.pk)]
    assert found["confirmed_missed"] == [str(confirmed.pk)]
    assert found["undecided_gone"] == [str(open_one.pk)]
    shown = str(found)
    assert not [card for card in (sure, reported, told, old) if str(card.pk) in shown]
    wider = replayed(house, {"detection_min_confidence": 0.8}, days=60)["detection"]
    assert sorted(wider["dismissed_spared"]) == sorted([str(dismissed.pk), str(old.pk)])


def test_a_lower_confidence_reads_the_story_for_what_was_not_asked(house: House) -> None:
    house.admin.patch("workspace/settings", {"detection_min_confidence": 0.99})
    house.workspace.refresh_from_db()
    house.workspace.__dict__.pop("config", None)
    low = commit(house, "The API rate limit is 1000 requests per second.", scope="auth")
    high = commit(house, "The API rate limit is 5000 requests per second.", scope="auth")
    detect_due(house.workspace, clock=timezone.now)
    assert house.reader.get("conflicts").json()["results"] == []
    found = replayed(house, {"detection_min_confidence": 0.5})["detection"]
    assert (found["as_asked"]["ambiguity"], found["also_count"]) == (1, 1)
    assert [one["memories"] for one in found["also"]] == [
        [low["memory"]["id"], high["memory"]["id"]]
    ]
    ids = [low["memory"]["id"], high["memory"]["id"]]
    card = house.reviewer.post("conflicts", {"memory_ids": ids}).json()["id"]
    resolve(house.workspace, card, verdict="both_valid", actor=SYSTEM, now=timezone.now())
    assert replayed(house, {"detection_min_confidence": 0.5})["detection"]["also_count"] == 0


def test_a_replay_leaves_no_trace(house: House) -> None:
    commit(house, PLAIN)
    commit(house, FINER)
    commit(house, OTHER)
    decide(house.workspace, "dismiss", at=timezone.now())
    before = rows_of(house)
    for settings in (
        {"gate_policy": "off"},
        {"gate_threshold": 0.9, "detection_min_confidence": 0.0},
        {"detection_enabled": False},
    ):
        replayed(house, settings)
    assert rows_of(house) == before


def test_the_database_itself_refuses_writes_within(house: House) -> None:
    with in_workspace(house.workspace):
        with pytest.raises(InternalError), transaction.atomic(), replaying._read_only():
            Workspace.objects.filter(pk=house.workspace.pk).update(name="written")
        Workspace.objects.filter(pk=house.workspace.pk).update(name="after")


def test_a_key_may_be_sent_along(house: House) -> None:
    body = {"settings": {"gate_policy": "off"}}
    headers = {"Idempotency-Key": "once"}
    first = house.reviewer.post("workspace/settings/replay", body, **headers)
    again = house.reviewer.post("workspace/settings/replay", body, **headers)
    assert (first.status_code, again.json()) == (200, first.json())


def test_more_than_a_replay_reads_is_cut_and_said(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        commit(house, f"Tank {number} holds brine.")
        ask(house.workspace, at=timezone.now())
    monkeypatch.setattr(replay, "COMMITS_READ", 3)
    monkeypatch.setattr(replaying, "CARDS_READ", 3)
    done = replayed(house, {"gate_threshold": 0.9})
    assert (done["gate"]["replayed"], done["gate"]["is_cut"]) == (3, True)
    assert (done["detection"]["cards"], done["detection"]["is_cut"]) == (3, True)


def test_settings_beyond_its_reach_are_named(house: House) -> None:
    done = replayed(house, {"diversity": 0.4, "gate_threshold": 0.7})
    assert done["not_followed"] == ["diversity"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "settings"),
        ({"settings": []}, "settings"),
        ({"settings": None}, "settings"),
        ({"settings": {"gate_treshold": 0.7}}, "gate_treshold"),
        ({"settings": {"gate_threshold": 2}}, "gate_threshold"),
        ({"settings": {"gate_threshold": "0.7"}}, "gate_threshold"),
        ({"settings": {"gate_policy": "maybe"}}, "gate_policy"),
        ({"settings": {}, "days": 0}, "days"),
        ({"settings": {}, "days": 93}, "days"),
        ({"settings": {}, "days": "30"}, "days"),
        ({"settings": {}, "day": 30}, "day"),
    ],
)
def test_bodies_that_make_no_sense_are_refused(
    house: House, body: dict[str, Any], field: str
) -> None:
    answer = house.reviewer.post("workspace/settings/replay", body)
    assert answer.status_code == 422
    assert [e["field"] for e in answer.json()["errors"]] == [field]


def test_many_commits_cost_as_many_queries_as_few(house: House) -> None:
    house.admin.patch("workspace/settings", {"gate_policy": "off"})

    def ask_again() -> int:
        with CaptureQueriesContext(connection) as asked:
            replayed(house, {"gate_threshold": 0.9, "detection_min_confidence": 0.2})
        return len(asked)

    commit(house, "Tank 0 holds brine.")
    commit(house, "Cheese ripens in the cellar.")
    ask_again()
    few = ask_again()
    for number in range(1, 9):
        commit(house, f"Tank {number} holds brine.")
    assert ask_again() == few


def test_a_replay_compares_each_pair_once_outside_of_transactions_and_says_how_many_it_read(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (PLAIN, OTHER, "The deploy runs on Friday at 10:00 UTC."):
        commit(house, text)
    compared: list[tuple[str, str]] = []
    depths: list[int] = []
    original = claims.compare

    def counted(a: Reading, b: Reading) -> Comparison:
        compared.append((a.text, b.text))
        depths.append(len(connection.savepoint_ids))
        return original(a, b)

    outside = len(connection.savepoint_ids)
    monkeypatch.setattr(comparing, "compare", counted)
    done = replayed(house, {"gate_threshold": 0.95})["gate"]
    assert (done["replayed"], done["is_cut"]) == (3, False)
    assert compared
    assert len(compared) == len(set(compared))
    assert set(depths) == {outside}
    compared.clear()
    chars = len(OTHER) + len("The deploy runs on Friday at 10:00 UTC.") + len(PLAIN) * 2 + 60
    monkeypatch.setattr(replay, "CHARS_COMPARED", chars)
    done = replayed(house, {"gate_threshold": 0.95})["gate"]
    assert (done["commits"], done["is_cut"]) == (3, True)
    assert done["replayed"] < 3
    assert sum(len(a) + len(b) for a, b in compared) <= chars
