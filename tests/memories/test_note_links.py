"""Links of memories and notes: followed through every change of a wording and of a name."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal
from time import sleep
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import NoteLink, NoteSupport, Observation
from memories.services.commit.commit import commit
from memories.services.commit.draft import Draft
from memories.services.index import note_links
from memories.services.notes.draft import NoteDraft
from memories.services.notes.put import put_note
from tests.conftest import Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS
from tests.memories.drift_world import check


def put(tenant: Tenant, path: str, content: str = "text") -> None:
    answer = tenant.agent._send("put", f"notes/{quote(path)}", {"content": content}, {})
    assert answer.status_code in {200, 201}, answer.content


def remember(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.content
    memory_id: str = answer.json()["memory"]["id"]
    return memory_id


def links(tenant: Tenant, memory_id: str | None = None) -> list[tuple[str, str]]:
    """Return the targets of links in order, each with the path or the reason."""
    with in_workspace(tenant.workspace):
        rows = NoteLink.objects.select_related("note").order_by(
            "memory_id", "source_id", "position"
        )
        if memory_id is not None:
            rows = rows.filter(memory=memory_id)
        return [(row.target, row.note.path if row.note else row.reason) for row in rows]


def test_links_of_a_memory_follow_its_wording(tenant: Tenant) -> None:
    put(tenant, "work/billing.md")
    put(tenant, "plan.md")
    memory = remember(tenant, "Invoices go out monthly, see [[billing]] and [[nowhere]].")
    assert links(tenant) == [("billing", "work/billing.md"), ("nowhere", "unresolved")]
    tenant.agent.patch(f"memories/{memory}", {"content": "Invoices go out monthly, see [[plan]]."})
    assert links(tenant) == [("plan", "plan.md")]
    tenant.agent.patch(f"memories/{memory}", {"tags": ["x"]})
    assert links(tenant) == [("plan", "plan.md")]
    tenant.agent.patch(f"memories/{memory}", {"content": "Invoices go out every month."})
    assert links(tenant) == []


def test_the_links_of_a_memory_are_shown_to_who_may_read_it(tenant: Tenant) -> None:
    put(tenant, "work/billing.md", "# Rules")
    memory = remember(tenant, "Invoices: [[billing#Rules|the rules]] and ![[nowhere]].")
    address = f"memories/{memory}/note-links"
    assert tenant.reader.get(address).json() == {
        "links": [
            {
                "target": "billing", "heading": "Rules", "label": "the rules", "embed": False,
                "path": "work/billing.md", "reason": None, "renamed_to": None,
            },
            {
                "target": "nowhere", "heading": "", "label": "", "embed": True,
                "path": None, "reason": "unresolved", "renamed_to": None,
            },
        ]
    }  # fmt: skip
    tenant.agent.post("memories/forget", {"ids": [memory], "confirm": True})
    assert tenant.reader.get(address).status_code == 404
    assert tenant.agent.get(address).status_code == 200


def test_links_follow_a_merge_and_its_split(tenant: Tenant) -> None:
    put(tenant, "work/deploy.md")
    memory = remember(tenant, "The deploy runs on Thursday.")
    assert links(tenant) == []
    assert remember(tenant, "The [[deploy]] runs on Thursday at 14:00 UTC.") == memory
    assert links(tenant, memory) == [("deploy", "work/deploy.md")]
    with in_workspace(tenant.workspace):
        merged = Observation.objects.get(outcome="merged")
    answer = tenant.agent.post(f"memories/{memory}/split", {"observation_id": str(merged.pk)})
    assert answer.status_code in {200, 201}, answer.content
    separated = answer.json()["memory"]["id"]
    assert links(tenant, memory) == []
    assert links(tenant, separated) == [("deploy", "work/deploy.md")]


def test_a_link_is_found_again_when_its_note_appears_changes_its_names_or_goes(
    tenant: Tenant, neighbour: Tenant
) -> None:
    memory = remember(tenant, "Retries wait three days, see [[billing]].")
    put(neighbour, "billing.md")
    assert links(tenant, memory) == [("billing", "unresolved")]
    put(tenant, "work/billing.md")
    assert links(tenant, memory) == [("billing", "work/billing.md")]
    put(tenant, "home/billing.md")
    assert links(tenant, memory) == [("billing", "ambiguous")]
    put(tenant, "billing.md")
    assert links(tenant, memory) == [("billing", "billing.md")]
    for path in ("billing.md", "home/billing.md"):
        tenant.agent.delete(f"notes/{path}")
    assert links(tenant, memory) == [("billing", "work/billing.md")]
    tenant.agent.delete("notes/work/billing.md")
    assert links(tenant, memory) == [("billing", "unresolved")]
    put(tenant, "money.md", "---\naliases: [Billing]\n---\n")
    assert links(tenant, memory) == [("billing", "money.md")]
    put(tenant, "money.md", "---\naliases: [Payments]\n---\n")
    assert links(tenant, memory) == [("billing", "unresolved")]


def test_a_name_in_two_folders_is_ambiguous_and_not_the_first_match(tenant: Tenant) -> None:
    """A link that two notes may mean leads to neither, not to the first one found (pitfall 9)."""
    put(tenant, "a/index.md")
    put(tenant, "b/index.md")
    put(tenant, "hyperlink.md")
    remember(tenant, "Start at [[index]], [[a/index]], [[link]] or [[link.md]].")
    assert links(tenant) == [
        ("index", "ambiguous"),
        ("a/index", "a/index.md"),
        ("link", "unresolved"),
        ("link.md", "unresolved"),
    ]


def test_what_a_memory_leans_on_follows_its_links_to_another_note(tenant: Tenant) -> None:
    def leant_on() -> dict[str, bool]:
        with in_workspace(tenant.workspace):
            rows = NoteSupport.objects.select_related("note")
            return {row.note.path: row.support is not None for row in rows}

    put(tenant, "a/plan.md", "The move is planned for May.")
    put(tenant, "rules.md", "Moves are planned a month ahead.")
    remember(tenant, "The move is planned for May, see [[plan]] and [[rules]].")
    check(tenant)
    assert leant_on() == {"a/plan.md": True, "rules.md": True}
    put(tenant, "b/plan.md", "Another plan.")  # the name is ambiguous now
    assert leant_on() == {"a/plan.md": True, "rules.md": True}
    tenant.agent.delete("notes/a/plan.md")
    assert leant_on() == {"rules.md": True, "b/plan.md": False}
    check(tenant)
    assert leant_on() == {"rules.md": True, "b/plan.md": True}


def test_a_note_that_links_itself_says_so_and_cycles_are_plain_links(tenant: Tenant) -> None:
    put(tenant, "a.md", "[[a]] [[#Part]] [[b]]")
    put(tenant, "b.md", "[[c]]")
    put(tenant, "c.md", "[[a]] [[./b]] [[../b]]")
    assert links(tenant) == [
        ("a", "self"), ("", "self"), ("b", "b.md"), ("c", "c.md"),
        ("a", "a.md"), ("./b", "b.md"), ("../b", "unresolved"),
    ]  # fmt: skip
    shown = tenant.reader.get("notes/a.md").json()
    assert [note["path"] for note in shown["backlinks"]["notes"]] == ["c.md"]
    tenant.agent.delete("notes/b.md")
    assert links(tenant)[2] == ("b", "unresolved")


def test_the_case_of_a_link_counts_only_between_case_twins(tenant: Tenant) -> None:
    put(tenant, "Index.md")
    remember(tenant, "Read [[INDEX]] and [[index]].")
    assert links(tenant) == [("INDEX", "Index.md"), ("index", "Index.md")]
    put(tenant, "index.md")
    assert links(tenant) == [("INDEX", "ambiguous"), ("index", "index.md")]


def test_an_attachment_has_a_reason_of_its_own_until_a_note_has_the_name(tenant: Tenant) -> None:
    body = {"content": "![[photo.png]] [[nowhere]] ![[paper.pdf#page=3]]"}
    answer = tenant.agent._send("put", "notes/trip.md", body, {}).json()
    assert [one["target"] for one in answer["unresolved_links"]] == ["nowhere"]
    assert [reason for _, reason in links(tenant)] == ["attachment", "unresolved", "attachment"]
    put(tenant, "photo.png.md")
    assert ("photo.png", "photo.png.md") in links(tenant)
    tenant.agent._send("delete", "notes/photo.png.md", None, {})
    assert ("photo.png", "attachment") in links(tenant)


def test_a_link_by_the_title_of_a_journal_page_leads_to_it(tenant: Tenant) -> None:
    memory = remember(tenant, "The pump was serviced on [[May 4th, 2026]].")
    put(tenant, "journals/2026_05_04.md")
    assert links(tenant, memory) == [("May 4th, 2026", "journals/2026_05_04.md")]


def test_a_link_in_code_is_no_link(tenant: Tenant) -> None:
    put(tenant, "a.md")
    remember(tenant, "Bash tests with `[[ -f a ]]` and ((5f3a)).")
    assert links(tenant) == []


def test_a_batch_of_memories_with_links_takes_as_many_queries_as_one(tenant: Tenant) -> None:
    put(tenant, "plan.md")

    def count(number: int, text: str) -> int:
        bodies = [{"content": f"{text} {number}-{i}.", "scope": f"s{i}"} for i in range(number)]
        with CaptureQueriesContext(connection) as queries:
            answer = tenant.agent.post("memories/batch", {"memories": bodies})
        assert answer.status_code == 201, answer.content
        written = ('INTO "memories_notelink', 'FROM "memories_notelink', "lock_shared")
        return sum(any(part in query["sql"] for part in written) for query in queries)

    assert count(1, "Nothing is linked by the number") == 0
    few = count(1, "Step by [[plan]] of the number")
    assert count(8, "Step by [[plan]] and [[nowhere]] of the number") == few


def test_erasing_a_memory_erases_its_links_with_what_they_quote(tenant: Tenant) -> None:
    memory = remember(tenant, "The vault word stands in [[quokka-lighthouse|the quokka]].")
    assert links(tenant) == [("quokka-lighthouse", "unresolved")]
    assert tenant.admin.delete(f"memories/{memory}").status_code == 204
    assert links(tenant) == []


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


def is_somebody_waiting() -> bool:
    """Return whether a transaction waits for an advisory lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return cursor.fetchone() is not None


def test_a_link_committed_while_its_note_is_written_finds_it(
    shared_tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, written, real_resolved = Signal(), Signal(), note_links._resolved

    def resolve_slowly(rows: Any) -> Any:
        found = real_resolved(rows)
        if not looked.is_set():
            looked.set()  # no note has the name yet; its writer may begin now
            while not written.is_set() and not is_somebody_waiting():
                sleep(0.01)
        return found

    monkeypatch.setattr(note_links, "_resolved", resolve_slowly)
    workspace, now = shared_tenant.workspace, timezone.now()

    def write_note() -> None:
        try:
            assert looked.wait(PATIENCE_SECONDS)
            put_note(workspace, NoteDraft("plan.md", "text"), actor=SYSTEM, now=now)
        finally:
            written.set()
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write_note)
        commit(workspace, Draft(content="We follow [[plan]] to the end."), actor=SYSTEM, now=now)
        writing.result(PATIENCE_SECONDS)
    assert links(shared_tenant) == [("plan", "plan.md")]


def test_notes_with_each_others_names_put_at_once_leave_no_wrong_link(
    shared_tenant: Tenant,
) -> None:
    def write(number: int) -> None:
        try:
            other = (number + 1) % 4
            draft = NoteDraft(f"n{number}.md", f"[[n{other}]] [[n{number}]]")
            put_note(shared_tenant.workspace, draft, actor=SYSTEM, now=timezone.now())
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    found = links(shared_tenant)
    assert sorted(found) == sorted(
        [(f"n{n}", f"n{n}.md") for n in range(4)] + [(f"n{n}", "self") for n in range(4)]
    )
