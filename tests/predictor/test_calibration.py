"""The judge against people: drawn evenly, asked blind, counted truly."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import groupby
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import Actor
from engram.kernel.models import Event, Role
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session, SessionCandidate
from predictor.models import (
    CalibrationItem,
    CalibrationSample,
    Judgement,
    Label,
    PredictorState,
    TrainingLease,
)
from predictor.services.calibration.calibrate import (
    draw_when_due,
    label_item,
    last_drawn_at,
    sample,
)
from predictor.services.calibration.report import calibration_of
from predictor.services.state import lock_state
from tests.conftest import NOW, Tenant
from tests.memories.test_concurrency import CALLERS, at_once, shared_tenant  # noqa: F401
from tests.predictor.calibration_world import VERSION, items_of, judged_world, stored

PATH = "predictor/calibration"


def draw(tenant: Tenant, size: int = 30) -> dict[str, Any]:
    answer = tenant.reviewer.post(f"{PATH}/sample", {"size": size})
    assert answer.status_code == 201, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def say(tenant: Tenant, item: str, **body: Any) -> Any:
    return tenant.reviewer.post(f"{PATH}/{item}/label", body)


def report(tenant: Tenant) -> dict[str, Any]:
    found: dict[str, Any] = tenant.reader.get(PATH).json()
    return found


def test_a_sample_is_blind_and_reads_session_by_session(tenant: Tenant, neighbour: Tenant) -> None:
    judged_world(tenant), judged_world(neighbour)

    sample = draw(tenant)
    items = items_of(sample)
    known = stored(tenant)

    assert (sample["waiting"], len(items), len(known)) == (30, 30, 30)
    assert {key for item in items for key in item} == {"id", "memory_id", "content", "observed_at"}
    assert {key for session in sample["sessions"] for key in session} == {
        "session_key", "project", "context", "started_at", "memories",
        "transcript_part", "is_as_judged", "part_words",
    }  # fmt: skip
    assert all(len(session["transcript_part"]) <= 4000 for session in sample["sessions"])
    assert sample["sessions"][0]["transcript_part"].endswith("which fact did you use?")
    assert [known[item["id"]].position for item in items] == list(range(1, 31))
    sessions = [known[item["id"]].session_id for item in items]
    assert len(list(groupby(sessions))) == len(set(sessions)) > 1


def test_a_sample_is_even_over_what_the_judge_said_and_how_sure_it_was(tenant: Tenant) -> None:
    judged_world(tenant, 20)
    draw(tenant)

    counted = Counter(item.stratum for item in stored(tenant).values())
    assert set(counted) == {
        f"{band}, {sure}" for band in ("low", "middle", "high") for sure in ("sure", "unsure")
    }
    assert max(counted.values()) <= 2 * min(counted.values())


def test_one_goes_on_where_one_stopped(tenant: Tenant) -> None:
    judged_world(tenant)
    items = items_of(draw(tenant))

    said = say(tenant, items[0]["id"], label=0.5).json()

    resumed = tenant.reviewer.get(f"{PATH}/sample").json()
    assert items_of(resumed) == items[1:]
    assert said["waiting"] == resumed["waiting"] == report(tenant)["waiting"] == 29
    again = tenant.reviewer.post(f"{PATH}/sample", {"size": 50})
    assert (again.status_code, items_of(again.json())) == (200, items[1:])


def test_nobody_is_asked_twice_and_at_last_nothing_is_left(tenant: Tenant) -> None:
    judged_world(tenant, 3)  # 36 judged memories
    first = items_of(draw(tenant, 30))
    for item in first:
        assert say(tenant, item["id"], unsure=True).status_code == 200
    second = items_of(draw(tenant, 30))
    for item in second:
        say(tenant, item["id"], label=1)

    assert len(second) == 6
    pairs = {(item.session_id, item.memory_id) for item in stored(tenant).values()}
    assert len(pairs) == 36
    nothing = tenant.reviewer.post(f"{PATH}/sample", {})
    assert nothing.status_code == 409
    assert "Nothing is left" in nothing.json()["detail"]


def test_the_judges_word_is_told_after_the_own_and_a_second_one_is_told_apart(
    tenant: Tenant,
) -> None:
    judged_world(tenant)
    item = items_of(draw(tenant))[0]["id"]
    judged = stored(tenant)[item].judge_relevance

    other = items_of(tenant.reviewer.get(f"{PATH}/sample").json())[1]["id"]
    unsure = say(tenant, other, unsure=True).json()
    first = say(tenant, item, label=0.25).json()
    second = say(tenant, item, label=0.75).json()

    assert (unsure["judge_relevance"], unsure["label"], unsure["unsure"]) == (None, None, True)
    assert (first["judge_relevance"], first["relabelled"], first["unsure"]) == (
        judged,
        False,
        False,
    )
    assert (second["label"], second["relabelled"]) == (0.75, True)
    assert second["labelled_by"] == "acme reviewer"
    assert (report(tenant)["n"], report(tenant)["relabelled"]) == (0, 1)


def test_labels_that_may_know_the_judges_word_are_in_no_figure(tenant: Tenant) -> None:
    judged_world(tenant)
    items = [item["id"] for item in items_of(draw(tenant))]
    for item in items[:20]:
        relevance = stored(tenant)[item].judge_relevance
        say(tenant, item, label=1 if relevance < 0.5 else 0)
    blind = report(tenant)

    for item in items[20:25]:  # told the judge's word by the first answer, and agreeing with it
        say(tenant, item, label=0)
        say(tenant, item, label=say(tenant, item, label=0).json()["judge_relevance"])

    assert blind["is_flagged"]
    assert report(tenant) == blind | {"relabelled": 5, "waiting": 5}


def test_history_tells_that_something_was_said_and_not_what(tenant: Tenant) -> None:
    judged_world(tenant)
    for item in items_of(draw(tenant))[:9]:
        say(tenant, item["id"], label=0.333)

    with in_workspace(tenant.workspace):
        events = Event.objects.filter(type__startswith="calibration.").order_by("seq")
        told = [(event.type, sorted(event.data)) for event in events]
    assert told[0] == ("calibration.drawn", ["reason", "size"])
    assert told[1:] == [("calibration.labelled", ["is_relabelled", "sample"])] * 9


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"label": 0.5, "unsure": True},
        {"label": 1.01},
        {"label": -0.01},
        {"label": "0.5"},
        {"label": True},
        {"label": None},
        {"unsure": False},
        {"unsure": 1},
        {"label": 0.5, "note": "typo"},
    ],
)
def test_what_is_no_label_is_refused(tenant: Tenant, body: dict[str, Any]) -> None:
    judged_world(tenant)
    item = items_of(draw(tenant))[0]["id"]

    assert say(tenant, item, **body).status_code in {400, 422}
    assert stored(tenant)[item].labelled_at is None


@pytest.mark.parametrize("size", [19, 51, 0, -1, 20.5, "30", True, None])
def test_a_sample_has_twenty_to_fifty_items(tenant: Tenant, size: Any) -> None:
    judged_world(tenant)

    assert tenant.reviewer.post(f"{PATH}/sample", {"size": size}).status_code in {400, 422}
    assert stored(tenant) == {}


def test_the_same_request_again_draws_nothing_more(tenant: Tenant) -> None:
    judged_world(tenant)
    key = {"Idempotency-Key": "sample-1"}

    first = tenant.reviewer.post(f"{PATH}/sample", {}, **key)
    again = tenant.reviewer.post(f"{PATH}/sample", {}, **key)

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert len(stored(tenant)) == 30


def test_figures_are_those_of_the_labels(tenant: Tenant, neighbour: Tenant) -> None:
    judged_world(tenant), judged_world(neighbour)
    assert report(tenant) | {"judges": []} == {
        "n": 0, "is_flagged": False, "threshold": 0.2, "judges": [], "waiting": 0, "unsure": 0,
        "relabelled": 0, "last_drawn_at": None,
        "mae": {"value": None, "low": 0, "high": 1},
        "bias": {"value": None, "low": -1, "high": 1},
        "agreement": {"value": None, "low": 0, "high": 1},
    }  # fmt: skip
    for other in items_of(draw(neighbour)):
        say(neighbour, other["id"], label=1)
    items = [item["id"] for item in items_of(draw(tenant))]
    known = stored(tenant)

    for item in items[:20]:  # people are always a tenth lower, if there is room
        say(tenant, item, label=max(0.0, round(known[item].judge_relevance - 0.1, 3)))
    say(tenant, items[20], unsure=True)

    found = report(tenant)
    gaps = [min(0.1, known[item].judge_relevance) for item in items[:20]]
    assert (found["n"], found["unsure"], found["waiting"]) == (20, 1, 9)
    assert found["mae"]["value"] == pytest.approx(np.mean(gaps))
    assert found["bias"]["value"] == pytest.approx(np.mean(gaps))
    assert found["mae"]["low"] < found["mae"]["value"] < found["mae"]["high"]
    assert (found["agreement"]["value"], found["is_flagged"]) == (1.0, False)
    assert found["agreement"]["low"] == pytest.approx(0.839, abs=0.001)
    assert report(tenant) == found  # intervals too


def test_the_trend_is_by_judge_and_the_flag_is_that_of_the_judge_in_service(tenant: Tenant) -> None:
    judged_world(tenant, 3)
    for item in items_of(draw(tenant, 50)):
        relevance = stored(tenant)[item["id"]].judge_relevance
        say(tenant, item["id"], label=1 if relevance < 0.5 else 0)
    flagged = report(tenant)
    with in_workspace(tenant.workspace):
        assert calibration_of(now=timezone.now()).is_flagged

    judged_world(tenant, 3, name="later")
    with in_workspace(tenant.workspace):
        newer = Judgement.objects.filter(session__session_key__startswith="later")
        newer.update(version="offline-2", judged_at=timezone.now())
    unknown = report(tenant)
    for item in items_of(draw(tenant, 50)):
        say(tenant, item["id"], label=stored(tenant)[item["id"]].judge_relevance)
    both = report(tenant)

    assert (flagged["is_flagged"], unknown["is_flagged"], both["is_flagged"]) == (
        True,
        False,
        False,
    )
    assert [(j["version"], j["is_flagged"]) for j in both["judges"]] == [
        ("offline-2", False),
        (VERSION, True),
    ]
    assert both["judges"][0]["mae"]["value"] == 0
    months = both["judges"][1]["months"]
    assert [(m["month"], m["n"]) for m in months] == [(f"{timezone.now():%Y-%m}", 36)]


def test_what_changed_since_drops_out(tenant: Tenant) -> None:
    judged_world(tenant)
    items = items_of(draw(tenant))
    known = stored(tenant)
    rows = [known[item["id"]] for item in items]
    with in_workspace(tenant.workspace):
        knew_by = {
            row.memory_id: set(
                SessionCandidate.objects.filter(
                    Q(was_injected=True) | Q(fts_hit_count__gt=0), memory=row.memory_id
                ).values_list("session", flat=True)
            )
            for row in rows
        }
        # The draw is random: the memory that the fewest sessions knew leaves some of them.
        first = min(rows, key=lambda row: (len(knew_by[row.memory_id]), str(row.memory_id)))
        forgotten, knew = first.memory_id, knew_by[first.memory_id]
        revised = next(row.memory_id for row in rows if row.memory_id != forgotten)
        gone = next(
            row.session_id for row in rows if row.session_id not in {first.session_id, *knew}
        )
        Memory.objects.filter(pk=forgotten).update(forgotten_at=NOW)
        Memory.objects.filter(pk=revised).update(revision=2, content="Said anew.")
        key = Session.objects.get(pk=gone).session_key
    assert tenant.admin.delete(f"sessions/{key}").status_code == 204

    left = items_of(tenant.reviewer.get(f"{PATH}/sample").json())

    expected = [
        item
        for item, row in zip(items, rows, strict=True)
        if row.memory_id not in {forgotten, revised} and row.session_id not in {gone, *knew}
    ]
    assert 0 < len(left) < 30
    assert left == expected
    assert say(tenant, items[rows.index(first)]["id"], label=1).status_code == 409
    deleted = next(i for i, row in zip(items, rows, strict=True) if row.session_id == gone)
    assert say(tenant, deleted["id"], label=1).status_code == 404
    with in_workspace(tenant.workspace):
        Session.objects.update(transcript="")
    assert report(tenant)["waiting"] == 0


def test_labels_of_people_change_nothing_that_is_trained_on(tenant: Tenant) -> None:
    judged_world(tenant)

    def learned() -> list[Any]:
        with in_workspace(tenant.workspace):
            return [
                list(Label.objects.order_by("pk").values()),
                list(Judgement.objects.order_by("pk").values()),
                list(PredictorState.objects.values("governor", "alpha")),
                list(TrainingLease.objects.values("workspace", "due_at")),
            ]

    items = items_of(draw(tenant))
    before = learned()
    for item in items:
        say(tenant, item["id"], label=0.1)

    assert learned() == before


def test_one_waits_or_thirty_the_queries_are_the_same(tenant: Tenant) -> None:
    judged_world(tenant)
    items = items_of(draw(tenant))

    def queries(path: str) -> int:
        tenant.reviewer.get(path)
        with CaptureQueriesContext(connection) as seen:
            tenant.reviewer.get(path)
        return len(seen)

    paths = (PATH, f"{PATH}/sample")
    many = [queries(path) for path in paths]
    for item in items[1:]:
        say(tenant, item["id"], label=0.5)

    assert [queries(path) for path in paths] == many
    assert max(many) < 20


# When one is due


def due(tenant: Tenant, scored: int) -> CalibrationSample | None:
    with in_workspace(tenant.workspace):
        state = lock_state(NOW)
        state.scored_sessions = scored
        state.save()
        return draw_when_due(tenant.workspace, state, np.random.default_rng(1), NOW)


def test_a_sample_is_due_after_fifty_scored_sessions_once_the_last_is_done(tenant: Tenant) -> None:
    judged_world(tenant, 10)

    assert due(tenant, 49) is None
    first = due(tenant, 50)
    assert first is not None
    assert (first.reason, first.size) == ("due", 30)
    assert due(tenant, 100) is None  # the first still waits
    with in_workspace(tenant.workspace):
        CalibrationItem.objects.update(labelled_at=NOW, label=0.5)
    assert due(tenant, 101) is not None
    with in_workspace(tenant.workspace):
        CalibrationItem.objects.update(labelled_at=NOW, label=0.5)
    assert due(tenant, 150) is None
    assert due(tenant, 151) is not None


def test_what_is_due_waits_until_there_is_enough_to_ask_about(tenant: Tenant) -> None:
    judged_world(tenant, 1)
    assert due(tenant, 50) is None

    judged_world(tenant, 1, name="another")
    assert due(tenant, 51) is not None
    assert len(stored(tenant)) == 24


def test_a_sample_by_hand_begins_the_count_anew(tenant: Tenant) -> None:
    judged_world(tenant, 10)
    assert due(tenant, 40) is None
    for item in items_of(draw(tenant)):
        say(tenant, item["id"], label=0.5)

    assert due(tenant, 60) is None
    assert due(tenant, 90) is not None


def test_who_asks_and_answers_at_once_draws_once_and_answers_once(
    shared_tenant: Tenant,  # noqa: F811
) -> None:
    judged_world(shared_tenant)

    drawn = at_once(lambda n: shared_tenant.reviewer.post(f"{PATH}/sample", {"size": 20}))
    item = items_of(drawn[0].json())[0]["id"]

    def answer(number: int) -> Any:
        with suppress(StaleError):
            workspace, now = shared_tenant.workspace, timezone.now()
            actor = Actor(kind="user", id=str(number), label=f"p{number}", role=Role.REVIEWER)
            return label_item(
                workspace, UUID(item), number / 10, actor=actor, now=now, is_first_only=True
            )

    answers = [one for one in at_once(answer) if one is not None]

    assert sorted(one.status_code for one in drawn) == [200] * (CALLERS - 1) + [201]
    assert len(stored(shared_tenant)) == 20
    assert [one.label for one in answers] == [stored(shared_tenant)[item].label]


def test_who_asks_for_another_at_once_draws_one(shared_tenant: Tenant) -> None:  # noqa: F811
    judged_world(shared_tenant, 10)
    draw(shared_tenant, 20)
    with in_workspace(shared_tenant.workspace):
        after = last_drawn_at()

    def ask(number: int) -> bool:
        actor = Actor(kind="user", id=str(number), label=f"p{number}", role=Role.REVIEWER)
        return sample(
            shared_tenant.workspace, 20, rng=np.random.default_rng(number), actor=actor,
            now=timezone.now(), after=after,
        )  # fmt: skip

    assert sum(at_once(ask)) == 1
    assert len(stored(shared_tenant)) == 40


def test_a_memory_that_says_the_same_is_asked_about_whatever_else_changed(tenant: Tenant) -> None:
    judged_world(tenant)
    items = items_of(draw(tenant))
    known = stored(tenant)
    tagged = known[items[0]["id"]].memory_id
    reworded = next(known[i["id"]].memory_id for i in items if known[i["id"]].memory_id != tagged)
    assert tenant.reviewer.patch(f"memories/{tagged}", {"tags": ["seen"]}).status_code == 200
    said = {"content": "The lock of the third gate is oiled in May."}
    assert tenant.reviewer.patch(f"memories/{reworded}", said).status_code == 200

    left = {item["id"] for item in items_of(tenant.reviewer.get(f"{PATH}/sample").json())}
    assert left == {i["id"] for i in items if known[i["id"]].memory_id != reworded}
    assert say(tenant, items[0]["id"], label=1).status_code == 200
