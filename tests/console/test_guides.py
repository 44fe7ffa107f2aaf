"""The guides in the product: all open, links among them lead somewhere, raw HTML is text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urljoin

import pytest
from django.test import Client

from engram.console.guides import FOLDER, GUIDES, page_of, read_guide
from engram.console.navigation import ADMINISTRATION, PLACES
from tests.conftest import Tenant
from tests.console.cards import disagree
from tests.console.test_navigation import side_of

Member = Callable[[str], Client]
LIST = "/console/guides/"
_LINK = re.compile(r'<a href="([^"]+)"')
_ANCHOR = re.compile(r'<h\d id="([^"]+)"')


def test_every_document_is_a_guide_and_each_opens(tenant: Tenant, member: Member) -> None:
    assert set(GUIDES) == {path.stem for path in FOLDER.glob("*.md")}
    client = member("reader")
    listed = client.get(LIST).content.decode()
    for name in GUIDES:
        html = client.get(f"{LIST}{name}/").content.decode()
        assert f'href="{LIST}{name}/"' in listed
        assert f"<h1>{read_guide(name).title}</h1>" in html
        assert html.count("<h1") == 1
        assert re.findall(r"<[^>]+ style=", html) == []


@pytest.mark.parametrize("name", GUIDES)
def test_links_lead_to_guides_and_headings_that_exist(name: str) -> None:
    guide = read_guide(name)
    anchors = {other: set(_ANCHOR.findall(read_guide(other).body)) for other in GUIDES}
    assert len(anchors[name]) == guide.body.count("<h2") + guide.body.count("<h3")
    assert {heading.anchor for heading in guide.headings} <= anchors[name]
    for link in _LINK.findall(guide.body):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = urljoin(f"{LIST}{name}/", link).partition("#")
        other = path.removeprefix(LIST).strip("/")
        assert other in GUIDES, link
        assert not anchor or anchor in anchors[other], link


@pytest.mark.parametrize("target", ["../README.md", "examples/team-notes", "nothing.md", "agents"])
def test_a_link_to_something_else_is_no_link(target: str) -> None:
    assert page_of(target) is None


def test_raw_html_and_scripts_are_shown_as_text(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("docs")
    text = (
        "# Bad <b>title</b>\n\n<script>alert(1)</script>\n\n## Its <img src=x onerror=a()>\n\n"
        '[one](javascript:alert(1)) [two](https://example.com/"onclick="a) `<i>`\n\n'
        "```\n</pre><script>\n```\n\n| a |\n| --: |\n| <u>b</u> |\n"
    )
    (folder / "bad.md").write_text(text)
    monkeypatch.setattr("engram.console.guides.FOLDER", folder)
    body = read_guide.__wrapped__("bad").body
    assert set(re.findall(r"<(\w+)", body)) <= {
        "p", "h2", "a", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"
    }  # fmt: skip
    assert re.findall(r"<[^>]* (?:on\w+|style)=", body) == []
    assert 'href="javascript:' not in body


def test_the_empty_corner_of_a_table_is_no_heading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.md").write_text("# A\n\n| | b |\n| --- | ---: |\n| c | |\n")
    monkeypatch.setattr("engram.console.guides.FOLDER", tmp_path)
    cells = re.findall(r"<(t[hd])>(\w*)</(t[hd])>", read_guide.__wrapped__("table").body)
    assert cells == [("td", "", "td"), ("th", "b", "th"), ("td", "c", "td"), ("td", "", "td")]


@pytest.mark.parametrize("name", ["nothing", "README", "examples", "..%2FREADME", "images"])
def test_nothing_else_is_a_guide(tenant: Tenant, member: Member, name: str) -> None:
    assert member("admin").get(f"{LIST}{name}/").status_code == 404


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer", "admin"])
def test_every_role_reaches_the_guides_and_that_to_a_page(
    tenant: Tenant, member: Member, role: str
) -> None:
    client = member(role)
    for page, guide in (
        ("/", "reviewers/#home"),
        ("/console/triage/", "reviewers/#the-verdicts"),
        ("/admin/predictor/training/", "predictor/#"),
        ("/rules/", "rules/#"),
    ):
        side = side_of(client.get(page).content.decode())
        assert f'href="{LIST}"' in side
        assert f'href="{LIST}{guide}"' in side
        assert client.get(f"{LIST}{guide}").status_code == 200


def test_the_guide_to_each_place_exists() -> None:
    named = {tab.guide or place.guide for place in PLACES for tab in place.tabs}
    assert "" not in named
    for name, _, anchor in (one.partition("#") for one in named):
        assert not anchor or anchor in {heading.anchor for heading in read_guide(name).headings}
    assert ADMINISTRATION.guide == ""


@pytest.mark.parametrize("path", ["/console/inbox/", "/console/gate/", "/console/memories/"])
def test_the_lists_of_keys_lead_to_a_guide(tenant: Tenant, member: Member, path: str) -> None:
    client = member("reviewer")
    disagree(tenant.workspace)
    keys = client.get(path).content.decode().split('<dialog id="help"')[1].split("</dialog>")[0]
    links = re.findall(r'href="([^"]+)"', keys)
    assert links == ["/console/guides/reviewers/"]


def test_strangers_are_asked_to_sign_in(db: None) -> None:
    assert Client().get(LIST).status_code == 302
    assert Client().get(f"{LIST}agents/").status_code == 302
