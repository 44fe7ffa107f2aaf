"""The list of conflicts: what was decided, by whom and when; one action on several cards."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Conflict
from conflicts.services.cards import snooze
from conflicts.services.cards.listed import listed
from conflicts.services.cards.naming import day_of
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.lifecycle import forget
from tests.conftest import Tenant
from tests.console.cards import ask, disagree, remember, status

Member = Callable[[str], Client]
LIST = "/console/conflicts/"
BULK = "/console/conflicts/bulk/"


def page(client: Client, path: str = LIST) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def words(html: str) -> str:
    """Return the text of the rows."""
    rows = html[html.index('<ul class="conflicts">') :]
    return " ".join(re.sub(r"<[^>]+>", " ", rows[: rows.index("</ul>")]).split())


def doors(tenant: Tenant) -> tuple[Memory, Memory, Conflict]:
    """Open a second card, with a question made of its statements."""
    red = remember(tenant.workspace, "The door of the depot is red.", 2, scope="depot")
    green = remember(tenant.workspace, "The door of the depot is green.", 22, scope="depot")
    asked = (
        "Does “The door of the depot is green” hold, rather than “The door of the depot is red”?"
    )
    return red, green, ask(tenant.workspace, [red, green], yes=green, question=asked)


def seen(html: str) -> dict[str, str]:
    """Return the hidden fields of the confirmation page."""
    form = html[html.index('name="confirmed"') - 2000 :]
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return {name: value.replace("&amp;", "&") for name, value in found}


def test_the_list_says_what_holds_who_decided_and_until_when_it_is_snoozed(
    tenant: Tenant, member: Member
) -> None:
    _, _, limits = disagree(tenant.workspace)
    _, _, door = doors(tenant)
    client = member("reviewer")
    client.post(f"/console/conflicts/{door.pk}/resolve/", {"verdict": "yes", "version": 1})
    until = timezone.now() + timedelta(days=5)
    snooze.snooze(tenant.workspace, limits.pk, until=until, actor=SYSTEM, now=timezone.now())
    html = page(client)
    assert "The door of the depot is red or green?</a>" in html
    assert "holds now: green decided by reviewer-person, " in words(html)
    local = timezone.localtime(until)
    ends = f"until {local:%a} {local.day} {local:%b, %H:%M}"
    assert f"Snoozed Medium severity snoozed by engram {ends}" in words(html)


def test_the_list_names_who_snoozed_last_for_any_number_of_cards(
    tenant: Tenant, member: Member
) -> None:
    _, _, limits = disagree(tenant.workspace)
    _, _, door = doors(tenant)
    client = member("reviewer")
    now = timezone.now()

    def queries() -> int:
        with in_workspace(tenant.workspace), CaptureQueriesContext(connection) as asked:
            listed(list(Conflict.objects.all()))
        return len(asked)

    def snooze_as(actor: Actor, card: Conflict) -> None:
        until = now + timedelta(days=5)
        snooze.snooze(tenant.workspace, card.pk, until=until, actor=actor, now=now)

    snooze_as(replace(SYSTEM, label="aylin"), limits)
    snooze_as(replace(SYSTEM, label="mira"), limits)
    of_one = queries()
    snooze_as(replace(SYSTEM, label="tomas"), door)
    assert queries() == of_one
    said = words(page(client, f"{LIST}?status=snoozed"))
    assert ("snoozed by mira until" in said, "snoozed by tomas until" in said) == (True, True)
    assert "aylin" not in said
    client.post(f"/console/conflicts/{limits.pk}/undo/")
    assert "mira" not in words(page(client))


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("no", "red"),
        ("both_valid", "all valid"),
        ("none_valid", "none valid"),
        ("dismiss", "not a conflict"),
    ],
)
def test_each_verdict_is_named(tenant: Tenant, member: Member, verdict: str, said: str) -> None:
    _, _, door = doors(tenant)
    client = member("reviewer")
    client.post(f"/console/conflicts/{door.pk}/resolve/", {"verdict": verdict, "version": 1})
    assert f" {said} decided by reviewer-person, " in words(page(client))


def test_an_answer_of_ones_own_is_what_holds(tenant: Tenant, member: Member) -> None:
    _, _, door = doors(tenant)
    client = member("reviewer")
    given = {"verdict": "none_valid", "answer": "The door of the depot is blue.", "version": 1}
    client.post(f"/console/conflicts/{door.pk}/resolve/", given)
    kept = "holds now: “The door of the depot is blue” decided by reviewer-person, "
    assert kept in words(page(client))
    with in_workspace(tenant.workspace):
        blue = Memory.objects.get(content__contains="blue")
    forget.forget(tenant.workspace, [blue.pk], actor=SYSTEM, now=timezone.now())
    assert "blue" not in words(page(client))


def test_what_was_forgotten_names_no_winner(tenant: Tenant, member: Member) -> None:
    _, green, door = doors(tenant)
    client = member("reviewer")
    client.post(f"/console/conflicts/{door.pk}/resolve/", {"verdict": "yes", "version": 1})
    forget.forget(tenant.workspace, [green.pk], actor=SYSTEM, now=timezone.now())
    html = page(client)
    assert "A memory of this conflict was forgotten" in html
    assert "green" not in words(html)


def test_ticked_cards_are_counted_and_then_dismissed(tenant: Tenant, member: Member) -> None:
    _, _, limits = disagree(tenant.workspace)
    _, _, door = doors(tenant)
    client = member("reviewer")
    html = page(client, f"{LIST}?status=open")
    assert html.count('name="card"') == 2
    fields = {"verb": "dismiss", "card": [str(door.pk)], "back": f"{LIST}?status=open"}
    asked = client.post(BULK, fields).content.decode()
    assert "Dismiss 1 conflict?" in asked
    assert "The door of the depot is red or green?" in asked
    assert status(tenant.workspace, door) == "open"
    answer = client.post(BULK, seen(asked) | {"card": [str(door.pk)]})
    assert answer["Location"].startswith(f"{LIST}?status=open&done=")
    assert status(tenant.workspace, door) == "dismissed"
    assert status(tenant.workspace, limits) == "open"


def test_all_that_match_are_snoozed_and_no_other(tenant: Tenant, member: Member) -> None:
    _, _, limits = disagree(tenant.workspace)
    _, _, door = doors(tenant)
    client = member("reviewer")
    fields = {"verb": "snooze", "across": "1", "scope": "depot", "status": "open", "back": LIST}
    asked = client.post(BULK, fields).content.decode()
    assert "Snooze 1 conflict?" in asked
    client.post(BULK, seen(asked) | {"until": "week"})
    assert status(tenant.workspace, door) == "snoozed"
    assert status(tenant.workspace, limits) == "open"


def test_a_card_that_changed_meanwhile_is_left_alone(tenant: Tenant, member: Member) -> None:
    _, _, door = doors(tenant)
    client = member("reviewer")
    asked = client.post(BULK, {"verb": "dismiss", "card": [str(door.pk)]}).content.decode()
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=door.pk).update(version=7)
    answer = client.post(BULK, seen(asked) | {"card": [str(door.pk)]}, follow=True)
    assert "It was changed or decided meanwhile" in answer.content.decode()
    assert status(tenant.workspace, door) == "open"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"verb": "explode"},
        {"verb": "dismiss"},
        {"verb": "dismiss", "card": ["not-an-id"]},
        {"verb": "dismiss", "card": ["\x00"], "back": "//evil.example"},
    ],
)
def test_bad_input_leads_back_to_the_list(
    tenant: Tenant, member: Member, fields: dict[str, str]
) -> None:
    disagree(tenant.workspace)
    answer = member("reviewer").post(BULK, fields)
    assert (answer.status_code, answer["Location"]) == (302, LIST)


def test_cards_of_other_workspaces_are_not_reached(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    _, _, theirs = disagree(neighbour.workspace)
    client = member("reviewer")
    asked = client.post(BULK, {"verb": "dismiss", "card": [str(theirs.pk)]}).content.decode()
    assert "None of the selected conflicts can be changed in this way." in asked
    forged = {"verb": "dismiss", "confirmed": "yes", "seen": f"{theirs.pk}:1:"}
    client.post(BULK, forged | {"card": [str(theirs.pk)]})
    assert status(neighbour.workspace, theirs) == "open"


def test_readers_are_offered_no_ticks(tenant: Tenant, member: Member) -> None:
    _, _, door = doors(tenant)
    client = member("reader")
    assert 'name="card"' not in page(client)
    assert client.post(BULK, {"verb": "dismiss", "card": [str(door.pk)]}).status_code == 403


def plain(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_a_decision_of_many_says_which_statements_it_keeps(tenant: Tenant, member: Member) -> None:
    red, green, door = doors(tenant)
    assert red.observed_at < green.observed_at
    mug = [
        remember(tenant.workspace, f"Mugs are washed on {day}.", n, scope="kitchen")
        for n, day in ((3, "Monday"), (23, "Friday"))
    ]
    mugs = ask(tenant.workspace, mug, yes=mug[0], question="Are mugs washed on Monday?")
    client = member("reviewer")
    fields = {"verb": "resolve", "card": [str(door.pk)]}
    asked = plain(client.post(BULK, fields).content.decode())
    assert asked.index("Keeps the newer statement in 1.") < asked.index(
        "Keeps the older statement in 1."
    )
    kept = f"Keep green ({day_of(green.observed_at)})", f"Keep red ({day_of(red.observed_at)})"
    assert [asked.count(label) for label in kept] == [1, 1]
    assert "first" not in asked
    both = {"verb": "resolve", "card": [str(door.pk), str(mugs.pk)]}
    asked = plain(client.post(BULK, both).content.decode())
    assert asked.count("Keeps the newer statement in 1, the older statement in 1.") == 2
    assert [asked.count(f"Keep the {one} of each") for one in ("first", "second")] == [1, 1]
    sides = f"first: green ({day_of(green.observed_at)}) ; second: red ({day_of(red.observed_at)})"
    assert sides in asked
    dismissed = client.post(BULK, both | {"verb": "dismiss"}).content.decode()
    assert "first:" not in dismissed
    forget.forget(tenant.workspace, [mug[0].pk], actor=SYSTEM, now=timezone.now())
    mixed = plain(client.post(BULK, both).content.decode())
    assert "of each" not in mixed
    assert "first" not in mixed


def test_a_decision_of_many_says_nothing_of_what_was_forgotten(
    tenant: Tenant, member: Member
) -> None:
    red, _, door = doors(tenant)
    forget.forget(tenant.workspace, [red.pk], actor=SYSTEM, now=timezone.now())
    fields = {"verb": "resolve", "card": [str(door.pk)]}
    asked = member("reviewer").post(BULK, fields).content.decode()
    assert ("Keep red" in asked, "red" in plain(asked)) == (False, False)


def test_rows_name_their_status_unless_the_tab_does(tenant: Tenant, member: Member) -> None:
    _, _, limits = disagree(tenant.workspace)
    _, _, door = doors(tenant)
    client = member("reviewer")
    client.post(f"/console/conflicts/{door.pk}/resolve/", {"verdict": "yes", "version": 1})
    both = words(page(client))
    assert (both.count("Open "), both.count("Resolved ")) == (1, 1)
    alone = words(page(client, f"{LIST}?status=resolved"))
    assert "holds now: green" in alone
    assert "Resolved " not in alone
    until = timezone.now() + timedelta(days=5)
    snooze.snooze(tenant.workspace, limits.pk, until=until, actor=SYSTEM, now=timezone.now())
    assert " until " in words(page(client, f"{LIST}?status=snoozed"))


def undo_form(html: str) -> dict[str, list[str]]:
    """Return the fields of the toast that undoes an action on several cards."""
    toast = html[html.index('name="verb" value="undo"') - 300 :]
    toast = toast[: toast.index("</form>")]
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', toast):
        found.setdefault(name, []).append(value)
    return found


def do_both(client: Client, verb: str, cards: list[Conflict], **more: str) -> str:
    """Do the same with cards and return the list, which offers to undo it."""
    fields = {"verb": verb, "card": [str(card.pk) for card in cards]}
    asked = client.post(BULK, fields).content.decode()
    answer = client.post(BULK, seen(asked) | fields | more, follow=True)
    return answer.content.decode()


@pytest.mark.parametrize(
    ("verb", "more", "after"),
    [
        ("resolve", {"verdict": "yes"}, "resolved"),
        ("dismiss", {}, "dismissed"),
        ("snooze", {"until": "week"}, "snoozed"),
    ],
)
def test_what_was_done_to_several_is_undone_at_once(
    tenant: Tenant, member: Member, verb: str, more: dict[str, str], after: str
) -> None:
    cards = [disagree(tenant.workspace)[2], doors(tenant)[2]]
    client = member("reviewer")
    html = do_both(client, verb, cards, **more)
    said = "decided" if verb == "resolve" else after
    assert html.count(f"2 conflicts {said}.") == 1
    assert [status(tenant.workspace, card) for card in cards] == [after] * 2
    done = re.findall(r"done=([0-9a-f]{32})", html)[0]
    again = page(client, f"{LIST}?done={done}")  # a reload
    assert undo_form(again)["changed"] == undo_form(html)["changed"]
    assert 'value="undo"' not in page(client, LIST)
    assert 'value="undo"' not in page(client, f"{LIST}?done={'0' * 32}")
    undone = client.post(BULK, undo_form(html), follow=True).content.decode()
    assert "Undone for 2 conflicts." in undone
    assert [status(tenant.workspace, card) for card in cards] == ["open"] * 2
    assert 'value="undo"' not in undone


def test_undoing_an_assignment_of_several_gives_each_back(tenant: Tenant, member: Member) -> None:
    cards = [disagree(tenant.workspace)[2], doors(tenant)[2]]
    client = member("reviewer")
    html = do_both(client, "assign", cards[:1], assignee="reviewer-person")
    html = do_both(client, "assign", cards, assignee="")
    html = do_both(client, "assign", cards[:1], assignee="reviewer-person")
    assert "1 conflict assigned." in html
    client.post(BULK, undo_form(html))
    with in_workspace(tenant.workspace):
        assert not Conflict.objects.exclude(assignee=None).exists()
    again = client.post(BULK, undo_form(html), follow=True).content.decode()
    assert "1 of 1 could not be undone:" in again
    do_both(client, "assign", cards[:1], assignee="reviewer-person")
    client.post(BULK, undo_form(do_both(client, "assign", cards, assignee="")))
    with in_workspace(tenant.workspace):
        held = Conflict.objects.exclude(assignee=None).values_list("pk", "assignee__username")
        assert list(held) == [(cards[0].pk, "reviewer-person")]


def test_what_somebody_changed_since_is_not_undone(tenant: Tenant, member: Member) -> None:
    _, green, door = doors(tenant)
    limits = disagree(tenant.workspace)[2]
    client = member("reviewer")
    html = do_both(client, "resolve", [door, limits], verdict="yes")
    forget.forget(tenant.workspace, [green.pk], actor=SYSTEM, now=timezone.now())
    undone = plain(client.post(BULK, undo_form(html), follow=True).content.decode())
    assert "Undone for 1 conflict." in undone
    assert "1 of 2 could not be undone:" in undone
    assert "Members have changed since the decision." in undone
    assert status(tenant.workspace, limits) == "open"
    assert status(tenant.workspace, door) != "open"


def test_a_later_decision_of_somebody_else_is_not_undone(tenant: Tenant, member: Member) -> None:
    _, _, door = doors(tenant)
    client = member("reviewer")
    html = do_both(client, "dismiss", [door])
    client.post(f"/console/conflicts/{door.pk}/undo/")
    client.post(f"/console/conflicts/{door.pk}/resolve/", {"verdict": "yes", "version": 3})
    assert status(tenant.workspace, door) == "resolved"
    told = client.post(BULK, undo_form(html), follow=True).content.decode()
    assert "It was changed meanwhile." in told
    assert status(tenant.workspace, door) == "resolved"


def test_undoing_needs_rights_the_workspace_and_cards(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    cards = [doors(tenant)[2], disagree(neighbour.workspace)[2]]
    client = member("reviewer")
    fields = undo_form(do_both(client, "dismiss", cards[:1]))
    assert member("reader").post(BULK, fields).status_code == 403
    theirs = fields | {"changed": [f"{cards[1].pk}:1:", "\x00:x", "a"], "undoes": ["assign"]}
    client.post(BULK, theirs)
    for bad in ({"undoes": "explode"}, {"changed": ["::"]}, {"changed": [f"{cards[0].pk}:-1:"]}):
        answer = client.post(BULK, fields | bad, follow=True)
        assert "Choose what to undo." in answer.content.decode()
    assert status(tenant.workspace, cards[0]) == "dismissed"
    assert status(neighbour.workspace, cards[1]) == "open"


def test_a_snooze_of_several_without_a_day_asks_for_one(tenant: Tenant, member: Member) -> None:
    _, _, door = doors(tenant)
    client = member("reviewer")
    fields = {"verb": "snooze", "card": [str(door.pk)], "confirmed": "yes", "until": "date"}
    assert "Choose a day.<" in client.post(BULK, fields).content.decode()
    past = client.post(BULK, fields | {"date": "2020-01-01"}).content.decode()
    assert "Choose a day after today.<" in past
    assert status(tenant.workspace, door) == "open"
