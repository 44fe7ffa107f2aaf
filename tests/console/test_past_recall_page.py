"""Past recalls in the console: the list says who asked, a row leads to what it returned and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from uuid import uuid4

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engram.kernel.models import ApiKey
from engram.kernel.tenancy import in_workspace
from memories.models import PastRecall
from memories.services.recall.log import count_recalls
from tests.conftest import Tenant

Member = Callable[[str], Client]
LIST = "/admin/memories/pastrecall/"
PAGE = "/console/recalls/{}/"
LIFT = "The lift in building seven stops at odd floors only."
STAIRS = "The stairs in building seven are closed <b>on</b> Sundays."
ASKED = "At which floors does the lift of building seven stop?"


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["memory"]["id"])


def ask(tenant: Tenant, query: str = ASKED, **fields: Any) -> str:
    """Recall as the agent; return the id of the past recall."""
    sent = {"query": query, "min_score": None, **fields}
    assert tenant.agent.post("memories/recall", sent).status_code == 200
    assert count_recalls(tenant.workspace)
    with in_workspace(tenant.workspace):
        return str(PastRecall.objects.latest("at", "id").pk)


def words(html: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html).split()))


def test_an_empty_list_says_how_recalls_come(member: Member) -> None:
    assert "Each recall and each context of a task is kept" in words(
        member("reader").get(LIST).content.decode()
    )


def test_a_row_leads_to_what_was_returned_and_why(tenant: Tenant, member: Member) -> None:
    lift, stairs = commit(tenant, LIFT, scope="house"), commit(tenant, STAIRS)
    recall = ask(tenant, k=7, graph=False)
    client = member("reader")
    row = f"{LIST}{recall}/change/"
    assert f'href="{row}' in client.get(LIST).content.decode()
    answer = client.get(row)
    assert (answer.status_code, answer["Location"]) == (302, PAGE.format(recall))
    html = client.get(answer["Location"]).content.decode()
    assert re.search(r'aria-current="page"[^>]*>Recalls<', html)
    said = words(html)
    assert ASKED in said
    assert f"by {tenant.workspace.slug} agent" in said
    assert "without links" in said
    assert "It returned 2 memories" in said
    assert html.index(f'href="/console/memories/{lift}/"') < html.index(
        f'href="/console/memories/{stairs}/"'
    )  # best first
    assert "<b>on</b>" not in html
    assert said.count("How the score comes about") == 2
    own = client.get(f"/console/memories/{lift}/").content.decode()
    assert f'href="{PAGE.format(recall)}"' in own  # the memory's page leads to all of it


def test_the_list_says_who_asked_and_in_which_session(tenant: Tenant, member: Member) -> None:
    commit(tenant, LIFT)
    body = {"session_key": "tour", "agent": "guide", "context": "Lifts"}
    assert tenant.agent.post("sessions", body).status_code == 201
    ask(tenant)
    inside = ask(tenant, session_key="tour")
    foreign = ask(tenant, session_key="<i>none</i>")
    client = member("reader")
    html = client.get(LIST).content.decode()
    said = words(html)
    key = f"{tenant.workspace.slug} agent"
    assert f"{key}, guide in tour" in said
    assert f"{key} in <i>none</i>" in said
    assert "<i>none" not in html
    assert re.search(r'href="/admin/memories/session/[0-9a-f-]{36}/change/">tour</a>', html)
    assert f"by {key}, guide" in words(client.get(PAGE.format(inside)).content.decode())
    assert "session <i>none</i>" in words(client.get(PAGE.format(foreign)).content.decode())
    with in_workspace(tenant.workspace):
        ApiKey.objects.filter(name=key).delete()
    assert "who asked is not recorded" in words(client.get(PAGE.format(foreign)).content.decode())
    with in_workspace(tenant.workspace):
        PastRecall.objects.filter(pk=foreign).update(session_key="")
    assert "not recorded" in words(client.get(LIST).content.decode())


def test_what_was_forgotten_is_told_without_its_text(tenant: Tenant, member: Member) -> None:
    lift = commit(tenant, LIFT)
    commit(tenant, STAIRS)
    recall, stated = ask(tenant), ask(tenant, LIFT.upper())
    tenant.admin.post("memories/forget", {"ids": [lift], "confirm": True})
    reader, agent = member("reader"), member("agent")
    for client in (reader, agent):
        html = client.get(PAGE.format(recall)).content.decode()
        assert "odd floors" not in html
        assert "A memory that was forgotten" in html
        assert (f"/console/memories/{lift}/" in html) == (client is agent)
        withheld = client.get(PAGE.format(stated)).content.decode()
        assert "odd floors" not in withheld.lower()
        assert "The query is withheld" in withheld


def test_recalls_of_others_and_unknown_ones_are_not_found(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    commit(neighbour, LIFT)
    client = member("admin")
    for recall in (ask(neighbour), str(uuid4())):
        assert client.get(PAGE.format(recall)).status_code == 404
        assert client.get(f"{LIST}{recall}/change/").status_code != 200
    assert ASKED not in client.get(LIST).content.decode()


def test_many_results_cost_the_queries_of_one(tenant: Tenant, member: Member) -> None:
    commit(tenant, LIFT)
    client = member("reader")

    def queries(recall: str) -> int:
        with CaptureQueriesContext(connection) as caught:
            assert client.get(PAGE.format(recall)).status_code == 200
        return len(caught)

    first = ask(tenant)
    client.get(PAGE.format(first))
    before = queries(first)
    rooms = [{"content": f"The lift of room {n} stops at floor {n}."} for n in range(20)]
    assert tenant.agent.post("memories/batch", {"memories": rooms}).status_code == 201
    many = ask(tenant, k=20)
    with in_workspace(tenant.workspace):
        assert PastRecall.objects.get(pk=many).results.count() > 10
    assert queries(many) == before
