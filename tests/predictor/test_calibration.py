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
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import Actor
from engram.kernel.models import Event, Role
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session
from predictor.models import CalibrationItem, CalibrationSample, Judgement, Label, PredictorState
from predictor.services.calibration.calibrate import draw_when_due, label_item
from predictor.services.calibration.report import is_judge_flagged
from predictor.services.state import locked_state
from tests.conftest import NOW, House
from tests.memories.test_concurrency import CALLERS, at_once, shared_house  # noqa: F401
from tests.predictor.asked import TRANSCRIPT, VERSION, items_of, judged_world, stored

PATH = "predictor/calibration"


def draw(house: House, size: int = 30) -> dict[str, Any]:
    answer = house.reviewer.post(f"{PATH}/sample", {"size": size})
    assert answer.status_code == 201, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def say(house: House, item: str, **body: Any) -> Any:
    return house.reviewer.post(f"{PATH}/{item}/label", body)


def report(house: House) -> dict[str, Any]:
    found: dict[str, Any] = house.reader.get(PATH).json()
    return found


def test_a_sample_is_blind_and_reads_session_by_session(house: House, neighbour: House) -> None:
    judged_world(house), judged_world(neighbour)

    sample = draw(house)
    items = items_of(sample)
    known = stored(house)

    assert (sample["waiting"], len(items), len(known)) == (30, 30, 30)
    assert {key for item in items for key in item} == {"id", "memory_id", "content", "observed_at"}
    assert {key for session in sample["sessions"] for key in session} == {
        "session_key", "project", "context", "started_at", "transcript_tail", "memories",
    }  # fmt: skip
    assert all(len(session["transcript_tail"]) <= 4000 for session in sample["sessions"])
    assert sample["sessions"][0]["transcript_tail"].endswith(TRANSCRIPT.rstrip())
    assert [known[item["id"]].position for item in items] == list(range(1, 31))
    sessions = [known[item["id"]].session_id for item in items]
    assert len(list(groupby(sessions))) == len(set(sessions)) > 1


def test_a_sample_is_even_over_what_the_judge_said_and_how_sure_it_was(house: House) -> None:
    judged_world(house, 20)
    draw(house)

    counted = Counter(item.stratum for item in stored(house).values())
    assert set(counted) == {
        f"{band}, {sure}" for band in ("low", "middle", "high") for sure in ("sure", "unsure")
    }
    assert max(counted.values()) <= 2 * min(counted.values())


def test_one_goes_on_where_one_stopped(house: House) -> None:
    judged_world(house)
    items = items_of(draw(house))

    said = say(house, items[0]["id"], label=0.5).json()

    resumed = house.reviewer.get(f"{PATH}/sample").json()
    assert items_of(resumed) == items[1:]
    assert said["waiting"] == resumed["waiting"] == report(house)["waiting"] == 29
    again = house.reviewer.post(f"{PATH}/sample", {"size": 50})
    assert (again.status_code, items_of(again.json())) == (200, items[1:])


def test_nobody_is_asked_twice_and_at_last_nothing_is_left(house: House) -> None:
    judged_world(house, 3)  # 36 judged memories
    first = items_of(draw(house, 30))
    for item in first:
        assert say(house, item["id"], unsure=True).status_code == 200
    second = items_of(draw(house, 30))
    for item in second:
        say(house, item["id"], label=1)

    assert len(second) == 6
    pairs = {(item.session_id, item.memory_id) for item in stored(house).values()}
    assert len(pairs) == 36
    nothing = house.reviewer.post(f"{PATH}/sample", {})
    assert nothing.status_code == 409
    assert "Nothing is left" in nothing.json()["detail"]


def test_the_judges_word_is_told_after_the_own_and_a_second_one_is_told_apart(
    house: House,
) -> None:
    judged_world(house)
    item = items_of(draw(house))[0]["id"]
    judged = stored(house)[item].judge_relevance

    other = items_of(house.reviewer.get(f"{PATH}/sample").json())[1]["id"]
    unsure = say(house, other, unsure=True).json()
    first = say(house, item, label=0.25).json()
    second = say(house, item, label=0.75).json()

    assert (unsure["judge_relevance"], unsure["label"], unsure["unsure"]) == (None, None, True)
    assert (first["judge_relevance"], first["relabelled"], first["unsure"]) == (
        judged,
        False,
        False,
    )
    assert (second["label"], second["relabelled"]) == (0.75, True)
    assert second["labelled_by"] == "acme reviewer"
    assert (report(house)["n"], report(house)["relabelled"]) == (0, 1)


def test_labels_that_may_know_the_judges_word_are_in_no_figure(house: House) -> None:
    judged_world(house)
    items = [item["id"] for item in items_of(draw(house))]
    for item in items[:20]:
        relevance = stored(house)[item].judge_relevance
        say(house, item, label=1 if relevance < 0.5 else 0)
    blind = report(house)

    for item in items[20:25]:  # told the judge's word by the first answer, and agreeing with it
        say(house, item, label=0)
        say(house, item, label=say(house, item, label=0).json()["judge_relevance"])

    assert blind["is_flagged"]
    assert report(house) == blind | {"relabelled": 5, "waiting": 5}


def test_history_tells_that_something_was_said_and_not_what(house: House) -> None:
    judged_world(house)
    for item in items_of(draw(house))[:9]:
        say(house, item["id"], label=0.333)

    with in_workspace(house.workspace):
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
def test_what_is_no_label_is_refused(house: House, body: dict[str, Any]) -> None:
    judged_world(house)
    item = items_of(draw(house))[0]["id"]

    assert say(house, item, **body).status_code in {400, 422}
    assert stored(house)[item].labelled_at is None


@pytest.mark.parametrize("size", [19, 51, 0, -1, 20.5, "30", True, None])
def test_a_sample_has_twenty_to_fifty_items(house: House, size: Any) -> None:
    judged_world(house)

    assert house.reviewer.post(f"{PATH}/sample", {"size": size}).status_code in {400, 422}
    assert stored(house) == {}


def test_the_same_request_again_draws_nothing_more(house: House) -> None:
    judged_world(house)
    key = {"Idempotency-Key": "sample-1"}

    first = house.reviewer.post(f"{PATH}/sample", {}, **key)
    again = house.reviewer.post(f"{PATH}/sample", {}, **key)

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert len(stored(house)) == 30


def test_figures_are_those_of_the_labels(house: House, neighbour: House) -> None:
    judged_world(house), judged_world(neighbour)
    assert report(house) | {"judges": []} == {
        "n": 0, "is_flagged": False, "threshold": 0.2, "judges": [], "waiting": 0, "unsure": 0,
        "relabelled": 0, "last_drawn_at": None,
        "mae": {"value": None, "low": 0, "high": 1},
        "bias": {"value": None, "low": -1, "high": 1},
        "agreement": {"value": None, "low": 0, "high": 1},
    }  # fmt: skip
    for other in items_of(draw(neighbour)):
        say(neighbour, other["id"], label=1)
    items = [item["id"] for item in items_of(draw(house))]
    known = stored(house)

    for item in items[:20]:  # people are always a tenth lower, if there is room
        say(house, item, label=max(0.0, round(known[item].judge_relevance - 0.1, 3)))
    say(house, items[20], unsure=True)

    found = report(house)
    gaps = [min(0.1, known[item].judge_relevance) for item in items[:20]]
    assert (found["n"], found["unsure"], found["waiting"]) == (20, 1, 9)
    assert found["mae"]["value"] == pytest.approx(np.mean(gaps))
    assert found["bias"]["value"] == pytest.approx(np.mean(gaps))
    assert found["mae"]["low"] < found["mae"]["value"] < found["mae"]["high"]
    assert (found["agreement"]["value"], found["is_flagged"]) == (1.0, False)
    assert found["agreement"]["low"] == pytest.approx(0.839, abs=0.001)
    assert report(house) == found  # intervals too


def test_the_trend_is_by_judge_and_the_flag_is_that_of_the_judge_in_service(house: House) -> None:
    judged_world(house, 3)
    for item in items_of(draw(house, 50)):
        relevance = stored(house)[item["id"]].judge_relevance
        say(house, item["id"], label=1 if relevance < 0.5 else 0)
    flagged = report(house)
    with in_workspace(house.workspace):
        assert is_judge_flagged(now=timezone.now())

    judged_world(house, 3, name="later")
    with in_workspace(house.workspace):
        newer = Judgement.objects.filter(session__session_key__startswith="later")
        newer.update(version="offline-2", judged_at=timezone.now())
    unknown = report(house)
    for item in items_of(draw(house, 50)):
        say(house, item["id"], label=stored(house)[item["id"]].judge_relevance)
    both = report(house)

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


def test_what_changed_since_drops_out(house: House) -> None:
    judged_world(house)
    items = items_of(draw(house))
    known = stored(house)
    rows = [known[item["id"]] for item in items]
    forgotten, revised = (
        rows[0].memory_id,
        next(row.memory_id for row in rows if row.memory_id != rows[0].memory_id),
    )
    gone = next(row.session_id for row in rows if row.session_id != rows[0].session_id)
    with in_workspace(house.workspace):
        Memory.objects.filter(pk=forgotten).update(forgotten_at=NOW)
        Memory.objects.filter(pk=revised).update(revision=2, content="Said anew.")
        key = Session.objects.get(pk=gone).session_key
    assert house.admin.delete(f"sessions/{key}").status_code == 204

    left = items_of(house.reviewer.get(f"{PATH}/sample").json())

    expected = [
        item
        for item, row in zip(items, rows, strict=True)
        if row.memory_id not in {forgotten, revised} and row.session_id != gone
    ]
    assert 0 < len(left) < 30
    assert left == expected
    assert say(house, items[0]["id"], label=1).status_code == 409
    deleted = next(i for i, row in zip(items, rows, strict=True) if row.session_id == gone)
    assert say(house, deleted["id"], label=1).status_code == 404
    with in_workspace(house.workspace):
        Session.objects.update(transcript="")
    assert report(house)["waiting"] == 0


def test_labels_of_people_change_nothing_that_is_trained_on(house: House) -> None:
    judged_world(house)

    def learned() -> list[Any]:
        with in_workspace(house.workspace):
            return [
                list(Label.objects.order_by("pk").values()),
                list(Judgement.objects.order_by("pk").values()),
                list(PredictorState.objects.values("training_due_since", "governor", "alpha")),
            ]

    items = items_of(draw(house))
    before = learned()
    for item in items:
        say(house, item["id"], label=0.1)

    assert learned() == before


def test_one_waits_or_thirty_the_queries_are_the_same(house: House) -> None:
    judged_world(house)
    items = items_of(draw(house))

    def queries(path: str) -> int:
        house.reviewer.get(path)
        with CaptureQueriesContext(connection) as seen:
            house.reviewer.get(path)
        return len(seen)

    paths = (PATH, f"{PATH}/sample")
    many = [queries(path) for path in paths]
    for item in items[1:]:
        say(house, item["id"], label=0.5)

    assert [queries(path) for path in paths] == many
    assert max(many) < 20


# When one is due


def due(house: House, scored: int) -> CalibrationSample | None:
    with in_workspace(house.workspace):
        state = locked_state(NOW)
        state.scored_sessions = scored
        state.save()
        return draw_when_due(house.workspace, state, np.random.default_rng(1), NOW)


def test_a_sample_is_due_after_fifty_scored_sessions_once_the_last_is_done(house: House) -> None:
    judged_world(house, 10)

    assert due(house, 49) is None
    first = due(house, 50)
    assert first is not None
    assert (first.reason, first.size) == ("due", 30)
    assert due(house, 100) is None  # the first still waits
    with in_workspace(house.workspace):
        CalibrationItem.objects.update(labelled_at=NOW, label=0.5)
    assert due(house, 101) is not None
    with in_workspace(house.workspace):
        CalibrationItem.objects.update(labelled_at=NOW, label=0.5)
    assert due(house, 150) is None
    assert due(house, 151) is not None


def test_what_is_due_waits_until_there_is_enough_to_ask_about(house: House) -> None:
    judged_world(house, 1)
    assert due(house, 50) is None

    judged_world(house, 1, name="another")
    assert due(house, 51) is not None
    assert len(stored(house)) == 24


def test_a_sample_by_hand_begins_the_count_anew(house: House) -> None:
    judged_world(house, 10)
    assert due(house, 40) is None
    for item in items_of(draw(house)):
        say(house, item["id"], label=0.5)

    assert due(house, 60) is None
    assert due(house, 90) is not None


def test_who_asks_and_answers_at_once_draws_once_and_answers_once(
    shared_house: House,  # noqa: F811
) -> None:
    judged_world(shared_house)

    drawn = at_once(lambda n: shared_house.reviewer.post(f"{PATH}/sample", {"size": 20}))
    item = items_of(drawn[0].json())[0]["id"]

    def answer(number: int) -> Any:
        with suppress(StaleError):
            workspace, now = shared_house.workspace, timezone.now()
            actor = Actor(kind="user", id=str(number), label=f"p{number}", role=Role.REVIEWER)
            return label_item(
                workspace, UUID(item), number / 10, actor=actor, now=now, is_first_only=True
            )

    answers = [one for one in at_once(answer) if one is not None]

    assert sorted(one.status_code for one in drawn) == [200] * (CALLERS - 1) + [201]
    assert len(stored(shared_house)) == 20
    assert [one.label for one in answers] == [stored(shared_house)[item].label]
