"""Doors and frames: signing in and out, switching, error pages, policies."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client
from django.urls import get_resolver

from engram.console.api_groups import GROUPS
from engram.kernel.models import Membership
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant
from tests.console.cards import QUESTION, disagree
from tests.console.test_navigation import side_of

Member = Callable[[str], Client]
PAGES = [
    "/",
    "/console/triage/",
    "/console/conflicts/",
    "/console/gate/",
    "/console/numbers/",
    "/console/digest/",
    "/console/tour/",
    "/console/guides/",
    "/console/refused/",
]


@pytest.mark.parametrize("path", PAGES)
def test_pages_ask_for_a_sign_in_and_lead_back(db: None, path: str) -> None:
    answer = Client().get(path)
    assert (answer.status_code, answer["Location"]) == (302, f"/admin/login/?next={path}")


@pytest.mark.parametrize("path", PAGES)
def test_somebody_without_workspace_is_told_what_to_do(db: None, path: str) -> None:
    client = Client()
    client.force_login(User.objects.create_user("lost", is_staff=True))
    answer = client.get(path, follow=True)
    assert answer.redirect_chain == [("/console/no-workspace/", 302)]
    assert "create_workspace NAME --admin lost" in answer.content.decode()


def test_member_of_several_workspaces_switches(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    disagree(neighbour.workspace)
    client = member("reader")
    user = User.objects.get(username="reader-person")
    Membership.objects.create(workspace=neighbour.workspace, user=user, role="reader")
    assert QUESTION not in client.get("/console/triage/").content.decode()
    change = f"/admin/kernel/workspace/{neighbour.workspace.pk}/change/"
    assert "Switch to this workspace" in client.get(change).content.decode()
    chosen = {"workspace": str(neighbour.workspace.pk)}
    answer = client.post("/console/switch/", chosen | {"back": "https://example.com/"})
    assert answer.headers["Location"] == "/"
    assert client.post("/console/switch/", chosen | {"back": change}).headers["Location"] == change
    assert "Switch to this workspace" not in client.get(change).content.decode()
    assert QUESTION in client.get("/console/triage/").content.decode()


def test_signing_in_opens_the_workspace_that_one_chose_last(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    disagree(neighbour.workspace)
    first, later = member("reader"), Client()
    user = User.objects.get(username="reader-person")
    Membership.objects.create(workspace=neighbour.workspace, user=user, role="reader")
    away, home = str(neighbour.workspace.pk), str(tenant.workspace.pk)

    def sees_neighbour(client: Client) -> bool:
        return QUESTION in client.get("/console/triage/").content.decode()

    for chosen, is_away in ((away, True), (home, False), (away, True)):
        first.post("/console/switch/", {"workspace": chosen})
        first.post("/console/sign-out/")
        first.force_login(user)
        assert sees_neighbour(first) is is_away
    later.force_login(user)
    first.post("/console/switch/", {"workspace": home})
    assert (sees_neighbour(first), sees_neighbour(later)) == (False, True)


def test_a_workspace_that_one_chose_and_left_is_not_opened(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    disagree(neighbour.workspace)
    client = member("reader")
    user = User.objects.get(username="reader-person")
    joined = Membership.objects.create(workspace=neighbour.workspace, user=user, role="reader")
    client.post("/console/switch/", {"workspace": str(neighbour.workspace.pk)})
    joined.delete()
    client.force_login(user)
    assert QUESTION not in client.get("/console/triage/").content.decode()
    assert client.get("/").status_code == 200


def test_nobody_switches_to_a_workspace_of_others(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    disagree(neighbour.workspace)
    client = member("reader")
    for asked in (str(neighbour.workspace.pk), "nonsense", ""):
        client.post("/console/switch/", {"workspace": asked})
        assert QUESTION not in client.get("/console/triage/").content.decode()


def test_sign_out_ends_the_session(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    assert client.post("/console/sign-out/")["Location"] == "/admin/login/"
    assert client.get("/").status_code == 302


def test_changes_need_the_csrf_token(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    client = member("reviewer")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    for name in ("resolve", "undo", "snooze", "assign", "comment"):
        assert strict.post(f"/console/conflicts/{card.pk}/{name}/").status_code == 403
    refused = strict.post("/console/switch/")
    assert refused.status_code == 403
    assert "The form has expired" in refused.content.decode()
    assert "console.css" in refused.content.decode()  # a page of ours, not the framework's


def test_console_pages_allow_no_foreign_or_inline_code(tenant: Tenant, member: Member) -> None:
    disagree(tenant.workspace)
    client = member("admin")
    for path in ("/", "/console/triage/", "/console/conflicts/"):
        answer = client.get(path)
        policy = answer["Content-Security-Policy"]
        assert "script-src 'self'; style-src 'self'" in policy
        assert "unsafe" not in policy
        html = answer.content.decode()
        assert re.findall(r"<script(?![^>]* src=)", html) == []
        assert re.findall(r"<[^>]+ style=", html) == []
        assert re.findall(r"<[^>]+ on[a-z]+=", html) == []
        assert re.findall(r'(?:src|href)="(?:https?:)?//', html) == []


def test_admin_and_docs_allow_no_inline_script(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    for path in ("/admin/memories/memory/", "/api/docs/"):
        answer = client.get(path)
        scripts = re.search(r"script-src ([^;]*)", answer["Content-Security-Policy"])
        assert scripts is not None
        assert "unsafe-inline" not in scripts[1]
        assert re.findall(r"<script(?![^>]* src=)", answer.content.decode()) == []


def test_api_docs_need_no_network_and_no_sign_in(db: None) -> None:
    html = Client().get("/api/docs/").content.decode()
    assert 'class="side"' not in html
    assert re.findall(r'(?:src|href)="(?:https?:)?//', html) == []
    assert "drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js" in html


def test_api_docs_list_every_operation_without_scripts(db: None) -> None:
    html = Client().get("/api/docs/").content.decode()
    shown = re.findall(
        r"<code>([A-Z]+)</code></td><td><code>(.*?)</code></td><td class=\"wide\">(.+?)</td>", html
    )
    described = Client().get("/api/v1/schema/", headers={"Accept": "application/json"}).json()
    assert {(m.lower(), p.replace("<wbr>", ""), unescape(said)) for m, p, said in shown} == {
        (method, path, operation["summary"])
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }
    assert html.index("<noscript>") < html.index('<h2 id="of-') < html.index("</noscript>")
    groups = re.findall(r'<h2 id="of-[\w-]+">([\w ]+)</h2>', html)
    assert groups == [name.replace("-", " ").capitalize() for name in GROUPS]


def test_api_docs_begin_with_how_to_authenticate(tenant: Tenant, member: Member) -> None:
    html = Client().get("/api/docs/").content.decode()
    first = html[html.index('id="authenticate"') : html.index("<noscript>")]
    assert "<code>Authorization: Bearer egr_…</code>" in first
    assert "http://testserver/api/v1/memories/recall" in first
    assert "Bearer $KEY" in first
    keys = 'href="/admin/kernel/apikey/"'
    assert keys not in first
    for role, is_offered in (("reader", False), ("admin", True)):
        page = member(role).get("/api/docs/").content.decode()
        start = page.index('id="authenticate"')
        first = page[start : page.index("<noscript>", start)]
        assert (keys in first) == is_offered


@pytest.mark.parametrize(
    "path", ["/admin/memories/memory/", "/admin/", "/admin/kernel/apikey/add/"]
)
def test_pages_of_the_admin_say_what_needs_scripts(
    tenant: Tenant, member: Member, path: str
) -> None:
    assert member("admin").get(path).content.decode().count("Without JavaScript") == 1


@pytest.mark.parametrize(
    ("path", "code"), [("/nowhere/", 404), ("/console/conflicts/not-an-id/", 404)]
)
def test_error_pages_have_our_look(db: None, path: str, code: int) -> None:
    answer = Client().get(path)
    assert answer.status_code == code
    assert "console/console.css" in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "code"),
    [("/nowhere/", 404), ("/console/nowhere/", 404), ("/console/settings/", 403),
     ("/rules/", 200), ("/problems/", 200), ("/problems/not-found", 200)],
)  # fmt: skip
def test_members_see_pages_for_everybody_and_refusals_in_their_shell(
    tenant: Tenant, member: Member, path: str, code: int
) -> None:
    answer = member("reader").get(path)
    html = answer.content.decode()
    assert answer.status_code == code
    assert tenant.workspace.name in side_of(html)
    assert html.count("<main") == html.count("<h1") == 1
    assert "no-store" in answer["Cache-Control"]  # the next user of the browser does not see it


def test_an_expired_form_is_told_in_the_shell(tenant: Tenant, member: Member) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = member("reader").cookies
    assert tenant.workspace.name in side_of(strict.post("/console/switch/").content.decode())


@pytest.mark.parametrize("path", ["/nowhere/", "/rules/", "/problems/"])
@pytest.mark.parametrize("is_signed_in", [False, True])
def test_who_is_no_member_sees_no_workspace(tenant: Tenant, path: str, is_signed_in: bool) -> None:
    client = Client()
    if is_signed_in:
        client.force_login(User.objects.create_superuser("lost"))
    html = client.get(path).content.decode()
    assert 'class="side"' not in html
    assert tenant.workspace.name not in html


@pytest.mark.parametrize(("error", "code"), [(OperationalError, 503), (RuntimeError, 500)])
def test_a_page_of_an_error_stays_plain_when_the_shell_cannot_be_read(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch,
    error: type[Exception], code: int,
) -> None:  # fmt: skip
    client = member("reader")
    client.raise_request_exception = False

    def fail(request: object) -> None:
        raise error

    monkeypatch.setattr("engram.console.navigation.tallies_for", fail)
    answer = client.get("/nowhere/")
    assert answer.status_code == code
    assert 'class="side"' not in answer.content.decode()
    assert f'<p class="code">{code}</p>' in answer.content.decode()


def test_times_are_told_in_the_workspaces_zone(tenant: Tenant, member: Member) -> None:
    tenant.workspace.settings = {"time_zone": "Pacific/Auckland"}
    tenant.workspace.save()
    old, _, card = disagree(tenant.workspace)
    with in_workspace(tenant.workspace):
        type(old).objects.update(observed_at="2026-01-01T20:00:00Z")
    html = member("reader").get(f"/console/conflicts/{card.pk}/").content.decode()
    assert "2 January 2026, 09:00" in html


def test_unknown_time_zone_falls_back(tenant: Tenant, member: Member) -> None:
    tenant.workspace.settings = {"time_zone": "Mars/Olympus"}
    tenant.workspace.save()
    assert member("reader").get("/").status_code == 200


def test_every_console_route_is_covered_by_these_tests() -> None:
    names = {
        pattern.name
        for resolver in get_resolver().url_patterns
        if getattr(resolver, "namespace", None) == "console"
        for pattern in resolver.url_patterns
    }
    assert names == {
        "dashboard", "api-docs", "numbers", "switch", "sign-out", "no-workspace", "triage",
        "questions", "question", "unmute", "notes", "note",
        "conflicts", "conflict", "conflict-resolve", "conflict-undo", "conflict-snooze",
        "conflict-assign", "conflict-comment", "gate", "gate-answer", "gate-judge", "gate-undo",
        "inbox", "inbox-act", "inbox-counts", "inbox-snooze", "inbox-undo", "detective", "replay",
        "start", "invitation", "problem", "problem-with-slash", "problems", "deletions",
        "rules", "retention", "digest", "settings", "conflicts-bulk", "learning", "learning-mode",
        "calibration", "memories", "memories-act", "memories-report", "memory", "memory-new",
        "memory-change", "memory-undo", "memory-changes", "memory-changes-undo", "recall", "tour",
        "past-recall", "guides", "guide", "refused", "refused-decide",
    }  # fmt: skip


def test_console_itself_leads_home(member: Member) -> None:
    answer = member("reader").get("/console/")
    assert (answer.status_code, answer["Location"]) == (302, "/")
