"""The admin lists of merges and suggestions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from engram.kernel.tenancy import in_workspace
from memories.models import Merge, MergeSuggestion
from tests.conftest import Tenant
from tests.console.test_gate_page import FINER, furnish

Member = Callable[[str], Client]
LISTS = ["/admin/memories/merge/", "/admin/memories/mergesuggestion/"]


@pytest.mark.parametrize("path", LISTS)
def test_lists_show_this_workspace_and_nothing_forgotten(
    tenant: Tenant, neighbour: Tenant, member: Member, path: str
) -> None:
    furnish(neighbour)
    client = member("reader")
    assert FINER not in client.get(path).content.decode()
    furnish(tenant)
    html = client.get(path).content.decode()
    assert html.count(FINER) == 1
    with in_workspace(tenant.workspace):
        merge, suggestion = Merge.objects.get(), MergeSuggestion.objects.get()
    gone = [str(merge.memory_id), str(suggestion.other_id)]
    tenant.agent.post("memories/forget", {"ids": gone, "confirm": True})
    html = client.get(path).content.decode()
    assert (html.count(FINER), html.count("(forgotten)")) == (0, 1)


def test_rows_have_no_page_of_their_own(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    client = member("admin")
    with in_workspace(tenant.workspace):
        paths = [
            f"{LISTS[0]}{Merge.objects.get().pk}/change/",
            f"{LISTS[1]}{MergeSuggestion.objects.get().pk}/change/",
        ]
    for path in paths:
        assert client.get(path).status_code in {302, 403}


def test_a_suggestion_that_cannot_be_answered_is_listed_as_lapsed(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant)
    client, page = member("reader"), LISTS[1]
    with in_workspace(tenant.workspace):
        suggestion = MergeSuggestion.objects.get()
    memory = f"/console/memories/{suggestion.memory_id}/"

    def listed(status: str) -> bool:
        return FINER in client.get(f"{page}?status={status}").content.decode()

    assert (listed("open"), listed("lapsed"), listed("rejected")) == (True, False, False)
    assert "1 merge suggestion open" in client.get(memory).content.decode()
    reworded = {"content": "The deploy runs on Fridays, after lunch."}
    assert tenant.reviewer.patch(f"memories/{suggestion.other_id}", reworded).status_code == 200
    assert "Lapsed" in client.get(page).content.decode()
    assert "merge suggestion open" not in client.get(memory).content.decode()
    with in_workspace(tenant.workspace):
        assert MergeSuggestion.objects.get().status == "open"  # as stored; it may open again
    found = client.get(f"{page}?status=lapsed").content.decode()
    assert str(suggestion.memory_id) in found
    assert str(suggestion.memory_id) not in client.get(f"{page}?status=open").content.decode()
