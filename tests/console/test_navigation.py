"""The sidebar and its tabs: one for the console and the admin, by role, the current ones marked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from engram.console.navigation import PLACES as PLACES_OF_PAGES
from engram.kernel.models import Role
from engram.kernel.staff import RoleAdmin
from tests.conftest import Tenant
from tests.console.cards import disagree, remember

Member = Callable[[str], Client]
PLACES = [
    "Home", "Inbox", "Memories", "Questions", "Notes", "Detective", "Learning", "Activity",
    "Settings",
]  # fmt: skip
LEARNING = {
    "Overview": ("/console/learning/", "No session has ended yet"),
    "Sessions": ("/admin/memories/session/", "A session begins when an agent asks"),
    "Judgements": ("/admin/predictor/judgement/", "When a session ends with a transcript"),
    "Comparisons": ("/admin/predictor/comparison/", "Every judged session compares"),
    "Trainings": ("/admin/predictor/training/", "After ten scored sessions"),
    "Versions": ("/admin/predictor/modelversion/", "Every training that passes its gates"),
    "Calibration": ("/console/learning/calibration/", "Nobody has rated yet"),
}
SIGN_IN = "/admin/login/"
FOR_ADMINS = ["Settings", "Keys", "Members", "Invitations", "Webhooks", "Deliveries"]


def side_of(html: str) -> str:
    """Return the sidebar's HTML."""
    start = html.index('<aside class="side"')
    return html[start : html.index("</aside>", start)]


def entries_of(html: str) -> dict[str, str]:
    """Return the links of the sidebar by their titles."""
    nav = re.search(r"<nav.*</nav>", side_of(html), re.DOTALL)
    assert nav is not None
    found = re.findall(r'<a href="([^"]+)".*?</svg><span>([^<]+)', nav[0], re.DOTALL)
    return {title: link for link, title in found}


def tabs_of(html: str) -> dict[str, str]:
    """Return the links of the tabs by their titles."""
    nav = re.search(r'<nav class="section".*?</nav>', html, re.DOTALL)
    found = re.findall(r'<a href="([^"]+)"[^>]*>([^<]+?) *<', nav[0]) if nav else []
    return {title: link for link, title in found}


def marked(html: str) -> tuple[list[str], list[str]]:
    """Return the titles that are marked as current, in the sidebar and among the tabs."""
    side = re.findall(r'aria-current="\w+">.*?</svg><span>([^<]+)', side_of(html), re.DOTALL)
    nav = re.search(r'<nav class="section".*?</nav>', html, re.DOTALL)
    tabs = re.findall(r'aria-current="page">([^<]+?) *<', nav[0]) if nav else []
    return side, tabs


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/admin/memories/session/", "Sessions"),
        ("/admin/kernel/event/", "Activity"),
        ("/admin/kernel/apikey/", "Keys"),
        ("/admin/kernel/apikey/add/", "Add API key"),
        ("/admin/conflicts/detectionrun/", "Runs"),
    ],
)
def test_pages_of_the_admin_have_titles_like_all_others(
    tenant: Tenant, member: Member, path: str, title: str
) -> None:
    page = member("admin").get(path).content.decode()
    found = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    assert found is not None
    assert " ".join(found[1].split()) == f"{title} · Engram"
    assert "Select " not in found[1]


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("/console/detective/", "Detective"),
        ("/console/gate/", "Gate"),
        ("/console/learning/", "Learning"),
        ("/console/recall/", "Try a recall"),
        ("/admin/kernel/event/", "Activity"),
    ],
)
def test_a_phone_names_the_place_and_within_it_the_tab(
    tenant: Tenant, member: Member, path: str, title: str
) -> None:
    html = member("admin").get(path).content.decode()
    assert f"Menu:</span> <strong>{title}</strong>" in html


def test_there_are_nine_places_and_a_drawer_for_who_administers(
    tenant: Tenant, member: Member
) -> None:
    shown = {role: list(entries_of(member(role).get("/").content.decode())) for role in Role.values}
    assert shown == {
        "reader": PLACES,
        "agent": PLACES,
        "reviewer": PLACES,
        "admin": [*PLACES, "Administration"],
    }


@pytest.mark.parametrize("role", Role.values)
def test_console_and_admin_have_the_same_sidebar(tenant: Tenant, member: Member, role: str) -> None:
    client = member(role)

    def unmarked(path: str) -> str:
        side = re.sub(r' aria-current="\w+"', "", side_of(client.get(path).content.decode()))
        side = re.sub(r'\w+/#\w*" title="The guide to this page"', "", side)
        return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", side)

    assert unmarked("/") == unmarked("/admin/memories/memory/") == unmarked("/console/gate/")


@pytest.mark.parametrize("role", Role.values)
def test_whatever_is_shown_to_a_role_opens_and_is_marked(
    tenant: Tenant, member: Member, role: str
) -> None:
    client = member(role)
    entries = entries_of(client.get("/").content.decode())
    seen = {}
    for place, link in entries.items():
        html = client.get(link).content.decode()
        tabs = tabs_of(html) or {place: link}
        assert next(iter(tabs.values())) == link
        for tab, path in tabs.items():
            answer = client.get(path)
            assert answer.status_code == 200, path
            expected = ([place], [tab] if len(tabs) > 1 else [])
            assert marked(answer.content.decode()) == expected, path
            seen[tab] = path
    hidden = set(FOR_ADMINS) - set(seen)
    assert hidden == (set() if role == "admin" else set(FOR_ADMINS))
    assert ("Reviews" in seen) == (role != "reader")
    assert ("Retention" in seen) == (role in {"reviewer", "admin"})
    assert "Users" not in seen


def test_what_is_not_shown_is_refused(tenant: Tenant, member: Member) -> None:
    admin, reader = member("admin"), member("reader")
    settings = entries_of(admin.get("/").content.decode())["Settings"]
    tabs = tabs_of(admin.get(settings).content.decode())
    assert {title: reader.get(tabs[title]).status_code for title in FOR_ADMINS} == dict.fromkeys(
        FOR_ADMINS, 403
    )


@pytest.mark.parametrize(
    ("path", "place", "tab"),
    [
        ("/admin/conflicts/conflict/", "Inbox", "Conflicts"),
        ("/admin/memories/mergesuggestion/", "Detective", "Gate"),
        ("/admin/memories/merge/", "Detective", "Gate"),
        ("/admin/memories/note/", "Notes", ""),
        ("/admin/kernel/apikey/add/", "Settings", "Keys"),
        ("/admin/kernel/workspace/", "Administration", "Workspaces"),
        ("/admin/kernel/workspace/{own}/delete/", "Settings", "Workspace"),
        ("/admin/password_change/", "Administration", "All tables"),
        ("/console/conflicts/{card}/", "Inbox", "Conflicts"),
        ("/rules/", "Detective", "Overview"),
        ("/problems/not-found", "Settings", "API docs"),
    ],
)
def test_pages_below_a_tab_belong_to_it(
    tenant: Tenant, member: Member, path: str, place: str, tab: str
) -> None:
    _, _, card = disagree(tenant.workspace)
    answer = member("admin").get(path.format(own=tenant.workspace.pk, card=card.pk))
    assert answer.status_code == 200
    assert marked(answer.content.decode()) == ([place], [tab] if tab else [])


@pytest.mark.parametrize("title", LEARNING)
def test_a_tab_says_what_comes_there(tenant: Tenant, member: Member, title: str) -> None:
    link, empty = LEARNING[title]
    html = member("reader").get(link).content.decode()
    assert empty in html
    assert tabs_of(html) == {title: link for title, (link, _) in LEARNING.items()}


def test_the_same_counts_stand_everywhere(tenant: Tenant, member: Member) -> None:
    disagree(tenant.workspace)
    client = member("reviewer")
    counts = client.get("/console/inbox/counts/").json()
    assert (counts["inbox"], counts["conflicts"]) == (1, 1)
    for path in ("/", "/console/inbox/", "/console/triage/", "/admin/memories/review/"):
        html = client.get(path).content.decode()
        shown = re.findall(r'data-count="(\w+)">(\d+)<', html)
        assert ("inbox", "1") in shown, path
        assert {(name, str(counts[name])) for name, _ in shown} == set(shown), path
    for path in ("/", "/console/settings/", "/admin/memories/review/", "/rules/", "/nowhere/"):
        assert re.search(r"<title>\s*\(1\) \w", client.get(path).content.decode()), path


def test_counting_asks_as_often_for_many_as_for_one(tenant: Tenant, member: Member) -> None:
    client = member("reviewer")
    client.get("/admin/memories/review/")
    with CaptureQueriesContext(connection) as none:
        client.get("/admin/memories/review/")
    disagree(tenant.workspace)
    for number in range(10):
        remember(tenant.workspace, f"Part {number} is made of item{number}.")
    with CaptureQueriesContext(connection) as some:
        client.get("/admin/memories/review/")
    assert len(some) == len(none)


def test_superusers_without_a_workspace_reach_what_is_for_them(db: None) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root-ish", password="x"))
    html = client.get("/admin/auth/user/").content.decode()
    assert list(entries_of(html)) == ["Settings", "Administration"]
    assert marked(html) == (["Administration"], ["Users"])
    assert list(tabs_of(html)) == ["All tables", "Workspaces", "Users", "Failed sign-ins"]
    assert client.get(entries_of(html)["Settings"]).status_code == 200  # deletions


def test_the_theme_switch_and_sign_out_are_on_every_page(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    for path in ("/", "/admin/memories/memory/"):
        side = side_of(client.get(path).content.decode())
        assert re.findall(r'data-theme-choice="(\w+)"', side) == ["light", "dark", "auto"]
        assert 'action="/console/sign-out/"' in side
        assert "reader-person" in side


def test_pages_load_the_fonts_that_are_installed_and_nothing_else(
    tenant: Tenant, member: Member
) -> None:
    client = member("reader")
    for caller, path in ((client, "/"), (client, "/admin/memories/memory/"), (Client(), SIGN_IN)):
        html = caller.get(path).content.decode()
        assert "unfold/fonts/inter/styles.css" in html
        assert re.findall(r'(?:src|href)="(?:https?:)?//', html) == []


def test_the_sign_in_page_says_what_engram_is(db: None) -> None:
    html = Client().get(SIGN_IN).content.decode()
    assert "Engram is a memory for AI agents." in html


LISTS = [
    tab.route for place in PLACES_OF_PAGES for tab in place.tabs if tab.route.endswith("changelist")
]


@pytest.mark.parametrize("route", LISTS)
def test_an_empty_list_says_what_comes_there_and_what_to_do(route: str) -> None:
    name = route.removeprefix("admin:").removesuffix("_changelist")
    [found] = [
        one
        for model, one in site._registry.items()
        if f"{model._meta.app_label}_{model._meta.model_name}" == name
    ]
    assert isinstance(found, RoleAdmin)
    words, leads_to = found.empty_next
    has_button_of_its_own = name == "memories_janitorrun"
    is_never_empty = name == "kernel_membership"  # one reads it as a member
    assert found.empty_text or is_never_empty
    if words:
        assert reverse(leads_to)
    assert words or has_button_of_its_own or is_never_empty
