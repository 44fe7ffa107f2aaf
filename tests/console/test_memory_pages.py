"""The console's pages of memories: the list, one memory with its life, changes in place."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.console.memories import list_pages
from engram.console.memories.orders import ORDERS
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryTag, Revision
from memories.services.recall.log import count_recalls
from tests.conflicts.test_questions_api import dispute
from tests.conftest import Tenant
from tests.console.cards import disagree

Member = Callable[[str], Client]
LIST = "/console/memories/"
ACT = f"{LIST}act/"
LIFT = "The lift in building seven stops at odd floors only."
TEA = "The night shift drinks chamomile tea."
CRATES = "Marble from Carrara arrives in wooden crates."


def without(tag: str, html: str) -> str:
    """Return one side of a word difference as a text."""
    kept = re.sub(rf"<{tag}>.*?</{tag}>", "", html, flags=re.DOTALL)
    kept = re.sub(r"<span class=.visually-hidden.>[^<]*</span>", "", kept)
    return unescape(re.sub(r"<[^>]+>", "", kept))


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["memory"]["id"])


def shown(client: Client, path: str, status: int = 200, **query: Any) -> str:
    answer = client.get(path, query)
    assert answer.status_code == status
    text: str = answer.content.decode()
    return text


def stored(tenant: Tenant, memory: str) -> Memory:
    with in_workspace(tenant.workspace):
        return Memory.objects.get(pk=memory)


def changes_in(page: str) -> dict[int, dict[str, str]]:
    """Return the fields that each revision of a life changed, as the page words them."""
    life = page[page.index('class="life"') :]
    found = {}
    for entry in life.split("<li>"):
        if number := re.search(r">Revision (\d+)</p>", entry):
            rows = re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", entry, re.DOTALL)
            found[int(number[1])] = {title: " ".join(_plain(told).split()) for title, told in rows}
    return found


def _plain(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html.replace(", now</span>", "</span>")))


def revise(client: Client, memory: str, **fields: Any) -> Any:
    return client.post(f"{LIST}{memory}/change/", {"revision": 1, **fields})


def form_of(page: str) -> dict[str, str]:
    """Return what the edit form of a page sends as it is shown."""
    part = page[page.index('<details class="edit"') :]
    part = part[: part.index("</details>")]
    found = dict(re.findall(r'<input name="(\w+)"[^>]*? value="([^"]*)"', part))
    found |= dict(re.findall(r'type="\S+" name="(\w+)"[^>]*? value="([^"]*)"', part))
    found |= dict(re.findall(r'<textarea name="(\w+)"[^>]*>([^<]*)</textarea>', part))
    found["kind"] = str(re.findall(r'<option value="(\w+)" selected>', part)[0])
    return found


def test_an_empty_list_says_how_to_send_a_memory(member: Member) -> None:
    page = shown(member("reader"), LIST)
    assert "No memories yet" in page
    assert "POST /api/v1/memories" in page


def test_filters_of_the_address_narrow_the_list(tenant: Tenant, member: Member) -> None:
    commit(tenant, LIFT, scope="house/lifts", kind="constraint", tags=["building"], agent="ada")
    tea = commit(tenant, TEA, scope="office", project="night")
    commit(tenant, CRATES, scope="housekeeping", pinned=True)
    client = member("reader")
    cases: list[tuple[dict[str, str], set[str]]] = [
        ({}, {LIFT, TEA, CRATES}),
        ({"q": "stops lift"}, {LIFT}),
        ({"q": "stops tea"}, set()),
        ({"scope": "house"}, {LIFT}),
        ({"kind": "constraint"}, {LIFT}),
        ({"tag": "building"}, {LIFT}),
        ({"agent": "ada"}, {LIFT}),
        ({"project": "night"}, {TEA}),
        ({"pinned": "1"}, {CRATES}),
        ({"use": "never"}, {LIFT, TEA, CRATES}),
        ({"disputed": "1"}, set()),
        ({"state": "superseded"}, set()),
    ]
    for query, expected in cases:
        page = shown(client, LIST, **query)
        assert {text for text in (LIFT, TEA, CRATES) if text in page} == expected, query
        for value in query.values():
            assert value in page
    assert tenant.agent.post("memories/forget", {"ids": [tea], "confirm": True}).json()["forgotten"]
    assert TEA not in shown(client, LIST, state="all")
    assert TEA in shown(member("agent"), LIST, state="forgotten")


@pytest.mark.parametrize(
    "query",
    [{"kind": "nothing"}, {"state": "lost"}, {"use": "?"}, {"as_of": "soon"}, {"q": "a\0b"},
     {"scope": "s" * 301}, {"provenance": "x"}, {"columns": "none"}, {"as_of": "2199-01-01"},
     {"disputed": "maybe"}, {"pinned": "2"}],
)  # fmt: skip
def test_a_wrong_filter_is_named(tenant: Tenant, member: Member, query: dict[str, str]) -> None:
    commit(tenant, LIFT)
    page = shown(member("reader"), LIST, 422, **query)
    assert f'id="{next(iter(query))}-error"' in page
    assert LIFT not in page


def headings_of(page: str) -> list[str]:
    heads = re.findall(r'<th scope="col"(?: aria-sort="\w+")?>(.*?)</th>', page, re.DOTALL)
    return [re.sub(r"<[^>]*>", "", head).strip() for head in heads]


def listed_in(page: str) -> list[str]:
    """Return the ids of the memories of a list, in its order."""
    return re.findall(r'<td class="wide"><a dir="auto" href="/console/memories/([^/]+)/', page)


def test_columns_are_chosen_and_one_that_says_the_same_everywhere_stands_apart(
    tenant: Tenant, member: Member
) -> None:
    commit(tenant, LIFT, scope="house", agent="ada", tags=["building"])
    commit(tenant, TEA, scope="office", agent="ada")
    client = member("reader")

    def headings(**query: Any) -> list[str]:
        return headings_of(shown(client, LIST, **query))

    assert headings() == ["Scope", "Learned"]  # the others are alike
    alike = re.search(r'alike">(.*?)</p>', shown(client, LIST), re.DOTALL)
    assert alike is not None
    told = re.sub(r"<[^>]*>", "", alike[1])
    assert "kind Fact" in told
    assert "agent ada" in told
    assert headings(columns=["tags", "scope"]) == ["Scope", "Tags"]
    # One row has nothing to be compared with.
    assert headings(q="lift", columns=["agent"]) == ["Agent"]


def test_heads_sort_turn_round_and_give_up(tenant: Tenant, member: Member) -> None:
    days = {"b": "2026-01-02", "a": "2026-01-03", "c": "2026-01-01"}
    ids = {
        scope: commit(
            tenant, f"{LIFT} It is house {scope}.", scope=scope, observed_at=f"{day}T08:00:00Z"
        )
        for scope, day in days.items()
    }
    client = member("reader")

    def go(path: str) -> tuple[str, dict[str, tuple[str, str]]]:
        """Return the scopes of a list in its order, and what each head says and leads to."""
        page = shown(client, path)
        found = re.findall(
            r'<th scope="col"(?: aria-sort="(\w+)")?><a class="sorts" href="([^"]+)"[^>]*>(\w+)',
            page,
        )
        names = {pk: scope for scope, pk in ids.items()}
        order = "".join(names[pk] for pk in listed_in(page))
        return order, {title: (aria, unescape(link)) for aria, link, title in found}

    order, heads = go(f"{LIST}?q=lift&cursor=x")
    assert (order, heads.keys()) == ("cab", {"Scope", "Learned"})  # as they were stored
    for title, turns in (
        ("Scope", [("abc", "ascending"), ("cba", "descending"), ("cab", "")]),
        ("Learned", [("abc", "descending"), ("cba", "ascending"), ("cab", "")]),
    ):
        for expected, aria in turns:
            link = heads[title][1]
            assert "q=lift" in link
            assert "cursor" not in link
            order, heads = go(link)
            assert (order, heads[title][0]) == (expected, aria)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=ids["a"]).update(confidence=0.31)
    chosen = f"{LIST}?columns=confidence"
    assert go(go(chosen)[1]["Confidence"][1]) == (
        "cba", {"Confidence": ("descending", f"{chosen}&sort=confidence")},
    )  # fmt: skip
    assert go(f"{LIST}?sort=scope&q=nothing")[0] == ""
    assert 'id="sort-error"' in shown(client, LIST, 422, sort="tags")
    # The form of filters keeps the order, which is no filter of a change of all that match.
    page = shown(client, LIST, sort="-scope")
    assert '<option value="-scope" selected>' in page
    assert "Clear</a>" not in page
    # Other states and days in the past are newest first, and their heads say so.
    assert go(f"{LIST}?state=all&sort=scope") == ("cab", {})
    assert go(f"{LIST}?as_of=2026-01-04&sort=scope")[1] == {}


def test_pages_of_a_sorted_list_hold_every_memory_once(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(list_pages, "SIZE", 2)
    scopes = ["x, y", "x", "x", "", "z"]
    for number, scope in enumerate(scopes):
        commit(tenant, f"Crate {number} stands in hall {number}.", scope=scope)
    client = member("reader")
    with in_workspace(tenant.workspace):
        for number, memory in enumerate(Memory.objects.order_by("created_at")):
            memory.confidence, memory.importance = number // 2 / 3, 0.1 * number
            memory.recall_count = number // 3
            memory.expires_at = timezone.now() + timedelta(days=number) if number % 2 else None
            memory.save()
    for sort in [order.value for order in ORDERS[1:]]:
        seen, path = [], f"{LIST}?sort={sort}"
        while path:
            page = shown(client, path)
            seen.append(listed_in(page))
            if "scope" in sort:
                assert "Scope" in headings_of(page)  # also where all rows have the same
            following = re.search(r'rel="next" href="([^"]+)"', page)
            path = f"{LIST}{unescape(following[1])}" if following else ""
        assert [len(ids) for ids in seen] == [2, 2, 1]
        told = [pk for ids in seen for pk in ids]
        assert len(set(told)) == len(scopes)
        with in_workspace(tenant.workspace):
            found = {str(one.pk): one for one in Memory.objects.all()}
        values = [_sorted_by(found[pk], sort.removeprefix("-")) for pk in told]
        assert values == sorted(values, reverse=sort.startswith("-"))


def _sorted_by(memory: Memory, column: str) -> Any:
    """Return what a column of the list is sorted by."""
    return {
        "learned": memory.observed_at, "scope": memory.scope, "project": memory.project,
        "agent": memory.agent, "session": memory.session_key, "confidence": memory.confidence,
        "importance": memory.importance, "recalled": memory.recall_count,
        "weight": memory.weight_factor, "revision": memory.revision,
        "expires": memory.expires_at or datetime.max.replace(tzinfo=UTC),
    }[column]  # fmt: skip


@pytest.mark.parametrize("position", ["nan", "inf", "1e99", "much", ""])
def test_an_address_with_a_wrong_number_begins_anew(
    tenant: Tenant, member: Member, position: str
) -> None:
    commit(tenant, LIFT)
    cursor = b64encode(f"p={position},{uuid4()}".encode()).decode()
    client = member("reader")
    for sort in ("confidence", "-recalled"):
        assert len(listed_in(shown(client, LIST, sort=sort, cursor=cursor))) == 1


def test_a_sorted_list_asks_as_often_as_another(tenant: Tenant, member: Member) -> None:
    commit(tenant, LIFT, scope="a")
    client = member("reader")
    shown(client, LIST)
    counts = set()
    for sort in ("", "scope", "-learned", "-confidence", "recalled", "expires"):
        with CaptureQueriesContext(connection) as captured:
            shown(client, LIST, sort=sort)
        counts.add(len(captured))
        commit(tenant, f"{TEA} It is number {len(counts)} of {sort or 'none'}.", scope=f"b{sort}")
    assert len(counts) == 1


def test_disputed_memories_are_marked_in_the_list_and_on_their_page(
    tenant: Tenant, member: Member
) -> None:
    dispute(tenant)
    commit(tenant, TEA)
    [card] = tenant.reader.get("conflicts").json()["results"]
    client = member("reader")
    page = shown(client, LIST, disputed="1")
    assert TEA not in page
    assert page.count(f'href="/console/conflicts/{card["id"]}/"') == 2
    members = set(re.findall(rf'href="({LIST}[0-9a-f-]{{36}}/)"', page))
    assert len(members) == 2
    for address in members:
        own = shown(client, address)
        assert f'<a class="chip warn" href="/console/conflicts/{card["id"]}/">' in own


def test_a_long_list_and_a_long_life_cost_the_queries_of_short_ones(
    tenant: Tenant, member: Member
) -> None:
    client = member("reviewer")
    memory = commit(tenant, LIFT, tags=["building"])

    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as caught:
            shown(client, path)
        return len(caught)

    body = {"importance": 0.9, "tags": ["lift"]}
    assert tenant.reviewer.patch(f"memories/{memory}", body).status_code == 200
    for path in (LIST, f"{LIST}{memory}/"):
        shown(client, path)
    before = [queries(LIST), queries(f"{LIST}{memory}/")]
    rooms = [{"content": f"Room {n} is painted green.", "tags": [f"r{n}"]} for n in range(40)]
    assert tenant.agent.post("memories/batch", {"memories": rooms}).status_code == 201
    for number in range(12):
        body = {"importance": number / 100, "tags": [f"floor {number}"]}
        assert tenant.reviewer.patch(f"memories/{memory}", body).status_code == 200
    assert [queries(LIST), queries(f"{LIST}{memory}/")] == before


def test_readers_see_no_control_that_writes(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, LIFT)
    for role in ("reader", "agent"):
        client = member(role)
        for page in (shown(client, LIST), shown(client, f"{LIST}{memory}/")):
            for word in ("Forget…", "Pin…", "Add tag…", ">Save<", "This is wrong", 'name="ids"'):
                assert word not in page, (role, word)
        for path, body in (
            (ACT, {"do": "forget", "ids": memory, "confirmed": "yes"}),
            (f"{LIST}{memory}/change/", {"revision": "1", "content": TEA}),
            (f"{LIST}{memory}/undo/", {"revision": "1"}),
        ):
            assert client.post(path, body).status_code == 403, (role, path)
    assert stored(tenant, memory).forgotten_at is None
    page = shown(member("reviewer"), f"{LIST}{memory}/")
    assert all(word in page for word in ("Forget…", ">Pin<", ">Save<", "This is wrong"))


def test_an_edit_is_a_revision_and_is_taken_back_by_another(tenant: Tenant, member: Member) -> None:
    memory = commit(
        tenant, LIFT, scope="house", tags=["building", "old"],
        answers=[{"question": "Where does the lift stop?", "answer": "at odd floors"}],
    )  # fmt: skip
    client = member("reviewer")
    before = stored(tenant, memory)
    answers = tenant.reader.get(f"memories/{memory}").json()["answers"]
    sent = form_of(shown(client, f"{LIST}{memory}/"))
    assert sent["content"] == LIFT
    assert sent["tags"] == "building\nold"
    answer = revise(
        client, memory,
        **sent | {"content": TEA, "scope": "office", "kind": "decision", "tags": "new\r\n\r\nnight",
                  "confidence": "25", "expires_at": "2199-05-31T10:00"},
    )  # fmt: skip
    assert answer.status_code == 302
    row = stored(tenant, memory)
    assert (row.content, row.scope, row.kind, row.confidence, row.revision) == (
        TEA, "office", "decision", 0.25, 2,
    )  # fmt: skip
    assert row.expires_at is not None
    assert row.expires_at.isoformat() == "2199-05-31T10:00:00+00:00"
    with in_workspace(tenant.workspace):
        assert sorted(MemoryTag.objects.values_list("tag", flat=True)) == ["new", "night"]
    page = shown(client, answer["Location"])
    assert "Saved as revision 2." in page
    assert "From the wording before to the one after, word by word" in page
    assert changes_in(page) == {
        2: {
            "Scope": "house → office",
            "Kind": "Fact → Decision",
            "Confidence": "70 % → 25 %",
            "Tags": "building, old → new, night",
            "Expiry": "never → 31 May 2199, 10:00",
        }
    }
    life = page[page.index('class="life"') :]
    told = re.search(r'word by word</h3><p dir="auto">(.*?)</p>', life, re.DOTALL)
    assert told is not None
    assert [without(tag, told[1]) for tag in ("ins", "del")] == [LIFT, TEA]
    assert client.post(f"{LIST}{memory}/undo/", {"revision": "2"}).status_code == 302
    row = stored(tenant, memory)
    for name in ("content", "scope", "kind", "confidence", "importance", "expires_at", "is_pinned"):
        assert getattr(row, name) == getattr(before, name), name
    assert row.revision == 3
    with in_workspace(tenant.workspace):
        assert sorted(MemoryTag.objects.values_list("tag", flat=True)) == ["building", "old"]
        assert Revision.objects.count() == 2
    assert [(one["question"], one["answer"]) for one in answers] == [
        (one["question"], one["answer"])
        for one in tenant.reader.get(f"memories/{memory}").json()["answers"]
    ]
    found = tenant.reader.post("memories/recall", {"query": "where does the lift stop"}).json()
    assert found["results"][0]["memory"]["content"] == LIFT


def test_what_was_saved_is_told_until_the_next_change(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, TEA)
    client = member("reviewer")
    led = revise(client, memory, content=f"{TEA} Always.")["Location"]
    for told, kept in (("Saved as revision 2.", "Undo the last change"),) * 2:
        page = shown(client, led)  # also when it is opened again
        assert (told in page, kept in page) == (True, False)
    tenant.admin.patch(f"memories/{memory}", {"importance": 0.9})
    page = shown(client, led)
    assert "Saved as revision" not in page
    assert "Undo the last change" in page
    pinned = revise(client, memory, revision=3, pinned="yes")["Location"]
    assert "Pinned." in shown(client, pinned)
    tenant.admin.patch(f"memories/{memory}", {"pinned": False})
    assert "Pinned." not in shown(client, pinned)


def test_a_rewording_tells_which_questions_it_no_longer_answers(
    tenant: Tenant, member: Member
) -> None:
    """An answer whose words the new wording has stays, and is not named."""
    lost, kept = "Until when does the ferry run?", "From which pier does it leave?"
    answers = [{"question": lost, "answer": "22:40"}, {"question": kept, "answer": "pier four"}]
    memory = commit(tenant, "The ferry leaves pier four until 22:40.", answers=answers)
    client = member("reviewer")
    form = shown(client, f"{LIST}{memory}/").split('<details class="edit"')[1].split("</form>")[0]
    assert lost in form
    assert "keeps an answer only if" in form
    revise(client, memory, tags="harbour")
    assert "No longer answers" not in shown(client, f"{LIST}{memory}/")
    revise(client, memory, revision=2, content="The ferry leaves pier four until 23:10.")
    page = shown(client, f"{LIST}{memory}/", done="revised")
    told = re.findall(r"No longer answers: ([^<]*)<", page)
    assert told == [lost]
    assert [a["question"] for a in tenant.agent.get(f"memories/{memory}").json()["answers"]] == [
        kept
    ]


def test_a_form_that_changes_nothing_writes_nothing(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, "Two\nlines.", tags=["b", "a"], expires_at="2199-05-31T10:00:30Z")
    client = member("reviewer")
    sent = form_of(shown(client, f"{LIST}{memory}/"))
    sent["content"] = sent["content"].replace("\n", "\r\n")  # as browsers do
    answer = client.post(f"{LIST}{memory}/change/", {"revision": "1", **sent}, follow=True)
    assert "Nothing was changed." in answer.content.decode()
    assert stored(tenant, memory).revision == 1


@pytest.mark.parametrize(("stored_as", "field"), [(0.29, "29"), (0.1234, "12.34"), (1, "100")])
def test_shares_are_edited_in_percent_and_keep_their_digits(
    tenant: Tenant, member: Member, stored_as: float, field: str
) -> None:
    memory = commit(tenant, LIFT, confidence=stored_as, importance=stored_as)
    client = member("reviewer")
    sent = form_of(shown(client, f"{LIST}{memory}/"))
    assert (sent["confidence"], sent["importance"]) == (field, field)
    revise(client, memory, **sent)
    assert stored(tenant, memory).revision == 1
    revise(client, memory, **sent | {"confidence": "40 %"})
    row = stored(tenant, memory)
    assert (row.confidence, row.importance, row.revision) == (0.4, stored_as, 2)
    listed = shown(client, LIST, columns=["confidence"])
    assert "40\u00a0%" in listed


def test_pinning_takes_one_button(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, LIFT)
    client = member("reviewer")
    assert revise(client, memory, pinned="yes").status_code == 302
    assert stored(tenant, memory).is_pinned
    pinned = shown(client, f"{LIST}{memory}/")
    assert ">Unpin<" in pinned
    assert changes_in(pinned) == {2: {"Pin": "no → yes"}}
    client.post(f"{LIST}{memory}/undo/", {"revision": "2"})
    assert not stored(tenant, memory).is_pinned


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"content": " "}, "content"),
        ({"kind": "?"}, "kind"),
        ({"scope": "a\nb"}, "scope"),
        ({"expires_at": "2001-01-01T10:00"}, "expires_at"),
        ({"expires_at": "soon"}, "expires_at"),
        ({"confidence": "101"}, "confidence"),
        ({"importance": "-1"}, "importance"),
        ({"confidence": "much"}, "confidence"),
        ({"confidence": "nan"}, "confidence"),
        ({"importance": ""}, "importance"),
        ({"tags": "x" * 101}, "tags"),
        ({"tags": "\n".join(map(str, range(51)))}, "tags"),
    ],
)
def test_a_wrong_value_is_refused_beside_its_field_and_kept(
    tenant: Tenant, member: Member, sent: dict[str, str], field: str
) -> None:
    memory = commit(tenant, LIFT)
    answer = revise(member("reviewer"), memory, **{"content": TEA, "project": "kept", **sent})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert page.count('class="wrong"') == 1
    assert 'value="kept"' in page
    if field != "content":
        assert f">{TEA}</textarea>" in page
    assert stored(tenant, memory).revision == 1


def test_an_edit_of_what_was_changed_meanwhile_is_refused_with_what_was_typed(
    tenant: Tenant, member: Member
) -> None:
    memory = commit(tenant, LIFT)
    assert tenant.reviewer.patch(f"memories/{memory}", {"scope": "house"}).status_code == 200
    answer = revise(member("reviewer"), memory, content=TEA)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert f">{TEA}</textarea>" in page
    assert 'name="revision" value="2"' in page
    assert stored(tenant, memory).content == LIFT


@pytest.mark.parametrize("revision", ["", "0", "1", "3", "x", "9" * 30])
def test_only_the_last_change_is_taken_back(tenant: Tenant, member: Member, revision: str) -> None:
    memory = commit(tenant, LIFT)
    client = member("reviewer")
    assert revise(client, memory, scope="house").status_code == 302
    assert client.post(f"{LIST}{memory}/undo/", {"revision": revision}).status_code == 409
    assert stored(tenant, memory).scope == "house"


def test_what_was_forgotten_is_not_the_new_wording(tenant: Tenant, member: Member) -> None:
    gone, memory = commit(tenant, TEA), commit(tenant, LIFT)
    tenant.agent.post("memories/forget", {"ids": [gone], "confirm": True})
    answer = revise(member("reviewer"), memory, content=TEA)
    assert answer.status_code == 422
    assert "Exactly this was forgotten before" in answer.content.decode()
    assert stored(tenant, memory).content == LIFT


def test_forgetting_asks_first_and_is_undone_by_one_button(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, LIFT)
    client = member("reviewer")
    back = f"{LIST}{memory}/"
    asked = client.post(ACT, {"do": "forget", "ids": memory, "back": back}).content.decode()
    assert "Forget 1 memory?" in asked
    assert stored(tenant, memory).forgotten_at is None
    body = {"do": "forget", "ids": memory, "confirmed": "yes", "back": back}
    answer = client.post(ACT, body)
    assert stored(tenant, memory).forgotten_at is not None
    page = shown(client, answer["Location"])
    assert "1 memory forgotten." in page
    assert "Bring back" in page
    undo = dict(re.findall(r'name="(do|ids|back|confirmed)" value="([^"]*)"', page))
    assert undo["do"] == "restore"
    client.post(ACT, undo)
    assert stored(tenant, memory).forgotten_at is None


def test_many_memories_are_changed_and_changed_back_with_their_counts(
    tenant: Tenant, member: Member
) -> None:
    ids = [commit(tenant, text) for text in (LIFT, TEA)] + [commit(tenant, CRATES, tags=["known"])]
    client = member("reviewer")
    asked = client.post(ACT, {"do": "tag", "tag": "known", "ids": ids}).content.decode()
    assert "Add the tag “known” to 2 memories?" in asked
    assert "1 ticked memory stays as it is" in asked
    body = {"do": "tag", "tag": "known", "ids": ids, "confirmed": "yes", "back": f"{LIST}?q=the"}
    address = client.post(ACT, body)["Location"]
    query = parse_qs(urlsplit(address).query)
    assert set(query["ids"][0].split(".")) == set(ids[:2])
    assert query["q"] == ["the"]

    def tagged() -> set[str]:
        with in_workspace(tenant.workspace):
            rows = MemoryTag.objects.filter(tag="known").values_list("memory", flat=True)
            return set(map(str, rows))

    assert tagged() == set(ids)
    page = shown(client, address)
    assert "2 memories tagged: known." in page
    client.post(ACT, {"do": "untag", "tag": "known", "ids": ids[:2], "confirmed": "yes"})
    assert tagged() == {ids[2]}
    client.post(ACT, {"do": "pin", "ids": ids, "confirmed": "yes"})
    assert all(stored(tenant, one).is_pinned for one in ids)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"do": "forget"}, "Tick the memories first."),
        ({"do": "erase", "ids": "x"}, "Choose what to do."),
        ({"do": "forget", "ids": "x"}, "Tick the memories first."),
        ({"do": "tag", "tag": " "}, "Write a tag of up to 100 characters."),
        ({"do": "tag", "tag": "x" * 101}, "Write a tag of up to 100 characters."),
    ],
)
def test_an_action_that_says_nothing_is_refused(
    tenant: Tenant, member: Member, body: dict[str, str], says: str
) -> None:
    memory = commit(tenant, LIFT)
    sent = {"ids": memory, **body} if body["do"] == "tag" else body
    answer = member("reviewer").post(ACT, {"confirmed": "yes", **sent}, follow=True)
    assert says in answer.content.decode()
    assert stored(tenant, memory).revision == 1


def test_one_refusal_leaves_the_others_changed(tenant: Tenant, member: Member) -> None:
    old, other = commit(tenant, LIFT), commit(tenant, TEA)
    commit(tenant, CRATES, supersedes=old)
    answer = member("reviewer").post(
        ACT, {"do": "pin", "ids": [old, other], "confirmed": "yes"}, follow=True
    )
    page = answer.content.decode()
    assert "This memory is superseded and is not changed any more." in page
    assert "1 memory pinned." in page
    assert (stored(tenant, old).is_pinned, stored(tenant, other).is_pinned) == (False, True)


def test_a_life_tells_observations_revisions_chain_sessions_and_signals(
    tenant: Tenant, member: Member
) -> None:
    first = commit(tenant, LIFT)
    memory = commit(tenant, CRATES, supersedes=first)
    assert tenant.reviewer.patch(f"memories/{memory}", {"scope": "stone"}).status_code == 200
    body = {"session_key": "carving", "project": "", "context": "Where do the marble crates go?"}
    assert tenant.agent.post("sessions", body).status_code == 201
    misled = {"memory_id": memory, "value": -1}
    assert tenant.agent.post("sessions/carving/feedback", misled).status_code in {200, 202, 204}
    client = member("reader")
    page = shown(client, f"{LIST}{memory}/")
    assert "the agent said that it misled (−1)" in page
    life = page[page.index('class="life"') :]
    life = life[: life.index("</ol>")]
    told = [
        "Given to a session",
        "Memory revised",
        "Took the place of another memory",
        "New memory",
    ]
    places = [life.index(words) for words in told]
    assert places == sorted(places)  # newest first
    assert "carving" in life
    assert f'href="{LIST}{first}/"' in life
    why = page[page.index("Why it was recalled") : page.index("Its life")]
    assert "carving" in why
    assert "Meaning" in why
    before = shown(client, f"{LIST}{first}/")
    assert "Memory superseded" in before
    assert f'href="{LIST}{memory}/"' in before


def test_a_life_tells_that_a_conflict_was_dismissed_and_reopened(
    tenant: Tenant, member: Member
) -> None:
    """Other verdicts are events of the memory; a snooze leaves the question as it is."""
    old, _, card = disagree(tenant.workspace)
    client, path = member("reviewer"), f"/console/conflicts/{card.pk}/"

    def told() -> list[str]:
        page = shown(client, f"{LIST}{old.pk}/")
        life = page[page.index('class="life"') :]
        entries = life[: life.index("</ol>")].split("<li>")[1:]
        of_card = [one for one in entries if f'href="{path}"' in one]
        return [" ".join(_plain(re.findall(r"<p>(.*?)</p>", one)[0]).split()) for one in of_card]

    opened = ["Memory disputed by engram see the conflict"]
    assert told() == opened
    later = (timezone.now() + timedelta(days=1)).isoformat()
    answer = tenant.reviewer.post(f"conflicts/{card.pk}/snooze", {"until": later})
    assert answer.status_code == 200
    client.post(f"{path}undo/")
    assert told() == opened
    answer = tenant.reviewer.post(f"conflicts/{card.pk}/resolve", {"verdict": "dismiss"})
    assert answer.status_code == 200
    dismissed = ["Conflict dismissed by acme reviewer see the conflict", *opened]
    assert told() == dismissed
    client.post(f"{path}undo/")
    reopened = ["Conflict reopened by reviewer-person see the conflict", *dismissed]
    assert told() == reopened
    tenant.admin.post("memories/forget", {"ids": [str(old.pk)], "confirm": True})
    tenant.admin.post("memories/restore", {"ids": [str(old.pk)]})
    assert told()[:2] == [
        "Conflict reopened by engram see the conflict",
        "Conflict closed: its memories went away by engram see the conflict",
    ]
    assert shown(client, f"{LIST}{old.pk}/", as_of="2026-01-05").count("Conflict dismissed") == 0


def test_a_long_life_is_paged_without_gap_or_repetition(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, LIFT)
    for number in range(50):
        body = {"importance": number / 100}
        assert tenant.reviewer.patch(f"memories/{memory}", body).status_code == 200
    with in_workspace(tenant.workspace):  # all at one moment: the numbers alone tell them apart
        Event.objects.filter(object_id=memory).update(at=timezone.now())
    client, query, found = member("reader"), "", []
    for _ in range(4):
        page = shown(client, f"{LIST}{memory}/{query}")
        found += [int(number) for number in re.findall(r">Revision (\d+)</p>", page)]
        more = re.search(r'rel="next" href="(\?before=[^"#]*)#life"', page)
        if more is None:
            break
        query = more[1]
    assert found == list(range(51, 1, -1))


def test_revisions_tell_the_values_before_and_after(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, CRATES, tags=["stone"], source="a letter")
    bodies: list[dict[str, Any]] = [
        {"tags": ["stone", "wood"]},
        {"importance": 0.75, "confidence": 0.7},  # the confidence is what it was
        {"tags": []},
        {"source": "a call", "project": "quarry"},
        {"answers": [{"question": "How does marble arrive?", "answer": "in wooden crates"}]},
    ]
    for body in bodies:
        answer = tenant.reviewer.patch(f"memories/{memory}", body)
        assert answer.status_code == 200, answer.content
    found = changes_in(shown(member("reader"), f"{LIST}{memory}/"))
    assert found == {
        2: {"Tags": "stone → stone, wood"},
        3: {"Importance": "50 % → 75 %"},
        4: {"Tags": "stone, wood → –"},
        5: {"Source": "changed; its values are not kept", "Project": "– → quarry"},
        6: {"Answers": "– → How does marble arrive? in wooden crates"},
    }


def test_tags_that_a_later_change_of_another_kind_may_have_replaced_are_not_guessed(
    tenant: Tenant, member: Member
) -> None:
    memory = commit(tenant, CRATES, tags=["stone"])
    for body in ({"tags": ["wood"]}, {"importance": 0.75}):
        assert tenant.reviewer.patch(f"memories/{memory}", body).status_code == 200
    with in_workspace(tenant.workspace):
        Revision.objects.filter(memory=memory, number=2).update(reason="rollback")
    found = changes_in(shown(member("reader"), f"{LIST}{memory}/"))
    assert found[2] == {"Tags": "stone → (not kept)"}


def test_ids_are_folded_below_the_facts(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, CRATES)
    page = shown(member("reader"), f"{LIST}{memory}/")
    facts = page[page.index('id="facts-title"') :]
    facts = facts[: facts.index("</section>")]
    open_part, folded = facts.split("<details", 1)
    assert memory not in open_part
    assert f"<code>{memory}</code>" in folded


@pytest.mark.parametrize("before", ["x", "~~", "2026-01-01~event~x", "2026-01-01~nothing~1", "\0"])
def test_a_wrong_place_in_a_life_gives_the_newest(
    tenant: Tenant, member: Member, before: str
) -> None:
    memory = commit(tenant, LIFT)
    assert "New memory" in shown(member("reader"), f"{LIST}{memory}/", before=before)


def test_a_memory_is_shown_as_it_was_on_a_day(tenant: Tenant, member: Member) -> None:
    ago = (timezone.now() - timedelta(days=9)).isoformat()
    memory = commit(tenant, LIFT, observed_at=ago, scope="house")
    client = member("reviewer")
    assert revise(client, memory, content=TEA, scope="office").status_code == 302
    day = (timezone.localdate() - timedelta(days=5)).isoformat()
    early = (timezone.localdate() - timedelta(days=20)).isoformat()
    page = shown(client, f"{LIST}{memory}/", as_of=day)
    statement = page[page.index('id="statement"') :][:200]
    assert LIFT in statement
    assert "house" in page
    assert "Forget…" not in page
    assert "nobody could recall this memory" in shown(client, f"{LIST}{memory}/", as_of=early)
    listed = shown(client, LIST, as_of=day)
    assert LIFT in listed
    assert TEA not in listed
    assert LIFT not in shown(client, LIST, as_of=early)
    wrong = shown(client, f"{LIST}{memory}/", as_of="soon")
    assert 'id="as_of-error"' in wrong


def test_a_day_of_the_past_shows_nothing_that_came_later(tenant: Tenant, member: Member) -> None:
    """A pin, a recall, a session and a revision of today are not of five days ago."""
    ago = (timezone.now() - timedelta(days=9)).isoformat()
    memory = commit(tenant, CRATES, observed_at=ago, tags=["stone"])
    client = member("reviewer")
    assert revise(client, memory, pinned="yes").status_code == 302
    tenant.agent.post("memories/recall", {"query": "Carrara marble crates"})
    tenant.agent.post("sessions", {"session_key": "quarry", "context": "Marble crates"})
    assert count_recalls(tenant.workspace)
    now = shown(client, f"{LIST}{memory}/")
    day = (timezone.localdate() - timedelta(days=5)).isoformat()
    then = shown(client, f"{LIST}{memory}/", as_of=day)
    for told in (
        ">pinned<",
        "Carrara marble crates",
        "quarry",
        "<dt>Recalled</dt>",
        "Memory revised",
    ):
        assert (told in now, told in then) == (True, False), told
    meta = re.sub(r"<[^>]+>", " ", then[then.index('class="meta"') :].split("</div>")[0])
    assert meta.split()[1:4] == ["today:", "Active", "#stone"]


def test_what_agents_said_was_of_use_is_counted_as_the_life_tells_it(
    tenant: Tenant, member: Member
) -> None:
    """By feedback or by a report at the end; a rating of nought or less is no use."""
    memory = commit(tenant, CRATES)
    for key, value in (("quarry", 1), ("yard", 0.5), ("ship", 0), ("port", -1)):
        started = {"session_key": key, "context": "Marble from Carrara in crates"}
        assert tenant.agent.post("sessions", started).status_code in {200, 201}
        said = {"memory_id": memory, "value": value}
        assert tenant.agent.post(f"sessions/{key}/feedback", said).status_code < 300
    for key, value in (("quay", 0.7), ("crane", 0), ("yard", 0.9)):  # "yard" is counted already
        started = {"session_key": key, "context": "Marble from Carrara in crates"}
        assert tenant.agent.post("sessions", started).status_code in {200, 201}
        ended = tenant.agent.post(f"sessions/{key}/end", {"used": {memory: value}})
        assert ended.status_code == 202
    client = member("reader")
    page = " ".join(re.sub(r"<[^>]+>", " ", shown(client, f"{LIST}{memory}/")).split())
    assert page.count("the agent said that it was of use (") == 2
    assert "Said to be of use by 3 sessions" in page
    assert "Said to have misled 1 session" in page
    assert "3×" in shown(client, LIST, columns="used")


def test_texts_are_data_on_every_page(tenant: Tenant, member: Member) -> None:
    bad = "<script>alert('x')</script>"
    memory = commit(
        tenant, f"Says {bad}.", scope=bad.replace("/", ""), tags=[bad], agent=bad, project=bad
    )
    client = member("reviewer")
    pages = [
        shown(client, LIST, columns=["tags", "scope", "agent", "project"]),
        shown(client, f"{LIST}{memory}/"),
        client.post(ACT, {"do": "tag", "tag": bad, "ids": memory}).content.decode(),
        shown(client, LIST, done="tag", ids=memory, tag_done=bad),
        revise(client, memory, content=f"{bad} again", confidence="x").content.decode(),
    ]
    for page in pages:
        assert "<script>alert" not in page


def test_no_neighbour_sees_or_changes_a_memory(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    memory = commit(neighbour, LIFT)
    client = member("admin")
    assert LIFT not in shown(client, LIST, state="all")
    assert client.get(f"{LIST}{memory}/").status_code == 404
    assert revise(client, memory, content=TEA).status_code == 404
    assert client.post(f"{LIST}{memory}/undo/", {"revision": "1"}).status_code == 404
    client.post(ACT, {"do": "forget", "ids": memory, "confirmed": "yes"})
    row = stored(neighbour, memory)
    assert (row.content, row.revision, row.forgotten_at) == (LIFT, 1, None)


def test_the_admin_leads_to_the_page(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, LIFT)
    answer = member("reader").get(f"/admin/memories/memory/{memory}/change/")
    assert answer.status_code == 302
    assert answer["Location"] == f"{LIST}{memory}/"


def test_a_contradiction_is_reported_from_the_list(tenant: Tenant, member: Member) -> None:
    ids = [commit(tenant, LIFT), commit(tenant, TEA)]
    client, path = member("reviewer"), f"{LIST}report/"
    few = client.post(path, {"what": "contradiction", "ids": ids[:1]}, follow=True)
    assert "Tick the memories that contradict each other" in few.content.decode()
    asked = client.post(path, {"what": "contradiction", "ids": ids}).content.decode()
    assert "Do these memories contradict each other?" in asked
    assert tenant.reader.get("conflicts").json()["results"] == []
    body = {"what": "contradiction", "ids": ids, "confirmed": "yes", "note": "Both cannot be."}
    told = client.post(path, body, follow=True).content.decode()
    [card] = tenant.reader.get("conflicts").json()["results"]
    assert f'href="/console/conflicts/{card["id"]}/"' in told
    assert member("reader").post(path, body).status_code == 403


def test_a_wrong_memory_is_answered_with_what_is_right(tenant: Tenant, member: Member) -> None:
    wrong = commit(tenant, LIFT)
    client, path = member("reviewer"), f"{LIST}report/"
    body = {"what": "wrong", "ids": wrong, "back": f"{LIST}{wrong}/", "confirmed": "yes"}
    assert "What is right instead?" in client.post(path, {**body, "note": " "}).content.decode()
    right = "The lift in building seven stops at even floors only."
    answer = client.post(path, {**body, "note": right}, follow=True)
    assert "See the card" in answer.content.decode()
    assert answer.redirect_chain[-1][0] == f"{LIST}{wrong}/"
    assert right in shown(client, LIST)
    for sent in ({"what": "?"}, {"ids": "x"}):
        told = client.post(path, {**body, **sent}, follow=True).content.decode()
        assert "Choose what to do." in told or "Tick the one memory" in told


def ticked(html: str) -> list[str]:
    """Return the memories whose ticks are set, sorted."""
    boxes = re.findall(r'data-tick value="([^"]+)" checked', html)
    return sorted(boxes)


def test_what_was_ticked_stays_ticked_when_nothing_is_done(tenant: Tenant, member: Member) -> None:
    ids = [commit(tenant, one) for one in (LIFT, TEA, CRATES)]
    client, back = member("reviewer"), f"{LIST}?q=the"
    assert ticked(shown(client, LIST)) == []
    untagged = client.post(ACT, {"do": "tag", "tag": "", "ids": ids[:2], "back": LIST}, follow=True)
    html = untagged.content.decode()
    assert ticked(html) == sorted(ids[:2])
    assert f'name="back" value="{LIST}"' in html
    one = {"what": "contradiction", "ids": ids[2:], "back": LIST}
    few = client.post(f"{LIST}report/", one, follow=True).content.decode()
    assert ticked(few) == ids[2:]
    sent = client.post(ACT, {"do": "tag", "ids": ids[:1], "back": back})["Location"]
    assert sent == f"{back}&ticked={ids[0]}"
    assert ticked(shown(client, f"{LIST}?ticked=x.%00.{'9' * 99}")) == []


@pytest.mark.parametrize("action", ["forget", "restore", "unpin", "tag"])
def test_one_memory_is_spoken_of_in_the_singular(
    tenant: Tenant, member: Member, action: str
) -> None:
    ids = [commit(tenant, one) for one in (LIFT, TEA)]
    client = member("reviewer")
    if action != "forget":
        client.post(ACT, {"do": "pin", "ids": ids, "confirmed": "yes"})
    if action == "restore":
        client.post(ACT, {"do": "forget", "ids": ids, "confirmed": "yes"})
    asked = [
        client.post(ACT, {"do": action, "tag": "a", "ids": some}).content.decode()
        for some in (ids[:1], ids)
    ]
    told = [re.findall(r"</h1>\s*<p>(.*?)</p>", html)[0] for html in asked]
    assert [bool(re.search("(?i)\\b(them|they|each)\\b", one)) for one in told] == [False, True]
    assert "|" not in "".join(told)


def test_pinning_is_told_as_pinning(tenant: Tenant, member: Member) -> None:
    memory = commit(tenant, LIFT)
    client = member("reviewer")
    change = f"{LIST}{memory}/change/"
    for revision, answer, said in ((1, "yes", "Pinned."), (2, "no", "Unpinned.")):
        sent = {"revision": str(revision), "pinned": answer}
        html = client.post(change, sent, follow=True).content.decode()
        assert f">{said}<" in html
        assert "Saved as" not in html
    client.post(f"{LIST}{memory}/undo/", {"revision": "3"})
    assert stored(tenant, memory).is_pinned
