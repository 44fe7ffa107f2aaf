"""What other settings would have done: read, never written."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import InternalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Conflict, ConflictMember, DetectionRun
from conflicts.services.detection import replay as replaying
from conflicts.services.detection.detect import detect_due
from conflicts.services.verdicts.resolve import resolve
from engram.console import replay_pages
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, IdempotentAnswer, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core import claims, comparing
from memories.core.claims import ClaimComparison, Reading
from memories.core.likelihood import likelihood_of
from memories.models import (
    Memory,
    Merge,
    MergeSuggestion,
    Observation,
    PastRecall,
    PastResult,
    Session,
)
from memories.services.gate import replay
from memories.services.index.tokens import word_states_of
from memories.services.stored_counts import count_stored
from tests.conflicts.test_quality import ask, decide
from tests.conftest import Tenant

PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."
OTHER = "The deploy runs on Monday at 9:00 UTC."


def commit(tenant: Tenant, content: str, **fields: Any) -> dict[str, Any]:
    answer = tenant.agent.post("memories", {"content": content, "scope": "ops", **fields})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def replayed(tenant: Tenant, settings: dict[str, Any], **more: Any) -> dict[str, Any]:
    answer = tenant.reviewer.post("workspace/settings/replay", {"settings": settings, **more})
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


KEPT = (
    Memory, Observation, Merge, MergeSuggestion, Conflict, ConflictMember, DetectionRun, Event,
    IdempotentAnswer,
)  # fmt: skip


def rows_of(tenant: Tenant) -> list[Any]:
    with in_workspace(tenant.workspace):
        rows: list[Any] = [list(model.objects.order_by("pk").values()) for model in KEPT]
        return [*rows, Workspace.objects.get(pk=tenant.workspace.pk).settings]


def test_an_empty_month_answers_with_zeros(tenant: Tenant, neighbour: Tenant) -> None:
    commit(neighbour, PLAIN)
    commit(neighbour, FINER)
    decide(neighbour.workspace, "dismiss", at=timezone.now())
    done = replayed(tenant, {"gate_threshold": 0.95, "detection_min_confidence": 0.99})
    nothing = {"created": 0, "merged": 0, "suggested": 0, "kept_apart": 0}
    assert (done["gate"]["commits"], done["gate"]["as_set"], done["gate"]["as_asked"]) == (
        0, nothing, nothing,
    )  # fmt: skip
    assert done["detection"]["cards"] == 0
    assert done["detection"]["dismissed_spared"] == []


def test_settings_that_stand_change_nothing(tenant: Tenant) -> None:
    commit(tenant, PLAIN)
    commit(tenant, FINER)
    done = replayed(tenant, {"gate_threshold": 0.6})
    assert (done["changed"], done["gate"]["moves"], done["gate"]["examples"]) == ([], [], [])
    assert done["gate"]["as_set"] == done["gate"]["as_asked"]


def test_a_higher_threshold_merges_less_and_names_the_commits(tenant: Tenant) -> None:
    first = commit(tenant, PLAIN)
    merged = commit(tenant, FINER)
    assert merged["outcome"] == "merged"
    done = replayed(tenant, {"gate_threshold": 0.99})
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


def test_a_gate_that_was_off_is_replayed_with_its_neighbours(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})
    first = commit(tenant, PLAIN)
    second = commit(tenant, FINER)
    assert (first["outcome"], second["outcome"]) == ("created", "created")
    gate = replayed(tenant, {"gate_policy": "merge"})["gate"]
    assert gate["as_set"]["created"] == 2
    assert (gate["as_asked"]["created"], gate["as_asked"]["merged"]) == (1, 1)
    (example,) = gate["examples"]
    assert (example["memory"], example["nearest"]) == (
        second["memory"]["id"], first["memory"]["id"],
    )  # fmt: skip
    gate = replayed(tenant, {"gate_policy": "suggest"})["gate"]
    assert gate["as_asked"]["suggested"] == 1


def test_what_people_said_since_stands_beside(tenant: Tenant) -> None:
    commit(tenant, PLAIN)
    merged = commit(tenant, FINER)
    memory = merged["memory"]["id"]
    with in_workspace(tenant.workspace):
        observation = Merge.objects.get().observation_id
    split = tenant.agent.post(f"memories/{memory}/split", {"observation_id": str(observation)})
    assert split.status_code == 200, split.json()
    tenant.admin.patch("workspace/settings", {"gate_threshold": 1.0})
    gate = replayed(tenant, {"gate_threshold": 0.6})["gate"]
    said = [(e["after"], e["said"]) for e in gate["examples"]]
    assert ("merged", "apart") in said
    assert gate["merged_against_people"] >= 1


def test_other_places_and_later_memories_are_no_neighbours(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})
    commit(tenant, PLAIN, scope="elsewhere")
    commit(tenant, FINER)
    assert replayed(tenant, {"gate_policy": "merge"})["gate"]["moves"] == []


def test_what_is_forgotten_is_left_out(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})
    first = commit(tenant, PLAIN)
    commit(tenant, FINER)
    tenant.agent.post("memories/forget", {"ids": [first["memory"]["id"]], "confirm": True})
    done = replayed(tenant, {"gate_policy": "merge"})
    assert (done["gate"]["replayed"], done["gate"]["moves"]) == (1, [])
    assert first["memory"]["id"] not in str(done)


def test_the_page_says_why_commits_are_not_replayed(tenant: Tenant, member: Any) -> None:
    first = commit(tenant, PLAIN)
    commit(tenant, PLAIN)
    commit(tenant, "The harbour has nine cranes.", supersedes=first["memory"]["id"])
    gone = commit(tenant, "Ferries leave from pier three.")
    tenant.agent.post("memories/forget", {"ids": [gone["memory"]["id"]], "confirm": True})
    sent = {"gate_policy": "merge", "gate_threshold": 0.6, "detection_min_confidence": 0.5}
    answer = member("reviewer").post("/console/replay/", {**sent, "days": 30, "do": "replay"})
    html = answer.content.decode()
    assert "1 of 4 commits replayed" in html
    assert (
        "3 commits were not replayed: 1 repeated a known statement, or came in without the gate;"
        " 1 named the memory that they replace, so that the gate is not asked;"
        " 1 of memories that were forgotten since." in html
    )


def test_of_what_was_replayed_whole_nothing_is_said(tenant: Tenant, member: Any) -> None:
    commit(tenant, PLAIN)
    sent = {"gate_policy": "merge", "gate_threshold": 0.6, "detection_min_confidence": 0.5}
    answer = member("reviewer").post("/console/replay/", {**sent, "days": 30, "do": "replay"})
    assert "not replayed" not in answer.content.decode()


def test_a_higher_confidence_spares_dismissed_cards_and_misses_confirmed_ones(
    tenant: Tenant,
) -> None:
    now = timezone.now()
    asked: dict[str, Any] = {"at": now - timedelta(days=1), "confidence": 0.6}
    dismissed = decide(tenant.workspace, "dismiss", **asked)
    confirmed = decide(tenant.workspace, "yes", kind="reversal", **asked)
    open_one = ask(tenant.workspace, **asked)
    sure = ask(tenant.workspace, at=now - timedelta(days=1), confidence=0.9)
    reported = ask(tenant.workspace, found_by="person", **asked)
    told = ask(tenant.workspace, found_by="narrative", **asked)
    old = decide(tenant.workspace, "dismiss", at=now - timedelta(days=40), confidence=0.6)
    found = replayed(tenant, {"detection_min_confidence": 0.8})["detection"]
    assert found["cards"] == 6
    assert found["as_set"] == {"reversal": 1, "ambiguity": 5, "stale": 0}
    assert found["as_asked"] == {"reversal": 0, "ambiguity": 3, "stale": 0}
    assert found["dismissed_spared"] == [str(dismissed.pk)]
    assert found["confirmed_missed"] == [str(confirmed.pk)]
    assert found["undecided_gone"] == [str(open_one.pk)]
    shown = str(found)
    assert not [card for card in (sure, reported, told, old) if str(card.pk) in shown]
    wider = replayed(tenant, {"detection_min_confidence": 0.8}, days=60)["detection"]
    assert sorted(wider["dismissed_spared"]) == sorted([str(dismissed.pk), str(old.pk)])


def test_the_page_says_how_many_conflicts_its_lists_do_not_show(
    tenant: Tenant, member: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_pages, "SHOWN", 2)
    asked: dict[str, Any] = {"at": timezone.now() - timedelta(days=1), "confidence": 0.6}
    for _ in range(3):
        decide(tenant.workspace, "yes", **asked)
    decide(tenant.workspace, "dismiss", **asked)
    sent = {"gate_policy": "merge", "gate_threshold": 0.6, "detection_min_confidence": 0.8}
    answer = member("reviewer").post("/console/replay/", {**sent, "days": 30, "do": "replay"})
    html = answer.content.decode()
    assert "4 conflicts of the period" in html
    assert "3 confirmed would be missed" in html
    _, _, missed = html.partition("<summary>Confirmed, and missed</summary>")
    missed, _, after = missed.partition("</details>")
    assert (missed.count('class="entry"'), "and 1 more" in missed) == (2, True)
    assert "more</p>" not in after  # the one that was dismissed is shown


def test_a_lower_confidence_reads_the_story_for_what_was_not_asked(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"detection_min_confidence": 0.99})
    tenant.workspace.refresh_from_db()
    tenant.workspace.__dict__.pop("config", None)
    low = commit(tenant, "The API rate limit is 1000 requests per second.", scope="auth")
    high = commit(tenant, "The API rate limit is 5000 requests per second.", scope="auth")
    detect_due(tenant.workspace, clock=timezone.now)
    assert tenant.reader.get("conflicts").json()["results"] == []
    found = replayed(tenant, {"detection_min_confidence": 0.5})["detection"]
    assert (found["as_asked"]["ambiguity"], found["also_count"]) == (1, 1)
    assert [one["memories"] for one in found["also"]] == [
        [low["memory"]["id"], high["memory"]["id"]]
    ]
    ids = [low["memory"]["id"], high["memory"]["id"]]
    card = tenant.reviewer.post("conflicts", {"memory_ids": ids}).json()["id"]
    resolve(tenant.workspace, card, verdict="both_valid", actor=SYSTEM, now=timezone.now())
    assert replayed(tenant, {"detection_min_confidence": 0.5})["detection"]["also_count"] == 0


def test_a_replay_leaves_no_trace(tenant: Tenant) -> None:
    commit(tenant, PLAIN)
    commit(tenant, FINER)
    commit(tenant, OTHER)
    decide(tenant.workspace, "dismiss", at=timezone.now())
    before = rows_of(tenant)
    for settings in (
        {"gate_policy": "off"},
        {"gate_threshold": 0.9, "detection_min_confidence": 0.0},
        {"detection_enabled": False},
    ):
        replayed(tenant, settings)
    assert rows_of(tenant) == before


def test_the_database_itself_refuses_writes_within(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        with pytest.raises(InternalError), transaction.atomic(), replaying._read_only():
            Workspace.objects.filter(pk=tenant.workspace.pk).update(name="written")
        Workspace.objects.filter(pk=tenant.workspace.pk).update(name="after")


def test_a_key_may_be_sent_along(tenant: Tenant) -> None:
    body = {"settings": {"gate_policy": "off"}}
    headers = {"Idempotency-Key": "once"}
    first = tenant.reviewer.post("workspace/settings/replay", body, **headers)
    again = tenant.reviewer.post("workspace/settings/replay", body, **headers)
    assert (first.status_code, again.json()) == (200, first.json())


def test_more_than_a_replay_reads_is_cut_and_said(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        commit(tenant, f"Tank {number} holds brine.")
        ask(tenant.workspace, at=timezone.now())
    monkeypatch.setattr(replay, "COMMITS_READ", 3)
    monkeypatch.setattr(replaying, "CARDS_READ", 3)
    done = replayed(tenant, {"gate_threshold": 0.9})
    assert (done["gate"]["replayed"], done["gate"]["is_cut"]) == (3, True)
    assert (done["detection"]["cards"], done["detection"]["is_cut"]) == (3, True)


def test_settings_beyond_its_reach_are_named(tenant: Tenant) -> None:
    done = replayed(tenant, {"diversity": 0.4, "gate_threshold": 0.7})
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
    tenant: Tenant, body: dict[str, Any], field: str
) -> None:
    answer = tenant.reviewer.post("workspace/settings/replay", body)
    assert answer.status_code == 422
    assert [e["field"] for e in answer.json()["errors"]] == [field]


def test_many_commits_cost_as_many_queries_as_few(tenant: Tenant) -> None:
    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})

    def ask_again() -> int:
        with CaptureQueriesContext(connection) as asked:
            replayed(tenant, {"gate_threshold": 0.9, "detection_min_confidence": 0.2})
        return len(asked)

    commit(tenant, "Tank 0 holds brine.")
    commit(tenant, "Cheese ripens in the cellar.")
    ask_again()
    few = ask_again()
    for number in range(1, 9):
        commit(tenant, f"Tank {number} holds brine.")
    assert ask_again() == few


def test_a_replay_estimates_each_pair_once_outside_of_transactions(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (PLAIN, OTHER, "The deploy runs on Friday at 10:00 UTC."):
        commit(tenant, text)
    estimated: list[tuple[str, str]] = []
    depths: set[int] = set()
    original = likelihood_of

    def counted(a: Reading, b: Reading, *given: Any, **states: Any) -> Any:
        estimated.append((a.text, b.text))
        depths.add(len(connection.savepoint_ids))
        return original(a, b, *given, **states)

    outside = len(connection.savepoint_ids)
    monkeypatch.setattr(comparing, "likelihood_of", counted)
    replayed(tenant, {"gate_threshold": 0.5})
    assert estimated
    assert len(estimated) == len(set(estimated))
    assert depths == {outside}


def test_a_replay_reads_token_states_of_what_it_compares_only(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = "Cheese ripens in the cellar."
    for text in (far, PLAIN, OTHER, "The deploy runs on Friday at 10:00 UTC."):
        commit(tenant, text)
    read: list[str] = []
    original = word_states_of

    def noted(memories: list[Memory], *given: Any, **more: Any) -> Any:
        read.extend(memory.content for memory in memories)
        return original(memories, *given, **more)

    monkeypatch.setattr(replay, "word_states_of", noted)
    replayed(tenant, {"gate_threshold": 0.5})
    assert PLAIN in read
    assert far not in read
    read.clear()
    monkeypatch.setattr(replay, "CHARS_COMPARED", 0)
    replayed(tenant, {"gate_threshold": 0.5})
    assert read == []


def test_a_replay_compares_each_pair_once_outside_of_transactions_and_says_how_many_it_read(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (PLAIN, OTHER, "The deploy runs on Friday at 10:00 UTC."):
        commit(tenant, text)
    compared: list[tuple[str, str]] = []
    depths: list[int] = []
    original = claims.compare

    def counted(a: Reading, b: Reading) -> ClaimComparison:
        compared.append((a.text, b.text))
        depths.append(len(connection.savepoint_ids))
        return original(a, b)

    outside = len(connection.savepoint_ids)
    monkeypatch.setattr(comparing, "compare", counted)
    done = replayed(tenant, {"gate_threshold": 0.95})["gate"]
    assert (done["replayed"], done["is_cut"]) == (3, False)
    assert compared
    assert len(compared) == len(set(compared))
    assert set(depths) == {outside}
    compared.clear()
    chars = len(OTHER) + len("The deploy runs on Friday at 10:00 UTC.") + len(PLAIN) * 2 + 60
    monkeypatch.setattr(replay, "CHARS_COMPARED", chars)
    done = replayed(tenant, {"gate_threshold": 0.95})["gate"]
    assert (done["commits"], done["is_cut"]) == (3, True)
    assert done["replayed"] < 3
    assert sum(len(a) + len(b) for a, b in compared) <= chars


def counted(tenant: Tenant, name: str, value: Any) -> tuple[int, int]:
    """Return what is counted of a setting, by its present and by another value."""
    done = replayed(tenant, {name: value})
    assert done["not_followed"] == []
    (one,) = done["stored"]
    assert one["name"] == name
    return one["as_set"], one["as_asked"]


def recalled(tenant: Tenant, relevances: list[list[float]], **fields: Any) -> None:
    """Keep recalls with results of these relevances, each of a memory of its own."""
    asked: dict[str, Any] = {"origin": "recall", "k": 10, "at": timezone.now(), **fields}
    for place, values in enumerate(relevances):
        memories = [
            commit(tenant, f"Shelf {uuid4().hex} holds box {place}.")["memory"]["id"]
            for _ in values
        ]
        with in_workspace(tenant.workspace):
            row = PastRecall.objects.create(query="boxes", returned=len(values), **asked)
            for rank, (memory, relevance) in enumerate(zip(memories, values, strict=True), 1):
                PastResult.objects.create(
                    recall=row, memory_id=memory, rank=rank, score=0.5, relevance=relevance,
                    at=row.at,
                )  # fmt: skip


def test_a_higher_least_relevance_counts_the_results_it_would_have_left_out(
    tenant: Tenant, neighbour: Tenant
) -> None:
    recalled(tenant, [[0.9, 0.1], [0.2, 0.3], [0.05]])
    recalled(tenant, [[0.2]], asked={"min_score": 0.1})
    recalled(tenant, [[0.2]], origin="context")
    recalled(tenant, [[0.2]], at=timezone.now() - timedelta(days=40))
    recalled(neighbour, [[0.2]])
    assert counted(tenant, "min_relevance", 0.3) == (1, 1)  # .3 reaches it: both stay
    assert counted(tenant, "min_relevance", 0.31) == (1, 3)
    assert counted(tenant, "min_relevance", 0.0) == (1, 0)
    with in_workspace(tenant.workspace):
        pinned = PastResult.objects.get(relevance=0.3).memory_id
        Memory.objects.filter(pk=pinned).update(is_pinned=True)
    assert counted(tenant, "min_relevance", 0.31) == (1, 2)


def test_days_of_retention_count_what_they_would_delete_now(tenant: Tenant) -> None:
    now = timezone.now()
    recalled(tenant, [[0.9]], at=now - timedelta(days=10))
    recalled(tenant, [[0.9]], at=now - timedelta(days=20))
    assert counted(tenant, "retention_query_days", 5) == (0, 2)
    assert counted(tenant, "retention_query_days", 15) == (0, 1)
    assert counted(tenant, "retention_query_days", None) == (0, 0)
    with in_workspace(tenant.workspace):
        for days in (3, 30, 300):
            Session.objects.create(
                session_key=f"s{days}", k=10, budget_chars=100, started_at=now,
                ended_at=now - timedelta(days=days),
                transcript="said" if days == 300 else "",
            )  # fmt: skip
    assert counted(tenant, "retention_session_days", 20) == (0, 2)
    assert counted(tenant, "retention_transcript_days", 20) == (0, 1)


def test_days_of_the_janitor_count_unused_memories_that_are_old_enough(tenant: Tenant) -> None:
    then = timezone.now() - timedelta(days=200)
    Workspace.objects.filter(pk=tenant.workspace.pk).update(created_at=then)
    for days in (10, 50, 100):
        pk = commit(tenant, f"Crane {days} lifts {days} tonnes.")["memory"]["id"]
        with in_workspace(tenant.workspace):
            made = timezone.now() - timedelta(days=days)
            Memory.objects.filter(pk=pk).update(created_at=made, provenance="assistant_derived")
    assert counted(tenant, "janitor_assistant_days", 40) == (1, 2)
    assert counted(tenant, "janitor_assistant_days", 150) == (1, 0)


def judged(tenant: Tenant, key: str, minutes_ago: list[int], **data: Any) -> None:
    """Keep the events of judgements that a key sent so many minutes ago."""
    now = timezone.now()
    with in_workspace(tenant.workspace):
        for minutes in minutes_ago:
            Event.objects.create(
                type="memory.judged", object_type="memory", object_id=str(uuid4()),
                actor_kind="key", actor_id=key, data=data, at=now - timedelta(minutes=minutes),
            )  # fmt: skip


def test_a_limit_of_judgements_counts_what_it_would_have_refused(
    tenant: Tenant, neighbour: Tenant
) -> None:
    judged(tenant, "one", [200, 190, 180, 150, 135, 129])
    judged(tenant, "other", [185])
    judged(neighbour, "one", [195] * 5)
    assert counted(tenant, "judgements_per_hour", 4) == (0, 0)
    assert counted(tenant, "judgements_per_hour", 3) == (0, 1)  # that of 150 minutes ago
    # Those of 180 and 150 are refused; at 135 and at 129 an accepted one is over an hour old.
    assert counted(tenant, "judgements_per_hour", 2) == (0, 2)
    assert counted(tenant, "judgements_per_hour", 1) == (0, 4)
    assert counted(tenant, "judgements_per_hour", 500) == (0, 0)
    tenant.workspace.settings = {"judgements_per_hour": 1}
    tenant.workspace.save()
    assert counted(tenant, "judgements_per_hour", 3) == (4, 1)


def test_a_report_of_several_pairs_fills_the_hour_and_people_have_no_limit(tenant: Tenant) -> None:
    judged(tenant, "one", [50, 20], pairs=6)
    judged(tenant, "other", [50, 40], pairs=3)
    judged(tenant, "other", [30])
    assert counted(tenant, "judgements_per_hour", 6) == (0, 2)
    assert counted(tenant, "judgements_per_hour", 7) == (0, 0)
    with in_workspace(tenant.workspace):
        Event.objects.update(actor_kind="user")
    assert counted(tenant, "judgements_per_hour", 1) == (0, 0)


def test_what_a_key_sent_right_before_the_period_counts_against_its_first_hour(
    tenant: Tenant,
) -> None:
    day = 24 * 60
    judged(tenant, "one", [day + 30, day + 20, day - 20])
    [done] = replayed(tenant, {"judgements_per_hour": 1}, days=1)["stored"]
    assert (done["as_set"], done["as_asked"]) == (0, 1)


def test_a_lower_limit_counts_what_keys_really_sent(tenant: Tenant) -> None:
    first, second = (commit(tenant, text)["memory"]["id"] for text in (PLAIN, OTHER))
    body = {"other": first, "relation": "different"}
    path = f"memories/{second}/relations"
    assert [tenant.agent.post(path, body).status_code for _ in range(3)] == [201] * 3
    assert tenant.reviewer.post(path, body).status_code == 201
    assert counted(tenant, "judgements_per_hour", 2) == (0, 1)


def test_counts_of_what_is_stored_cost_as_many_queries_for_few_as_for_many(tenant: Tenant) -> None:
    asked = {
        "min_relevance": 0.5, "janitor_assistant_days": 40, "janitor_summary_days": 40,
        "retention_session_days": 9, "retention_transcript_days": 9, "retention_recall_days": 9,
        "retention_query_days": 9, "judgements_per_hour": 1,
    }  # fmt: skip

    def ask() -> int:
        current = tenant.workspace.config
        now = timezone.now()
        with in_workspace(tenant.workspace), CaptureQueriesContext(connection) as caught:
            found = count_stored(
                tenant.workspace, current, current.model_copy(update=asked),
                since=now - timedelta(days=30), until=now, counted=replaying.COUNTED,
            )  # fmt: skip
        assert len(found) == 8
        return len(caught)

    recalled(tenant, [[0.2]])
    judged(tenant, "one", [10])
    ask()
    few = ask()
    recalled(tenant, [[0.2, 0.3]] * 4)
    judged(tenant, "one", [9] * 20)
    assert ask() == few
