"""The admin of memories: how useful each was, what the janitor took, what belongs to it."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.test import Client

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.janitor.run import run
from memories.services.lifecycle.forget import forget
from tests.conftest import NOW, Tenant
from tests.memories.aged import SUBJECTS, age, remember

Member = Callable[[str], Client]
MEMORIES = "/admin/memories/memory/"


def test_memories_are_found_by_their_use(tenant: Tenant, member: Member) -> None:
    age(tenant.workspace)
    recalled, hit, demoted = (remember(tenant.workspace, text) for text in SUBJECTS[:3])
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=recalled.pk).update(recall_count=2, last_recalled_at=NOW)
        Memory.objects.filter(pk=hit.pk).update(hit_count=1)
    run(tenant.workspace, actor=SYSTEM, now=NOW)
    client = member("reader")

    def shown(query: str) -> list[str]:
        html = client.get(f"{MEMORIES}?{query}").content.decode()
        return sorted(re.findall(r'class="eg-cell">([^<]*)<', html))

    assert shown("use=never") == sorted(SUBJECTS[1:3])
    assert shown("use=unused") == [demoted.content]
    assert shown("use=demoted") == [demoted.content]
    assert shown("use=nonsense") == sorted(SUBJECTS[:3])


def test_a_memory_tells_its_counters_and_what_the_janitor_took(
    tenant: Tenant, member: Member
) -> None:
    age(tenant.workspace)
    memory = remember(tenant.workspace, SUBJECTS[0])
    run(tenant.workspace, actor=SYSTEM, now=NOW)
    page = f"/console/memories/{memory.pk}/"
    counters = ("Given to sessions", "Matched by prompts")
    client = member("reader")
    unused = client.get(page).content.decode()
    assert all(said in unused for said in ("1×, last 4 May 2026", "× 0.90"))
    assert not any(said in unused for said in counters)  # no column of zeros

    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=memory.pk).update(injected_count=3, hit_count=1)
    used = client.get(page).content.decode()
    assert all(said in used for said in (*counters, "3×"))


def test_sources_are_linked_and_forgotten_ones_withheld(tenant: Tenant, member: Member) -> None:
    source, gone = (remember(tenant.workspace, text) for text in SUBJECTS[:2])
    summary = remember(tenant.workspace, SUBJECTS[2], derived_from=(source.pk, gone.pk))
    forget(tenant.workspace, [gone.pk], actor=SYSTEM, now=NOW)
    html = member("reader").get(f"/console/memories/{summary.pk}/").content.decode()
    assert f"/console/memories/{source.pk}/" in html
    assert SUBJECTS[0] in html
    assert SUBJECTS[1] not in html
    assert "a forgotten memory" in html


def test_scopes_break_at_slashes_and_are_no_markup(tenant: Tenant, member: Member) -> None:
    remember(tenant.workspace, SUBJECTS[0], scope="infra/<i>eu</i>")
    html = member("reader").get(MEMORIES).content.decode()
    assert '<span class="eg-path">infra/<wbr>&lt;i&gt;eu&lt;/<wbr>i&gt;</span>' in html
