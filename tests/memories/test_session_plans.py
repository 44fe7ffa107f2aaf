"""Session start reads by indexes at 10,000 memories, as the application's role (pitfall 43)."""

from __future__ import annotations

import pytest
from django.db import connection

from engram.kernel.tenancy import in_workspace
from memories.core.baseline import order_key
from memories.models import Memory
from memories.services.sessions.candidates import BEST, POOL_MAX, SessionPlace, candidates_of
from tests.conftest import NOW, Tenant
from tests.memories.scale import MODEL, VOCABULARY, clustered
from tests.memories.test_plans import LARGE, explained, full

__all__ = ["full"]


@pytest.mark.parametrize("state", ["fresh", "analysed"])
def test_no_large_table_is_read_whole_for_a_session(full: Tenant, state: str) -> None:
    with in_workspace(full.workspace), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memories_memory SET importance = (abs(hashtext(id::text)) % 41) / 40.0,"
            " is_pinned = abs(hashtext(id::text)) % 1000 = 0"
        )
    if state == "analysed":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE " + ", ".join(sorted(LARGE)))
    vector = clustered(1, seed=2)[0]
    place = SessionPlace("", "team/a", "what now?", vector, MODEL)
    with explained() as plans, in_workspace(full.workspace):
        found = candidates_of(place, now=NOW)
    assert plans.scanned_whole == set()
    assert plans.indexes >= {"memory_standing", "memory_always"}
    assert len(found.facts) <= POOL_MAX
    with in_workspace(full.workspace):
        everything = sorted(
            Memory.objects.recallable(NOW),
            key=lambda m: (
                -order_key(m.importance, m.observed_at, is_pinned=_leads(m)), m.pk
            ),
        )  # fmt: skip
    order = [fact.id for fact in found.facts]
    best = [m.pk for m in everything[:BEST]]
    assert order[: len(set(best) & set(order))] == [i for i in best if i in order]
    assert set(best[:30]) <= set(order)

    body = {"prompt": f"{VOCABULARY[0]} {VOCABULARY[1]} {VOCABULARY[2]}"}
    assert full.agent.post("sessions", {"session_key": "s1", "context": "x"}).status_code == 201
    with explained() as plans:
        assert full.agent.post("sessions/s1/prompts", body).status_code == 200
        assert full.reader.get("sessions/s1").status_code == 200
        assert full.reader.get("sessions").status_code == 200
    assert plans.scanned_whole == set()


def _leads(memory: Memory) -> bool:
    """Tell whether a memory is pinned where the session is: in team/a, below it, or everywhere."""
    holds = memory.scope in {"team", "team/a"} or memory.scope.startswith("team/a/")
    return memory.is_pinned and (holds or not (memory.scope or memory.project))
