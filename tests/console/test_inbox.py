"""The inbox: every kind in one queue, answered through its own service, by role, undoable."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models import F, IntegerField, QuerySet, Value
from django.http import HttpRequest
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Conflict
from engram.console.inbox import queue, registry
from engram.console.inbox.api import Inbox, InboxQuerySerializer
from engram.console.inbox.conflicts import ConflictSource
from engram.console.inbox.put_off import put_off
from engram.console.inbox.registry import SOURCES
from engram.console.inbox.reviews import ReviewSource
from engram.console.inbox.source import Action, Done, InboxFilter, Mark, Source, WaitingCount
from engram.console.models import PutOff
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.models import Event, Workspace
from engram.kernel.pagination import NewestFirst
from engram.kernel.queries import names_read
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MergeSuggestion, Review
from memories.services.gate import answer_suggestion
from memories.services.gate.metrics import measure_gate
from tests.conftest import Tenant, issue_agent
from tests.console.cards import QUESTION, ask, disagree, remember, state
from tests.shown import shows_number

Member = Callable[[str], Client]
INBOX = "/console/inbox/"
PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."
BUDGET, LESS = "The budget is 5000 euros.", "The budget is 9 euros."


def suggest(tenant: Tenant) -> tuple[str, str, str]:
    """Let the gate ask about two memories; return the older, the newer and the suggestion."""
    older = tenant.agent.post(
        "memories", {"content": PLAIN, "provenance": "user_stated", "scope": "ops"}
    )
    newer = tenant.agent.post("memories", {"content": FINER, "scope": "ops"})
    with in_workspace(tenant.workspace):
        found = MergeSuggestion.objects.get().pk
    return older.json()["memory"]["id"], newer.json()["memory"]["id"], str(found)


def ask_for_review(tenant: Tenant) -> tuple[str, str]:
    """Let an agent ask to change what a user stated; return the memory and the review."""
    body = {"content": BUDGET, "provenance": "user_stated", "scope": "money"}
    stated = tenant.agent.post("memories", body).json()["memory"]["id"]
    asked = tenant.agent.patch(f"memories/{stated}", {"content": LESS})
    return stated, asked.json()["review"]


def page(client: Client, path: str = INBOX, code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code
    return answer.content.decode()


def act(client: Client, source: str, item: str, action: str, **fields: str) -> Any:
    return client.post(f"{INBOX}{source}/{item}/", {"action": action, "back": INBOX, **fields})


def undo(client: Client, source: str, item: str) -> Any:
    return client.post(f"{INBOX}{source}/{item}/undo/", {"back": INBOX})


def content(tenant: Tenant, memory: str) -> str:
    with in_workspace(tenant.workspace):
        return Memory.objects.get(pk=memory).content


def test_every_kind_waits_in_one_queue_by_severity_conflicts_first_then_age(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    suggest(neighbour), ask_for_review(neighbour), disagree(neighbour.workspace)
    _, _, suggestion = suggest(tenant)
    _, review = ask_for_review(tenant)
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    seen, path = [], INBOX
    while path:
        html = page(client, path)
        found = re.search(r'data-key="(\w+:[^"]+)"', html)
        assert found is not None
        seen.append(found[1])
        onward = re.search(r'rel="next" href="([^"]+)"', html)
        path = onward[1].replace("&amp;", "&") if onward else ""
    # The review waits longer, but the conflict is as urgent.
    assert seen == [f"conflicts:{card.pk}", f"reviews:{review}", f"suggestions:{suggestion}"]
    counts = client.get(f"{INBOX}counts/").json()
    one_each = {"conflicts": 1, "reviews": 1, "suggestions": 1}
    assert counts == {
        "inbox": 3,
        **one_each,
        "calibration": 0,
        "drift": 0,
        "mutings": 0,
        "refusals": 0,
    }
    assert 'data-count="inbox">3<' in html  # in the navigation as well


def test_filters_of_the_address_hold_while_one_steps(tenant: Tenant, member: Member) -> None:
    _, _, suggestion = suggest(tenant)
    ask_for_review(tenant)
    client = member("reviewer")
    assert f'data-key="suggestions:{suggestion}"' in page(client, f"{INBOX}?source=suggestions")
    assert f'data-key="suggestions:{suggestion}"' in page(client, f"{INBOX}?severity=low")
    assert f'data-key="suggestions:{suggestion}"' in page(client, f"{INBOX}?scope=ops")
    assert "Nothing matches these filters" in page(client, f"{INBOX}?q=elephant")
    answer = act(client, "suggestions", suggestion, "reject", back=f"{INBOX}?source=suggestions")
    assert answer["Location"] == (f"{INBOX}?source=suggestions&done=suggestions%3A{suggestion}")


def test_a_suggestion_shows_the_words_and_who_survives_and_merging_can_be_undone(
    tenant: Tenant, member: Member
) -> None:
    older, newer, suggestion = suggest(tenant)
    client = member("reviewer")
    html = page(client)
    assert '<mark class="new"> at 14:00 UTC</mark>' in html
    effects = re.findall(r'class="effect">([^<]*)<', html)
    # The user's word keeps its wording, as in the gate.
    assert effects[0] == (
        "One memory from now on, under the id of A; it says what A says."
        " Both texts are kept; the wording drops 1 claim of the other."
    )
    assert effects[2] == (
        "One memory from now on, under the id of A; it says what B says. Both texts are kept."
    )
    act(client, "suggestions", suggestion, "keep-2")
    assert content(tenant, older) == FINER
    assert "Merged." in page(client, f"{INBOX}?done=suggestions:{suggestion}")
    undo(client, "suggestions", suggestion)
    assert content(tenant, older) == PLAIN
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get(pk=newer)
        assert state(tenant.workspace, memory) == "active"
        assert [row.status for row in MergeSuggestion.objects.all()] == ["open"]
        gate = measure_gate(since=timezone.now() - timedelta(days=7), now=timezone.now())
        assert (gate.splits, gate.judged_wrong) == (0, 0)  # the gate had merged nothing
    assert client.get(f"{INBOX}counts/").json()["suggestions"] == 1
    act(client, "suggestions", suggestion, "keep-2")  # it can be answered again
    assert content(tenant, older) == FINER


def test_an_undone_merge_of_what_was_reworded_since_stays_apart(
    tenant: Tenant, member: Member
) -> None:
    older, _, suggestion = suggest(tenant)
    client = member("reviewer")
    act(client, "suggestions", suggestion, "keep-2")
    tenant.admin.patch(f"memories/{older}", {"content": f"{FINER} So Ana says."})
    undo(client, "suggestions", suggestion)
    with in_workspace(tenant.workspace):
        rows = MergeSuggestion.objects.order_by("created_at")
        assert [(row.status, row.detected_by) for row in rows] == [
            ("accepted", "gate"), ("rejected", "split"),
        ]  # fmt: skip
    html = page(client, f"{INBOX}?item=suggestions:{suggestion}")
    assert "and that was undone since." in html


def test_saying_that_two_contradict_opens_a_card_and_keeps_them_apart(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    older, newer, suggestion = suggest(tenant)
    client = member("reviewer")
    act(client, "suggestions", suggestion, "contradict")
    with in_workspace(tenant.workspace):
        card = Conflict.objects.get()
        assert {str(m.memory_id) for m in card.members.all()} == {older, newer}
        assert (card.detected_by, card.status) == (["person"], "open")
        assert MergeSuggestion.objects.get(pk=suggestion).status == "rejected"
    counts = client.get(f"{INBOX}counts/").json()
    assert (counts["conflicts"], counts["suggestions"]) == (1, 0)
    act(client, "suggestions", suggestion, "contradict")  # sent twice: one card
    with in_workspace(tenant.workspace):
        assert Conflict.objects.count() == 1
    with in_workspace(neighbour.workspace):
        assert Conflict.objects.count() == 0


def test_keeping_apart_can_be_taken_back_and_is_asked_again(tenant: Tenant, member: Member) -> None:
    _, newer, suggestion = suggest(tenant)
    client = member("reviewer")
    act(client, "suggestions", suggestion, "reject")
    done = page(client, f"{INBOX}?done=suggestions:{suggestion}")
    assert "Kept apart." in done
    assert "Nothing waits for you" in done
    assert done.count("<h1") == 1
    undo(client, "suggestions", suggestion)
    assert f'data-key="suggestions:{suggestion}"' in page(client)
    act(client, "suggestions", suggestion, "reject")
    tenant.agent.patch(f"memories/{newer}", {"content": f"{FINER} As ever."})
    refused = undo(client, "suggestions", suggestion)
    assert refused.status_code == 409
    assert "changed or hidden meanwhile" in refused.content.decode()
    with in_workspace(tenant.workspace):
        assert MergeSuggestion.objects.get(pk=suggestion).status == "rejected"


def test_a_review_says_who_asks_for_what_against_whose_word(tenant: Tenant, member: Member) -> None:
    stated, review = ask_for_review(tenant)
    client = member("reviewer")
    html = page(client)
    assert "May acme agent change this?" in html
    assert "stated by a user" in html
    assert '<mark class="new">9</mark>' in html
    act(client, "reviews", review, "reject", note="not yours")
    with in_workspace(tenant.workspace):
        assert Review.objects.get(pk=review).note == "not yours"
    undo(client, "reviews", review)
    act(client, "reviews", review, "accept")
    assert content(tenant, stated) == LESS
    refused = undo(client, "reviews", review)
    assert refused.status_code == 409
    assert content(tenant, stated) == LESS


def test_a_refused_snooze_keeps_the_note(tenant: Tenant, member: Member) -> None:
    _, review = ask_for_review(tenant)
    client = member("reviewer")
    shown = client.get(f"{INBOX}?item=reviews:{review}").content.decode()
    assert re.search(r'<button form="decide" formaction="[^"]*/snooze/" name="until"', shown)
    assert 'id="decide"' in shown
    sent = {"until": "date", "date": "2001-01-01", "note": "Ada knows more"}
    answer = client.post(f"{INBOX}reviews/{review}/snooze/", sent)
    assert answer.status_code == 422
    assert 'value="Ada knows more"' in answer.content.decode()


def test_a_stale_answer_is_refused_kindly_and_changes_nothing(
    tenant: Tenant, member: Member
) -> None:
    stated, review = ask_for_review(tenant)
    client = member("reviewer")
    tenant.reviewer.post(f"reviews/{review}/reject", {})
    refused = act(client, "reviews", review, "accept", note="my reasons")
    assert refused.status_code == 409
    html = refused.content.decode()
    assert "this has changed meanwhile" in html
    assert "my reasons" in html
    assert content(tenant, stated) == BUDGET
    assert act(client, "reviews", review, "explode").status_code == 422


def test_any_kind_can_be_put_off_and_taken_up(tenant: Tenant, member: Member) -> None:
    _, _, suggestion = suggest(tenant)
    client = member("reviewer")
    answer = client.post(
        f"{INBOX}suggestions/{suggestion}/snooze/", {"until": "later", "back": INBOX}
    )
    html = page(client, answer["Location"])
    assert "Snoozed until" in html
    assert "Nothing waits for you" in html
    assert tenant.reader.get("merge-suggestions").json()["results"] != []
    opened = page(client, f"{INBOX}?item=suggestions:{suggestion}")
    assert "snoozed by reviewer-person until" in opened
    undo(client, "suggestions", suggestion)
    assert f'data-key="suggestions:{suggestion}"' in page(client)
    client.post(f"{INBOX}suggestions/{suggestion}/snooze/", {"until": "tomorrow", "back": INBOX})
    with in_workspace(tenant.workspace):
        PutOff.objects.update(until=timezone.now() - timedelta(minutes=1))
    assert f'data-key="suggestions:{suggestion}"' in page(client)
    with in_workspace(tenant.workspace):
        told = Event.objects.filter(object_type="inbox").values_list("type", flat=True)
        assert sorted(told) == ["inbox.put_off", "inbox.put_off", "inbox.taken_up"]


def test_readers_see_what_they_may_and_answer_nothing(tenant: Tenant, member: Member) -> None:
    _, _, suggestion = suggest(tenant)
    _, review = ask_for_review(tenant)
    client = member("reader")
    html = page(client)
    assert f'data-key="suggestions:{suggestion}"' in html
    assert "You may read this as" in html
    assert 'name="action"' not in html
    assert BUDGET not in page(client, f"{INBOX}?item=reviews:{review}")
    assert client.get(f"{INBOX}counts/").json() == {
        "inbox": 1,
        "conflicts": 0,
        "drift": 0,
        "suggestions": 1,
        "mutings": 0,
    }
    for answer in (
        act(client, "suggestions", suggestion, "reject"),
        undo(client, "suggestions", suggestion),
        client.post(f"{INBOX}suggestions/{suggestion}/snooze/", {"until": "later"}),
    ):
        assert answer.status_code == 403
    assert act(client, "reviews", review, "reject").status_code in {403, 404}
    assert tenant.reviewer.get(f"reviews/{review}").json()["status"] == "pending"


def test_items_of_another_workspace_are_not_found(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    _, _, suggestion = suggest(neighbour)
    client = member("admin")
    assert act(client, "suggestions", suggestion, "reject").status_code == 404
    assert undo(client, "suggestions", suggestion).status_code == 404
    assert FINER not in page(client, f"{INBOX}?item=suggestions:{suggestion}")
    assert "Nothing waits for you" in page(client, f"{INBOX}?item=nonsense&done=x:y")


def test_a_conflict_is_decided_and_undone_from_the_inbox(tenant: Tenant, member: Member) -> None:
    old, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    html = page(client)
    assert f"{QUESTION}</h1>" in html
    inner = html[html.index('id="decide"') :]
    back = re.search(r'name="back" value="([^"]*)"', inner)
    assert back is not None
    answer = client.post(
        f"/console/conflicts/{card.pk}/resolve/",
        {"verdict": "yes", "version": "1", "back": back[1].replace("&amp;", "&")},
    )
    html = page(client, answer["Location"])
    assert "Kept 5000 requests per second, superseded 1000 requests per second." in html
    undo(client, "conflicts", str(card.pk))
    assert state(tenant.workspace, old) == "active"


class Bells(Source):
    """A toy: every memory of the scope `bells` waits until it is rung."""

    name = "bells"
    noun = "bell"
    icon = "clock"
    template = "console/inbox/_answer.html"
    teaches = "A bell wants to be rung."
    rung = "rung"  # the agent of those that were

    def rows(self) -> QuerySet[Any]:
        """Return all bells."""
        urgency = Value(0, output_field=IntegerField())
        bells = Memory.objects.filter(scope="bells")
        found: QuerySet[Any] = bells.annotate(urgency=urgency, since=F("created_at"))
        return found

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the bells that hang still."""
        return self.rows().exclude(agent=self.rung)

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return what each says."""
        return {row.pk: ("bell", row.content) for row in rows}

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return nothing more than what the frame knows."""
        return {}

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Ring it."""
        return (Action(1, "ring", "Ring", "It sounds."),)

    def act(self, workspace: Workspace, item_id: UUID, action: str, **_: Any) -> None:
        """Ring."""
        Memory.objects.filter(pk=item_id).update(agent=self.rung)

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Tell that it rang."""
        rung = Memory.objects.filter(pk=item_id, agent=self.rung)
        return Done("Ding.", "It hangs still.") if rung.exists() else None

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Unring."""
        Memory.objects.filter(pk=item_id).update(agent="")


@pytest.fixture
def bells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the toy: one line."""
    monkeypatch.setattr(registry, "SOURCES", [*registry.SOURCES, Bells()])


def test_a_new_source_is_one_module_and_one_line(
    tenant: Tenant, member: Member, bells: None
) -> None:
    said = {"content": "The great bell hangs.", "scope": "bells"}
    bell = tenant.agent.post("memories", said).json()["memory"]["id"]
    client = member("reviewer")
    html = page(client)
    assert 'data-count="bells">1<' in html
    assert "It sounds." in html
    assert tenant.reader.get("inbox").json()["results"][0]["title"] == "The great bell hangs."
    answer = act(client, "bells", bell, "ring")
    assert "Ding." in page(client, answer["Location"])
    assert client.get(f"{INBOX}counts/").json()["bells"] == 0
    undo(client, "bells", bell)
    client.post(f"{INBOX}bells/{bell}/snooze/", {"until": "week", "back": INBOX})
    assert client.get(f"{INBOX}counts/").json()["inbox"] == 0


def test_the_api_lists_in_pages_there_and_back(tenant: Tenant, neighbour: Tenant) -> None:
    suggest(neighbour)
    suggest(tenant), ask_for_review(tenant), disagree(tenant.workspace)
    whole = tenant.reviewer.get("inbox").json()
    assert whole["count"] == 3
    assert [(s["name"], s["count"]) for s in whole["sources"]] == [
        ("conflicts", 1), ("reviews", 1), ("drift", 0), ("suggestions", 1), ("calibration", 0),
        ("mutings", 0), ("refusals", 0),
    ]  # fmt: skip
    assert [(row["source"], row["severity"]) for row in whole["results"]] == [
        ("conflicts", "medium"), ("reviews", "medium"), ("suggestions", "low"),
    ]  # fmt: skip
    first = tenant.reviewer.get("inbox", {"limit": 1}).json()
    second = tenant.reviewer.get(first["next"]).json()
    third = tenant.reviewer.get(second["next"]).json()
    assert [p["results"] for p in (first, second, third)] == [[r] for r in whole["results"]]
    assert (first["previous"], third["next"]) == (None, None)
    assert tenant.reviewer.get(second["previous"]).json()["results"] == first["results"]
    for caller in (tenant.reader, tenant.agent):  # what waits for a reviewer is not theirs to read
        assert [s["name"] for s in caller.get("inbox").json()["sources"]] == [
            "conflicts", "drift", "suggestions", "mutings",
        ]  # fmt: skip
        assert caller.get("inbox", {"source": "reviews"}).status_code == 422


def test_the_api_has_the_pages_of_every_list(tenant: Tenant) -> None:
    suggest(tenant), ask_for_review(tenant)
    first = tenant.reviewer.get("inbox", {"limit": 1}).json()
    with in_workspace(tenant.workspace):
        MergeSuggestion.objects.all().delete()
    after = tenant.reviewer.get(first["next"]).json()
    assert (after["results"], after["next"]) == ([], None)
    assert names_read(Inbox, "GET") == {"source", "severity"} | NewestFirst.query_names
    assert set(InboxQuerySerializer().fields) == {"source", "severity"}


@pytest.mark.parametrize(
    "params",
    [
        {"cursor": "x"}, {"cursor": ""}, {"cursor": "WzEsMiwzXQ"}, {"limit": "0"}, {"limit": "201"},
        {"source": "nothing"}, {"severity": "grave"}, {"status": "open"}, {"cursor": "é" * 9},
        {"cursor": "bnVsbA"}, {"cursor": "WzksICIyMDI2LTAxLTAxIiwgIngiLCAieSIsIGZhbHNlXQ"},
    ],
)  # fmt: skip
def test_a_wrong_parameter_is_told(tenant: Tenant, params: dict[str, str]) -> None:
    assert tenant.reader.get("inbox", params).status_code == 422


def test_sources_share_what_they_tell_the_planner_when_they_are_counted(tenant: Tenant) -> None:
    def count_settings(count: Callable[[], object]) -> int:
        with in_workspace(tenant.workspace), CaptureQueriesContext(connection) as caught:
            count()
        return sum("set_config('enable_" in query["sql"] for query in caught)

    now, mark = timezone.now(), Mark(0, 1, timezone.now(), "reviews", tenant.workspace.pk)
    alone = [source for source in SOURCES if source.reads_by_index]
    assert [source.name for source in alone] == ["suggestions", "calibration"]
    for sources, settings in ((SOURCES, 2), (alone, 2), ([ConflictSource(), ReviewSource()], 0)):
        assert count_settings(partial(queue.tallies, sources, now)) == settings
        assert (
            count_settings(partial(queue.find_position, sources, InboxFilter(), mark, now))
            == settings
        )


def test_counts_are_those_of_the_workspace_and_the_moment(
    tenant: Tenant, neighbour: Tenant
) -> None:
    """Their statement is compiled once, for all workspaces and times."""
    suggest(tenant)
    review = ask_for_review(tenant)[1]
    disagree(neighbour.workspace)
    now = timezone.now()
    put_off(
        tenant.workspace, "reviews", UUID(review), until=now + timedelta(hours=1),
        actor=SYSTEM, now=now,
    )  # fmt: skip

    def counted(who: Tenant, moment: datetime) -> dict[str, WaitingCount]:
        with in_workspace(who.workspace):
            found = queue.tallies(SOURCES, moment)
            due = {s.name: s.due_now(InboxFilter(), moment).count() for s in SOURCES}
        assert {name: one.count for name, one in found.items()} == due
        return found

    mine, theirs = counted(tenant, now), counted(neighbour, now)
    assert (mine["suggestions"].count, theirs["suggestions"].count) == (1, 0)
    assert (mine["conflicts"].count, theirs["conflicts"].count) == (0, 1)
    assert (mine["reviews"].count, mine["reviews"].oldest) == (0, None)
    later = counted(tenant, now + timedelta(hours=2))["reviews"]
    assert (later.count, later.oldest is not None and later.oldest <= now) == (1, True)


def test_one_item_or_many_take_the_same_queries(tenant: Tenant, member: Member) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            page(client)
        return len(caught)

    client = member("reviewer")
    for number in range(2):
        tenant.agent.post(
            "memories", {"content": PLAIN, "provenance": "user_stated", "scope": f"s{number}"}
        )
        tenant.agent.post("memories", {"content": FINER, "scope": f"s{number}"})
    page(client)
    few = queries()
    for number in range(2, 9):
        tenant.agent.post(
            "memories", {"content": PLAIN, "provenance": "user_stated", "scope": f"s{number}"}
        )
        tenant.agent.post("memories", {"content": FINER, "scope": f"s{number}"})
    assert client.get(f"{INBOX}counts/").json()["suggestions"] == 9
    assert queries() == few


def test_what_was_forgotten_is_quoted_nowhere(tenant: Tenant, member: Member) -> None:
    older, _, suggestion = suggest(tenant)
    old, _, card = disagree(tenant.workspace)
    tenant.agent.delete(f"memories/{older}")
    tenant.agent.post("memories/forget", {"ids": [older, str(old.pk)], "confirm": True})
    client = member("reviewer")
    for path in (
        INBOX, f"{INBOX}?item=suggestions:{suggestion}", f"{INBOX}?item=conflicts:{card.pk}",
    ):  # fmt: skip
        html = page(client, path)
        assert PLAIN not in html
        assert old.content not in html
    assert PLAIN not in tenant.agent.get("inbox").content.decode()


def test_a_summary_names_its_forgotten_sources_without_their_texts(
    tenant: Tenant, member: Member
) -> None:
    def commit(text: str, **fields: Any) -> str:
        sent = {"content": text, "agent": "surveyor", "scope": "quarry/south", **fields}
        found: str = tenant.agent.post("memories", sent).json()["memory"]["id"]
        return found

    quarry, erased = commit("The quarry floods in March."), commit("Granite is sold by the ton.")
    summary = commit("The quarry has seasons.", derived_from=[quarry, erased])
    for source in (quarry, erased):
        tenant.reviewer.post("memories/forget", {"ids": [source], "confirm": True})
    with in_workspace(tenant.workspace):
        review = Review.objects.get(memory=summary)
        assert review.request == {"sources": sorted([quarry, erased])}
        Memory.objects.filter(pk=erased).delete()
    for client, path in (
        (member("reviewer"), f"{INBOX}?item=reviews:{review.pk}"),
        (member("admin"), f"/admin/memories/review/{review.pk}/change/"),
    ):
        html = page(client, path)
        link = rf'href="/console/memories/{quarry}/">A memory of \d+ \w+ \d{{4}}</a>'
        assert re.search(link + r", from <bdi>[^<]+</bdi>, in <bdi>[^<]+</bdi>, forgotten ", html)
        assert re.search(r", forgotten [^<]+ by <bdi>[^<]+</bdi>", html)
        assert "A memory that is erased: nothing of it is kept" in html
        assert not re.search(r"Memory [0-9a-f]{8}\b", html)
        assert ("floods" in html, "Granite" in html) == (False, False)


def test_reviews_neither_show_nor_find_what_was_forgotten(tenant: Tenant, member: Member) -> None:
    stated, review = ask_for_review(tenant)
    client = member("reviewer")
    assert f"reviews:{review}" in page(client, f"{INBOX}?q=5000")
    tenant.reviewer.post("memories/forget", {"ids": [stated], "confirm": True})
    with in_workspace(tenant.workspace):
        asked = Review.objects.get(pk=review)
        asked.status, asked.kind = "pending", "revive"
        asked.request = {"fields": {"content": f"{BUDGET} Again.", "is_revival": True}}
        asked.save()
    html = page(client, f"{INBOX}?item=reviews:{review}")
    assert "bring this back" in html
    assert "This memory was forgotten; its text is not shown." in html
    assert not shows_number(html, "5000")
    for text in ("5000", "euros"):
        assert f"reviews:{review}" not in page(client, f"{INBOX}?q={text}")


def test_putting_off_twice_keeps_the_later_word(tenant: Tenant) -> None:
    _, _, suggestion = suggest(tenant)
    now = timezone.now()
    for hours in (1, 2):
        put_off(
            tenant.workspace, "suggestions", UUID(suggestion),
            until=now + timedelta(hours=hours), actor=SYSTEM, now=now,
        )  # fmt: skip
    with in_workspace(tenant.workspace):
        assert PutOff.objects.get().until == now + timedelta(hours=2)


def test_undo_leads_back_to_the_filtered_queue(tenant: Tenant, member: Member) -> None:
    _, review = ask_for_review(tenant)
    client = member("reviewer")
    act(client, "reviews", review, "reject")
    html = client.get(f"{INBOX}?q=hotline&done=reviews:{review}").content.decode()
    assert f"{INBOX}?q=hotline&amp;item=reviews%3A{review}" in html


def withheld_claim(tenant: Tenant) -> str:
    """Return a request that waits while its very words are forgotten, as a race could leave it."""
    text = "The spare key hides below zebracanary."
    known = tenant.agent.post("memories", {"content": text, "scope": "a"}).json()["memory"]["id"]
    body = {"content": text, "scope": "quaggascope", "provenance": "user_stated"}
    review = issue_agent(tenant.workspace).post("memories", body).json()["review"]
    tenant.reviewer.post(f"reviews/{review}/reject", {})
    tenant.reviewer.post("memories/forget", {"ids": [known], "confirm": True})
    return str(review)


def test_search_and_scope_find_no_request_by_what_is_withheld(
    tenant: Tenant, member: Member
) -> None:
    body = {"content": "Okapicanary sings.", "scope": "okapiscope", "provenance": "user_stated"}
    shown = issue_agent(tenant.workspace, "other").post("memories", body).json()["review"]
    review = withheld_claim(tenant)
    with in_workspace(tenant.workspace):
        Review.objects.filter(pk=review).update(status="pending")
    client = member("reviewer")
    for asked, key in (
        ("?q=okapicanary", shown), ("?q=zebracanary", None),
        ("?scope=okapiscope", shown), ("?scope=quaggascope", None),
    ):  # fmt: skip
        html = page(client, f"{INBOX}{asked}")
        found = re.search(r'data-key="(\w+:[^"]+)"', html)
        assert (found and found[1]) == (key and f"reviews:{key}"), asked
        assert ("Nothing matches these filters" in html) == (key is None)
    html = page(client, f"{INBOX}?item=reviews:{review}")
    assert f'data-key="reviews:{review}"' in html
    assert "zebracanary" not in html
    assert "quaggascope" not in html


def test_a_request_whose_words_were_forgotten_does_not_wait_again(
    tenant: Tenant, member: Member
) -> None:
    review = withheld_claim(tenant)
    undo(member("reviewer"), "reviews", review)
    assert tenant.reviewer.get(f"reviews/{review}").json()["status"] == "rejected"


def test_a_page_compares_the_two_of_a_suggestion_once(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    suggest(tenant)
    compared: list[tuple[str, str]] = []
    weigh = answer_suggestion._choose_wording

    def counted(older: Memory, newer: Memory) -> Any:
        compared.append((older.content, newer.content))
        return weigh(older, newer)

    monkeypatch.setattr(answer_suggestion, "_choose_wording", counted)
    html = page(member("reviewer"))
    assert "The same: merge, in the words of A" in html
    keys = re.findall(r'name="action" value="([\w-]+)"[^>]*data-key="(\d)"', html)
    # Each answer once: the better wording is the first's, the other one has its own.
    assert keys == [("accept", "1"), ("reject", "2"), ("keep-2", "3"), ("contradict", "4")]
    assert compared == [(PLAIN, FINER)]


def test_what_comes_next_is_named_in_few_words(tenant: Tenant, member: Member) -> None:
    disagree(tenant.workspace)
    old = remember(tenant.workspace, "Stand-up is at 9:30 on weekdays.", 2)
    new = remember(tenant.workspace, "Stand-up is at 10:00 on weekdays.", 3)
    whole = f"Does “{new.content[:-1]}” hold, rather than “{old.content[:-1]}”?"
    ask(tenant.workspace, [old, new], yes=new, question=whole)
    html = member("reviewer").get(INBOX).content.decode()
    upcoming = html[html.index("Up next") :]
    assert "Stand-up is at 9:30 or 10:00 on weekdays?" in upcoming
    assert "rather than" not in upcoming
    body = tenant.reviewer.get("inbox").json()
    assert whole in {entry["title"] for entry in body["results"]}
