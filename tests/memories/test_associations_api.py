"""GET /memories/{id}/associations: every kind of link, to nothing that is hidden."""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from memories.models import CoRecall, Derivation, Memory
from memories.services.associations.list import links_of_memory
from tests.conftest import NOW, Tenant, build_tenant
from tests.memories.test_associations_recall import DEPLOYS, SITS, fill
from tests.memories.test_note_links import put


def links(tenant: Tenant, memory: str, **params: Any) -> list[dict[str, Any]]:
    answer = tenant.reader.get(f"memories/{memory}/associations", params)
    assert answer.status_code == 200, answer.json()
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def kinds(tenant: Tenant, memory: str) -> set[tuple[str, str]]:
    return {(one["kind"], one["other"]["id"]) for one in links(tenant, memory)}


def test_links_of_every_kind_are_listed(tenant: Tenant) -> None:
    put(tenant, "plans/runbook.md")
    here, entity, source, derived, together, noted = fill(
        tenant, f"{DEPLOYS} See [[runbook]].", SITS, "Tulips bloom.", "Rain falls.", "Ice melts.",
        "Keys hang as in [[runbook]].",
    )  # fmt: skip
    first, second, third = fill(tenant, "One.", "Two.", "Three.", session_key="talk")
    with in_workspace(tenant.workspace):
        Derivation.objects.create(source_id=source, derived_id=here)
        Derivation.objects.create(source_id=here, derived_id=derived)
        a, b = sorted([here, together])
        CoRecall.objects.create(first_id=a, second_id=b, weight=2.0, since=NOW, reinforced_at=NOW)
        Memory.objects.filter(pk=first).update(superseded_by=here, superseded_at=NOW)
    found = kinds(tenant, here)
    assert {
        ("shared_entity", entity), ("source", source), ("derived", derived),
        ("recalled_together", together), ("shared_note", noted),
    } <= found  # fmt: skip
    assert {kind for kind, _ in found} >= {"note"}
    assert first not in {other for _, other in found}  # replaced by it, so not recallable
    assert kinds(tenant, first) == {("superseded_by", here)} | {
        one for one in kinds(tenant, first) if one[0] != "superseded_by"
    }
    assert ("next", third) in kinds(tenant, second)


def test_each_link_says_its_entity_its_weight_and_since_when(tenant: Tenant) -> None:
    here, other = fill(tenant, DEPLOYS, SITS)
    (link,) = links(tenant, here)
    assert link["other"] == {"type": "memory", "id": other}
    assert (link["kind"], link["name"], link["weight"]) == ("shared_entity", "harbour", 1.0)
    assert link["since"]


def test_a_shared_note_and_a_shared_entity_are_one_link_with_both(tenant: Tenant) -> None:
    put(tenant, "plans/runbook.md")
    here, other = fill(tenant, f"{DEPLOYS} See [[runbook]].", f"{SITS} See [[runbook]].")
    [link] = [one for one in links(tenant, here) if one["other"]["id"] == other]
    assert (link["kind"], link["weight"]) == ("shared_note", 1.0)
    assert link["also"] == [{"kind": "shared_entity", "name": "harbour"}]
    [note] = [one for one in links(tenant, here) if one["kind"] == "note"]
    assert note["also"] == []


def test_pages_are_limited(tenant: Tenant) -> None:
    here, *_ = fill(tenant, DEPLOYS, *(f"Harbour {word} opens." for word in ("Inn", "Spa")), SITS)
    answer = tenant.reader.get(f"memories/{here}/associations", {"limit": 1}).json()
    assert len(answer["results"]) == 1
    assert tenant.reader.get(f"memories/{here}/associations", {"limit": 0}).status_code in {
        400,
        422,
    }


def test_hidden_memories_and_other_workspaces_are_no_links(tenant: Tenant) -> None:
    here, other = fill(tenant, DEPLOYS, SITS)
    elsewhere = build_tenant("other-list")
    fill(elsewhere, SITS)
    assert elsewhere.reader.get(f"memories/{here}/associations").status_code == 404
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=other).update(forgotten_at=NOW)
    assert links(tenant, here) == []


def test_a_forgotten_memory_tells_no_link_and_none_of_its_words(tenant: Tenant) -> None:
    put(tenant, "plans/runbook.md")
    here, _ = fill(tenant, f"{DEPLOYS} See [[runbook]].", SITS)
    assert links(tenant, here)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=here).update(forgotten_at=NOW)
    for path, name in (("associations", "results"), ("note-links", "links")):
        answer = tenant.agent.get(f"memories/{here}/{path}")
        assert (answer.status_code, answer.json()[name]) == (200, [])


def test_the_number_of_queries_does_not_grow(tenant: Tenant) -> None:
    def queries() -> int:
        with in_workspace(tenant.workspace):
            memory = Memory.objects.get(pk=here)
            with CaptureQueriesContext(connection) as captured:
                links_of_memory(memory, NOW)
        return len(captured)

    here, _ = fill(tenant, DEPLOYS, SITS)
    few = queries()
    fill(tenant, *(f"Harbour moved {word}." for word in ("twice", "again", "late", "back")))
    assert queries() == few
