"""The admin: roles decide, services write, nothing of another workspace shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from conflicts.admin import runs as runs_admin
from conflicts.models import Conflict, DetectionRun
from conflicts.services.detection.detect import detect_due
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import ApiKey, Event, Membership, Role, Workspace
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from memories.services.lifecycle import forget
from tests.conftest import NOW, Tenant
from tests.console.cards import NEW, OLD, QUESTION, disagree, remember, state, status

Member = Callable[[str], Client]
MEMORIES = "/admin/memories/memory/"
JANITOR = "/admin/memories/janitorrun/"
CONFLICTS = "/admin/conflicts/conflict/"
KEYS = "/admin/kernel/apikey/"
REVIEWS = "/admin/memories/review/"
MEMBERS = "/admin/kernel/membership/"
INVITATIONS = "/admin/kernel/invitation/"
WEBHOOKS = "/admin/console/webhookendpoint/"
DELIVERIES = "/admin/console/webhookdelivery/"
LISTS = [
    MEMORIES, JANITOR, CONFLICTS,
    "/admin/conflicts/detectionrun/", "/admin/kernel/event/", KEYS, MEMBERS, INVITATIONS,
    WEBHOOKS, DELIVERIES, "/admin/kernel/workspace/", "/admin/memories/session/",
    "/admin/memories/reportitem/", "/admin/memories/pastrecall/",
]  # fmt: skip
ADMINS_ONLY = {KEYS, MEMBERS, INVITATIONS, WEBHOOKS, DELIVERIES}


def act(client: Client, path: str, action: str, ids: list[Any], *, confirmed: bool) -> Any:
    body = {"action": action, "_selected_action": [str(i) for i in ids], "select_across": "0"}
    return client.post(path, body | ({"confirmed": "yes"} if confirmed else {}))


def test_every_model_of_ours_that_people_need_is_registered() -> None:
    registered = {model._meta.label for model in admin.site._registry}
    assert registered == {
        "auth.User", "kernel.Workspace", "kernel.Membership", "kernel.Invitation",
        "axes.AccessAttempt",
        "kernel.ApiKey",
        "kernel.Event", "memories.Memory", "memories.JanitorRun", "memories.Merge",
        "memories.MergeSuggestion", "memories.Note", "memories.PastRecall",
        "memories.PredictionError", "memories.ReportItem", "memories.Review", "memories.Session",
        "conflicts.Conflict", "console.WebhookDelivery", "console.WebhookEndpoint",
        "conflicts.DetectionRun", "predictor.Judgement", "predictor.Comparison",
        "predictor.Training", "predictor.ModelVersion",
    }  # fmt: skip


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("path", LISTS)
def test_lists_open_for_the_roles_that_need_them(
    tenant: Tenant, member: Member, path: str, role: Role
) -> None:
    disagree(tenant.workspace)
    expected = 403 if path in ADMINS_ONLY and role != Role.ADMIN else 200
    assert member(role).get(path).status_code == expected


@pytest.mark.parametrize("path", [*LISTS, "/admin/auth/user/"])
def test_staff_without_membership_sees_nothing(tenant: Tenant, path: str) -> None:
    client = Client()
    client.force_login(User.objects.create_user("outsider", is_staff=True))
    assert client.get(path).status_code == 403


def test_refusals_leave_no_trace_in_the_log(
    tenant: Tenant, member: Member, caplog: pytest.LogCaptureFixture
) -> None:
    assert member("reader").get(KEYS).status_code == 403
    (told,) = [one for one in caplog.records if one.name == "django.request"]
    assert KEYS in told.getMessage()
    assert told.exc_info is None


def test_accounts_are_for_superusers(tenant: Tenant, neighbour: Tenant, member: Member) -> None:
    client, path = member("admin"), "/admin/auth/user/"
    user = User.objects.get(username="admin-person")
    Membership.objects.create(workspace=neighbour.workspace, user=user, role=Role.READER)
    assert client.get(path).status_code == 403
    User.objects.update(is_superuser=True)
    shown = client.get(path).content.decode()
    for name, role in ((tenant.workspace.name, "Admin"), (neighbour.workspace.name, "Reader")):
        assert f"{name} ({role})" in shown


def test_an_account_is_made_changed_and_switched_off(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    User.objects.update(is_superuser=True)
    form = client.get("/admin/auth/user/add/").content.decode()
    assert "An account alone opens no workspace" in form
    word = "correct horse battery staple"
    made = {"username": "ida", "password1": word, "password2": word}
    answer = client.post("/admin/auth/user/add/", made)
    ida = User.objects.get(username="ida")
    assert answer["Location"] == f"/admin/auth/user/{ida.pk}/change/"
    page = client.get(answer["Location"]).content.decode()
    assert f'href="/admin/auth/user/{ida.pk}/password/"' in page
    assert not {"pbkdf2", "User permissions", "Groups"} & set(
        re.findall(r"pbkdf2|[A-Z]\w+ ?\w*", page)
    )
    client.post(answer["Location"], {"username": "ida", "email": "ida@example.com"})
    ida.refresh_from_db()
    assert (ida.email, ida.is_active, ida.check_password(word)) == ("ida@example.com", False, True)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/admin/kernel/membership/add/", ["Members", "Add member", "a reviewer also answers"]),
        ("/admin/kernel/apikey/add/", ["Keys", "Add API key", "May claim at most"]),
        (
            "/admin/kernel/invitation/add/",
            ["Invitations", "Add invitation", "an agent also writes"],
        ),
        ("/admin/kernel/workspace/add/", ["Workspaces", "Add workspace", "create_key --workspace"]),
    ],
)
def test_forms_say_where_one_is_and_have_one_button(
    tenant: Tenant, member: Member, path: str, said: list[str]
) -> None:
    client = member("admin")
    User.objects.update(is_superuser=True)
    html = client.get(path).content.decode()
    page = html[html.index('<main id="main"') :]
    assert [text for text in said if text not in page] == []
    assert re.findall(r'name="_\w+"', page) == ['name="_save"']
    listed = client.get(path.removesuffix("add/")).content.decode()
    assert len(re.findall(rf'href="{path}">\s*{said[1]}</a>', listed)) == 1
    assert f'href="{path}"' not in page


def test_tables_are_called_as_the_tabs_that_lead_to_them(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    User.objects.update(is_superuser=True)
    html = client.get("/admin/").content.decode()
    tables = dict(re.findall(r'<li><a href="([^"]+)">([^<]+)</a>', html))
    assert tables["/admin/memories/predictionerror/"] == "Memories in doubt"
    assert tables["/admin/kernel/event/"] == "Activity"
    assert tables["/admin/memories/merge/"] == "Merges"
    assert "/admin/auth/group/" not in tables


@pytest.mark.parametrize("path", LISTS)
def test_nothing_of_another_workspace_is_listed(
    tenant: Tenant, neighbour: Tenant, member: Member, path: str
) -> None:
    disagree(neighbour.workspace)
    outsider = User.objects.create_user("zenith-person", is_staff=True)
    Membership.objects.create(workspace=neighbour.workspace, user=outsider, role="admin")
    html = member("admin").get(f"{path}?state=all&status=all").content.decode().lower()
    for text in (OLD, NEW, QUESTION, "zenith"):
        assert text.lower() not in html


def test_single_rows_of_another_workspace_are_not_there(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    old, _, card = disagree(neighbour.workspace)
    client = member("admin")
    with in_workspace(neighbour.workspace):
        key, event = ApiKey.objects.first(), Event.objects.first()
    assert key is not None
    assert event is not None
    for path in (
        f"{MEMORIES}{old.pk}/change/", f"{CONFLICTS}{card.pk}/change/", f"{KEYS}{key.pk}/change/",
        f"/admin/kernel/event/{event.pk}/change/",
        f"/admin/kernel/workspace/{neighbour.workspace.pk}/change/",
    ):  # fmt: skip
        answer = client.get(path, follow=True)
        assert answer.status_code == 404 or "doesn’t exist" in answer.content.decode()
    act(client, MEMORIES + "?state=all", "forget", [old.pk], confirmed=True)
    act(client, KEYS, "revoke", [key.pk], confirmed=True)
    act(client, CONFLICTS, "dismiss", [card.pk], confirmed=True)
    assert state(neighbour.workspace, old) == "active"
    assert status(neighbour.workspace, card) == "open"
    with in_workspace(neighbour.workspace):
        assert ApiKey.objects.filter(revoked_at=None).count() == 4


@pytest.mark.parametrize("path", LISTS)
def test_lists_ask_as_often_for_many_rows_as_for_one(
    tenant: Tenant, member: Member, path: str
) -> None:
    client = member("admin")

    def more(start: int, count: int) -> None:
        for number in range(start, start + count):
            remember(tenant.workspace, f"Part {number} is made of item{number}.")
            user = User.objects.create_user(f"u{number}")
            Membership.objects.create(workspace=tenant.workspace, user=user)
            workspace = Workspace.objects.create(slug=f"w{number}", name=f"W{number}")
            person = User.objects.get(username="admin-person")
            Membership.objects.create(workspace=workspace, user=person)

    disagree(tenant.workspace)
    more(0, 1)
    # The member's own workspace comes first by name, so the list is of the same one.
    client.get(path)
    with CaptureQueriesContext(connection) as few:
        client.get(path)
    more(10, 15)
    with CaptureQueriesContext(connection) as many:
        client.get(path)
    assert len(many) == len(few)


def test_memories_are_found_by_words_state_and_scope(tenant: Tenant, member: Member) -> None:
    disagree(tenant.workspace)
    gone = remember(tenant.workspace, "Invoices leave on Mondays.", scope="billing")
    forget.forget(tenant.workspace, [gone.pk], actor=SYSTEM, now=timezone.now())
    client = member("agent")

    def shown(query: str) -> list[str]:
        html = client.get(f"{MEMORIES}?{query}").content.decode()
        return sorted(re.findall(r'class="eg-cell">([^<]*)<', html))

    assert shown("") == sorted([OLD, NEW])
    assert shown("q=limits+5000") == [NEW]
    assert shown("q=%00") in ([], sorted([OLD, NEW]))
    assert shown("state=forgotten") == ["Invoices leave on Mondays."]
    assert "Invoices" not in member("reader").get(f"{MEMORIES}?state=forgotten").content.decode()
    assert shown("state=all&scope=billing") == ["Invoices leave on Mondays."]
    assert shown("state=nonsense") == []


def test_forgetting_asks_first_and_counts(tenant: Tenant, member: Member) -> None:
    old, new, _ = disagree(tenant.workspace)
    client = member("reviewer")
    asked = act(client, MEMORIES, "forget", [old.pk, new.pk], confirmed=False)
    assert "Forget 2 memories?" in asked.content.decode()
    assert state(tenant.workspace, old) == "active"
    act(client, MEMORIES, "forget", [old.pk, new.pk], confirmed=True)
    assert (state(tenant.workspace, old), state(tenant.workspace, new)) == ("forgotten",) * 2
    act(client, f"{MEMORIES}?state=all", "restore", [old.pk], confirmed=True)
    assert state(tenant.workspace, old) == "active"


@pytest.mark.parametrize("role", ["reader", "agent"])
def test_actions_need_the_role(tenant: Tenant, member: Member, role: str) -> None:
    old, _, card = disagree(tenant.workspace)
    client = member(role)
    assert 'value="forget"' not in client.get(MEMORIES).content.decode()
    for path, action, row in ((MEMORIES, "forget", old), (CONFLICTS, "dismiss", card)):
        assert act(client, path, action, [row.pk], confirmed=True).status_code == 403
    assert (state(tenant.workspace, old), status(tenant.workspace, card)) == ("active", "open")


def test_no_row_is_written_past_the_services(tenant: Tenant, member: Member) -> None:
    old, _, card = disagree(tenant.workspace)
    client = member("admin")
    for path in (
        f"{MEMORIES}add/", f"{MEMORIES}{old.pk}/change/", f"{MEMORIES}{old.pk}/delete/",
        f"{CONFLICTS}add/", f"{CONFLICTS}{card.pk}/change/", f"{CONFLICTS}{card.pk}/delete/",
        "/admin/kernel/event/add/", "/admin/conflicts/detectionrun/add/",
    ):  # fmt: skip
        assert client.post(path, {"content": "raw", "status": "resolved"}).status_code == 403
    act(client, MEMORIES, "delete_selected", [old.pk], confirmed=True)
    assert (state(tenant.workspace, old), status(tenant.workspace, card)) == ("active", "open")


def test_conflict_detail_has_the_verdicts_of_the_page(tenant: Tenant, member: Member) -> None:
    _, _, card = disagree(tenant.workspace)
    html = member("reviewer").get(f"{CONFLICTS}{card.pk}/change/").content.decode()
    assert html.count('name="verdict"') == 7  # none is valid: also beside its answer
    assert f'action="/console/conflicts/{card.pk}/resolve/"' in html


def test_a_detection_run_shows_nothing_of_what_it_had_not(tenant: Tenant, member: Member) -> None:
    plain: dict[str, Any] = {"status": "done", "reason": "commit", "created_at": timezone.now()}
    full = {"joined": 2, "model": "small-1", "tokens": 90, "error": "TimeoutError"}
    with in_workspace(tenant.workspace):
        runs = [DetectionRun.objects.create(**plain, **more) for more in ({}, full)]
    client, labels = member("reader"), ("Conflicts that grew", "Tokens", "Error")
    for run, is_shown in zip(runs, (False, True), strict=True):
        html = client.get(f"/admin/conflicts/detectionrun/{run.pk}/change/").content.decode()
        assert "Conflicts opened" in html
        assert "Language model" in html
        assert "Narrative" not in html
        assert "new memories" in html
        assert [label in html for label in labels] == [is_shown] * 3


def test_a_detection_run_leads_to_the_conflicts_that_it_opened(
    tenant: Tenant, member: Member
) -> None:
    for hall in ("C", "D"):
        for number in (6, 8):
            text = f"Hall {hall} has {number} benches."
            assert tenant.agent.post("memories", {"content": text}).status_code == 201
    [run] = detect_due(tenant.workspace, clock=timezone.now)
    with in_workspace(tenant.workspace):
        cards = list(Conflict.objects.all())
        assert (len(cards), run.opened) == (2, 2)
        reported = Conflict.objects.create(
            kind="ambiguity", question="Is it so?", rule="report.person", severity="medium",
            detected_by=["person"], confidence=1, created_at=run.created_at,
            updated_at=run.created_at,
        )  # fmt: skip
        other = DetectionRun.objects.create(reason="commit", created_at=timezone.now(), opened=2)
    client, runs = member("reader"), "/admin/conflicts/detectionrun/"
    html = client.get(f"{runs}{run.pk}/change/").content.decode()
    for card in cards:
        assert f'<li><a href="/console/conflicts/{card.pk}/">Hall' in html
    assert str(reported.pk) not in html
    assert "no longer kept" in client.get(f"{runs}{other.pk}/change/").content.decode()


def test_a_detection_run_names_some_conflicts_and_counts_the_others(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_admin, "LISTED", 1)
    for hall in ("C", "D", "E"):
        for number in (6, 8):
            tenant.agent.post("memories", {"content": f"Hall {hall} has {number} benches."})
    [run] = detect_due(tenant.workspace, clock=timezone.now)
    html = member("reader").get(f"/admin/conflicts/detectionrun/{run.pk}/change/").content.decode()
    assert html.count('<li><a href="/console/conflicts/') == 1
    assert "<li>and 2 more</li>" in html


def test_memory_detail_tells_its_history(tenant: Tenant, member: Member) -> None:
    old, _, card = disagree(tenant.workspace)
    html = member("reader").get(f"/console/memories/{old.pk}/").content.decode()
    assert OLD in html
    assert f"/console/conflicts/{card.pk}/" in html
    assert "Forget…" not in html


def test_token_is_shown_once_and_opens_the_door(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    answer = client.post(f"{KEYS}add/", {"name": "new key", "role": "agent"})
    found = re.search(r"egr_[\w-]{43}", answer.content.decode())
    assert found is not None
    assert "no-store" in answer["Cache-Control"].split(", ")
    known = keys.find(found[0])
    assert known is not None
    assert (known.name, known.role) == ("new key", "agent")
    assert found[0] not in client.get(KEYS).content.decode()
    assert found[0] not in client.get(f"{KEYS}{known.id}/change/").content.decode()


def test_key_that_is_dead_at_birth_is_refused(tenant: Tenant, member: Member) -> None:
    body = {
        "name": "k", "role": "agent", "expires_at_0": "2001-01-01", "expires_at_1": "00:00",
    }  # fmt: skip
    answer = member("admin").post(f"{KEYS}add/", body)
    assert "Must be in the future." in answer.content.decode()


def test_revoking_asks_first(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    with in_workspace(tenant.workspace):
        key = ApiKey.objects.get(name="acme reader")
    page = f"/admin/kernel/apikey/{key.pk}/change/"
    offer = '<button name="action" value="revoke">'
    shown = client.get(page).content.decode()
    assert offer in shown
    assert f'name="_selected_action" value="{key.pk}"' in shown
    assert (
        "Revoke 1 key?" in act(client, KEYS, "revoke", [key.pk], confirmed=False).content.decode()
    )
    assert tenant.reader.get("memories").status_code == 200
    act(client, KEYS, "revoke", [key.pk], confirmed=True)
    assert tenant.reader.get("memories").status_code == 401
    assert offer not in client.get(page).content.decode()
    assert member("reviewer").get(page).status_code == 403


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer"])
def test_keys_and_members_are_made_by_admins(tenant: Tenant, member: Member, role: str) -> None:
    client = member(role)
    assert client.post(f"{KEYS}add/", {"name": "k", "role": "admin"}).status_code == 403
    body = {"username": f"{role}-person", "role": "admin"}
    own = Membership.objects.get(user__username=f"{role}-person")
    assert client.post(f"{MEMBERS}{own.pk}/change/", body).status_code == 403
    assert client.post(f"{MEMBERS}add/", body).status_code == 403


def test_superuser_adds_and_changes_members_of_the_own_workspace(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    client = member("admin")
    # Others invite: see test_invitations.py.
    User.objects.filter(username="admin-person").update(is_superuser=True)
    User.objects.create_user("newcomer", is_staff=True)
    assert (
        client.post(f"{MEMBERS}add/", {"username": "newcomer", "role": "reader"}).status_code == 302
    )
    made = Membership.objects.get(user__username="newcomer")
    assert (made.workspace, made.role) == (tenant.workspace, "reader")
    client.post(f"{MEMBERS}{made.pk}/change/", {"role": "reviewer"})
    made.refresh_from_db()
    assert made.role == "reviewer"
    again = client.post(f"{MEMBERS}add/", {"username": "newcomer", "role": "reader"})
    assert "is a member already" in again.content.decode()
    unknown = client.post(f"{MEMBERS}add/", {"username": "ghost", "role": "reader"})
    assert "There is no such account" in unknown.content.decode()


def test_last_admin_stays(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    own = Membership.objects.get(user__username="admin-person")
    answer = client.post(f"{MEMBERS}{own.pk}/change/", {"role": "reader"})
    assert "last admin" in answer.content.decode()
    assert client.post(f"{MEMBERS}{own.pk}/delete/", {"post": "yes"}).status_code == 403


def test_a_workspace_is_renamed_and_its_settings_stay(tenant: Tenant, member: Member) -> None:
    change_settings(tenant.workspace, {"gate_policy": "suggest"}, actor=SYSTEM, now=NOW)
    client = member("admin")
    path = f"/admin/kernel/workspace/{tenant.workspace.pk}/change/"
    page = client.get(path).content.decode()
    assert reverse("console:settings") in page
    assert "<textarea" not in page
    taken = client.post(path, {"name": "Acme", "slug": "no slug!"})
    assert taken.status_code == 200
    assert Workspace.objects.get(pk=tenant.workspace.pk).slug == tenant.workspace.slug
    client.post(path, {"name": "Acme & Co", "slug": "acme-co", "settings": "{}"})
    stored = Workspace.objects.get(pk=tenant.workspace.pk)
    assert (stored.name, stored.slug) == ("Acme & Co", "acme-co")
    assert stored.config.gate_policy == "suggest"


def test_superuser_makes_a_workspace_and_belongs_to_it(db: None) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("first"))
    answer = client.post(
        reverse("admin:kernel_workspace_add"),
        {"name": "New", "slug": "new"},
    )
    assert answer.status_code == 302
    made = Membership.objects.get(user__username="first")
    assert (made.workspace.slug, made.role) == ("new", "admin")


def test_django_keeps_no_log_of_texts(tenant: Tenant, member: Member) -> None:
    old, _, _ = disagree(tenant.workspace)
    client = member("admin")
    act(client, MEMORIES, "forget", [old.pk], confirmed=True)
    client.post(f"{KEYS}add/", {"name": "k", "role": "agent"})
    assert LogEntry.objects.count() == 0


@pytest.mark.parametrize(
    "asked",
    ["question__contains=5000", "reasoning__contains=Two", "members__memory__content__contains=5"],
)
def test_addresses_cannot_ask_what_stands_in_withheld_texts(
    tenant: Tenant, member: Member, asked: str
) -> None:
    old, _, _ = disagree(tenant.workspace)
    forget.forget(tenant.workspace, [old.pk], actor=SYSTEM, now=timezone.now())
    client = member("reader")
    assert client.get(f"{CONFLICTS}?{asked}").status_code == 400
    assert client.get(f"{MEMORIES}?content__contains=5000&state=all").status_code == 400


@pytest.mark.parametrize("path", [CONFLICTS, MEMORIES])
def test_lists_are_not_sorted_by_text(tenant: Tenant, member: Member, path: str) -> None:
    disagree(tenant.workspace)
    page = member("reader").get(path).content.decode()
    # A reader has no column of boxes: the text is column 0.
    sortable = {int(column) for column in re.findall(r'href="\?[^"]*o=-?(\d+)', page)}
    assert 0 not in sortable
    assert sortable


def test_reviews_are_read_and_answered_in_the_admin(tenant: Tenant, member: Member) -> None:
    memory, rival = (
        tenant.agent.post(
            "memories", {"content": text, "provenance": "user_stated", "scope": text[-4:]}
        ).json()["memory"]["id"]
        for text in ("The budget is 5000 euros.", "The <b>moat</b> is deep.")
    )
    asked = [
        tenant.agent.post("memories", {"content": text, "supersedes": i}).json()["review"]
        for text, i in (("The budget is 9 euros.", memory), ("The <i>moat</i> is dry.", rival))
    ]
    reviewer = member("reviewer")
    page = reviewer.get(REVIEWS).content.decode()
    assert "The budget is 9 euros." in page
    assert "<i>moat</i>" not in page
    assert "The budget is 9 euros." in reviewer.get(f"{REVIEWS}{asked[0]}/change/").content.decode()
    act(reviewer, REVIEWS, "accept", [asked[0]], confirmed=False)
    assert tenant.agent.get(f"reviews/{asked[0]}").json()["status"] == "pending"
    act(reviewer, REVIEWS, "accept", [asked[0]], confirmed=True)
    act(reviewer, REVIEWS, "reject", [asked[1]], confirmed=True)
    shown = [tenant.agent.get(f"reviews/{review}").json() for review in asked]
    assert [row["status"] for row in shown] == ["accepted", "rejected"]
    assert tenant.agent.get(f"memories/{memory}").json()["state"] == "superseded"
    assert member("reader").get(REVIEWS).status_code == 403
    assert act(member("agent"), REVIEWS, "accept", [asked[1]], confirmed=True).status_code == 403


def test_a_request_that_cannot_be_accepted_is_named_and_stops_no_other(
    tenant: Tenant, member: Member
) -> None:
    def post(text: str, **more: Any) -> Any:
        return tenant.agent.post("memories", {"content": text, "scope": "money", **more}).json()

    stated = post("The budget is 5000 euros.", provenance="user_stated")["memory"]["id"]
    other = post("The auditor is Mira.", provenance="user_stated")["memory"]["id"]
    asked = [
        post("The budget is 9 euros.", supersedes=stated)["review"],
        post("The budget is 7 euros.", supersedes=stated)["review"],
        post("The auditor is Ines.", supersedes=other)["review"],
    ]
    client = member("reviewer")
    act(client, REVIEWS, "accept", asked, confirmed=True)
    html = client.get(REVIEWS).content.decode()
    assert "2 requests accepted." in html
    named = re.findall(r'<a href="/admin/memories/review/([^/]+)/change/">[^<]*</a>: ', html)
    assert len(named) == 1
    assert named[0] in asked[:2]
    assert "The budget is 5000 euros." not in html  # no message keeps it
    shown = [tenant.agent.get(f"reviews/{review}").json()["status"] for review in asked]
    assert sorted(shown) == ["accepted", "accepted", "lapsed"]


def test_a_review_speaks_the_words_of_the_api(tenant: Tenant, member: Member) -> None:
    stated = tenant.agent.post(
        "memories", {"content": "The budget is 5000 euros.", "provenance": "user_stated"}
    ).json()["memory"]["id"]
    asked = [
        tenant.agent.post(
            "memories",
            {
                "content": "The budget is 9 euros.", "supersedes": stated, "pinned": True,
                "tags": ["guess", "money"], "session_key": "run-1",
                "expires_at": "2099-01-02T03:04:00Z",
            },
        ).json()["review"],
        tenant.agent.patch(f"memories/{stated}", {"pinned": False, "scope": "money"}).json()[
            "review"
        ],
    ]  # fmt: skip
    commit, change = (tenant.agent.get(f"reviews/{review}").json()["request"] for review in asked)
    assert (commit["pinned"], commit["revive"], change) == (
        True, False, {"pinned": False, "scope": "money"},
    )  # fmt: skip
    client = member("reviewer")
    pages = [client.get(f"{REVIEWS}{review}/change/").content.decode() for review in asked]
    told = [dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page)) for page in pages]
    assert told[0] | {
        "Pinned": "yes", "Tags": "guess, money", "Session": "run-1",
        "Expires at": "2 Jan 2099, 03:04", "Provenance": "Derived by an assistant",
    } == told[0]  # fmt: skip
    assert (told[1]["Pinned"], told[1]["Scope"]) == ("no", "money")
    assert "is_pinned" not in "".join(pages)


@pytest.mark.parametrize(
    ("path", "title"),
    [(MEMORIES, "Memories"), (REVIEWS, "Reviews"), (JANITOR, "Janitor")],
)
def test_a_list_is_titled_once_and_counts_what_was_asked_for(
    tenant: Tenant, member: Member, path: str, title: str
) -> None:
    def heading(query: str) -> str:
        page = client.get(path + query).content.decode()
        head = page[page.index("<h1") : page.index("</h1>") + 200]
        return " ".join(re.sub(r"<[^>]*>?", " ", head).split())

    client = member("admin")
    assert heading("").startswith(f"{title} 0 ")
    assert heading("").count(title) == 1
    assert "Show all" not in heading("")
    if path == MEMORIES:
        assert heading("?q=lime").startswith(f"{title} 0 memories (active) Show all")


@pytest.mark.parametrize("path", [MEMORIES, REVIEWS, JANITOR, CONFLICTS])
def test_an_empty_list_says_what_comes_there(tenant: Tenant, member: Member, path: str) -> None:
    html = member("admin").get(path).content.decode()
    assert "Nothing here yet" in html
    assert re.search(r"Nothing here yet</h2>\s*<p[^>]*>[A-Z“]", html)


def test_the_tables_of_one_app_are_shown_as_all_are(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    every, some = (client.get(path).content.decode() for path in ("/admin/", "/admin/memories/"))
    for html in (every, some):
        assert re.search(r"<title>\s*All tables · Engram", html)
        assert 'href="/admin/memories/janitorrun/">Janitor</a>' in html
        assert 'class="side"' in html
    assert '<a href="/admin/console/">Webhooks</a>' in every
    assert "administration" not in strip_tags(some).replace("Administration", "")
    assert "/admin/conflicts/" not in some[some.index("all-tables") :]
