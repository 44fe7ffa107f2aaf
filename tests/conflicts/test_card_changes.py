"""Cards whose memories join, are reworded, go away and come back; verdicts that say too little."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.services.cards.file import file_findings
from conflicts.services.cards.snooze import wake_due
from conflicts.services.detection.detect import detect_due
from engram.kernel.collisions import AGAIN
from engram.kernel.tenancy import in_workspace
from tests.conftest import House, build_house

PLACES = [
    "The retreat is held in Lisbon.",
    "Everybody flies to Oslo in June.",
    "Trains to Vienna are booked.",
    "The summer house in Rome is rented.",
]


def commit(house: House, content: str, **fields: Any) -> str:
    answer = house.agent.post("memories", {"content": content, **fields})
    return str(answer.json()["memory"]["id"])


def tell(house: House, count: int) -> list[str]:
    return [
        commit(house, content, observed_at=f"2026-0{month}-01T09:00:00Z")
        for month, content in enumerate(PLACES[:count], start=1)
    ]


def report(house: House, *ids: str, note: str = "") -> dict[str, Any]:
    answer = house.agent.post("conflicts", {"memory_ids": list(ids), "note": note})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def card_of(house: House, card: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = house.reader.get(f"conflicts/{card['id']}").json()
    return body


def resolve(house: House, card: dict[str, Any], **body: Any) -> Any:
    return house.reviewer.post(f"conflicts/{card['id']}/resolve", body)


def states(house: House, *ids: str) -> list[str]:
    return [house.reader.get(f"memories/{i}").json()["state"] for i in ids]


def forget(house: House, *ids: str) -> None:
    answer = house.reviewer.post("memories/forget", {"ids": list(ids), "confirm": True})
    assert answer.json()["forgotten"] == len(ids)


def test_a_memory_that_joins_is_for_yes_only_if_it_says_what_the_question_names(
    house: House,
) -> None:
    a, b, c, d = tell(house, 4)
    first = report(house, a, b, c)
    second = report(house, b, c, d, note="Rome is what the invoice says.")
    assert (second["id"], second["question"]) == (first["id"], first["question"])
    assert second["yes_keeps"] == [c]
    assert [x["text"] for x in second["comments"]] == ["Rome is what the invoice says."]
    resolve(house, second, verdict="yes")
    assert states(house, a, b, c, d) == ["superseded", "superseded", "active", "superseded"]


def test_a_folded_memory_that_says_what_the_question_names_is_for_yes(house: House) -> None:
    a, b, c = tell(house, 3)
    also_b = commit(house, PLACES[1], scope="travel")
    rest = ("Is it so?", "r", "low", 0.5, None)
    with in_workspace(house.workspace):
        filed = file_findings(
            [
                Finding("ambiguity", (a, b), (b,), *rest),
                Finding("ambiguity", (a, b, c, also_b), (c,), *rest),
            ],
            Comparisons(),
            detected_by="rules",
            now=timezone.now(),
        )
    assert (filed.opened, filed.joined) == (1, 0)
    card = house.reader.get(f"conflicts/{filed.cards[0]}").json()
    assert sorted(card["yes_keeps"]) == sorted([b, also_b])


def test_the_same_note_is_kept_once(house: House) -> None:
    a, b = tell(house, 2)
    report(house, a, b, note="first")
    report(house, a, b, note="second")
    assert [x["text"] for x in report(house, a, b, note="second")["comments"]] == ["second"]


def test_undo_leaves_a_memory_that_was_there_before_the_answer(house: House) -> None:
    a, b = tell(house, 2)
    bystander = commit(house, "The retreat is cancelled.")
    card = report(house, a, b)
    answer = resolve(house, card, verdict="none_valid", answer="The retreat is cancelled.")
    assert answer.json()["resolution"]["answer_memory"] == bystander
    assert house.reviewer.post(f"conflicts/{card['id']}/undo", {}).status_code == 200
    assert states(house, a, b, bystander) == ["active", "active", "active"]


def test_undo_retires_the_answer_that_the_verdict_brought(house: House) -> None:
    card = report(house, *tell(house, 2))
    answer = resolve(house, card, verdict="none_valid", answer="The retreat is cancelled.")
    assert house.reviewer.post(f"conflicts/{card['id']}/undo", {}).status_code == 200
    assert states(house, answer.json()["resolution"]["answer_memory"]) == ["retired"]


def test_undo_brings_nothing_back_that_was_said_again_meanwhile(house: House) -> None:
    """Not even where one of the two ends some day, which no constraint of the database sees."""
    until = (timezone.now() + timedelta(days=1)).isoformat()
    a, b = commit(house, PLACES[0], expires_at=until), commit(house, PLACES[1])
    card = report(house, a, b)
    resolve(house, card, verdict="keep", keep=[b])
    again = commit(house, PLACES[0])
    assert again != a
    refused = house.reviewer.post(f"conflicts/{card['id']}/undo", {})
    assert (refused.status_code, refused.json()["errors"][0]["message"]) == (409, again)
    assert states(house, a, b, again) == ["superseded", "active", "active"]
    forget(house, again)
    assert house.reviewer.post(f"conflicts/{card['id']}/undo", {}).status_code == 200
    assert states(house, a, b) == ["active", "active"]


def test_a_blank_answer_is_none(house: House) -> None:
    card = report(house, *tell(house, 2))
    answer = resolve(house, card, verdict="none_valid", answer="   ")
    assert (answer.status_code, answer.json()["resolution"]["answer_memory"]) == (200, None)


def test_keep_goes_with_keep_and_no_only(house: House) -> None:
    a, b = tell(house, 2)
    card = report(house, a, b)
    for verdict in ("yes", "both_valid", "none_valid", "dismiss"):
        assert resolve(house, card, verdict=verdict, keep=[a]).status_code == 422
    assert card_of(house, card)["status"] == "open"


def test_no_asks_what_is_true_when_two_reported_values_would_remain(house: House) -> None:
    a, b, c = tell(house, 3)
    card = report(house, a, b, c)
    assert resolve(house, card, verdict="no").status_code == 422
    assert resolve(house, card, verdict="no", keep=[a]).status_code == 200
    assert states(house, a, b, c) == ["active", "superseded", "retired"]


def test_a_verdict_on_a_reworded_memory_stands(house: House) -> None:
    a, b = tell(house, 2)
    card = report(house, a, b)
    house.agent.patch(f"memories/{b}", {"content": "Nobody flies to Oslo."})
    asked = card_of(house, card)
    assert (asked["status"], "Nobody flies to Oslo" in asked["question"]) == ("open", True)
    assert resolve(house, card, verdict="both_valid").status_code == 200
    again = house.agent.post("conflicts", {"memory_ids": [a, b], "note": ""})
    assert again.status_code == 409


def test_a_card_of_the_rules_lapses_when_its_words_are_gone(house: House) -> None:
    commit(house, "The API rate limit is 1000 requests per second.", scope="auth")
    high = commit(house, "The API rate limit is 5000 requests per second.", scope="auth")
    detect_due(house.workspace, clock=timezone.now)
    [card] = house.reader.get("conflicts").json()["results"]
    house.agent.patch(f"memories/{high}", {"content": "The canteen opens at noon."})
    detect_due(house.workspace, clock=timezone.now)
    assert card_of(house, card)["status"] == "resolved"
    assert len(house.reader.get("conflicts").json()["results"]) == 1


def test_a_card_comes_back_with_its_memory(house: House) -> None:
    a, b = tell(house, 2)
    card = report(house, a, b, note="Which one?")
    forget(house, a)
    assert card_of(house, card)["status"] == "resolved"
    house.reviewer.post("memories/restore", {"ids": [a]})
    back = card_of(house, card)
    assert (back["status"], back["resolution"]) == ("open", None)
    assert (back["question"], back["reasoning"]) == (card["question"], "Which one?")


def test_a_wider_card_asks_on_without_what_was_forgotten(house: House) -> None:
    a, b, c = tell(house, 3)
    card = report(house, a, b, c, note="See Vienna.")
    forget(house, c)
    asked = card_of(house, card)
    assert [m["id"] for m in asked["memories"]] == [a, b]
    assert asked["question"] == (
        "Does “Everybody flies to Oslo in June” hold, rather than “The retreat is held in Lisbon”?"
    )
    assert (asked["reasoning"], asked["yes_keeps"]) == ("", [b])
    assert resolve(house, card, verdict="yes").status_code == 200
    assert states(house, a, b) == ["superseded", "active"]


def test_a_card_lapses_when_its_memory_expires(house: House) -> None:
    until = timezone.now() + timedelta(hours=1)
    a = commit(house, PLACES[0], expires_at=until.isoformat())
    card = report(house, a, commit(house, PLACES[1]))
    wake_due(house.workspace, now=until - timedelta(minutes=1))
    assert card_of(house, card)["status"] == "open"
    wake_due(house.workspace, now=until + timedelta(minutes=1))
    assert card_of(house, card)["status"] == "resolved"


@pytest.fixture
def shared_house(transactional_db: None) -> House:
    """Return a workspace that several connections see."""
    return build_house("busy")


def both(*calls: Any) -> list[Any]:
    """Call each in a thread with a connection of its own, starting together."""
    barrier = Barrier(len(calls))

    def run(call: Any) -> Any:
        barrier.wait()
        try:
            return call()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def test_forgetting_beside_a_verdict_does_not_deadlock(shared_house: House) -> None:
    house = shared_house
    for turn in range(8):
        a = commit(house, f"Crate {turn} holds cedar.")
        b = commit(house, f"Nothing but lamps came in delivery {turn}.")
        card = report(house, a, b)
        forgot, answer = both(
            lambda a=a: house.reviewer.post("memories/forget", {"ids": [a], "confirm": True}),
            lambda card=card: resolve(house, card, verdict="yes"),
        )
        assert (forgot.status_code, answer.status_code in {200, 409}) == (200, True)
        assert answer.json().get("detail") != AGAIN


def test_a_snooze_survives_a_report_at_the_same_time(shared_house: House) -> None:
    house = shared_house
    until = (timezone.now() + timedelta(days=1)).isoformat()
    for turn in range(6):
        a = commit(house, f"Crate {turn} holds cedar.")
        b = commit(house, f"Nothing but lamps came in delivery {turn}.")
        c = commit(house, f"Customs kept parcel {turn} for good.")
        card = report(house, a, b)
        snoozed, _ = both(
            lambda card=card: house.reviewer.post(
                f"conflicts/{card['id']}/snooze", {"until": until}
            ),
            lambda ids=(a, b, c): report(house, *ids),
        )
        after = card_of(house, card)
        assert (snoozed.status_code, after["status"]) == (200, "snoozed")
        assert len(after["memories"]) == 3
