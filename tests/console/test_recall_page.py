"""The page on which a recall is tried: its results, their factors, and what is not among them."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from engram.kernel.tenancy import in_workspace
from memories.models import PastResult, RecallRecord
from memories.services.recall.log import sweep
from tests.conftest import Tenant
from tests.console.test_memory_pages import CRATES, LIFT, TEA, Member, commit, shown

PAGE = "/console/recall/"
ASKED = "At which floors does the lift stop?"


def test_results_are_those_of_the_api_and_steps_add_up(tenant: Tenant, member: Member) -> None:
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
    steps = re.findall(r'<th scope="row">(.*?) <span.*?<td class="num">(.*?)</td>', first)
    assert [name for name, _ in steps][:2] == ["Words", "Meaning"]
    assert {"Match", "Freshness", "Diversity", "Score"} <= {name for name, _ in steps}
    changes = [float(told.replace("−", "-")) for _, told in steps if "=" not in told]
    assert f"{sum(changes):.3f}" == f"{found[0]['score']:.3f}"


def test_options_are_folded_until_one_is_set(tenant: Tenant, member: Member) -> None:
    commit(tenant, LIFT)
    client = member("reader")
    folded, unfolded = '<details class="options">', '<details class="options" open>'
    for query in ({}, {"query": ASKED}, {"query": ASKED, "k": "10", "scope": " ", "kind": ""}):
        assert folded in shown(client, PAGE, **query)
    for option in ({"k": "3"}, {"scope": "house"}, {"graph": "no"}, {"expected": "lift"}):
        page = shown(client, PAGE, query=ASKED, **option)
        assert unfolded in page
        assert "(1 set)" in page
    assert unfolded in shown(client, PAGE, 422, query=ASKED, k="0")
    form = shown(client, PAGE)
    assert form.index('name="query"') < form.index(" Recall</button>") < form.index('name="k"')


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
    assert f'<input type="hidden" name="expected" value="{tea}">' in page
    assert f'<bdi>{TEA}</bdi> <button class="quiet" name="expected" value="">' in page
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


def past(client: Any, memory: str) -> str:
    """Return the panel of a memory's page that tells why it was recalled."""
    page = shown(client, f"/console/memories/{memory}/")
    return page[page.index('id="why-title"') : page.index('id="try-title"')]


def test_a_memory_tells_its_last_recalls_with_their_factors(tenant: Tenant, member: Member) -> None:
    lift = commit(tenant, LIFT, scope="house")
    client = member("reader")
    assert "The last recalls" not in past(client, lift)
    body = {"query": f"{ASKED} <b>&", "min_score": None, "explain": True, "session_key": "s 1"}
    body |= {"scope": "house", "kinds": ["semantic"], "graph": False}
    assert tenant.reader.post("memories/recall", body).status_code == 200
    sweep()
    panel = past(client, lift)
    assert f"{escape(ASKED)} &lt;b&gt;&amp;" in panel
    assert "place <strong" in panel
    assert f"by <bdi>{tenant.workspace.slug} reader</bdi>" in panel
    assert "session <bdi>s 1</bdi>" in panel
    assert "scope house" in panel
    assert "without links" in panel
    assert '<th scope="row">Freshness' in panel
    [again] = re.findall(r'href="(/console/recall/\?[^"]+)"', panel)
    tried = shown(client, unescape(again))
    assert "It is among the results" in tried
    assert f"{escape(ASKED)} &lt;b&gt;&amp;</textarea>" in tried
    assert '<option value="no" selected>Without</option>' in tried


def test_the_score_beside_a_past_query_is_the_one_at_which_its_steps_end(
    tenant: Tenant, member: Member
) -> None:
    """Kept scores have four digits: one that ends on 5 lies between two shown ones."""
    lift = commit(tenant, LIFT)
    tenant.reader.post("memories/recall", {"query": ASKED, "min_score": None})
    sweep()
    client = member("reader")
    for kept in (0.1115, 0.2225, 0.4245, 0.6665, 0.8885):
        with in_workspace(tenant.workspace):
            PastResult.objects.update(score=kept)
        panel = past(client, lift)
        [head] = re.findall(r"score (\S+)</span>", panel)
        steps = panel[: panel.index("</table>")]
        assert re.findall(r'<td class="num">(\S+)</td></tr>', steps)[-1] == head


def test_a_query_that_states_a_forgotten_memory_is_on_no_page(
    tenant: Tenant, member: Member
) -> None:
    lift, tea = commit(tenant, LIFT), commit(tenant, TEA)
    for query in (f"{LIFT} {TEA}", TEA):
        tenant.reader.post("memories/recall", {"query": query, "min_score": None})
    sweep()
    client = member("reviewer")
    assert TEA in past(client, tea)
    tenant.agent.post("memories/forget", {"ids": [tea], "confirm": True})
    panel = past(client, tea)
    assert "The query is withheld" in panel
    assert panel.count("Ask it again") == 1  # the query that is no wording of it
    assert "The last queries that returned it" in past(client, lift)


def test_a_page_asks_as_often_for_many_recalls_as_for_one(tenant: Tenant, member: Member) -> None:
    lift = commit(tenant, LIFT)
    client = member("reader")

    def ask(count: int) -> int:
        for number in range(count):
            body = {"query": f"{ASKED} {number}", "min_score": None, "session_key": f"s{number}"}
            tenant.reader.post("memories/recall", body)
        sweep()
        with CaptureQueriesContext(connection) as captured:
            past(client, lift)
        return len(captured)

    past(client, lift)
    assert ask(1) == ask(20)
    assert "The last queries that returned it, of 21" in past(client, lift)
