"""The admin's lists read like the console's: count, pager and filters, all without scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib import admin

from engram.console.templatetags.lists import filter_words
from memories.models import Memory
from predictor.models import Comparison
from tests.conftest import Tenant
from tests.console.cards import remember
from tests.console.test_admin import MEMORIES, REVIEWS, Member


@pytest.fixture
def pages_of_two(monkeypatch: pytest.MonkeyPatch, tenant: Tenant) -> None:
    """Let a page hold two rows, and remember five memories."""
    monkeypatch.setattr(admin.site._registry[Memory], "list_per_page", 2)
    for colour in ("red", "green", "blue", "black", "white"):
        remember(tenant.workspace, f"The {colour} boat is in the yard.")


def pager(client: Any, query: str) -> list[tuple[str, str, str]]:
    """Return the links of the pager: which way, where, and in which words."""
    html = client.get(MEMORIES + query).content.decode()
    found = re.findall(r'rel="(\w+)" href="([^"]*)">([^<]*)<', html)
    return [(rel, link.replace("&amp;", "&"), words) for rel, link, words in found]


@pytest.mark.usefixtures("pages_of_two")
def test_pages_are_turned_by_the_pager_of_the_console(member: Member) -> None:
    client = member("admin")
    assert pager(client, "?q=boat") == [("next", "?p=2&q=boat", "Older")]
    assert pager(client, "?p=2&q=boat") == [
        ("prev", "?p=1&q=boat", "Newer"),
        ("next", "?p=3&q=boat", "Older"),
    ]
    assert pager(client, "?p=3&q=boat") == [("prev", "?p=2&q=boat", "Newer")]
    assert pager(client, "?q=blue") == []
    shown = client.get(f"{MEMORIES}?q=boat").content.decode()
    assert "all=" not in shown


@pytest.mark.usefixtures("pages_of_two")
@pytest.mark.parametrize(
    ("column", "back", "on"),
    [("place", "Previous", "Next"), ("learned", "Older", "Newer"), ("-learned", "Newer", "Older")],
)
def test_the_pager_speaks_of_time_only_where_the_order_is_one_of_time(
    member: Member, column: str, back: str, on: str
) -> None:
    shown = ["action_checkbox", *admin.site._registry[Memory].list_display]
    order = "-" * column.startswith("-") + str(shown.index(column.removeprefix("-")))
    links = pager(member("admin"), f"?o={order}&p=2")
    assert [words for _, _, words in links] == [back, on]


@pytest.mark.usefixtures("pages_of_two")
def test_the_count_beside_the_title_says_what_limits_the_list(member: Member) -> None:
    def told(path: str) -> str:
        html = client.get(path).content.decode()
        found = re.search(r'class="eg-results[^"]*">(.*?)</span>', html)
        assert found
        return " ".join(re.sub(r"<[^>]*>", " ", found[1]).split())

    client = member("admin")
    assert told(MEMORIES) == "5 memories (active)"
    assert told(f"{MEMORIES}?state=all") == "5 memories Show all"
    assert told(f"{MEMORIES}?q=blue") == "1 memory (active) Show all"
    assert told(REVIEWS) == "0 reviews (pending)"


@pytest.mark.usefixtures("pages_of_two")
def test_filters_are_links_that_name_what_is_chosen(member: Member) -> None:
    html = member("admin").get(f"{MEMORIES}?q=boat&kind__exact=semantic").content.decode()
    chosen = re.findall(r"<summary[^>]*>(\w+): <strong>([^<]*)</strong>", html)
    assert dict(chosen) == {
        "State": "Active", "Kind": "Fact", "Provenance": "All", "Use": "All",
    }  # fmt: skip
    assert 'href="?kind__exact=semantic&amp;q=boat&amp;state=forgotten"' in html


@pytest.mark.usefixtures("pages_of_two")
def test_a_typed_filter_keeps_what_else_was_asked(tenant: Tenant, member: Member) -> None:
    remember(tenant.workspace, "The old boat is in the hall.", scope="harbour")
    client = member("admin")
    html = client.get(f"{MEMORIES}?q=boat&state=all&p=2&scope=").content.decode()
    form = html[html.index('<form method="get" class="inline">') :]
    form = form[: form.index("</form>")]
    hidden = re.findall(r'type="hidden" name="(\w+)" value="(\w*)"', form)
    assert hidden == [("q", "boat"), ("state", "all")]
    found = client.get(MEMORIES, {**dict(hidden), "scope": "harbour"}).content.decode()
    assert "in the hall" in found
    assert "in the yard" not in found


def test_the_name_of_a_filter_is_no_name_of_a_column() -> None:
    titles = [field.verbose_name for field in Comparison._meta.fields if "is_" in field.name]
    assert {filter_words(title) for title in titles} >= {
        "Counts", "List chosen in turn", "Learned ranking set back",
    }  # fmt: skip


def test_an_empty_list_without_words_of_its_own_opens(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    assert (
        "Nothing here yet" in client.get("/admin/memories/predictionerror/tasks/").content.decode()
    )


def test_actions_are_offered_where_there_are_rows_only(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    assert "With the ticked rows" not in client.get(MEMORIES).content.decode()
    remember(tenant.workspace, "The red boat is in the yard.")
    assert "With the ticked rows" in client.get(MEMORIES).content.decode()
    assert "With the ticked rows" not in client.get(f"{MEMORIES}?q=zebra").content.decode()


def columns(client: Any, query: str) -> tuple[set[str], str]:
    """Return the columns of the list of memories, and what it says of all its rows."""
    html = client.get(MEMORIES + query).content.decode()
    apart = re.search(r'class="small muted alike">(.*?)</p>', html)
    said = " ".join(re.sub(r"<[^>]*>", " ", apart[1]).split()) if apart else ""
    return set(re.findall(r'data-label="([a-z ]+)"', html)), said


def test_a_column_that_says_the_same_in_all_rows_stands_apart(
    tenant: Tenant, member: Member
) -> None:
    client = member("admin")
    remember(tenant.workspace, "The red boat is in the yard.", scope="harbour")
    every, said = columns(client, "")
    assert every >= {"state", "scope", "kind", "agent"}
    assert said == ""  # one row is no list
    remember(tenant.workspace, "The blue boat is in the yard.", scope="quay")
    shown, said = columns(client, "")
    assert shown >= {"memory", "scope"}
    assert not shown & {"state", "kind", "agent"}
    assert "All on this page: state Active kind Fact" in said
    assert "agent" not in said  # nobody says anything there
    place = ["action_checkbox", *admin.site._registry[Memory].list_display].index("place")
    remember(tenant.workspace, "The green boat is in the yard.", scope="quay")
    shown, said = columns(client, f"?q=boat&scope=quay&o={place}")
    assert "scope" in shown  # its head takes the order back
    assert "scope" not in columns(client, "?q=boat&scope=quay")[0]
    assert "scope quay" in columns(client, "?q=boat&scope=quay")[1]
    html = client.get(f"{MEMORIES}?q=boat").content.decode()
    assert re.search(rf'href="\?o={place}[^"]*"[^>]*>\s*Scope', html)  # counts the hidden ones
