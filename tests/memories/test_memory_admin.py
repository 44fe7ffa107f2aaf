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
from tests.conftest import NOW, House
from tests.memories.aged import SUBJECTS, age, remember

Member = Callable[[str], Client]
MEMORIES = "/admin/memories/memory/"


def test_memories_are_found_by_their_use(house: House, member: Member) -> None:
    age(house.workspace)
    recalled, hit, demoted = (remember(house.workspace, text) for text in SUBJECTS[:3])
    with in_workspace(house.workspace):
        Memory.objects.filter(pk=recalled.pk).update(recall_count=2, last_recalled_at=NOW)
        Memory.objects.filter(pk=hit.pk).update(hit_count=1)
    run(house.workspace, actor=SYSTEM, now=NOW)
    client = member("reader")

    def shown(query: str) -> list[str]:
        html = client.get(f"{MEMORIES}?{query}").content.decode()
        return sorted(re.findall(r'class="eg-cell">([^<]*)<', html))

    assert shown("use=never") == sorted(SUBJECTS[1:3])
    assert shown("use=unused") == [demoted.content]
    assert shown("use=demoted") == [demoted.content]
    assert shown("use=nonsense") == sorted(SUBJECTS[:3])


def test_a_memory_tells_its_counters_and_what_the_janitor_took(
    house: House, member: Member
) -> None:
    age(house.workspace)
    memory = remember(house.workspace, SUBJECTS[0])
    run(house.workspace, actor=SYSTEM, now=NOW)
    html = member("reader").get(f"{MEMORIES}{memory.pk}/change/").content.decode()
    for said in ("Put into sessions", "Matched by prompts", "1×, last 4 May 2026", "× 0.90"):
        assert said in html


def test_sources_are_linked_and_forgotten_ones_withheld(house: House, member: Member) -> None:
    source, gone = (remember(house.workspace, text) for text in SUBJECTS[:2])
    summary = remember(house.workspace, SUBJECTS[2], derived_from=(source.pk, gone.pk))
    forget(house.workspace, [gone.pk], actor=SYSTEM, now=NOW)
    html = member("reader").get(f"{MEMORIES}{summary.pk}/change/").content.decode()
    assert f"{MEMORIES}{source.pk}/change/" in html
    assert SUBJECTS[0] in html
    assert SUBJECTS[1] not in html
    assert "a forgotten memory" in html


def test_scopes_break_at_slashes_and_are_no_markup(house: House, member: Member) -> None:
    remember(house.workspace, SUBJECTS[0], scope="infra/<i>eu</i>")
    html = member("reader").get(MEMORIES).content.decode()
    assert '<span class="eg-path">infra/<wbr>&lt;i&gt;eu&lt;/<wbr>i&gt;</span>' in html
