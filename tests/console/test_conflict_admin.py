"""The admin of conflicts: filters, search, deeds for many at once, fast with 10,000 open cards."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.core.questions import ask_ambiguity
from conflicts.models import Conflict, ConflictMember, Decision
from conflicts.services.verdicts import bulk
from conflicts.services.verdicts.resolve import resolve
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Membership
from engram.kernel.tenancy import in_workspace
from tests.conflicts.test_quality import ask, decide
from tests.conftest import NOW, Tenant
from tests.console.cards import disagree, state

Member = Callable[[str], Client]
LIST = "/admin/conflicts/conflict/"
DEEDS: dict[str, dict[str, str]] = {
    "resolve": {"verdict": "both_valid", "note": "checked"},
    "dismiss": {"note": "checked"},
    "snooze": {"until": "week"},
    "assign": {"assignee": "reviewer-person"},
}

REFUSALS = {
    "resolve": "Choose one of the answers.",
    "snooze": "Choose a day",  # "after today" of one that is past
    "assign": "Nobody of that name",
}


def form_data(verb: str, cards: list[Conflict], **more: str) -> dict[str, Any]:
    return {
        "action": verb, "_selected_action": [str(card.pk) for card in cards], "select_across": "0",
    } | more  # fmt: skip


def confirm(client: Client, verb: str, cards: list[Conflict], page: str, **more: str) -> str:
    seen = re.search(r'name="seen" value="([^"]*)"', page)
    assert seen is not None
    body = form_data(verb, cards, confirmed="yes", seen=seen.group(1)) | DEEDS[verb] | more
    answer = client.post(f"{LIST}?status=all", body, follow=True)
    return str(answer.content.decode())


def confirmation_page(client: Client, verb: str, cards: list[Conflict], **more: str) -> str:
    answer = client.post(f"{LIST}?status=all", form_data(verb, cards, **more))
    assert answer.status_code == 200
    return str(answer.content.decode())


def fresh(tenant: Tenant, card: Conflict) -> Conflict:
    with in_workspace(tenant.workspace):
        return Conflict.objects.select_related("assignee").get(pk=card.pk)


@pytest.mark.parametrize("verb", DEEDS)
def test_a_deed_is_asked_with_its_count_then_done(
    tenant: Tenant, member: Member, verb: str
) -> None:
    cards = [ask(tenant.workspace), ask(tenant.workspace)]
    gone = decide(tenant.workspace, "yes")
    client = member("reviewer")
    page = confirmation_page(client, verb, [*cards, gone])
    assert re.search(r"<h1>[A-Z]\w+ 2 conflicts", page)
    assert "Skipped" in page
    assert "Decided already." in page
    assert {fresh(tenant, card).status for card in cards} == {"open"}
    told = confirm(client, verb, [*cards, gone], page)
    assert "2 conflicts " in told
    found = [fresh(tenant, card) for card in cards]
    expected = {"resolve": "resolved", "dismiss": "dismissed", "snooze": "snoozed"}
    assert {card.status for card in found} == {expected.get(verb, "open")}
    if verb == "assign":
        assert {card.assignee and card.assignee.username for card in found} == {"reviewer-person"}
    if verb in {"resolve", "dismiss"}:
        with in_workspace(tenant.workspace):
            notes = Decision.objects.filter(conflict__in=cards).values_list("note", flat=True)
            assert list(notes) == ["checked", "checked"]


@pytest.mark.parametrize("verb", DEEDS)
def test_readers_do_nothing_together(tenant: Tenant, member: Member, verb: str) -> None:
    card = ask(tenant.workspace)
    body = form_data(verb, [card], confirmed="yes", seen=f"{card.pk}:1") | DEEDS[verb]
    for role in ("reader", "agent"):
        assert member(role).post(LIST, body).status_code == 403
    assert (fresh(tenant, card).status, fresh(tenant, card).assignee) == ("open", None)


@pytest.mark.parametrize("verb", DEEDS)
def test_cards_of_another_workspace_are_neither_told_nor_touched(
    tenant: Tenant, neighbour: Tenant, member: Member, verb: str
) -> None:
    mine, foreign = ask(tenant.workspace), ask(neighbour.workspace)
    client = member("reviewer")
    page = confirmation_page(client, verb, [mine, foreign])
    assert foreign.question not in page
    assert re.search(r"<h1>[A-Z]\w+ 1 conflict", page)
    seen = f"{mine.pk}:1,{foreign.pk}:1"
    body = form_data(verb, [mine, foreign], confirmed="yes", seen=seen) | DEEDS[verb]
    told = client.post(LIST, body, follow=True).content.decode()
    assert "1 conflict " in told
    with in_workspace(neighbour.workspace):
        kept = Conflict.objects.get(pk=foreign.pk)
        assert (kept.status, kept.assignee, kept.version) == ("open", None, 1)


def test_what_changed_since_it_was_counted_is_passed_over(tenant: Tenant, member: Member) -> None:
    stays, changes = ask(tenant.workspace), ask(tenant.workspace)
    client = member("reviewer")
    page = confirmation_page(client, "dismiss", [stays, changes])
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=changes.pk).update(version=2)
    told = confirm(client, "dismiss", [stays, changes], page)
    assert "1 conflict dismissed." in told
    assert "It was changed or decided meanwhile." in told
    assert fresh(tenant, changes).status == "open"
    assert fresh(tenant, stays).status == "dismissed"


def test_cards_that_were_not_counted_are_not_touched(tenant: Tenant, member: Member) -> None:
    counted, later = ask(tenant.workspace), ask(tenant.workspace)
    client = member("reviewer")
    page = confirmation_page(client, "dismiss", [counted], select_across="1")
    page = page.replace(f"{later.pk}:1", "")
    body = form_data("dismiss", [counted], confirmed="yes", select_across="1")
    client.post(LIST, body | {"seen": f"{counted.pk}:1,nonsense,:,{uuid4()}:x"})
    assert fresh(tenant, counted).status == "dismissed"
    assert fresh(tenant, later).status == "open"


def test_every_answer_tells_what_it_would_do(tenant: Tenant, member: Member) -> None:
    old, new, card = disagree(tenant.workspace)
    client = member("reviewer")
    page = confirmation_page(client, "resolve", [card])
    assert re.findall(r'name="verdict" value="(\w+)"', page) == [v.value for v in bulk.VERDICTS]
    assert page.count("1 decided") == len(bulk.VERDICTS)
    assert "Skipped" not in page
    confirm(client, "resolve", [card], page, verdict="yes")
    assert (state(tenant.workspace, old), state(tenant.workspace, new)) == ("superseded", "active")


def test_a_card_that_needs_survivors_is_passed_over_with_the_reason(
    tenant: Tenant, member: Member
) -> None:
    values = ("1000", "5000", "800")
    ids = [
        tenant.agent.post(
            "memories", {"content": f"The API limit is {n} a second.", "scope": f"s/{n}"}
        ).json()["memory"]["id"]
        for n in values
    ]
    pk = tenant.reviewer.post("conflicts", {"memory_ids": ids}).json()["id"]
    with in_workspace(tenant.workspace):
        card = Conflict.objects.get(pk=pk)
    client = member("reviewer")
    page = confirmation_page(client, "resolve", [card, decide(tenant.workspace, "yes")])
    assert "More than one value would remain" in page
    assert "Skipped by “Keep the second of each” (1)" in page
    assert "Skipped whatever the answer (1)" in page
    told = confirm(client, "resolve", [card], page, verdict="no")
    assert "More than one value would remain" in told
    assert fresh(tenant, card).status == "open"


@pytest.mark.parametrize(
    ("verb", "wrong"),
    [
        ("resolve", {"verdict": "keep"}), ("resolve", {"verdict": ""}),
        ("snooze", {"until": "date", "date": "2020-01-01"}), ("snooze", {"until": ""}),
        ("assign", {"assignee": "zenith-person"}),
    ],
)  # fmt: skip
def test_a_choice_that_makes_no_sense_is_asked_again(
    tenant: Tenant, neighbour: Tenant, member: Member, verb: str, wrong: dict[str, str]
) -> None:
    stranger = User.objects.create_user("zenith-person", is_staff=True)
    Membership.objects.create(workspace=neighbour.workspace, user=stranger)
    card = ask(tenant.workspace)
    client = member("reviewer")
    again = confirm(client, verb, [card], confirmation_page(client, verb, [card]), **wrong)
    assert REFUSALS[verb] in again
    assert 'name="confirmed"' in again
    assert (fresh(tenant, card).status, fresh(tenant, card).assignee) == ("open", None)


def test_no_more_than_some_are_done_at_once(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    cards = [ask(tenant.workspace, at=NOW + timedelta(minutes=n)) for n in range(3)]
    decided = decide(tenant.workspace, "yes", at=NOW - timedelta(days=1))
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    client = member("reviewer")
    page = confirmation_page(client, "dismiss", [*cards, decided])
    assert "2 of the selection are left for another time" in page
    assert re.search(r"<h1>Dismiss 2 conflicts", page)
    confirm(client, "dismiss", [*cards, decided], page)
    assert [fresh(tenant, card).status for card in cards] == ["dismissed", "dismissed", "open"]


def test_withheld_questions_are_not_told_by_any_deed(tenant: Tenant, member: Member) -> None:
    card = ask(tenant.workspace)
    with in_workspace(tenant.workspace):
        gone = str(card.members.all()[0].memory_id)
    tenant.agent.post("memories/forget", {"ids": [gone], "confirm": True})
    client = member("reviewer")
    for verb in DEEDS:
        page = confirmation_page(client, verb, [card])
        assert card.question not in page
        assert "Closed by itself already." in page


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("assignee=nobody", "other"), ("assignee=0", ""), ("status=all&verdict=dismiss", "gone"),
        ("found_by=agent", "other"), ("opened=7", "mine"), ("severity__in=high", ""),
        ("status=snoozed", ""), ("opened=nonsense", "both"), ("verdict=nonsense", ""),
    ],
)  # fmt: skip
def test_filters_narrow_the_list(tenant: Tenant, member: Member, query: str, found: str) -> None:
    client = member("reviewer")
    user = User.objects.get(username="reviewer-person")
    now = timezone.now()
    mine = ask(tenant.workspace, at=now)
    other = ask(tenant.workspace, found_by="agent", at=now - timedelta(days=10))
    gone = decide(tenant.workspace, "dismiss", at=now)
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=mine.pk).update(assignee=user)
    html = client.get(f"{LIST}?{query}").content.decode()
    shown = {
        n for n, c in {"mine": mine, "other": other, "gone": gone}.items() if c.question in html
    }
    assert shown == ({"mine", "other"} if found == "both" else {found} - {""})


def test_the_list_and_the_pages_of_its_deeds_say_the_heading_of_a_card(
    tenant: Tenant, member: Member
) -> None:
    old, new, card = disagree(tenant.workspace)
    with in_workspace(tenant.workspace):
        Conflict.objects.update(question=ask_ambiguity(new.content, old.content))
    client = member("reviewer")
    listed = client.get(LIST).content.decode()
    deed = confirmation_page(client, "dismiss", [card])
    for html in (listed, deed):
        assert "1000 or 5000 requests per second" in html
        assert "rather than" not in html


def test_severity_sorts_by_urgency(tenant: Tenant, member: Member) -> None:
    cards = {level: ask(tenant.workspace) for level in ("low", "high", "medium")}
    with in_workspace(tenant.workspace):
        for level, card in cards.items():
            Conflict.objects.filter(pk=card.pk).update(severity=level)
    html = member("reviewer").get(f"{LIST}?o=3").content.decode()
    places = {level: html.index(card.question) for level, card in cards.items()}
    assert sorted(places, key=lambda level: places[level]) == ["high", "medium", "low"]


def test_the_history_of_a_card_stands_on_its_page(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    card, foreign = decide(tenant.workspace, "both_valid"), ask(neighbour.workspace)
    client = member("reader")
    answer = client.get(f"{LIST}{card.pk}/history/", follow=True)
    assert answer.redirect_chain[0][0] == f"{LIST}{card.pk}/change/"
    assert "Conflict resolved" in answer.content.decode()
    assert client.get(f"{LIST}{foreign.pk}/history/").status_code == 404


def many(tenant: Tenant, count: int) -> None:
    """Open many cards about one pair of memories, past the services."""
    first = ask(tenant.workspace)
    now = timezone.now()
    with in_workspace(tenant.workspace):
        members = list(ConflictMember.objects.filter(conflict=first))
        cards = Conflict.objects.bulk_create(
            Conflict(
                kind="ambiguity", question=f"Is number {n} right?", detected_by=["rules"],
                created_at=now - timedelta(minutes=n), updated_at=now,
            )
            for n in range(count)
        )  # fmt: skip
        ConflictMember.objects.bulk_create(
            ConflictMember(
                conflict=card, memory_id=m.memory_id, lineage=m.lineage, position=m.position,
                says_yes=m.says_yes, revision=1,
            )
            for card in cards
            for m in members
        )  # fmt: skip


def test_the_list_reads_a_page_of_ten_thousand_by_index(tenant: Tenant, member: Member) -> None:
    client = member("reviewer")
    ask(tenant.workspace)
    client.get(LIST)
    with CaptureQueriesContext(connection) as one:
        client.get(LIST)
    many(tenant, 10_000)
    with CaptureQueriesContext(connection) as all_of_them:
        html = client.get(LIST).content.decode()
    assert len(all_of_them) == len(one)
    assert "10002 " in html.replace(",", "").replace("\xa0", "")
    (page,) = [
        query["sql"] for query in all_of_them.captured_queries
        if 'FROM "conflicts_conflict"' in query["sql"] and "LIMIT 50" in query["sql"]
    ]  # fmt: skip
    with in_workspace(tenant.workspace), connection.cursor() as cursor:
        cursor.execute("ANALYZE conflicts_conflict")  # or it is planned as the table was: empty
        cursor.execute(f"EXPLAIN {page}")
        plan = "\n".join(row[0] for row in cursor.fetchall())
    # Where all are open, either index has them in the order of the page.
    assert "Index Scan using card_queue" in plan or "Index Scan using card_newest" in plan
    assert "Seq Scan on conflicts_conflict" not in plan
    assert "Sort" not in plan


def test_a_deed_for_all_of_ten_thousand_reads_no_more_than_it_does(
    tenant: Tenant, member: Member
) -> None:
    client = member("reviewer")
    first = ask(tenant.workspace)
    confirmation_page(client, "resolve", [first])
    with CaptureQueriesContext(connection) as few:
        confirmation_page(client, "resolve", [first])
    many(tenant, 2_000)
    with CaptureQueriesContext(connection) as all_of_them:
        page = confirmation_page(client, "resolve", [first], select_across="1")
    assert "left for another time" in page
    assert page.count("200 decided") == len(bulk.VERDICTS)
    assert len(all_of_them) <= len(few)  # nothing is asked of the others when 200 wait


def test_an_undone_decision_can_be_made_together_again(tenant: Tenant, member: Member) -> None:
    card = decide(tenant.workspace, "dismiss")
    assert tenant.reviewer.post(f"conflicts/{card.pk}/undo").status_code == 200
    client = member("reviewer")
    told = confirm(client, "resolve", [card], confirmation_page(client, "resolve", [card]))
    assert "1 conflict decided." in told
    with pytest.raises(Exception, match="decided already"):
        resolve(tenant.workspace, card.pk, verdict="yes", actor=SYSTEM, now=NOW)
