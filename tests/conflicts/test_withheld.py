"""What a card of a forgotten memory still shows, and verdicts that would change nothing."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from conflicts.models import Conflict, Judgement
from conflicts.services.cards import show
from conflicts.services.cards.lapse import TAKEN_OUT
from conflicts.services.detection.detect import detect_due
from conflicts.services.verdicts import bulk
from conflicts.services.verdicts import resolve as verdicts
from engram.kernel.actors import SYSTEM
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace
from tests.conflicts.test_card_changes import (
    PLACES,
    card_of,
    commit,
    commit_places,
    forget,
    report,
    resolve,
)
from tests.conftest import Tenant
from tests.console.test_inbox import Member, page


def test_nobody_is_quoted_on_a_card_of_a_forgotten_memory(tenant: Tenant, member: Member) -> None:
    a, b = commit_places(tenant, 2)
    card = report(tenant, a, b, note=f"It says: {PLACES[0]}")
    report(tenant, a, b, note=f"Again: {PLACES[0]}")
    said = {"text": "Lisbon was never booked."}
    assert tenant.reviewer.post(f"conflicts/{card['id']}/comments", said).status_code == 201
    answer = resolve(tenant, card, verdict="yes", note="Not Lisbon.")
    assert answer.status_code == 200
    assert "Not Lisbon." in str(card_of(tenant, card))
    forget(tenant, a)
    shown = card_of(tenant, card)
    assert "Lisbon" not in str(shown)
    assert [c["text"] for c in shown["comments"]] == [show.NOT_SHOWN] * 2
    assert (shown["reasoning"], shown["resolution"]["note"]) == ("", show.NOT_SHOWN)
    client = member("reviewer")
    for path in (
        f"/console/conflicts/{card['id']}/",
        f"/console/inbox/?item=conflicts:{card['id']}",
        f"/admin/conflicts/conflict/{card['id']}/change/",
        "/console/inbox/",
    ):
        assert "Lisbon" not in page(client, path), path
    tenant.reviewer.post("memories/restore", {"ids": [a]})
    back = card_of(tenant, card)
    assert [c["text"] for c in back["comments"]][1:] == ["Lisbon was never booked."]
    assert back["resolution"]["note"] == "Not Lisbon."


def test_a_card_that_asks_on_quotes_nobody_who_was_forgotten(tenant: Tenant) -> None:
    a, b, c = commit_places(tenant, 3)
    card = report(tenant, a, b, c)
    said = {"other": c, "relation": "contradicts", "reason": "Vienna is over."}
    tenant.agent.post(f"memories/{a}/relations", said)
    texts = [f"See: {PLACES[2].upper()}", "Short and of something else."]
    for text in texts:
        tenant.reviewer.post(f"conflicts/{card['id']}/comments", {"text": text})
    forget(tenant, c)
    shown = card_of(tenant, card)
    assert [m["id"] for m in shown["memories"]] == [a, b]
    assert [x["text"] for x in shown["comments"]] == [TAKEN_OUT, texts[1]]
    with in_workspace(tenant.workspace):
        told = Judgement.objects.filter(conflict=card["id"]).exclude(reason="")
        assert [j.reason for j in told] == [TAKEN_OUT]
        view = show.show(Conflict.objects.get(pk=card["id"]), now=timezone.now())
    assert "Vienna" not in str(view)


LIMIT = "The API rate limit is {} requests per second."


@pytest.mark.parametrize("later", ["The cafeteria opens at nine.", LIMIT.format(7100)])
@pytest.mark.parametrize("is_decided", [False, True])
def test_a_former_wording_of_what_was_forgotten_is_quoted_nowhere(
    tenant: Tenant, neighbour: Tenant, later: str, *, is_decided: bool
) -> None:
    said = LIMIT.format(7000)
    ids = [
        commit(tenant, LIMIT.format(value), agent=f"agent {value}") for value in (1000, 5000, 7000)
    ]
    detect_due(tenant.workspace, clock=timezone.now)
    [card] = tenant.reader.get("conflicts").json()["results"]
    comment = {"text": f"I doubt that {said.upper()} Really."}
    tenant.reviewer.post(f"conflicts/{card['id']}/comments", comment)
    tenant.reviewer.post(f"conflicts/{card['id']}/comments", {"text": "Ask the platform team."})
    assert tenant.agent.patch(f"memories/{ids[2]}", {"content": later}).status_code == 200
    detect_due(tenant.workspace, clock=timezone.now)
    is_member = ids[2] in [m["id"] for m in card_of(tenant, card)["memories"]]
    assert is_member == later.startswith("The API")
    if is_decided:
        assert resolve(tenant, card, verdict="both_valid", note=said).status_code == 200
    forget(tenant, ids[2])
    shown = str(card_of(tenant, card)).upper()
    assert said.upper()[:-1] not in shown
    if not (is_decided and is_member):  # of which nothing is shown at all
        assert "ASK THE PLATFORM TEAM." in shown


def test_no_is_refused_when_nothing_that_says_so_is_active(tenant: Tenant) -> None:
    a, b = commit_places(tenant, 2)
    until = timezone.now() + timedelta(hours=1)
    c = commit(tenant, PLACES[2], expires_at=until.isoformat())
    card = report(tenant, a, b, c)
    assert card["yes_keeps"] == [c]
    later = until + timedelta(minutes=1)
    for keep in ([], [UUID(a)]):
        with pytest.raises(InvalidError, match="No memory that says so is active any more"):
            verdicts.resolve(
                tenant.workspace, UUID(card["id"]), verdict="no", keep=keep, actor=SYSTEM, now=later
            )
    with in_workspace(tenant.workspace):
        row = Conflict.objects.get(pk=card["id"])
        view = show.show(row, now=later)
        [passed] = bulk.plan([row], bulk.BulkDecide("no"), left=0, now=later).passed
    told = {o.verdict: (o.is_possible, o.effect) for o in view.outcomes}
    assert told["no"] == (False, passed.reason)
    assert card_of(tenant, card)["status"] == "open"


def test_a_decided_card_is_not_put_off_any_more(tenant: Tenant) -> None:
    a, b = commit_places(tenant, 2)
    card = report(tenant, a, b)
    until = (timezone.now() + timedelta(days=2)).isoformat()
    put_off = tenant.reviewer.post(f"conflicts/{card['id']}/snooze", {"until": until})
    assert put_off.json()["snoozed_until"] is not None
    assert resolve(tenant, card, verdict="both_valid").status_code == 200
    assert card_of(tenant, card)["snoozed_until"] is None
    tenant.reviewer.post(f"conflicts/{card['id']}/undo")
    assert (card_of(tenant, card)["status"], card_of(tenant, card)["snoozed_until"]) == (
        "open",
        None,
    )
    tenant.reviewer.post(f"conflicts/{card['id']}/snooze", {"until": until})
    forget(tenant, a)
    assert card_of(tenant, card)["snoozed_until"] is None
