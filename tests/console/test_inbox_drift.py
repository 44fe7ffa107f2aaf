"""Drift in the inbox: the memory, the passage and the difference; one key an answer; undo."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.test import Client

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Note, PredictionError
from tests.conftest import Tenant
from tests.memories.drift_world import (
    AFTER,
    BEFORE,
    MEMORY,
    PATH,
    SHOWN,
    check,
    drifted,
    errors,
    put,
    recall,
    remember,
)

Member = Callable[[str], Client]
INBOX = "/console/inbox/"


def page(client: Client, path: str = INBOX, code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code
    return answer.content.decode()


def act(client: Client, item: str, action: str, **fields: str) -> Any:
    return client.post(f"{INBOX}drift/{item}/", {"action": action, "back": INBOX, **fields})


def undo(client: Client, item: str) -> Any:
    return client.post(f"{INBOX}drift/{item}/undo/", {"back": INBOX})


def signal(tenant: Tenant, memory_id: str, **fields: Any) -> str:
    body = {"source": "git", "evidence": {"why": "<b>merged</b>"}, **fields}
    answer = tenant.agent.post(f"memories/{memory_id}/signals", body)
    assert answer.status_code == 201
    error_id: str = answer.json()["id"]
    return error_id


def test_a_card_shows_the_memory_the_passage_and_the_difference(
    tenant: Tenant, member: Member
) -> None:
    drifted(tenant)
    client = member("reviewer")
    html = page(client)
    assert "Is this still true?" in html
    assert SHOWN in html
    assert "The licence review was resolved last week." in html
    assert "<del>" in html
    assert "<ins>" in html
    with in_workspace(tenant.workspace):
        note = Note.objects.get()
    assert f'href="/console/notes/{note.pk}/"' in html
    assert re.findall(r'data-key="(\d)"', html) == ["1", "2", "3"]
    shown = page(client, f"/console/notes/{note.pk}/")
    assert ">drifted</a>" in shown


def test_an_update_offers_what_the_note_says_in_the_place_of_what_it_replaced(
    tenant: Tenant, member: Member
) -> None:
    drifted(tenant)
    html = page(member("reviewer"))
    [field] = re.findall(r"<textarea[^>]*>(.*?)</textarea>", html, re.DOTALL)
    assert field.strip() == "The licence review was resolved last week ([[work/release]])."
    assert "“was resolved last week” is what the note says now" in html


def test_an_update_of_what_cannot_be_replaced_offers_the_memory_as_it_is(
    tenant: Tenant, member: Member
) -> None:
    said = "Marek signs the release notes ([[work/release]])."
    put(tenant, BEFORE)
    remember(tenant, said)
    check(tenant)
    put(tenant, f"> [!warning] Out of date\n\n{BEFORE}")
    check(tenant)
    recall(tenant, "Marek signs notes")
    html = page(member("reviewer"))
    [field] = re.findall(r"<textarea[^>]*>(.*?)</textarea>", html, re.DOTALL)
    assert field.strip() == said
    assert "nothing of the note was filled in" in html


def test_a_withdrawn_passage_is_shown_without_a_difference(tenant: Tenant, member: Member) -> None:
    client = member("reviewer")
    for said in (MEMORY, "Marek signs the release notes ([[work/release]])."):
        put(tenant, BEFORE)
        remember(tenant, said)
        check(tenant)
        put(tenant, f"> [!warning] <b>Out of date</b>\n\n{BEFORE}")
        check(tenant)
        recall(tenant)
        recall(tenant, "Marek signs notes")
        html = page(client)
        assert "he note says of this part: Out of date" in html
        assert "The licence review is an open blocker for the release." in html
        assert ("<del>" in html, "<ins>" in html) == (False, False)


def test_evidence_is_shown_as_text_and_weight_decides_the_order(
    tenant: Tenant, member: Member
) -> None:
    light = signal(tenant, remember(tenant, "Builds run on Tuesdays."), weight=0.5)
    heavy = signal(tenant, remember(tenant, "The kiln is in hall 7."), weight=8)
    middle = signal(tenant, remember(tenant, "Marek owns the night desk."), weight=2)
    rows = tenant.reviewer.get("inbox", {"source": "drift"}).json()["results"]
    assert [(row["id"], row["severity"]) for row in rows] == [
        (heavy, "high"), (middle, "medium"), (light, "low"),
    ]  # fmt: skip
    html = page(member("reviewer"))
    assert "&lt;b&gt;merged&lt;/b&gt;" in html
    assert "<b>merged</b>" not in html
    assert re.findall(r'data-key="(\d)"', html) == ["1", "2", "4", "3"]


def test_a_note_that_turns_a_memory_round_comes_before_one_that_is_only_silent(
    tenant: Tenant, member: Member
) -> None:
    said = "Marek signs the release notes ([[work/release]])."
    put(tenant, BEFORE)
    silent, turned = remember(tenant, said), remember(tenant, MEMORY)
    check(tenant)
    put(tenant, AFTER.replace("Marek signs the release notes. ", ""))
    check(tenant)
    assert {silent, turned} <= {*recall(tenant), *recall(tenant, "who signs the release notes")}
    rows = tenant.reviewer.get("inbox", {"source": "drift"}).json()["results"]
    assert [row["severity"] for row in rows] == ["high"]  # of one edit the gravest stands for all
    with in_workspace(tenant.workspace):
        found = dict(PredictionError.objects.values_list("memory", "severity"))
    assert {str(one): severity for one, severity in found.items()} == {
        silent: "low",
        turned: "high",
    }


def test_still_true_is_remembered_and_can_be_taken_back(tenant: Tenant, member: Member) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    client = member("reviewer")
    answer = act(client, row["id"], "still_true", note="asked Marek")
    assert answer.status_code == 302
    assert "Still true." in page(client, answer["Location"])
    check(tenant)
    recall(tenant)
    assert errors(tenant.reader) == []
    assert undo(client, row["id"]).status_code == 302
    assert [one["id"] for one in errors(tenant.reader)] == [row["id"]]


def test_forgetting_hides_the_memory_and_can_be_taken_back(tenant: Tenant, member: Member) -> None:
    memory_id = drifted(tenant)
    [row] = errors(tenant.reader)
    client = member("reviewer")
    answer = act(client, row["id"], "forget")
    shown = page(client, answer["Location"])
    assert "Forgotten." in shown
    assert SHOWN not in shown
    assert memory_id not in recall(tenant)
    assert SHOWN not in page(client, f"{INBOX}?item=drift:{row['id']}")
    assert undo(client, row["id"]).status_code == 302
    check(tenant)
    assert memory_id in recall(tenant)
    assert [one["memory_id"] for one in errors(tenant.reader)] == [memory_id]


def test_an_update_edits_the_text_in_place_and_resolves(tenant: Tenant, member: Member) -> None:
    memory_id = drifted(tenant)
    [row] = errors(tenant.reader)
    client = member("reviewer")
    refused = act(client, row["id"], "update", content=MEMORY)
    assert refused.status_code == 422
    assert "edit it first" in refused.content.decode()
    assert act(client, row["id"], "update", content="  ").status_code == 422
    text = "The licence review was resolved last week ([[work/release]])."
    answer = act(client, row["id"], "update", content=text)
    assert "Updated." in page(client, answer["Location"])
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get(pk=memory_id)
        assert (memory.content, memory.revision) == (text, 2)
    check(tenant)
    recall(tenant)
    assert errors(tenant.reader) == []
    stale = act(client, row["id"], "update", content="Another text.")
    assert stale.status_code == 409
    assert act(client, row["id"], "whatever").status_code in {409, 422}


def test_an_update_is_undone_with_its_wording_and_waits_again(
    tenant: Tenant, member: Member
) -> None:
    memory_id = drifted(tenant)
    signalled = signal(tenant, memory_id)
    row = next(one for one in errors(tenant.reader) if one["id"] != signalled)
    client = member("reviewer")
    text = "The licence review was resolved last week ([[work/release]])."
    act(client, row["id"], "update", content=text)
    check(tenant)
    assert errors(tenant.reader) == []
    assert "former wording again" in page(client, f"{INBOX}?done=drift:{row['id']}")
    assert undo(client, row["id"]).status_code == 302
    for _ in range(2):  # a check of the former wording finds no other answer
        with in_workspace(tenant.workspace):
            memory = Memory.objects.get(pk=memory_id)
            assert (memory.content, memory.revision) == (MEMORY, 3)
        assert {one["id"] for one in errors(tenant.reader)} == {row["id"], signalled}
        check(tenant)
        recall(tenant)
    assert act(client, row["id"], "still_true").status_code == 302
    check(tenant)
    assert {one["id"] for one in errors(tenant.reader)} == {signalled}


def test_an_update_is_undone_on_the_page_of_its_memory_after_another_change(
    tenant: Tenant, member: Member
) -> None:
    memory_id = drifted(tenant)
    [row] = errors(tenant.reader)
    client = member("reviewer")
    act(client, row["id"], "update", content="The licence review is over ([[work/release]]).")
    tenant.admin.patch(f"memories/{memory_id}", {"importance": 0.9})
    html = page(client)
    assert "It is undone on the page of its memory." in html
    assert f'href="/console/memories/{memory_id}/">Open it</a>' in html
    refused = undo(client, row["id"])
    assert refused.status_code == 409
    assert "only the last change can be undone" in refused.content.decode()


def test_readers_see_the_card_and_answer_nothing(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    reader = member("reader")
    assert SHOWN in page(reader)
    assert act(reader, row["id"], "forget").status_code == 403
    put(neighbour, BEFORE)
    remember(neighbour)
    put(neighbour, AFTER)
    recall(neighbour)
    [foreign] = errors(neighbour.reader)
    assert act(member("reviewer"), foreign["id"], "forget").status_code == 404
    assert len(errors(neighbour.reader)) == 1


def test_a_filter_finds_cards_by_note_and_by_text(tenant: Tenant, member: Member) -> None:
    drifted(tenant)
    client = member("reviewer")
    for query in (f"?source=drift&q={PATH}", "?q=licence", "?source=drift&severity=high"):
        assert SHOWN in page(client, INBOX + query)
    assert SHOWN not in page(client, f"{INBOX}?q=nothing")
    assert SHOWN not in page(client, f"{INBOX}?scope=elsewhere")


def test_a_card_of_a_vanished_sentence_shows_what_the_note_said(
    tenant: Tenant, member: Member
) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    put(tenant, "")
    recall(tenant)
    html = page(member("reviewer"))
    assert "What the memory leaned on was removed, and nothing stands in its place." in html
    assert "<del>The licence review is an open blocker for the release.</del>" in html


def test_the_page_of_a_memory_shows_what_it_leans_on_and_leads_to_its_card(
    tenant: Tenant, member: Member
) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant, MEMORY)
    check(tenant)
    client = member("reader")
    html = page(client, f"/console/memories/{memory_id}/")
    assert "The licence review is an open blocker for the release." in html
    assert "in doubt" not in html
    put(tenant, AFTER)
    check(tenant)
    shown = page(client, f"/console/memories/{memory_id}/")
    assert 'class="chip warn">drifted</span>' in shown  # nobody is asked before a recall
    recall(tenant)
    [row] = errors(tenant.reader)
    shown = page(client, f"/console/memories/{memory_id}/")
    assert shown.count(f"?item=drift:{row['id']}") == 2
    tenant.reviewer.post("memories/forget", {"ids": [memory_id], "confirm": True})
    hidden = page(member("reviewer"), f"/console/memories/{memory_id}/")
    assert ">drifted<" not in hidden
