"""The pages of notes: list, search, one note with its memories; texts are data."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.core.drift.passages import MAX_STATEMENTS
from memories.models import Memory, Note, PredictionError
from memories.services.notes.beside import BY_BLOCK, BY_HEADING, BY_MEANING, place_memories
from memories.services.notes.links import linking_memory_ids
from tests.conftest import NOW, Tenant
from tests.memories.drift_world import check, recall

PAGE = "/console/notes/"
ADMIN = "/admin/memories/note/"
BILLING = """---
aliases: [Invoices]
tags: [money]
---
# Billing

Invoices are sent on the first of the month, see [[contracts]] and [[nowhere]].

## Retries

A failed payment is tried again after three days.

## Refunds

Refunds over 500 EUR cross the desk of the support lead. ^refunds
"""
HOSTILE = "<script>alert(1)</script>\"'</title>"


@pytest.fixture
def person(member: Any) -> Client:
    signed_in: Client = member("reader")
    return signed_in


def put(tenant: Tenant, path: str, content: str) -> str:
    """Store a note; return its id."""
    answer = tenant.agent._send("put", f"notes/{quote(path)}", {"content": content}, {})
    assert answer.status_code in {200, 201}, answer.content
    with in_workspace(tenant.workspace):
        return str(Note.objects.get(path=path).pk)


def remember(tenant: Tenant, content: str) -> str:
    answer = tenant.agent.post("memories", {"content": content})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["memory"]["id"])


def shown(person: Client, path: str = PAGE, **query: str) -> str:
    answer = person.get(path, query)
    assert answer.status_code == 200
    text: str = answer.content.decode()
    return text


def test_without_notes_the_page_says_how_to_bring_some(tenant: Tenant, person: Client) -> None:
    page = shown(person)
    assert f"manage.py import_notes DIR --workspace {tenant.workspace.slug}" in page
    assert "PUT /api/v1/notes/work/billing.md" in page
    assert "Notes come through the API" in shown(person, ADMIN)


def test_notes_are_listed_and_found_by_name_by_words_and_by_tag(
    tenant: Tenant, neighbour: Tenant, person: Client
) -> None:
    put(neighbour, "theirs.md", "Their refunds.")
    note = put(tenant, "work/billing.md", BILLING)
    put(tenant, "garden.md", "# Roses\n\nCut in March.")
    remember(tenant, "Payments fail and are retried, see [[billing]].")
    page = shown(person)
    for text in ("Billing", "work/billing.md", f"{PAGE}{note}/", "#money", "Roses"):
        assert text in page
    assert "theirs.md" not in page
    assert "Roses" not in shown(person, q="invoices")
    found = shown(person, q="refunds DESK")
    assert "cross the desk of the support lead" in found
    assert "Their refunds" not in found
    assert "Roses" not in shown(person, tag="#Money")
    assert "No note matches" in shown(person, q="zebra")
    assert "No note matches" in shown(person, tag="zebra")
    assert "Roses" in shown(person, q="\x00", tag="\x00")


def test_memories_stand_beside_what_they_link_or_what_is_nearest_in_meaning(
    tenant: Tenant,
) -> None:
    note_id = put(tenant, "work/billing.md", BILLING)
    near = remember(tenant, "A payment that failed is retried after three days [[billing]].")
    heading = remember(tenant, "Accounting asked who pays first [[Invoices#retries]].")
    block = remember(tenant, "The desk signs large sums back [[billing#^refunds]].")
    with in_workspace(tenant.workspace):
        note = Note.objects.get(pk=note_id)
        memories = list(Memory.objects.filter(pk__in=linking_memory_ids(note, NOW)))
        placed = place_memories(note, memories, tenant.workspace.embedding_model)
        found = {
            str(one.memory.pk): (position, one.why)
            for position, rows in placed.items()
            for one in rows
        }
    assert found == {near: (1, BY_MEANING), heading: (1, BY_HEADING), block: (2, BY_BLOCK)}


def test_a_note_shows_its_passages_memories_and_links(tenant: Tenant, person: Client) -> None:
    other = put(tenant, "work/contracts.md", "# Contracts\n\nSee [[billing]].")
    note = put(tenant, "work/billing.md", BILLING)
    memory = remember(tenant, "A failed payment is retried after three days [[billing]].")
    page = shown(person, f"{PAGE}{note}/")
    for text in (
        "Billing &gt; Retries", "tried again after three days", "also called <bdi>Invoices</bdi>",
        f"/console/memories/{memory}/", "nearest in meaning",
        f'<a href="{PAGE}{other}/">contracts</a>', "No note has this name",
        "1 link leads to no note", "1 note, 1 memory",
    ):  # fmt: skip
        assert text in page, text
    tenant.agent.post("memories/forget", {"ids": [memory], "confirm": True})
    page = shown(person, f"{PAGE}{note}/")
    assert "retried after three days" not in page
    assert "No memory links it" in page
    assert "[[work/billing]]" in page


@pytest.mark.parametrize("place", [PAGE, ADMIN])
def test_a_memory_that_the_note_no_longer_carries_is_marked_beside_its_passage(
    tenant: Tenant, person: Client, place: str
) -> None:
    note = put(tenant, "work/billing.md", "# Billing\n\nInvoices are paid within 30 days.")
    drifted = remember(tenant, "Invoices are paid within 30 days, see [[billing]].")
    remember(tenant, "Invoices carry the name of the buyer [[billing]].")
    check(tenant)
    page = f"{place}{note}/" if place == PAGE else f"{place}{note}/change/"
    assert "drifted" not in shown(person, page)
    put(tenant, "work/billing.md", "# Billing\n\nInvoices are paid within 90 days.")
    check(tenant)
    html = shown(person, page)
    beside = html.split('aria-label="Memories beside this passage"')[1].split("</ul>")[0]
    first, second = beside.split("</li>")[:2]
    assert f"/console/memories/{drifted}/" in first
    assert "the note no longer carries it; the inbox asks once it is recalled" in first
    assert "drifted" not in second
    assert "/console/inbox/?item=drift" not in html
    recall(tenant, "within how many days are invoices paid")
    with in_workspace(tenant.workspace):
        error = PredictionError.objects.get(memory=drifted, error_type="memory_drift")
    html = shown(person, page)
    assert f'<a class="chip warn" href="/console/inbox/?item=drift:{error.pk}"' in html
    assert "Invoices are paid within 30 days" in shown(
        person, "/console/inbox/", item=f"drift:{error.pk}"
    )


def test_a_note_that_is_too_long_to_be_compared_as_a_whole_says_so(
    person: Client, tenant: Tenant
) -> None:
    text = "# Log\n\nPump 3 stops at 85 degrees.\n\n" + "- Valve 3 was read\n" * MAX_STATEMENTS
    page = f"{PAGE}{put(tenant, 'log.md', text)}/"
    said = "only its first 5,000 sentences, items and rows are"
    remember(tenant, "Pump 3 stops at 85 degrees ([[log]]).")
    check(tenant)
    assert (MAX_STATEMENTS, said in shown(person, page)) == (5000, True)
    put(tenant, "log.md", text[:200])
    check(tenant)
    assert said not in shown(person, page)


def test_of_many_memories_the_drifted_ones_are_shown_and_the_others_counted(
    tenant: Tenant, person: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.services.notes.links.BACKLINKS_SHOWN", 2)
    note = put(tenant, "work/billing.md", "# Billing\n\nInvoices are paid within 30 days.")
    drifted = remember(tenant, "Invoices are paid within 30 days, see [[billing]].")
    for word in ("buyer", "seller", "ship"):
        last = remember(tenant, f"The {word} has a name of its own [[billing]].")
    put(tenant, "work/billing.md", "# Billing\n\nInvoices are paid within 90 days.")
    check(tenant)
    for page in (f"{PAGE}{note}/", f"{ADMIN}{note}/change/"):
        html = shown(person, page)
        beside = html.split('aria-label="Memories beside this passage"')[1].split("</ul>")[0]
        assert re.findall(r"/console/memories/([-0-9a-f]+)/", beside) == [drifted, last]
        assert "2 more, neither drifted nor among the newest, link it" in html


def test_dead_links_are_counted_and_a_missing_heading_is_named(
    tenant: Tenant, person: Client
) -> None:
    put(tenant, "work/contracts.md", "# Contracts\n\n## Terms\n\nThirty days. ^due\n")
    sound = "See [[contracts#Terms]], [[contracts#^due]], [[sound]] and [[#Here]].\n\n## Here\n"
    page = shown(person, f"{PAGE}{put(tenant, 'sound.md', sound)}/")
    assert "No such heading" not in page
    assert "notice warn" not in page
    headless = "See [[contracts#Fees]] and [[contracts#^gone]], not [[contracts#Terms]].\n"
    note = put(tenant, "headless.md", headless)
    page = shown(person, f"{PAGE}{note}/")
    assert page.count("No such heading") == 2
    assert "#<bdi>Fees</bdi>" in page
    assert "2 links lead to a heading that the linked note does not have." in page
    assert shown(person, f"{ADMIN}{note}/change/").count("No such heading") == 2
    both = put(tenant, "both.md", "See [[contracts#Fees]] and [[nowhere]].\n")
    dead = "1 link leads to no note, 1 link leads to a heading that the linked note does not have."
    assert dead in shown(person, f"{PAGE}{both}/")
    memory = remember(tenant, "Fees are in [[contracts#Fees]], terms in [[contracts#Terms]].")
    page = shown(person, f"/console/memories/{memory}/")
    assert page.count("No such heading") == 1


def test_attachments_are_no_dead_links(tenant: Tenant, person: Client) -> None:
    note = put(tenant, "trip.md", "![[photo.png]] and ![[paper.pdf#page=3]], not [[nowhere]].")
    page = shown(person, f"{PAGE}{note}/")
    assert "1 link leads to no note" in page
    assert page.count('<span class="chip">A file that is no note</span>') == 2
    assert page.count("leads-nowhere") == 1
    assert shown(person, f"{ADMIN}{note}/change/").count("A file that is no note") >= 2
    sound = put(tenant, "sound.md", "![[photo.png]]")
    assert "notice warn" not in shown(person, f"{PAGE}{sound}/")
    memory = remember(tenant, "The trip is in ![[photo.png]].")
    page = shown(person, f"/console/memories/{memory}/")
    assert '<span class="chip">A file that is no note</span>' in page


def test_passages_and_memories_beside_them_show_no_signs_of_markdown(
    tenant: Tenant, person: Client
) -> None:
    said = "# Desk\n\n- **Lost** things wait ~~six~~ *two* weeks at the desk\n- see [[x|the list]]"
    note = put(tenant, "desk.md", said)
    remember(tenant, "**Lost** things wait two weeks at the desk ([[desk]]).")
    page = shown(person, f"{PAGE}{note}/")
    assert "• Lost things wait six two weeks at the desk" in page
    assert ">the list</span>" in page
    assert "Lost things wait two weeks at the desk (desk)." in page
    assert "**" not in page
    assert "• Lost things wait" in shown(person, q="things wait")


def test_texts_of_notes_are_escaped_everywhere(tenant: Tenant, person: Client) -> None:
    content = f"---\ntitle: {HOSTILE}\nkey: {HOSTILE}\n---\n# {HOSTILE}\n\n{HOSTILE} [[{HOSTILE}]]"
    note = put(tenant, "x<b>.md", content)
    memory = remember(tenant, f"{HOSTILE} stands in [[x<b>]].")
    for path in (PAGE, f"{PAGE}?q=alert", f"{PAGE}{note}/", ADMIN, f"{ADMIN}{note}/change/",
                 f"/console/memories/{memory}/"):  # fmt: skip
        page = shown(person, path)
        assert "alert(1)" in page or "x&lt;b&gt;" in page, path
        assert "<script>alert" not in page, path
        assert "x<b>" not in page, path


def test_a_long_note_is_shown_in_parts(
    tenant: Tenant, person: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\n".join(f"# Part {i}\n\nThe part {i}." for i in range(70))
    monkeypatch.setattr("memories.services.notes.put.EMBEDDED_AT_ONCE", 1)
    note = put(tenant, "long.md", text)
    page = shown(person, f"{PAGE}{note}/")
    assert "The part 59." in page
    assert "The part 60." not in page
    assert "69 of 70 passages wait" in page
    later = page[page.index('rel="next" href="') + 17 :].split('"')[0].replace("&amp;", "&")
    assert "The part 69." in shown(person, f"{PAGE}{note}/{later}")


def test_pages_of_notes_of_another_workspace_are_not_found(
    tenant: Tenant, neighbour: Tenant, person: Client
) -> None:
    note = put(neighbour, "theirs.md", "Their text.")
    assert person.get(f"{PAGE}{note}/").status_code == 404
    assert person.get(f"{ADMIN}{note}/change/").status_code in {302, 404}
    assert "theirs.md" not in shown(person, ADMIN)


def test_pages_take_the_same_number_of_queries_for_few_and_for_many(
    tenant: Tenant, person: Client
) -> None:
    def count(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            shown(person, path)
        return len(queries)

    note = put(tenant, "work/billing.md", BILLING)
    remember(tenant, "Fact 0 about failed payments stands in [[billing]].")
    of_note = (f"{PAGE}{note}/", f"{ADMIN}{note}/change/")
    paths = (PAGE, f"{PAGE}?q=payment", ADMIN, *of_note)
    before = {path: count(path) for path in paths}
    for number in range(1, 6):
        put(tenant, f"n{number}.md", f"# N\n\nA payment of [[billing]] {number} #t{number}")
        remember(tenant, f"Fact {number} about the harbour stands in [[billing#Retries]].")
    assert {path: count(path) for path in paths} == {
        path: queries + (path in of_note) for path, queries in before.items()
    }  # one more finds headings


def test_a_reviewer_deletes_notes_in_the_admin(tenant: Tenant, member: Any) -> None:
    note = put(tenant, "gone.md", "Gone.")
    put(tenant, "kept.md", "Kept.")
    act = {"action": "remove", "_selected_action": note, "select_across": "0"}
    assert member("reader").post(ADMIN, act).status_code == 403
    reviewer = member("reviewer")
    asked = reviewer.post(ADMIN, act)
    assert b"gone.md" in asked.content
    assert reviewer.post(ADMIN, act | {"confirmed": "yes"}).status_code == 302
    with in_workspace(tenant.workspace):
        assert list(Note.objects.values_list("path", flat=True)) == ["kept.md"]


@pytest.mark.parametrize("path", [PAGE, ADMIN])
def test_a_tag_finds_the_notes_below_it(tenant: Tenant, person: Client, path: str) -> None:
    put(tenant, "rye.md", "Rye loaf #kitchen/bread")
    put(tenant, "stove.md", "Stove #kitchenette")
    page = shown(person, path, tag="Kitchen")
    assert "rye.md" in page
    assert "stove.md" not in page
    assert "rye.md" not in shown(person, path, tag="bread")
