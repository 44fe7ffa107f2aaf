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
from tests.conftest import Tenant, build_tenant

PLACES = [
    "The retreat is held in Lisbon.",
    "Everybody flies to Oslo in June.",
    "Trains to Vienna are booked.",
    "The summer house in Rome is rented.",
]


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    return str(answer.json()["memory"]["id"])


def commit_places(tenant: Tenant, count: int) -> list[str]:
    return [
        commit(tenant, content, observed_at=f"2026-0{month}-01T09:00:00Z")
        for month, content in enumerate(PLACES[:count], start=1)
    ]


def report(tenant: Tenant, *ids: str, note: str = "") -> dict[str, Any]:
    answer = tenant.agent.post("conflicts", {"memory_ids": list(ids), "note": note})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def card_of(tenant: Tenant, card: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = tenant.reader.get(f"conflicts/{card['id']}").json()
    return body


def resolve(tenant: Tenant, card: dict[str, Any], **body: Any) -> Any:
    return tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body)


def states(tenant: Tenant, *ids: str) -> list[str]:
    return [tenant.reader.get(f"memories/{i}").json()["state"] for i in ids]


def forget(tenant: Tenant, *ids: str) -> None:
    answer = tenant.reviewer.post("memories/forget", {"ids": list(ids), "confirm": True})
    assert answer.json()["forgotten"] == len(ids)


def test_a_memory_that_joins_is_for_yes_only_if_it_says_what_the_question_names(
    tenant: Tenant,
) -> None:
    a, b, c, d = commit_places(tenant, 4)
    first = report(tenant, a, b, c)
    second = report(tenant, b, c, d, note="Rome is what the invoice says.")
    assert (second["id"], second["question"]) == (first["id"], first["question"])
    assert second["yes_keeps"] == [c]
    assert [x["text"] for x in second["comments"]] == ["Rome is what the invoice says."]
    resolve(tenant, second, verdict="yes")
    assert states(tenant, a, b, c, d) == ["superseded", "superseded", "active", "superseded"]


def test_a_folded_memory_that_says_what_the_question_names_is_for_yes(tenant: Tenant) -> None:
    a, b, c = commit_places(tenant, 3)
    also_b = commit(tenant, PLACES[1], scope="travel")
    rest = ("Is it so?", "r", "low", 0.5, None, ("ambiguity.choice",))
    with in_workspace(tenant.workspace):
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
    card = tenant.reader.get(f"conflicts/{filed.cards[0]}").json()
    assert sorted(card["yes_keeps"]) == sorted([b, also_b])


def test_the_same_note_is_kept_once(tenant: Tenant) -> None:
    a, b = commit_places(tenant, 2)
    report(tenant, a, b, note="first")
    report(tenant, a, b, note="second")
    assert [x["text"] for x in report(tenant, a, b, note="second")["comments"]] == ["second"]


def test_undo_leaves_a_memory_that_was_there_before_the_answer(tenant: Tenant) -> None:
    a, b = commit_places(tenant, 2)
    bystander = commit(tenant, "The retreat is cancelled.")
    card = report(tenant, a, b)
    answer = resolve(tenant, card, verdict="none_valid", answer="The retreat is cancelled.")
    assert answer.json()["resolution"]["answer_memory"] == bystander
    assert tenant.reviewer.post(f"conflicts/{card['id']}/undo", {}).status_code == 200
    assert states(tenant, a, b, bystander) == ["active", "active", "active"]


def test_undo_retires_the_answer_that_the_verdict_brought(tenant: Tenant) -> None:
    card = report(tenant, *commit_places(tenant, 2))
    answer = resolve(tenant, card, verdict="none_valid", answer="The retreat is cancelled.")
    assert tenant.reviewer.post(f"conflicts/{card['id']}/undo", {}).status_code == 200
    assert states(tenant, answer.json()["resolution"]["answer_memory"]) == ["retired"]


def test_undo_brings_nothing_back_that_was_said_again_meanwhile(tenant: Tenant) -> None:
    """Not even where one of the two ends some day, which no constraint of the database sees."""
    until = (timezone.now() + timedelta(days=1)).isoformat()
    a, b = commit(tenant, PLACES[0], expires_at=until), commit(tenant, PLACES[1])
    card = report(tenant, a, b)
    resolve(tenant, card, verdict="keep", keep=[b])
    again = commit(tenant, PLACES[0])
    assert again != a
    refused = tenant.reviewer.post(f"conflicts/{card['id']}/undo", {})
    assert (refused.status_code, refused.json()["errors"][0]["message"]) == (409, again)
    assert states(tenant, a, b, again) == ["superseded", "active", "active"]
    forget(tenant, again)
    assert tenant.reviewer.post(f"conflicts/{card['id']}/undo", {}).status_code == 200
    assert states(tenant, a, b) == ["active", "active"]


def test_a_blank_answer_is_none(tenant: Tenant) -> None:
    card = report(tenant, *commit_places(tenant, 2))
    answer = resolve(tenant, card, verdict="none_valid", answer="   ")
    assert (answer.status_code, answer.json()["resolution"]["answer_memory"]) == (200, None)


def test_keep_goes_with_keep_and_no_only(tenant: Tenant) -> None:
    a, b = commit_places(tenant, 2)
    card = report(tenant, a, b)
    for verdict in ("yes", "both_valid", "none_valid", "dismiss"):
        assert resolve(tenant, card, verdict=verdict, keep=[a]).status_code == 422
    assert card_of(tenant, card)["status"] == "open"


def test_no_asks_what_is_true_when_two_reported_values_would_remain(tenant: Tenant) -> None:
    a, b, c = commit_places(tenant, 3)
    card = report(tenant, a, b, c)
    assert resolve(tenant, card, verdict="no").status_code == 422
    assert resolve(tenant, card, verdict="no", keep=[a]).status_code == 200
    assert states(tenant, a, b, c) == ["active", "superseded", "retired"]


def test_a_verdict_on_a_reworded_memory_stands(tenant: Tenant) -> None:
    a, b = commit_places(tenant, 2)
    card = report(tenant, a, b)
    tenant.agent.patch(f"memories/{b}", {"content": "Nobody flies to Oslo."})
    asked = card_of(tenant, card)
    assert (asked["status"], "Nobody flies to Oslo" in asked["question"]) == ("open", True)
    assert resolve(tenant, card, verdict="both_valid").status_code == 200
    again = tenant.agent.post("conflicts", {"memory_ids": [a, b], "note": ""})
    assert again.status_code == 409


def test_a_card_of_the_rules_lapses_when_its_words_are_gone(tenant: Tenant) -> None:
    commit(tenant, "The API rate limit is 1000 requests per second.", scope="auth")
    high = commit(tenant, "The API rate limit is 5000 requests per second.", scope="auth")
    detect_due(tenant.workspace, clock=timezone.now)
    [card] = tenant.reader.get("conflicts").json()["results"]
    tenant.agent.patch(f"memories/{high}", {"content": "The canteen opens at noon."})
    detect_due(tenant.workspace, clock=timezone.now)
    assert card_of(tenant, card)["status"] == "resolved"
    assert len(tenant.reader.get("conflicts").json()["results"]) == 1


def test_a_card_comes_back_with_its_memory(tenant: Tenant) -> None:
    a, b = commit_places(tenant, 2)
    card = report(tenant, a, b, note="Which one?")
    forget(tenant, a)
    assert card_of(tenant, card)["status"] == "resolved"
    tenant.reviewer.post("memories/restore", {"ids": [a]})
    back = card_of(tenant, card)
    assert (back["status"], back["resolution"]) == ("open", None)
    assert (back["question"], back["reasoning"]) == (card["question"], "Which one?")


def test_a_wider_card_asks_on_without_what_was_forgotten(tenant: Tenant) -> None:
    a, b, c = commit_places(tenant, 3)
    card = report(tenant, a, b, c, note="See Vienna.")
    forget(tenant, c)
    asked = card_of(tenant, card)
    assert [m["id"] for m in asked["memories"]] == [a, b]
    assert asked["question"] == (
        "Does “Everybody flies to Oslo in June” hold, rather than “The retreat is held in Lisbon”?"
    )
    assert (asked["reasoning"], asked["yes_keeps"]) == ("", [b])
    assert resolve(tenant, card, verdict="yes").status_code == 200
    assert states(tenant, a, b) == ["superseded", "active"]


def test_a_card_lapses_when_its_memory_expires(tenant: Tenant) -> None:
    until = timezone.now() + timedelta(hours=1)
    a = commit(tenant, PLACES[0], expires_at=until.isoformat())
    card = report(tenant, a, commit(tenant, PLACES[1]))
    wake_due(tenant.workspace, now=until - timedelta(minutes=1))
    assert card_of(tenant, card)["status"] == "open"
    wake_due(tenant.workspace, now=until + timedelta(minutes=1))
    assert card_of(tenant, card)["status"] == "resolved"


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


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


def test_forgetting_beside_a_verdict_does_not_deadlock(shared_tenant: Tenant) -> None:
    tenant = shared_tenant
    for turn in range(8):
        a = commit(tenant, f"Crate {turn} holds cedar.")
        b = commit(tenant, f"Nothing but lamps came in delivery {turn}.")
        card = report(tenant, a, b)
        forgot, answer = both(
            lambda a=a: tenant.reviewer.post("memories/forget", {"ids": [a], "confirm": True}),
            lambda card=card: resolve(tenant, card, verdict="yes"),
        )
        assert (forgot.status_code, answer.status_code in {200, 409}) == (200, True)
        assert answer.json().get("detail") != AGAIN


def test_a_snooze_survives_a_report_at_the_same_time(shared_tenant: Tenant) -> None:
    tenant = shared_tenant
    until = (timezone.now() + timedelta(days=1)).isoformat()
    for turn in range(6):
        a = commit(tenant, f"Crate {turn} holds cedar.")
        b = commit(tenant, f"Nothing but lamps came in delivery {turn}.")
        c = commit(tenant, f"Customs kept parcel {turn} for good.")
        card = report(tenant, a, b)
        snoozed, _ = both(
            lambda card=card: tenant.reviewer.post(
                f"conflicts/{card['id']}/snooze", {"until": until}
            ),
            lambda ids=(a, b, c): report(tenant, *ids),
        )
        after = card_of(tenant, card)
        assert (snoozed.status_code, after["status"]) == (200, "snoozed")
        assert len(after["memories"]) == 3
