"""Lists are walked whole, forwards and back, however many rows share one moment."""

from __future__ import annotations

from base64 import b64encode
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer
from memories.models import Memory, MemoryAnswer
from memories.services.lifecycle.answers import answer_rows
from tests.conftest import NOW, Caller, Tenant

TIED = 1300  # more than the 1,000 that REST framework's own cursor can skip


def store(tenant: Tenant, count: int, at: datetime = NOW) -> list[Memory]:
    """Store memories of one moment, as one import does."""
    with in_workspace(tenant.workspace):
        return Memory.objects.bulk_create(
            Memory(
                content=f"The crane of berth {n} was greased.",
                content_hash=f"{n}{at:%H%M%S}".zfill(64),
                provenance="user_stated",
                confidence=1.0,
                observed_at=at,
                created_at=at,
                updated_at=at,
            )
            for n in range(count)
        )


def walk(caller: Caller, page: dict[str, Any], way: str) -> list[list[str]]:
    """Return the ids of a page and of all beyond it."""
    pages = [[row["id"] for row in page["results"]]]
    while page[way]:
        assert len(pages) < 50, "the list does not end"
        page = caller.get(page[way]).json()
        pages.append([row["id"] for row in page["results"]])
    return pages


def joined(pages: list[list[str]]) -> list[str]:
    return [row_id for page in pages for row_id in page]


def test_rows_of_one_moment_are_all_listed_forwards_and_back(tenant: Tenant) -> None:
    rows = store(tenant, TIED)
    wanted = [str(pk) for pk in sorted((row.pk for row in rows), reverse=True)]
    first = tenant.reader.get("memories", {"limit": 200}).json()
    pages = walk(tenant.reader, first, "next")
    assert joined(pages) == wanted
    assert [len(page) for page in pages] == [200] * 6 + [100]
    last = first
    while last["next"]:
        last = tenant.reader.get(last["next"]).json()
    back = walk(tenant.reader, last, "previous")
    assert joined(back[::-1]) == wanted


def test_going_back_from_the_middle_of_a_moment_loses_nothing(tenant: Tenant) -> None:
    for n in range(4):
        store(tenant, 7, NOW + timedelta(minutes=n))
    whole = [row["id"] for row in tenant.reader.get("memories", {"limit": 200}).json()["results"]]
    assert len(whole) == 28
    for size in (1, 3, 5, 7, 8):
        page = tenant.reader.get("memories", {"limit": size}).json()
        shown = 0
        while page["next"]:
            shown += size
            page = tenant.reader.get(page["next"]).json()
            back = tenant.reader.get(page["previous"]).json()
            assert [row["id"] for row in back["results"]] == whole[shown - size : shown]


def test_questions_of_one_moment_are_all_listed_forwards_and_back(tenant: Tenant) -> None:
    memories = store(tenant, 23)
    with in_workspace(tenant.workspace):
        MemoryAnswer.objects.bulk_create(
            row
            for n, memory in enumerate(memories)
            for row in answer_rows(memory, [Answer(f"Who greased the crane of berth {n}?", "Ana")])
        )
    page = tenant.reader.get("questions", {"limit": 5}).json()
    forwards = walk(tenant.reader, page, "next")
    assert len(set(joined(forwards))) == 23
    while page["next"]:
        page = tenant.reader.get(page["next"]).json()
    assert joined(walk(tenant.reader, page, "previous")[::-1]) == joined(forwards)


def test_a_page_whose_rows_are_gone_leads_to_rows_that_are_there(tenant: Tenant) -> None:
    store(tenant, 6)
    first = tenant.reader.get("memories", {"limit": 3}).json()
    second = tenant.reader.get(first["next"]).json()
    for row in second["results"]:
        assert tenant.admin.delete(f"memories/{row['id']}").status_code < 300
    empty = tenant.reader.get(first["next"]).json()
    assert (empty["results"], empty["next"]) == ([], None)
    assert tenant.reader.get(empty["previous"]).json()["results"] == first["results"]
    for row in first["results"]:
        assert tenant.admin.delete(f"memories/{row['id']}").status_code < 300
    back = tenant.reader.get(second["previous"]).json()
    assert (back["results"], back["previous"]) == ([], None)
    assert tenant.reader.get(back["next"]).json()["results"] == []


@pytest.mark.parametrize(
    "position",
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z,", "2026-01-01T00:00:00Z,7", ",", "x,y"],
)
def test_positions_without_a_moment_and_an_id_are_refused(tenant: Tenant, position: str) -> None:
    cursor = b64encode(urlencode({"p": position}).encode()).decode()
    answer = tenant.reader.get("memories", {"cursor": cursor})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "cursor")
