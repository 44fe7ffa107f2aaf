"""The `type` of a problem document is an address that explains it, to anybody."""

from __future__ import annotations

from html import unescape

import pytest
from django.test import Client
from django.urls import get_resolver
from django.utils.html import strip_tags

from engram.kernel.causes import CAUSES, Cause
from tests.conftest import Tenant


def words(text: str) -> str:
    """Return what a page says, without its marks."""
    return unescape(strip_tags(text)).replace("`", "")


@pytest.fixture
def causes() -> list[Cause]:
    """Return all causes, of every app."""
    get_resolver().url_patterns  # noqa: B018  loads every service with its causes
    return list(CAUSES.values())


def test_each_type_leads_to_a_page_that_explains_it(causes: list[Cause], client: Client) -> None:
    assert {"stale-version", "session-ended", "nothing-to-sample"} <= {c.name for c in causes}
    for cause in causes:
        answer = client.get(cause.type)
        assert (answer.status_code, answer["Content-Type"]) == (200, "text/html; charset=utf-8")
        shown = words(answer.content.decode())
        for said in (cause.title, str(cause.status), cause.meaning, cause.remedy):
            assert said.replace("`", "") in shown


def test_a_problem_names_an_address_that_is_there(tenant: Tenant, client: Client) -> None:
    refused = tenant.agent.post("memories", {"content": ""}).json()
    answer = client.get(refused["type"], headers={"Accept": "application/json"})
    assert answer.json()["title"] == refused["title"]
    assert answer.json()["status"] == refused["status"]


def test_all_are_listed(causes: list[Cause], client: Client) -> None:
    page = client.get("/problems/").content.decode()
    listed = client.get("/problems/", headers={"Accept": "application/json"})
    assert "Accept" in listed["Vary"]
    assert {found["type"] for found in listed.json()["results"]} == {c.type for c in causes}
    assert all(f'href="{cause.type}"' in page for cause in causes)


def test_each_says_what_happened_and_what_to_do(causes: list[Cause]) -> None:
    for cause in causes:
        for said in (cause.meaning, cause.remedy):
            assert said.endswith("."), cause
            assert len(said) > 10, cause


@pytest.mark.parametrize("path", ["/problems/nothing-of-this-name", "/problems/not_found"])
def test_an_unknown_cause_is_not_found(path: str, client: Client) -> None:
    assert client.get(path).status_code == 404


def test_nobody_writes_there(client: Client) -> None:
    assert client.post("/problems/not-found").status_code == 405


def test_an_address_with_a_slash_leads_to_the_page(client: Client) -> None:
    assert client.get("/problems/not-found/")["Location"] == "/problems/not-found"
