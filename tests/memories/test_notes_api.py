"""The API of notes: create, replace, show, list, delete; what is embedded when; bad input."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Note, NoteChunk, NoteLink, NoteName, NoteTag
from memories.services.index import note_chunks
from memories.services.index.reembed import switch
from memories.tasks import embed_notes, embed_pending
from tests.conftest import Caller, Tenant
from tests.memories.other_model import OTHER
from tests.memories.test_erase import tables_holding
from tests.model_server import ModelServer

BILLING = """---
aliases: [Invoices]
tags: [money]
---
# Billing

Invoices are sent on the first of the month.

## Retries

A failed payment is tried again after three days.
"""
DEAD = {"provider": "openai", "model": "far", "base_url": "http://127.0.0.1:9/v1", "api_key": "x"}


def put(caller: Caller, path: str, content: str, **fields: Any) -> Any:
    return caller._send("put", f"notes/{quote(path)}", {"content": content, **fields}, {})


def stored(caller: Caller, path: str, content: str, **fields: Any) -> dict[str, Any]:
    answer = put(caller, path, content, **fields)
    assert answer.status_code in {200, 201}, answer.content
    body: dict[str, Any] = answer.json()
    return body


def show(caller: Caller, path: str) -> dict[str, Any]:
    answer = caller.get(f"notes/{quote(path)}")
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def vectors_of(tenant: Tenant, path: str) -> dict[str, tuple[int, bool]]:
    """Return the passages of a note: text → id of the row, whether it has a vector."""
    with in_workspace(tenant.workspace):
        rows = NoteChunk.objects.filter(note__path=path)
        return {row.text: (row.pk, row.embedding is not None) for row in rows}


def test_a_note_is_created_shown_and_deleted(tenant: Tenant) -> None:
    made = put(tenant.agent, "work/billing.md", BILLING, agent="forge")
    assert made.status_code == 201
    body = made.json()
    assert (body["outcome"], body["version"], body["chunks"], body["pending"]) == (
        "created", 1, 2, 0,
    )  # fmt: skip
    note = show(tenant.reader, "work/billing.md")
    assert (note["title"], note["aliases"], note["tags"]) == ("Billing", ["Invoices"], ["money"])
    assert (note["content"], note["agent"]) == (BILLING, "forge")
    assert note["properties"] == {"aliases": ["Invoices"], "tags": ["money"]}
    assert tenant.agent.delete("notes/work/billing.md").status_code == 204
    assert tenant.reader.get("notes/work/billing.md").status_code == 404
    assert tenant.agent.delete("notes/work/billing.md").status_code == 404
    with in_workspace(tenant.workspace):
        for model in (Note, NoteChunk, NoteName, NoteTag, NoteLink):
            assert model.objects.count() == 0
        events = Event.objects.filter(object_type="note").order_by("seq")
        assert [event.type for event in events] == ["note.created", "note.deleted"]


def test_an_equal_note_changes_nothing(tenant: Tenant) -> None:
    before = stored(tenant.agent, "a.md", BILLING)
    again = put(tenant.agent, "a.md", BILLING)
    assert (again.status_code, again.json()) == (200, before | {"outcome": "unchanged"})
    titled = stored(tenant.agent, "a.md", BILLING, title="Money")
    assert (titled["outcome"], titled["title"], titled["version"]) == ("changed", "Money", 2)


def test_unchanged_passages_keep_their_rows_and_vectors(tenant: Tenant) -> None:
    stored(tenant.agent, "a.md", BILLING)
    before = vectors_of(tenant, "a.md")
    changed = BILLING.replace("three days", "five days").replace("# Billing\n", "# Billing\n\nNew.")
    stored(tenant.agent, "a.md", f"{changed}\n## Terms\n\nThirty days.\n")
    after = vectors_of(tenant, "a.md")
    assert set(before) & set(after) == set()
    moved = BILLING.replace("# Billing\n", "# Before\n\nFirst.\n\n# Billing\n")
    stored(tenant.agent, "a.md", moved)
    rows = vectors_of(tenant, "a.md")
    stored(tenant.agent, "a.md", moved + "\n# After\n\nLast.\n")
    later = vectors_of(tenant, "a.md")
    assert {text: later[text] for text in rows} == rows
    assert all(has_vector for _, has_vector in later.values())


def test_a_long_note_is_embedded_in_part_at_once_and_the_rest_in_the_background(
    tenant: Tenant, neighbour: Tenant
) -> None:
    text = "\n\n".join(
        f"# Part {i}\n\nThe part {i} says {i}{' and so on' * 50}." for i in range(20)
    )
    assert stored(tenant.agent, "long.md", text)["pending"] == 4
    stored(neighbour.agent, "long.md", text)
    embed_notes(str(tenant.workspace.pk))
    assert show(tenant.reader, "long.md")["pending"] == 0
    assert show(neighbour.reader, "long.md")["pending"] == 4
    embed_pending()
    assert show(neighbour.reader, "long.md")["pending"] == 0


def test_without_the_model_a_note_is_stored_and_embedded_later(
    tenant: Tenant, settings: Any
) -> None:
    local = settings.ENGRAM_EMBEDDING
    workspace = tenant.workspace
    settings.ENGRAM_EMBEDDING = local | DEAD
    workspace.embedding_model = "far"
    workspace.save()
    assert stored(tenant.agent, "a.md", BILLING)["pending"] == 2
    assert note_chunks.embed_pending(workspace) == 0
    found = tenant.reader.post("context", {"task": "When are invoices sent?"})
    assert (found.status_code, found.json()["notes"]) == (200, [])
    assert found.json()["notes_reason"].startswith("query not embeddable")
    settings.ENGRAM_EMBEDDING = local
    workspace.embedding_model = local["model"]
    workspace.save()
    assert note_chunks.embed_pending(workspace) == 2
    assert show(tenant.reader, "a.md")["pending"] == 0


def test_another_model_reads_the_passages_again(tenant: Tenant, server: ModelServer) -> None:
    stored(tenant.agent, "a.md", BILLING)
    switch(tenant.workspace, OTHER, actor=SYSTEM, now=timezone.now())
    assert show(tenant.reader, "a.md")["pending"] == 2
    embed_pending()
    with in_workspace(tenant.workspace):
        models = NoteChunk.objects.values_list("model", flat=True)
        assert set(models) == {OTHER}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("a/../b.md", 422), ("..", 422), ("a//b.md", 422), ("a\\b.md", 422), ("a\nb", 422),
        ("a%00b", 422), ("\u202ea.md", 422), ("x" * 401, 422), (".md", 422), ("a b/c d.md", 201),
        ("\u00fcber/\u6587.md", 201), ("AKIAIOSFODNN7EXAMPLE.md", 422), ("../../etc/passwd", 422),
    ],
)  # fmt: skip
def test_paths_are_checked(tenant: Tenant, path: str, status: int) -> None:
    address = f"notes/{quote(path, safe='/%')}"
    answer = tenant.agent._send("put", address, {"content": "x"}, {})
    assert answer.status_code == status, answer.content
    shown = tenant.agent.get(address)
    assert shown.status_code == (200 if status == 201 else 404)
    assert tenant.agent.delete(address).status_code == (204 if status == 201 else 404)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"content": "x" * 200_001}, 422),
        ({"content": "x" * 3_200_000}, 413),
        ({"content": None}, 422),
        ({"content": ["x"]}, 422),
        ({"content": "a\x00b"}, 400),
        ({}, 422),
        ({"content": "x", "title": "y" * 301}, 422),
        ({"content": "x", "title": 1}, 422),
        ({"content": "x", "colour": "red"}, 422),
        ({"content": "".join(f"[[a{i}]]" for i in range(5_001))}, 422),
        ({"content": "", "title": None}, 201),
        ({"content": "[" * 50_000}, 201),
        ({"content": "x" * 200_000}, 201),
    ],
)
def test_bodies_are_checked_and_nothing_is_stored_in_part(
    tenant: Tenant, body: dict[str, Any], status: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr("memories.services.notes.put.EMBEDDED_AT_ONCE", 1)
    answer = tenant.agent._send("put", "notes/a.md", body, {})
    assert answer.status_code == status, answer.content[:300]
    with in_workspace(tenant.workspace):
        assert Note.objects.count() == (status == 201)
        assert bool(NoteName.objects.count()) == (status == 201)
    if status >= 400:
        assert answer["Content-Type"] == "application/problem+json"


def test_binary_rubbish_is_stored_as_it_is_or_refused(tenant: Tenant) -> None:
    rubbish = "".join(chr(i) for i in range(1, 0x500) if not 0xD800 <= i < 0xE000)
    stored(tenant.agent, "a.md", rubbish)
    assert show(tenant.reader, "a.md")["content"] == rubbish
    broken = Caller(tenant.agent.token, tenant.agent.client)
    answer = broken.client.put(
        "/api/v1/notes/b.md", b'{"content": "\xff\xfe"}', content_type="application/json",
        headers={"Authorization": f"Bearer {broken.token}"},
    )  # fmt: skip
    assert answer.status_code == 400


def test_unicode_twins_are_one_note_and_case_twins_two(tenant: Tenant) -> None:
    stored(tenant.agent, "caf\u00e9.md", "one")
    assert stored(tenant.agent, "cafe\u0301.md", "two")["outcome"] == "changed"
    assert show(tenant.reader, "cafe\u0301.md")["path"] == "caf\u00e9.md"
    stored(tenant.agent, "Index.md", "upper")
    stored(tenant.agent, "index.md", "lower")
    assert show(tenant.reader, "Index.md")["content"] == "upper"
    assert show(tenant.reader, "index.md")["content"] == "lower"


def test_a_credential_is_replaced_before_anything_is_stored(tenant: Tenant) -> None:
    secret = "xoxb-1234567890-abcdefghij"
    text = f"# Deploy\n\nThe bot uses {secret} for messages.\n"
    made = stored(tenant.agent, "a.md", text)
    assert made["credentials_removed"] == 1
    shown = show(tenant.reader, "a.md")
    assert secret not in json.dumps(shown)
    assert "The bot uses [removed: a Slack token] for messages." in shown["content"]
    assert stored(tenant.agent, "a.md", text)["outcome"] == "unchanged"
    assert put(tenant.agent, "b.md", "x", title=secret).status_code == 422
    with in_workspace(tenant.workspace):
        assert not NoteChunk.objects.filter(text__contains=secret).exists()


def test_a_deleted_note_leaves_no_text_behind(tenant: Tenant) -> None:
    canary = "quokka-7731-lighthouse"
    stored(tenant.agent, "a.md", f"# {canary}\n\nThe {canary} [[{canary}]] #{canary}\n")
    tenant.agent.post("context", {"task": canary})
    assert set(tables_holding(canary)) == {
        "memories_note",
        "memories_notechunk",
        "memories_notelink",
        "memories_notetag",
    }
    assert tenant.agent.delete("notes/a.md").status_code == 204
    assert tables_holding(canary) == {}


def test_notes_are_listed_by_name_tag_folder_and_time(tenant: Tenant, neighbour: Tenant) -> None:
    stored(neighbour.agent, "work/theirs.md", BILLING)
    stored(tenant.agent, "work/billing.md", BILLING)
    between = timezone.now().isoformat()
    stored(tenant.agent, "work/hiring.md", "# Hiring\n\n#People first")
    stored(tenant.agent, "home/garden.md", "Roses #kitchen/herbs #kitchenette")

    def paths(**query: Any) -> list[str]:
        answer = tenant.reader.get("notes", query)
        assert answer.status_code == 200, answer.content
        return [row["path"] for row in answer.json()["results"]]

    assert paths() == ["home/garden.md", "work/hiring.md", "work/billing.md"]
    assert paths(q="HIR") == ["work/hiring.md"]
    assert paths(q="invoices") == ["work/billing.md"]
    assert paths(tag="#people") == ["work/hiring.md"]
    for tag in ("kitchen", "#Kitchen/", "kitchen/herbs", "kitchenette"):
        assert paths(tag=tag) == ["home/garden.md"]
    for tag in ("kit", "herbs", "kitchen/herb", "kitchen_herbs", "%", "#"):
        assert paths(tag=tag) == []
    assert paths(prefix="work/") == ["work/hiring.md", "work/billing.md"]
    assert paths(prefix="work/", updated_since=between) == ["work/hiring.md"]
    first = tenant.reader.get("notes", {"limit": 2}).json()
    assert tenant.reader.get(first["next"]).json()["results"][0]["path"] == "work/billing.md"
    assert tenant.reader.get("notes", {"updated_since": "never"}).status_code == 422
    assert tenant.reader.get("notes", {"colour": "red"}).status_code == 422


def test_notes_of_another_workspace_are_not_found(tenant: Tenant, neighbour: Tenant) -> None:
    stored(neighbour.agent, "secret.md", "# Secret\n\nThe vault is under the bridge.")
    assert tenant.admin.get("notes/secret.md").status_code == 404
    assert tenant.admin.delete("notes/secret.md").status_code == 404
    assert tenant.reader.get("notes").json()["results"] == []
    found = tenant.reader.post("context", {"task": "Where is the vault?"}).json()
    assert (found["notes"], found["text"]) == ([], "")
    tenant.agent.post("memories", {"content": "See [[secret]] for the vault."})
    with in_workspace(tenant.workspace):
        assert NoteLink.objects.get().reason == "unresolved"
    stored(tenant.agent, "secret.md", "ours")
    assert "vault" in show(neighbour.reader, "secret.md")["content"]


def test_readers_cannot_write_notes(tenant: Tenant) -> None:
    assert put(tenant.reader, "a.md", "x").status_code == 403
    assert tenant.reader.delete("notes/a.md").status_code == 403


def test_a_list_takes_the_same_number_of_queries_for_one_note_and_for_many(tenant: Tenant) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert tenant.reader.get("notes").status_code == 200
        return len(queries)

    stored(tenant.agent, "a.md", BILLING)
    count()  # looks up the key
    one = count()
    for number in range(6):
        stored(tenant.agent, f"n{number}.md", f"{BILLING} {number}")
    assert count() == one


def test_a_note_with_many_links_takes_as_many_queries_as_one_with_few(tenant: Tenant) -> None:
    def count(path: str, links: int) -> tuple[int, int]:
        text = " ".join(f"[[n{number}]]" for number in range(links))
        with CaptureQueriesContext(connection) as writing:
            stored(tenant.agent, path, text)
        with CaptureQueriesContext(connection) as reading:
            show(tenant.reader, path)
        return len(writing), len(reading)

    stored(tenant.agent, "n1.md", "one")
    show(tenant.reader, "n1.md")  # looks up the key
    tenant.agent.post("memories", {"content": "A fact stands in [[few]]."})
    few = count("few.md", 3)
    for number in range(20):
        tenant.agent.post("memories", {"content": f"Fact {number} stands in [[many]]."})
    assert count("many.md", 30) == few


def test_memories_that_link_a_note_are_shown_while_they_can_be_recalled(tenant: Tenant) -> None:
    stored(tenant.agent, "work/billing.md", BILLING)
    linking = "Invoices go out monthly, see [[billing]]."
    kept = tenant.agent.post("memories", {"content": linking}).json()["memory"]["id"]
    other = tenant.agent.post("memories", {"content": "Retries wait, see [[Invoices]]."})
    gone = other.json()["memory"]["id"]

    def backlinks() -> tuple[set[str], int]:
        found = show(tenant.reader, "work/billing.md")["backlinks"]
        return {memory["id"] for memory in found["memories"]}, found["memories_total"]

    assert backlinks() == ({kept, gone}, 2)
    tenant.agent.post("memories/forget", {"ids": [gone], "confirm": True})
    assert backlinks() == ({kept}, 1)
    tenant.agent.post("memories/restore", {"ids": [gone]})
    assert backlinks() == ({kept, gone}, 2)
    assert tenant.admin.delete(f"memories/{gone}").status_code == 204
    assert backlinks() == ({kept}, 1)
    with in_workspace(tenant.workspace):
        assert NoteLink.objects.count() == Memory.objects.count() == 1
