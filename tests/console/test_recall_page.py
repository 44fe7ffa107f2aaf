"""The page on which a recall is tried: its results, their factors, and what is not among them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import RecallRecord
from tests.conftest import Tenant
from tests.console.test_memory_pages import CRATES, LIFT, TEA, Member, commit, shown

PAGE = "/console/recall/"
ASKED = "At which floors does the lift stop?"


def test_results_are_those_of_the_api_with_their_factors(tenant: Tenant, member: Member) -> None:
    for text in (LIFT, TEA, CRATES):
        commit(tenant, text)
    body = {"query": ASKED, "min_score": None, "explain": True, "record": False}
    found = tenant.reader.post("memories/recall", body).json()["results"]
    page = shown(member("reader"), PAGE, query=ASKED, cut="all")
    results = page[page.index('class="results"') :]
    listed = re.findall(r'class="says" dir="auto"><a href="/console/memories/([^/]+)/"', results)
    assert listed == [one["memory"]["id"] for one in found]
    assert f"score {found[0]['score']:.3f}" in results
    first = results.split('class="place')[1]
    for name, value in (("Words", "text"), ("Meaning", "vector"), ("Match", "fused"),
                        ("× Freshness", "freshness"), ("× Diversity", "diversity")):  # fmt: skip
        told = f'<span class="num">{found[0]["explain"][value]:.2f}</span>'
        bar = first[first.index(f'<span class="name">{name}</span>') :]
        assert told in bar[: bar.index("</li>")], name


def test_a_try_is_not_counted(tenant: Tenant, member: Member) -> None:
    commit(tenant, LIFT)
    assert LIFT in shown(member("reader"), PAGE, query=ASKED)
    with in_workspace(tenant.workspace):
        assert not RecallRecord.objects.exists()


def test_a_memory_that_is_missing_is_explained(tenant: Tenant, member: Member) -> None:
    lift, tea = commit(tenant, LIFT), commit(tenant, TEA, scope="office")
    client = member("reviewer")
    page = shown(client, PAGE, query=ASKED, expected=tea, scope="house")
    assert "Why it is not among the results" in page
    assert "It lies outside of the scope." in page
    assert "Its scope is" in page
    page = shown(client, PAGE, query=ASKED, expected=f"/console/memories/{lift}/")
    assert "It is among the results" in page
    assert 'class="expected"' in page
    tenant.agent.post("memories/forget", {"ids": [lift], "confirm": True})
    assert "It was forgotten on" in shown(client, PAGE, query=ASKED, expected=lift)
    assert LIFT not in shown(member("reader"), PAGE, query=ASKED, expected=lift)


def test_a_missing_memory_is_named_by_its_words(tenant: Tenant, member: Member) -> None:
    commit(tenant, LIFT)
    commit(tenant, "The night train leaves at ten.")
    tea = commit(tenant, TEA)
    client = member("reader")
    assert "Why it is not among" in shown(
        client, PAGE, query=ASKED, expected="chamomile tea", k="1"
    )
    page = shown(client, PAGE, query=ASKED, expected="night")
    assert "Which one is expected?" in page
    assert f'name="expected" value="{tea}"' in page
    assert "No memory has this id" in shown(client, PAGE, query=ASKED, expected="zeppelin")
    assert "No memory has this id" in shown(client, PAGE, query=ASKED, expected="…")


def test_a_recall_as_of_a_day_shows_the_wording_of_that_day(tenant: Tenant, member: Member) -> None:
    ago = (timezone.now() - timedelta(days=9)).isoformat()
    memory = commit(tenant, LIFT, observed_at=ago)
    body = {"content": "The lift in building seven stops everywhere."}
    assert tenant.reviewer.patch(f"memories/{memory}", body).status_code == 200
    day = (timezone.localdate() - timedelta(days=5)).isoformat()
    client = member("reader")
    page = shown(client, PAGE, query=ASKED, as_of=day)
    assert LIFT in page
    assert "stops everywhere" not in page
    assert "stops everywhere" in shown(client, PAGE, query=ASKED)


@pytest.mark.parametrize(
    "query",
    [{"k": "0"}, {"k": "101"}, {"k": "x"}, {"scope": "s" * 301}, {"kind": "?"}, {"cut": "?"},
     {"as_of": "soon"}, {"query": "a\0b"}, {"expected": "x" * 501}, {"graph": "?"},
     {"query": "x" * 20_001}],
)  # fmt: skip
def test_a_wrong_field_is_named(tenant: Tenant, member: Member, query: dict[str, Any]) -> None:
    commit(tenant, LIFT)
    page = shown(member("reader"), PAGE, 422, **{"query": ASKED, **query})
    assert f'id="{next(iter(query))}-error"' in page
    assert 'class="results"' not in page


def test_without_a_result_the_reason_is_said(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    assert "No memories: nothing in this workspace" in shown(client, PAGE, query=ASKED)
    commit(tenant, LIFT)
    assert "Nothing asked" in shown(client, PAGE, query="?!")
    assert "Ask as an agent would" in shown(client, PAGE)


def test_texts_of_the_page_are_data(tenant: Tenant, member: Member) -> None:
    bad = "<script>alert('x')</script>"
    commit(tenant, f"The lift {bad} stops.", scope=bad.replace("/", ""), agent=bad)
    page = shown(member("reader"), PAGE, query=f"lift {bad}", expected=f"lift {bad}", project="")
    assert "<script>alert" not in page
