"""Triage without JavaScript: plain forms, kind refusals, nothing typed is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from html import escape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.core.questions import ask_ambiguity
from conflicts.core.snoozes import moments_to_put_off
from conflicts.models import Conflict
from conflicts.services.cards import snooze
from engram.console import feed
from engram.console.templatetags.console import unbroken_choice
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.lifecycle import forget
from tests.conftest import Tenant
from tests.console.cards import QUESTION, ask, disagree, remember, state, status
from tests.shown import shows_number

Member = Callable[[str], Client]
TRIAGE = "/console/triage/"


def page(client: Client, path: str = TRIAGE, code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code
    return answer.content.decode()


def hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}"[^>]* value="([^"]*)"', html)
    assert found is not None, name
    return found[1].replace("&amp;", "&")


def form(html: str) -> dict[str, str]:
    """Return the hidden fields of the decision form."""
    inner = html[html.index('id="decide"') :]
    return {name: hidden(inner, name) for name in ("version", "seen", "back")}


def resolve(client: Client, card: Conflict, **fields: Any) -> Any:
    return client.post(f"/console/conflicts/{card.pk}/resolve/", fields)


def test_triage_shows_the_question_the_story_and_what_differs(
    tenant: Tenant, member: Member
) -> None:
    disagree(tenant.workspace)
    html = page(member("reviewer"))
    assert f"{QUESTION}</h1>" in html
    assert html.index("1 Jan 2026") < html.index("20 Jan 2026")
    assert '<mark class="gone">1000</mark>' in html
    assert '<mark class="new">5000</mark>' in html
    told = re.sub(r"<[^>]+>", "", html[html.index('class="diff"') :])
    assert "[removed: 1000]  [added: 5000]  requests" in told  # not by colour alone


def test_statements_have_one_name_everywhere_on_a_card(tenant: Tenant, member: Member) -> None:
    said = [
        remember(tenant.workspace, f"The API rate limit is {limit} requests per second.", day)
        for day, limit in ((1, 800), (20, 900), (25, 950))
    ]
    ask(tenant.workspace, said, yes=said[0])
    html = page(member("reviewer"))
    assert "From A to C, word by word" in html
    assert ">From A to B</h3>" in html
    assert ">From B to C</h3>" in html
    words = " ".join(re.sub(r"<[^>]+>", "", html).split())
    for letter in "ABC":
        assert f"Memory {letter}" in words
        assert f"Keep memory {letter}" in words
    assert re.findall(r"#\d|[Mm]emory \d", words) == []


def test_triage_says_the_effect_of_each_verdict(tenant: Tenant, member: Member) -> None:
    disagree(tenant.workspace)
    html = page(member("reviewer"))
    effects = re.findall(r'class="effect">([^<]*)<', html)
    assert effects == [
        "“5000 requests per second” stays. “1000 requests per second” is superseded by it.",
        "“1000 requests per second” stays. “5000 requests per second” is retired.",
        "The ticked memories stay; the others are superseded by the newest of them.",
        "All stay active. This is remembered as no contradiction.",
        "“1000 requests per second” and “5000 requests per second” are retired."
        " An answer, if one is given with it, replaces them.",
        "Nothing changes. The detector was wrong and does not ask again.",
    ]


def test_what_a_reader_reads_of_the_answers_asks_for_nothing(
    tenant: Tenant, member: Member
) -> None:
    disagree(tenant.workspace)
    html = page(member("reader"))
    said = " An answer, if one is given with it, replaces them."
    assert said in html
    assert "<textarea" not in html
    assert "<dt><kbd>1</kbd></dt>" not in html  # no key answers
    assert not re.search(r"\b[Yy]our answer", html[html.index('class="verdicts"') :])


def test_answers_name_what_stays_where_no_values_differ(tenant: Tenant, member: Member) -> None:
    old = remember(tenant.workspace, "Pia looks after the warehouse keys.", 1)
    new = remember(tenant.workspace, "Nobody has needed a badge since the doors were changed.", 20)
    card = ask(tenant.workspace, [old, new], yes=old)
    labels = re.compile(r'class="what"[^>]*>([^<]*?)\s*<')
    client, day = member("reviewer"), "20 Jan"
    found = labels.findall(page(client))
    assert found[0].startswith("Keep “Pia looks after the warehouse keys”")
    assert found[1].startswith("Keep “Nobody has needed a badge since the doors…”")
    assert f'class="what" title="{new.content}"' in page(client)  # what is cut is told whole
    assert day in found[1]
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=card.pk).update(kind="stale")
    found = labels.findall(page(client))
    assert found[0] == "Still true"
    assert found[1].startswith(f"No longer true since {day}")
    effects = re.findall(r'class="effect">([^<]*)<', page(client))
    assert effects[:2] == [
        "The statement of 1 Jan stays. The statement of 20 Jan is superseded by it.",
        "The statement of 20 Jan stays. The statement of 1 Jan is retired.",
    ]
    assert effects[4].startswith("The statements of 1 Jan and 20 Jan are retired.")


def test_effects_name_numbers_only_where_no_day_tells_statements_apart(
    tenant: Tenant, member: Member
) -> None:
    old = remember(tenant.workspace, "The API rate limit is 800 requests per second.", 1)
    noon = remember(tenant.workspace, "The API rate limit is 900 requests per second.", 20)
    late = remember(tenant.workspace, "The API rate limit is 950 requests per second.", 20)
    ask(tenant.workspace, [old, noon, late], yes=old)
    effects = re.findall(r'class="effect">([^<]*)<', page(member("reviewer")))
    assert effects[0] == "The statement of 1 Jan stays. B and C are superseded by it."
    assert effects[4].startswith("A, B, C are retired.")


def test_yes_supersedes_the_other_and_offers_undo(tenant: Tenant, member: Member) -> None:
    old, new, card = disagree(tenant.workspace)
    client = member("reviewer")
    answer = resolve(client, card, verdict="yes", note="checked", **form(page(client)))
    assert answer.status_code == 302
    assert (state(tenant.workspace, old), state(tenant.workspace, new)) == ("superseded", "active")
    after = page(client, answer["Location"])
    assert "Kept 5000 requests per second, superseded 1000 requests per second." in after
    life = page(client, f"/console/memories/{old.pk}/")
    assert "Memory superseded" in life  # the same word in its life and in the activity
    assert "Memory superseded" in page(client, "/admin/kernel/event/")
    undone = client.post(f"/console/conflicts/{card.pk}/undo/", {"back": hidden(after, "back")})
    assert undone["Location"] == f"{TRIAGE}?card={card.pk}"
    assert state(tenant.workspace, old) == "active"
    assert QUESTION in page(client, undone["Location"])


def test_decision_leads_to_the_next_card_within_the_filters(tenant: Tenant, member: Member) -> None:
    _, _, first = disagree(tenant.workspace)
    meetings = [remember(tenant.workspace, f"We meet on {d}.", 2) for d in ("Monday", "Friday")]
    second = ask(tenant.workspace, meetings, yes=meetings[1], question="Do we meet on Friday?")
    client = member("reviewer")
    html = page(client, f"{TRIAGE}?kind=ambiguity")
    answer = resolve(client, first, verdict="dismiss", **form(html))
    assert answer["Location"] == (f"{TRIAGE}?kind=ambiguity&card={second.pk}&done={first.pk}")


def test_keep_supersedes_what_is_not_ticked(tenant: Tenant, member: Member) -> None:
    old, new, card = disagree(tenant.workspace)
    client = member("reviewer")
    resolve(client, card, verdict="keep", keep=[str(old.pk)], **form(page(client)))
    assert (state(tenant.workspace, old), state(tenant.workspace, new)) == ("active", "superseded")


def test_keep_without_ticks_is_explained_and_nothing_changes(
    tenant: Tenant, member: Member
) -> None:
    old, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    answer = resolve(client, card, verdict="keep", note="my note", **form(page(client)))
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "Name the memories that are true." in html
    assert hidden(html, "note") == "my note"
    assert (state(tenant.workspace, old), status(tenant.workspace, card)) == ("active", "open")


@pytest.mark.parametrize("value", ["800", "04:30 UTC", "on Monday at 10"])
def test_a_value_alone_is_no_answer(tenant: Tenant, member: Member, value: str) -> None:
    old, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    answer = resolve(client, card, verdict="none_valid", answer=value, **form(page(client)))
    html = answer.content.decode()
    assert answer.status_code == 422
    assert f"Write a whole sentence, not “{value}” alone" in html
    assert f">{value}</textarea>" in html  # what was typed stays
    assert (state(tenant.workspace, old), status(tenant.workspace, card)) == ("active", "open")


def test_none_valid_keeps_the_answer_as_stated_by_a_user(tenant: Tenant, member: Member) -> None:
    old, new, card = disagree(tenant.workspace)
    client = member("reviewer")
    resolve(
        client, card, verdict="none_valid", answer="The API rate limit is 800.",
        **form(page(client)),
    )  # fmt: skip
    assert (state(tenant.workspace, old), state(tenant.workspace, new)) == (
        "retired",
        "retired",
    )
    found = tenant.reader.get("memories", {"q": "800"}).json()["results"]
    assert [(m["content"], m["provenance"]) for m in found] == [
        ("The API rate limit is 800.", "user_stated")
    ]


def test_stale_form_is_refused_kindly(tenant: Tenant, member: Member) -> None:
    old, new, card = disagree(tenant.workspace)
    client = member("reviewer")
    sent = form(page(client))
    third = remember(tenant.workspace, "The API rate limit is 800 requests per second.", 25)
    ask(tenant.workspace, [old, new, third], yes=new)
    answer = resolve(
        client, card, verdict="none_valid", answer="It is 800.", note="by heart", **sent
    )
    html = answer.content.decode()
    assert answer.status_code == 409
    assert "this card has changed meanwhile" in html
    assert "Conflict grew" in html
    assert "You chose “None is valid”" in html
    assert hidden(html, "note") == "by heart"
    assert "It is 800.</textarea>" in html
    assert status(tenant.workspace, card) == "open"
    again = resolve(client, card, verdict="none_valid", answer="It is 800.", **form(html))
    assert again.status_code == 302
    assert status(tenant.workspace, card) == "resolved"


def test_deciding_twice_shows_who_was_first(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    sent = form(page(client))
    tenant.reviewer.post(f"conflicts/{card.pk}/resolve", {"verdict": "no"})
    answer = resolve(client, card, verdict="yes", note="keep my words", **sent)
    html = answer.content.decode()
    assert answer.status_code == 409
    told = re.sub(r"<[^>]+>", "", html)
    assert "Conflict resolved: kept 1000 requests per second by acme reviewer" in told
    assert "You chose “Keep 5000 requests per second (20 Jan)”" in told
    assert "keep my words" in html


def test_a_stale_verdict_is_named_as_its_button(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=card.pk).update(kind="stale")
    client = member("reviewer")
    for verdict, label in (("yes", "Still true"), ("no", "No longer true since 1 Jan")):
        sent = form(page(client))
        tenant.reviewer.post(f"conflicts/{card.pk}/resolve", {"verdict": "dismiss"})
        told = resolve(client, card, verdict=verdict, **sent).content.decode()
        assert f"You chose “{label}”" in told
        assert client.post(f"/console/conflicts/{card.pk}/undo/").status_code == 302


def test_answers_of_one_day_are_told_apart_by_the_hour(tenant: Tenant, member: Member) -> None:
    pair = [remember(tenant.workspace, f"The boat has {n} seats.") for n in (15, 17)]
    ask(tenant.workspace, pair, yes=pair[1])
    tenant.workspace.settings = {"time_zone": "Asia/Tokyo"}
    tenant.workspace.save()
    client, labels = member("reviewer"), re.compile(r'class="what">([^<]*?)\s*<')
    assert [one.partition(" (")[2] for one in labels.findall(page(client))[:2]] == ["", ""]
    with in_workspace(tenant.workspace):
        for memory, hour in zip(pair, (9, 14), strict=True):
            at = memory.observed_at.replace(hour=hour, minute=5)
            Memory.objects.filter(pk=memory.pk).update(observed_at=at)
    found = [one.partition(" (")[2] for one in labels.findall(page(client))[:2]]
    assert found == ["1 Jan, 23:05)", "1 Jan, 18:05)"]


def test_a_decision_is_read_as_what_was_kept_wherever_it_is_shown(
    tenant: Tenant, member: Member
) -> None:
    """Beside “this or that?” a yes tells nothing; each place names the value, as the toast does."""
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    resolve(client, card, verdict="no", **form(page(client)))
    shown = re.sub(r"<[^>]+>", "", page(client, f"/console/conflicts/{card.pk}/"))
    said = "Kept 1000 requests per second, retired 5000 requests per second."
    assert shown.count(said) == 2  # the card's decision, the list of all
    assert "Conflict resolved: kept 1000 requests per second" in shown
    assert "it no longer holds" not in shown
    assert "Conflict resolved: kept 1000 requests per second" in page(client, "/")
    with in_workspace(tenant.workspace):
        words = [m["data"].get("words") for m in feed.since(0)[0]]
        event = Event.objects.get(type="conflict.resolved")
    assert "Conflict resolved: kept 1000 requests per second" in words
    assert event.data["verdict"] == "no"
    assert "kept" not in event.data


def test_joined_decisions_say_what_is_common_to_them(tenant: Tenant, member: Member) -> None:
    """One line of the feed stands for several cards, each with a value of its own."""
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    resolve(client, card, verdict="yes", **form(page(client)))
    with in_workspace(tenant.workspace):
        event = Event.objects.get(type="conflict.resolved")
        for _ in range(3):
            event.pk = None
            event.save(force_insert=True)
        line = next(line for line in feed.latest(9) if line["type"] == "conflict.resolved")
    assert (line["count"], line["data"]["words"]) == (4, "Conflict resolved: yes")


def test_undo_is_refused_when_a_member_changed(tenant: Tenant, member: Member) -> None:
    old, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    resolve(client, card, verdict="yes", **form(page(client)))
    forget.forget(tenant.workspace, [old.pk], actor=SYSTEM, now=timezone.now())
    answer = client.post(f"/console/conflicts/{card.pk}/undo/")
    assert answer.status_code == 409
    assert "Members have changed since the decision." in answer.content.decode()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"until": "tomorrow"}, 302),
        ({"until": "week"}, 302),
        ({"until": "date", "date": "2100-01-01"}, 302),
        ({"until": "date", "date": "2001-01-01"}, 422),
        ({"until": "date"}, 422),
        ({"until": "never"}, 422),
        ({}, 422),
    ],
)
def test_snooze_takes_days_to_come(
    tenant: Tenant, member: Member, fields: dict[str, str], code: int
) -> None:
    _, _, card = disagree(tenant.workspace)
    answer = member("reviewer").post(f"/console/conflicts/{card.pk}/snooze/", fields)
    assert answer.status_code == code
    assert status(tenant.workspace, card) == ("snoozed" if code == 302 else "open")


def test_snooze_is_undone_like_a_decision(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    later = timezone.now() + timedelta(days=3)
    snooze.snooze(tenant.workspace, card.pk, until=later, actor=SYSTEM, now=timezone.now())
    assert "Nothing waits for you" in page(client)
    where = f"/console/conflicts/{card.pk}/"
    told = f'<span class="chip ">Snoozed by <bdi>{SYSTEM.label}</bdi> until {later:%-d %b}</span>'
    assert told in client.get(where).content.decode()
    client.post(f"{where}undo/")
    assert "Snoozed" not in client.get(where).content.decode().split('id="discussion"')[0]
    assert status(tenant.workspace, card) == "open"


def test_comment_and_assignment_show_on_the_card(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    where = f"/console/conflicts/{card.pk}/"
    client.post(f"{where}comment/", {"text": "<b>Ask</b> the platform team"})
    client.post(f"{where}assign/", {"assignee": "reviewer-person"})
    html = page(client, where)
    assert "&lt;b&gt;Ask&lt;/b&gt; the platform team" in html
    assert "for reviewer-person" in html
    assert client.post(f"{where}assign/", {"assignee": "nobody"}).status_code == 422


def test_an_account_that_a_card_is_assigned_to_can_be_deleted(
    tenant: Tenant, member: Member
) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    where = f"/console/conflicts/{card.pk}/"
    client.post(f"{where}assign/", {"assignee": "reviewer-person"})
    User.objects.get(username="reviewer-person").delete()
    connection.check_constraints()
    with in_workspace(tenant.workspace):
        assert Conflict.objects.get(pk=card.pk).assignee_id is None
    assert "for reviewer-person" not in page(member("admin"), where)


@pytest.mark.parametrize("role", ["reader", "agent"])
@pytest.mark.parametrize("action", ["resolve", "undo", "snooze", "assign", "comment"])
def test_others_read_along_and_change_nothing(
    tenant: Tenant, member: Member, role: str, action: str
) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member(role)
    html = page(client)
    assert "Deciding needs the role reviewer" in html
    assert 'method="post" action="/console/conflicts/' not in html
    answer = client.post(
        f"/console/conflicts/{card.pk}/{action}/",
        {"verdict": "yes", "version": "1", "until": "tomorrow", "text": "x"},
    )
    assert answer.status_code == 403
    assert status(tenant.workspace, card) == "open"


def test_another_workspace_is_not_there(tenant: Tenant, neighbour: Tenant, member: Member) -> None:
    old, _, theirs = disagree(neighbour.workspace)
    client = member("admin")
    where = f"/console/conflicts/{theirs.pk}/"
    assert client.get(where).status_code == 404
    assert client.post(f"{where}resolve/", {"verdict": "yes", "version": 1}).status_code == 404
    assert QUESTION not in page(client)
    assert QUESTION not in page(client, f"{TRIAGE}?card={theirs.pk}&done={theirs.pk}")
    assert QUESTION not in page(client, "/console/conflicts/")
    assert state(neighbour.workspace, old) == "active"


def test_forgotten_text_is_shown_nowhere(tenant: Tenant, member: Member) -> None:
    old, new, card = disagree(tenant.workspace)
    third = remember(tenant.workspace, "The API rate limit is 800 requests per second.", 25)
    ask(tenant.workspace, [old, new, third], yes=new)
    forget.forget(tenant.workspace, [new.pk], actor=SYSTEM, now=timezone.now())
    client = member("reviewer")
    for path in (TRIAGE, f"/console/conflicts/{card.pk}/", "/console/conflicts/", "/"):
        assert not shows_number(page(client, path), "5000")
    assert card.pk.hex not in page(client, "/console/conflicts/?q=5000").replace("-", "")


def test_statements_are_escaped(tenant: Tenant, member: Member) -> None:
    evil = [
        remember(tenant.workspace, f"<script>alert({n})</script> costs {n}0 euros", n)
        for n in (1, 2)
    ]
    ask(tenant.workspace, evil, yes=evil[1], question="<img src=x onerror=alert(1)>?")
    html = page(member("reviewer"))
    assert "<script>alert" not in html
    assert "<img src=x" not in html


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("q=5000", True),
        ("q=graphql", False),
        ("scope=infra", True),
        ("scope=inf", False),
        ("kind=stale", False),
        ("severity=medium", True),
        ("mine=1", False),
        ("status=resolved", False),
        ("kind=nonsense&severity=%00", True),
        ("card=nonsense", True),
        ("card=" + "9" * 400, True),
    ],
)
def test_filters_live_in_the_address(
    tenant: Tenant, member: Member, query: str, is_found: bool
) -> None:
    disagree(tenant.workspace)
    html = page(member("reviewer"), f"{TRIAGE}?{query}")
    assert (f"{QUESTION}</h1>" in html) is is_found


def test_most_urgent_comes_first_and_steps_lead_through_all(tenant: Tenant, member: Member) -> None:
    cards = {}
    for number, severity in enumerate(("low", "high", "medium"), start=1):
        pair = [remember(tenant.workspace, f"Gadget {number} weighs {w} kg.") for w in (3, 7)]
        cards[severity] = ask(tenant.workspace, pair, yes=pair[0], severity=severity)
    client = member("reviewer")
    seen, path = [], TRIAGE
    while path:
        html = page(client, path)
        found = re.search(r'data-card="([^"]+)"', html)
        assert found is not None
        seen.append(found[1])
        onward = re.search(r'rel="next" href="([^"]+)"', html)
        path = onward[1] if onward else ""
    assert seen == [str(cards[severity].pk) for severity in ("high", "medium", "low")]


def test_empty_queue_teaches(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    assert "Nothing waits for you" in page(client)
    assert "No card matches these filters" in page(client, f"{TRIAGE}?kind=stale")


def test_list_pages_by_cursor(tenant: Tenant, member: Member) -> None:
    now = timezone.now()
    with in_workspace(tenant.workspace):
        Conflict.objects.bulk_create(
            Conflict(
                kind="stale", question=f"Card {n}?", created_at=now - timedelta(minutes=n),
                updated_at=now,
            )
            for n in range(120)
        )  # fmt: skip
    client = member("reader")
    seen: list[str] = []
    path = "/console/conflicts/"
    while path:
        html = page(client, path)
        seen += re.findall(r">(Card \d+\?)<", html)
        older = re.search(r'rel="next" href="([^"]+)"', html)
        path = "/console/conflicts/" + older[1].replace("&amp;", "&") if older else ""
    assert seen == [f"Card {n}?" for n in range(120)]
    newer = re.search(r'rel="prev" href="([^"]+)"', html)
    assert newer is not None
    assert ">Card 50?<" in page(client, "/console/conflicts/" + newer[1])


@pytest.mark.parametrize("path", [TRIAGE, "/console/conflicts/"])
def test_pages_ask_as_often_for_many_cards_as_for_one(
    tenant: Tenant, member: Member, path: str
) -> None:
    disagree(tenant.workspace)
    client = member("reviewer")
    page(client, path)
    with CaptureQueriesContext(connection) as one:
        page(client, path)
    now = timezone.now()
    with in_workspace(tenant.workspace):
        Conflict.objects.bulk_create(
            Conflict(kind="stale", severity="low", question=f"Card {n}?", created_at=now,
                     updated_at=now)
            for n in range(100)
        )  # fmt: skip
    with CaptureQueriesContext(connection) as many:
        page(client, path)
    # A card after the current one costs nothing; the step to it was asked for before.
    assert len(many) == len(one)


@pytest.mark.parametrize("action", ["resolve", "undo", "snooze", "assign", "comment"])
def test_coming_to_a_form_target_by_address_leads_to_the_card(
    tenant: Tenant, member: Member, action: str
) -> None:
    _, _, card = disagree(tenant.workspace)
    answer = member("reviewer").get(f"/console/conflicts/{card.pk}/{action}/")
    assert answer["Location"] == f"/console/conflicts/{card.pk}/"


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_forms_lead_nowhere_else(tenant: Tenant, member: Member, back: str) -> None:
    _, _, card = disagree(tenant.workspace)
    answer = resolve(member("reviewer"), card, verdict="yes", version=1, back=back)
    assert answer["Location"] == f"/console/conflicts/{card.pk}/?done={card.pk}"


def test_no_with_more_values_left_asks_which_is_true(tenant: Tenant, member: Member) -> None:
    old, new, card = disagree(tenant.workspace)
    third = remember(tenant.workspace, "The API rate limit is 800 requests per second.", 25)
    ask(tenant.workspace, [old, new, third], yes=new)
    client = member("reviewer")
    html = page(client)
    assert (
        "The statement of 20 Jan is retired. More than one value would remain:"
        " tick those that are true." in html
    )
    assert resolve(client, card, verdict="no", **form(html)).status_code == 422
    answer = resolve(client, card, verdict="no", keep=[str(third.pk)], **form(html))
    assert answer.status_code == 302
    assert [state(tenant.workspace, memory) for memory in (old, new, third)] == [
        "superseded",
        "retired",
        "active",
    ]


def test_snoozed_card_is_woken_from_its_page(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    client.post(f"/console/conflicts/{card.pk}/snooze/", {"until": "week"})
    assert "Take up now" in page(client, f"/console/conflicts/{card.pk}/")


def test_pages_are_kept_by_no_browser(tenant: Tenant, member: Member) -> None:
    assert "no-store" in member("reader").get(TRIAGE)["Cache-Control"]


def test_a_decision_is_undone_from_the_list(tenant: Tenant, member: Member) -> None:
    old, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    resolve(client, card, verdict="yes", **form(page(client)))
    listed = "/console/conflicts/?status=resolved"
    html = page(client, listed)
    assert f'action="/console/conflicts/{card.pk}/undo/"' in html
    answer = client.post(f"/console/conflicts/{card.pk}/undo/", {"back": hidden(html, "back")})
    assert answer["Location"] == listed
    assert state(tenant.workspace, old) == "active"
    assert "/undo/" not in page(client, "/console/conflicts/")


def test_readers_are_offered_no_undo_in_the_list(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    tenant.reviewer.post(f"conflicts/{card.pk}/resolve", {"verdict": "yes"})
    assert "/undo/" not in page(member("reader"), "/console/conflicts/?status=resolved")


def test_the_card_draws_its_arc_and_says_who_found_it(tenant: Tenant, member: Member) -> None:
    disagree(tenant.workspace)
    html = page(member("reviewer"))
    assert "Memory A, 1 January 2026: says otherwise; Memory B, 20 January 2026: says yes" in html
    assert "<dd>The rules</dd>" in html
    effects = re.findall(r'class="member-effect (\w+)" data-if="(\w+)"', html)
    assert ("superseded", "yes") in effects
    assert ("retired", "no") in effects


def test_a_reported_card_names_the_reporter(tenant: Tenant, member: Member) -> None:
    one, other = (remember(tenant.workspace, f"We meet on {d}.") for d in ("Monday", "Friday"))
    body = {"memory_ids": [str(one.pk), str(other.pk)], "note": "I was there."}
    tenant.agent.post("conflicts", body)
    assert "An agent: acme agent" in page(member("reader"))


def test_presets_put_a_card_off_for_hours_or_a_month(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    now = timezone.now()
    for until, least, most in (("later", 0.1, 0.2), ("month", 28.9, 31)):
        client.post(f"/console/conflicts/{card.pk}/snooze/", {"until": until})
        with in_workspace(tenant.workspace):
            snoozed = Conflict.objects.get(pk=card.pk).snoozed_until
        assert snoozed is not None
        assert timedelta(days=least) < snoozed - now < timedelta(days=most)


def test_at_ten_in_the_evening_the_choices_say_day_and_hour_and_none_is_in_hours(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    disagree(tenant.workspace)
    client = member("reviewer")
    now = timezone.localtime().replace(hour=22)
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    html = page(client)
    moments = moments_to_put_off(now)
    for key, (name, label) in enumerate(
        (("tomorrow", "Tomorrow"), ("week", "Next week"), ("month", "In a month")), start=2
    ):
        moment = f"{moments[name]:%a} {moments[name].day} {moments[name]:%b}, 08:00"
        assert re.search(rf'data-choice="{key}">{label} [^\n]*>{moment}</time>', html)
    assert "In 3 hours" not in html
    assert 'name="later"' not in html


def test_hours_end_at_the_moment_that_was_shown(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that stood open keeps its word; a moment that is past or far off is not taken."""
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    # At noon: late in the evening three hours end on the next day, and are not offered.
    now = timezone.localtime().replace(hour=12)
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    html = page(client)
    shown = datetime.fromisoformat(hidden(html, "later"))
    assert abs(shown - now - timedelta(hours=3)) < timedelta(minutes=1)
    assert f"{timezone.localtime(shown):%H:%M}</time>" in html
    in_three = now + timedelta(hours=3)
    read = now + timedelta(hours=2)
    far, past = now + timedelta(days=9), now - timedelta(hours=1)
    for sent, ends in ((read, read), (far, in_three), (past, in_three)):
        body = {"until": "later", "later": sent.isoformat()}
        client.post(f"/console/conflicts/{card.pk}/snooze/", body)
        with in_workspace(tenant.workspace):
            snoozed = Conflict.objects.get(pk=card.pk).snoozed_until
        assert snoozed is not None
        assert abs(snoozed - ends) < timedelta(minutes=1)
    body = {"until": "later", "later": "soon\0"}
    assert client.post(f"/console/conflicts/{card.pk}/snooze/", body).status_code == 422


def test_a_tag_is_no_other_wording(tenant: Tenant, member: Member) -> None:
    old, _, card = disagree(tenant.workspace)
    reviewer = member("reviewer")
    url = f"{TRIAGE}?card={card.pk}"
    assert tenant.admin.patch(f"memories/{old.pk}", {"tags": ["limits"]}).status_code == 200
    assert "reworded since" not in page(reviewer, url)
    said = {"content": "The API allowed 1000 requests per second at first."}
    assert tenant.admin.patch(f"memories/{old.pk}", said).status_code == 200
    assert "reworded since" in page(reviewer, url)


@pytest.mark.parametrize(
    ("heading", "shown"),
    [
        ("Booked within 28 or 30 days?", "Booked within 28~or~30~days?"),
        ("It allows 1,000 or 5,000 requests?", "It allows 1,000~or~5,000 requests?"),
        ("Stand-up starts at 9:30 or 10:00?", "Stand-up starts at 9:30~or~10:00?"),
        ("Open from 8:00 to 18:00 or 7:00 to 21:00?", "Open from 8:00 to 18:00~or~7:00~to 21:00?"),
        ("Sent on Monday or Tuesday, v2 or later?", "Sent on Monday or Tuesday, v2 or later?"),
    ],
)
def test_no_line_breaks_within_numbers_to_choose_from(heading: str, shown: str) -> None:
    assert unbroken_choice(heading).replace("\u00a0", "~") == shown


def test_cards_and_lists_show_their_headings_unbroken(tenant: Tenant, member: Member) -> None:
    old = remember(tenant.workspace, "Ferries are paid within 28 days.", 1)
    new = remember(tenant.workspace, "Ferries are paid within 30 days.", 2)
    whole = ask_ambiguity(new.content, old.content)
    card = ask(tenant.workspace, [old, new], yes=new, question=whole, rule="ambiguity.number")
    client = member("reviewer")
    for address in (f"/console/conflicts/{card.pk}/", "/console/conflicts/"):
        assert "within 28\u00a0or\u00a030\u00a0days?" in page(client, address)


def test_lists_say_the_heading_of_a_card_and_not_its_whole_question(
    tenant: Tenant, member: Member
) -> None:
    said = []
    for subject in ("gate", "crane"):
        old = remember(tenant.workspace, f"The {subject} opens at 9:30 on weekdays.", 1)
        new = remember(tenant.workspace, f"The {subject} opens at 10:00 on weekdays.", 2)
        whole = ask_ambiguity(new.content, old.content)
        said.append(
            ask(tenant.workspace, [old, new], yes=new, question=whole, rule="ambiguity.time")
        )
    with in_workspace(tenant.workspace):
        names = feed.names_of({card.pk for card in said})
        texts = feed.card_texts(names)
    client = member("reviewer")
    upcoming = page(client, "/console/inbox/?source=conflicts").split("Up next")[1]
    for card in said:
        heading = names[str(card.pk)].heading
        assert "9:30 or 10:00" in heading
        assert texts[str(card.pk)]["text"] == heading
        assert card.question.startswith("Does “")
        assert escape(card.question) not in upcoming
    assert sum(escape(names[str(card.pk)].heading) in upcoming for card in said) == 1
    entries = tenant.reviewer.get("inbox").json()["results"]
    assert {entry["title"] for entry in entries} == {card.question for card in said}


WITHOUT_SCRIPTS = {"note": "Ada knows more", "answer": "At 9:45.", "text": "Who set this?"}


@pytest.mark.parametrize("path", [TRIAGE, ""])
@pytest.mark.parametrize(
    ("action", "more"),
    [("comment", {}), ("assign", {"assignee": "reviewer-person"}), ("assign", {})],
)
def test_an_answer_half_typed_outlives_a_remark(
    tenant: Tenant, member: Member, path: str, action: str, more: dict[str, str]
) -> None:
    old, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    here = path or f"/console/conflicts/{card.pk}/"
    html_before = page(client, here)
    button = re.search(rf'<button[^>]*formaction="[^"]*/{action}/"[^>]*>', html_before)
    assert button is not None
    assert 'form="decide"' in button[0]  # without scripts it sends the note along
    sent = form(html_before) | WITHOUT_SCRIPTS | more | {"keep": str(old.pk)}
    answer = client.post(f"/console/conflicts/{card.pk}/{action}/", sent)
    assert answer.status_code == 200
    shown = answer.content.decode()
    assert ("data-param" in shown) == bool(path)  # of the queue
    assert 'value="Ada knows more"' in shown
    assert ">At 9:45.</textarea>" in shown
    assert re.search(rf'name="keep" value="{old.pk}"[^>]* checked', shown)
    with in_workspace(tenant.workspace):
        comments = [one.text for one in card.comments.all()]
    assert comments == (["Who set this?"] if action == "comment" else [])
    decided = resolve(client, card, verdict="yes", **(form(shown) | {"note": "Ada knows more"}))
    assert decided.status_code == 302
    assert decided["Location"].startswith(here)


def test_a_remark_alone_leads_back_to_the_same_card(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    sent = form(page(client)) | {"here": hidden(page(client), "here"), "text": "Who set this?"}
    answer = client.post(f"/console/conflicts/{card.pk}/comment/", sent)
    assert answer.status_code == 302
    assert answer["Location"] == f"{TRIAGE}?card={card.pk}#discussion"


def test_a_refused_snooze_stays_in_triage_with_its_filters(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    back = hidden(page(client, f"{TRIAGE}?severity=medium"), "back")
    sent = {"until": "date", "date": "2001-01-01", "back": back, **WITHOUT_SCRIPTS}
    answer = client.post(f"/console/conflicts/{card.pk}/snooze/", sent)
    shown = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="Ada knows more"' in shown
    assert ">At 9:45.</textarea>" in shown
    assert ">Who set this?</textarea>" in shown
    fold = shown[shown.index("data-snooze") :].split("</details>")[0]
    fields = re.findall(r"<(?:input|button)[^>]*>", fold)
    assert len(fields) == 6 + 2 * ("In 3 hours" in fold)
    assert all('form="decide"' in field for field in fields)  # what is typed is sent with it
    assert "Choose a day after today." in shown
    assert "data-param" in shown
    assert f'data-card="{card.pk}"' in shown
    assert re.search(r'value="medium"[^>]* selected', shown)
    assert 'value="2001-01-01"' in shown
