"""Drift of several memories from one edit of a note: one entry, one answer, or one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from engram.console.inbox import groups
from engram.kernel.last_decision import SLOT
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, NoteSupport, PredictionError
from tests.conftest import Tenant
from tests.memories.drift_world import (
    DESKS,
    check,
    desks_note,
    drifted,
    drifted_desks,
    errors,
    put,
    remember,
    report_desks,
    resolve,
    stored,
)

Member = Callable[[str], Client]
INBOX = "/console/inbox/"


def page(client: Client, path: str = INBOX, code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code
    return answer.content.decode()


def hidden(html: str, name: str) -> str:
    return unescape(re.search(rf'name="{name}" value="([^"]*)"', html)[1])  # type: ignore[index]


def act(client: Client, item: str, action: str, **fields: str) -> Any:
    return client.post(f"{INBOX}drift/{item}/", {"action": action, "back": INBOX, **fields})


def act_on_all(client: Client, html: str, action: str, **fields: str) -> Any:
    """Send the answer for all that a page shows."""
    item = re.search(r'data-key="drift:([^"]+)"', html)[1]  # type: ignore[index]
    sent = {name: hidden(html, name) for name in ("ids", "version")}
    return act(client, item, action, **{**sent, **fields})


def undo(client: Client, item: str) -> Any:
    return client.post(f"{INBOX}drift/{item}/undo/", {"back": INBOX})


def forget_last_decision(client: Client) -> None:
    session = client.session
    session.pop(SLOT, None)
    session.save()


def inbox(tenant: Tenant, **query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tenant.reader.get("inbox", query).json()["results"]
    return rows


def test_one_edit_of_a_note_is_one_entry_with_all_its_memories(
    tenant: Tenant, member: Member
) -> None:
    ids = drifted_desks(tenant, 4)
    assert len(errors(tenant.reader)) == 4
    [entry] = inbox(tenant, source="drift")
    assert entry["size"] == 4
    assert entry["title"] == "Are 4 memories that link work/desks.md still true?"
    counts = tenant.reader.get("inbox").json()
    by_source = {one["name"]: one["count"] for one in counts["sources"]}
    assert (counts["count"], by_source["drift"]) == (1, 1)
    html = page(member("reviewer"))
    assert "Are these 4 still true?" in html
    for desk in DESKS[:4]:
        assert f"The {desk} desk opens at 8:00 (desks)." in html
    assert html.count("<del>") == html.count("<ins>") == 4
    assert re.findall(r'<a class="button verdict[^>]*data-key="(3)"', html) == ["3"]
    assert len(hidden(html, "ids").split()) == len(ids)


def test_signals_other_notes_and_other_versions_are_entries_of_their_own(tenant: Tenant) -> None:
    ids = drifted_desks(tenant, 3)
    drifted(tenant)
    body = {"source": "git", "evidence": {"a": 1}}
    assert tenant.agent.post(f"memories/{ids[0]}/signals", body).status_code == 201
    assert sorted(entry["size"] for entry in inbox(tenant, source="drift")) == [1, 1, 3]
    put(tenant, desks_note(11, 3), "work/desks.md")
    report_desks(tenant, ids[:2])  # the third is still that of the version before
    assert sorted(entry["size"] for entry in inbox(tenant, source="drift")) == [1, 1, 1, 2]


def test_one_answer_holds_for_all_and_can_be_taken_back(tenant: Tenant, member: Member) -> None:
    ids = drifted_desks(tenant, 4)
    client = member("reviewer")
    answer = act_on_all(client, page(client), "still_true", note="asked the porter")
    assert answer.status_code == 302
    assert errors(tenant.reader) == []
    rows = errors(tenant.reader, resolved="true")
    assert {(row["resolution"], row["note"]) for row in rows} == {
        ("still_true", "asked the porter"),
    }  # fmt: skip
    assert len(rows) == 4
    shown = page(client, answer["Location"])
    assert "Still true: 4 memories." in shown
    report_desks(tenant, ids)
    assert errors(tenant.reader) == []
    assert undo(client, rows[0]["id"]).status_code == 302
    assert {row["id"] for row in errors(tenant.reader)} == {row["id"] for row in rows}
    report_desks(tenant, ids)
    assert [entry["size"] for entry in inbox(tenant)] == [4]
    assert len(stored(tenant)) == 4


def test_forgetting_all_hides_them_and_undo_brings_all_back_with_their_errors(
    tenant: Tenant, member: Member
) -> None:
    ids = drifted_desks(tenant, 3)
    client = member("reviewer")
    answer = act_on_all(client, page(client), "forget")
    shown = page(client, answer["Location"])
    assert "Forgotten: 3 memories." in shown
    assert "desk opens" not in shown
    with in_workspace(tenant.workspace):
        assert Memory.objects.filter(forgotten_at=None).count() == 0
    rows = errors(tenant.reader, resolved="true")
    assert {row["resolution"] for row in rows} == {"memory_forgotten"}
    assert undo(client, rows[1]["id"]).status_code == 302
    assert {row["memory_id"] for row in errors(tenant.reader)} == set(ids)
    check(tenant)
    assert [entry["size"] for entry in inbox(tenant)] == [3]


def test_an_answer_to_one_leaves_the_others_waiting_and_is_undone_alone(
    tenant: Tenant, member: Member
) -> None:
    drifted_desks(tenant, 3)
    client = member("reviewer")
    html = page(client)
    first, second, third = hidden(html, "ids").split()
    for mine, other in ((first, second), (second, first)):
        form = re.search(rf'action="{INBOX}drift/{mine}/" class="one">(.*?)</form>', html, re.S)
        assert f"item=drift%3A{other}" in unescape(hidden(form[1], "back"))  # type: ignore[index]
    assert act(client, second, "still_true").status_code == 302
    assert [entry["size"] for entry in inbox(tenant)] == [2]
    answer = act_on_all(client, page(client), "still_true")
    assert "Still true: 2 memories." in page(client, answer["Location"])
    assert undo(client, second).status_code == 302
    assert [row["id"] for row in errors(tenant.reader)] == [second]
    assert undo(client, first).status_code == 302
    assert {row["id"] for row in errors(tenant.reader)} == {first, second, third}


def test_what_was_answered_meanwhile_is_not_answered_again(tenant: Tenant, member: Member) -> None:
    ids = drifted_desks(tenant, 3)
    client = member("reviewer")
    html = page(client)
    first, second, third = hidden(html, "ids").split()
    act(client, second, "forget")
    put(tenant, desks_note(11, 3), "work/desks.md")
    by_memory = {row["id"]: row["memory_id"] for row in errors(tenant.reader)}
    report_desks(tenant, [by_memory[third]])
    assert act_on_all(client, html, "still_true").status_code == 302
    ends = {str(error.pk): error.resolution for error in stored(tenant)}
    assert ends == {first: "still_true", second: "memory_forgotten", third: ""}
    stale = act_on_all(client, html, "still_true")
    assert stale.status_code == 409
    assert "answered meanwhile" in stale.content.decode()
    assert len(ids) == 3


@pytest.mark.parametrize(
    "fields",
    [
        {"ids": "x"},
        {"ids": "11111111-1111-4111-8111-111111111111"},
        {"version": ""},
        {"version": "-1"},
        {"version": "9" * 30},
        {"action": "dismiss"},
        {"action": "update"},
        {"ids": "a" * 20_000},
        {"note": "AKIA" + "IOSFODNN7QWERTYU"},
    ],
)
def test_answers_for_all_that_are_none_change_nothing(
    tenant: Tenant, member: Member, fields: dict[str, str]
) -> None:
    drifted_desks(tenant, 2)
    client = member("reviewer")
    html = page(client)
    given = {"action": "still_true", **fields}
    refused = act_on_all(client, html, given.pop("action"), **given)
    assert refused.status_code == 422
    assert len(errors(tenant.reader)) == 2


def test_readers_see_the_group_and_answer_nothing_and_neighbours_see_none(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    drifted_desks(tenant, 2)
    client = member("reviewer")
    reviewer = page(client)
    reader = member("reader")
    html = page(reader)
    assert "Are these 2 still true?" in html
    assert 'name="ids"' not in html
    assert act_on_all(reader, reviewer, "forget").status_code == 403
    drifted_desks(neighbour, 2)
    foreign = [row["id"] for row in errors(neighbour.reader)]
    mine = [row["id"] for row in errors(tenant.reader)]
    body = {"ids": " ".join(foreign), "version": "2"}
    assert act(client, foreign[0], "forget", **body).status_code == 404
    assert act(client, mine[0], "forget", **body).status_code == 422
    assert len(errors(neighbour.reader)) == 2


def test_forgotten_memories_are_in_no_group(tenant: Tenant, member: Member) -> None:
    ids = drifted_desks(tenant, 3)
    body = {"ids": [ids[1]], "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).status_code == 200
    html = page(member("reviewer"))
    assert "Are these 2 still true?" in html
    assert f"The {DESKS[1]} desk" not in html


def test_a_snooze_puts_off_the_whole_edit(tenant: Tenant, member: Member) -> None:
    drifted_desks(tenant, 3)
    client = member("reviewer")
    [entry] = inbox(tenant)
    sent = {"until": "tomorrow", "back": INBOX}
    answer = client.post(f"{INBOX}drift/{entry['id']}/snooze/", sent)
    assert answer.status_code == 302, answer.content
    assert inbox(tenant) == []
    assert tenant.reader.get("inbox").json()["count"] == 0
    assert undo(client, entry["id"]).status_code == 302
    assert [one["size"] for one in inbox(tenant)] == [3]


def test_undo_after_an_answer_to_a_group_leaves_what_somebody_else_decided(
    tenant: Tenant, member: Member
) -> None:
    drifted_desks(tenant, 4)
    client = member("reviewer")
    html = page(client)
    shown = re.search(r'data-key="drift:([^"]+)"', html)[1]  # type: ignore[index]
    resolve(tenant.admin, shown, "dismiss")
    answer = act_on_all(client, html, "still_true")
    assert answer.status_code == 302
    after = page(client, answer["Location"])
    assert "Still true: 3 memories." in after
    path = re.search(rf'action="{INBOX}drift/([^/"]+)/undo/"', after)[1]  # type: ignore[index]
    assert undo(client, path).status_code == 302
    waiting = {row["id"] for row in errors(tenant.reader)}
    assert len(waiting) == 3
    assert shown not in waiting
    [kept] = [error for error in stored(tenant) if str(error.pk) == shown]
    assert kept.resolution == "dismissed"


def test_a_group_has_only_what_the_filter_shows(tenant: Tenant, member: Member) -> None:
    in_a = drifted_desks(tenant, 3, scope="team/a")
    other = remember(tenant, "The signage desk opens at 8:00 ([[work/desks]]).", scope="team/b")
    put(tenant, desks_note(8, 9), "work/desks.md")
    check(tenant)
    put(tenant, desks_note(10, 9), "work/desks.md")
    report_desks(tenant, [*in_a, other])
    client = member("reviewer")
    assert [entry["size"] for entry in inbox(tenant)] == [4]
    html = page(client, f"{INBOX}?scope=team/a")
    assert "Are these 3 still true?" in html
    assert "signage" not in html
    assert "Are these" not in page(client, f"{INBOX}?scope=team/b")
    assert act_on_all(client, html, "forget").status_code == 302
    with in_workspace(tenant.workspace):
        kept = Memory.objects.filter(forgotten_at=None)
        assert [str(memory.pk) for memory in kept] == [other]


def test_drift_without_a_known_version_is_no_edit(tenant: Tenant) -> None:
    drifted_desks(tenant, 3)
    with in_workspace(tenant.workspace):
        PredictionError.objects.update(note_version=0)
    assert [entry["size"] for entry in inbox(tenant)] == [1, 1, 1]
    body = {"action": "still_true", "note_path": "work/desks.md", "note_version": 0}
    assert tenant.reviewer.post("prediction-errors/resolve", body).status_code == 404
    assert len(errors(tenant.reader)) == 3


def test_a_large_group_has_pages_and_is_answered_in_parts(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    drifted_desks(tenant, 5)
    monkeypatch.setattr(groups, "A_PAGE", 2)
    monkeypatch.setattr("engram.console.inbox.drift.MOST_AT_ONCE", 3)
    client = member("reviewer")
    html = page(client)
    assert "Are these 5 still true?" in html
    assert "Still true, the first 3" in html
    assert html.count('class="statement of-edit"') == 2
    onward = re.search(r'href="([^"]*page=2[^"]*)"', html)[1]  # type: ignore[index]
    second = page(client, INBOX + unescape(onward).rpartition("/")[2].partition("#")[0])
    assert second.count('class="statement of-edit"') == 1
    assert act_on_all(client, second, "still_true").status_code == 302
    assert len(errors(tenant.reader)) == 2
    for odd in ("page=0", "page=x", "page=99"):
        page(client, f"{INBOX}?{odd}")


def test_one_by_one_leads_from_each_memory_to_the_next_and_onward(
    tenant: Tenant, member: Member
) -> None:
    drifted_desks(tenant, 3)
    client = member("reviewer")
    first, second, third = hidden(page(client), "ids").split()
    at = f"{INBOX}?item=drift%3A{second}&one=1"
    html = page(client, at)
    assert "Is this still true?" in html
    assert "2 of 3" in html
    assert f"item=drift%3A{third}&amp;one=1" in re.search(r'rel="next" href="([^"]+)', html)[1]  # type: ignore[index]
    assert f"item=drift%3A{first}&amp;one=1" in re.search(r'rel="prev" href="([^"]+)', html)[1]  # type: ignore[index]
    text = "The desk opens at 10:00 ([[work/desks]])."
    answer = act(client, second, "update", content=text, back=unescape(hidden(html, "back")))
    assert f"item=drift%3A{third}" in answer["Location"]
    assert "one=1" in answer["Location"]
    after = page(client, answer["Location"])
    assert "2 of 2" in after
    assert f"item=drift%3A{first}" in hidden(after.partition("data-decide")[2], "back")


def test_a_filter_keeps_groups_with_a_memory_that_matches(tenant: Tenant, member: Member) -> None:
    drifted_desks(tenant, 3)
    client = member("reviewer")
    for query in ("?q=desk+opens", "?q=work/desks", "?severity=medium"):
        assert "Are these 3 still true?" in page(client, INBOX + query)
    assert "Is this still true?" in page(client, f"{INBOX}?q=customs")
    assert "Are these" not in page(client, f"{INBOX}?q=kiln")


def test_pages_and_counts_ask_as_many_queries_for_two_memories_as_for_ten(
    tenant: Tenant, member: Member, django_assert_max_num_queries: Any
) -> None:
    client = member("reviewer")
    asked = []
    for count in (2, 10):
        drifted_desks(tenant, count)
        page(client)
        forget_last_decision(client)  # a page looks up what its key undoes
        with django_assert_max_num_queries(80) as of_page:
            html = page(client)
        assert f"Are these {count} still true?" in html
        with django_assert_max_num_queries(120) as of_answer:
            act_on_all(client, html, "still_true")
        with django_assert_max_num_queries(120) as of_undo:
            undo(client, hidden(html, "ids").split()[0])
        asked.append([len(one) for one in (of_page, of_answer, of_undo)])
        with in_workspace(tenant.workspace):
            NoteSupport.objects.all().delete()
            Memory.objects.all().delete()
    assert asked[0] == asked[1]


def test_the_inbox_lists_two_edits_with_as_many_queries_as_one(
    tenant: Tenant, django_assert_max_num_queries: Any
) -> None:
    drifted_desks(tenant, 2)
    inbox(tenant)
    with django_assert_max_num_queries(60) as one:
        inbox(tenant)
    drifted(tenant)
    remember(tenant, "The kiln is in hall 7.")
    with django_assert_max_num_queries(60) as two:
        assert len(inbox(tenant)) == 2
    assert len(one) == len(two)
