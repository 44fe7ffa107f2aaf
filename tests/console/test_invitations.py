"""Nobody is pulled into a workspace: they are invited by a link, and accept it or not."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engram.kernel import invitations
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, Invitation, Membership, Role
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant

ADD, LIST = "/admin/kernel/invitation/add/", "/admin/kernel/invitation/"
MEMBERS = "/admin/kernel/membership/"


def person(name: str, **fields: Any) -> Client:
    """Sign a new person in, who belongs nowhere."""
    client = Client()
    client.force_login(User.objects.create_user(name, is_staff=True, **fields))
    return client


def invited(tenant: Tenant, name: str, **fields: Any) -> str:
    """Return the path of an invitation's link."""
    _, token = invitations.invite(
        tenant.workspace, username=name, role=Role.REVIEWER, actor=SYSTEM, now=timezone.now(),
        **fields,
    )  # fmt: skip
    return reverse("console:invitation", args=[token])


def roles(name: str) -> dict[str, str]:
    rows = Membership.objects.filter(user__username=name)
    return dict(rows.values_list("workspace__slug", "role"))


def test_an_admin_neither_adds_people_nor_learns_who_exists(tenant: Tenant, member: Any) -> None:
    admin = member("admin")
    User.objects.create_user("newcomer", is_staff=True)
    answers = []
    for name in ("newcomer", "ghost"):
        assert admin.post(f"{MEMBERS}add/", {"username": name, "role": "admin"}).status_code == 403
        answer = admin.post(ADD, {"username": name, "role": "reader", "days": "7"})
        html = re.sub(r"/invitation/[\w-]+/", "LINK", answer.content.decode())
        html = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", html)
        answers.append((answer.status_code, html.replace(name, "NAME")))
    assert answers[0] == answers[1]
    assert "LINK" in answers[0][1]
    assert roles("newcomer") == {}


def test_the_link_is_shown_once_and_makes_its_person_a_member(tenant: Tenant, member: Any) -> None:
    admin, newcomer = member("admin"), person("newcomer")
    html = admin.post(ADD, {"username": "newcomer", "role": "reader", "days": "1"}).content.decode()
    (link,) = re.findall(r"http://testserver(/invitation/[\w-]+/)", html)
    token = link.split("/")[2]
    made = Invitation.objects.get()
    for path in (LIST, f"{LIST}{made.pk}/change/"):
        shown = admin.get(path).content.decode()
        assert token not in shown
        assert made.digest not in shown
    assert "Join Acme?" in newcomer.get(link).content.decode()
    assert roles("newcomer") == {}  # looking accepts nothing
    assert newcomer.post(link, {"answer": "accept"}).status_code == 200
    assert roles("newcomer") == {"acme": "reader"}
    assert newcomer.post(link, {"answer": "accept"}).status_code == 404
    with in_workspace(tenant.workspace):
        told = Event.objects.filter(type__startswith="member.").values_list("type", "actor_label")
        assert set(told) == {("member.invited", "admin-person"), ("member.added", "newcomer")}


def test_an_invitation_is_for_the_one_it_names(tenant: Tenant) -> None:
    link, other = invited(tenant, "newcomer"), person("other")
    for answer in (other.get(link), other.post(link, {"answer": "accept"})):
        assert answer.status_code == 404
        assert "Acme" not in answer.content.decode()
    assert roles("other") == {}
    stranger = Client().get(link)
    assert (stranger.status_code, "/admin/login/" in stranger["Location"]) == (302, True)


def test_declined_revoked_and_expired_links_open_nothing(tenant: Tenant, member: Any) -> None:
    admin, newcomer = member("admin"), person("newcomer")
    declined = invited(tenant, "newcomer")
    assert newcomer.post(declined, {"answer": "decline"}).status_code == 200
    revoked = invited(tenant, "newcomer")
    waiting = Invitation.objects.get(declined_at=None)
    form = {"action": "revoke", "_selected_action": [str(waiting.pk)], "select_across": "0"}
    assert "Revoke" in admin.post(LIST, form).content.decode()
    assert newcomer.get(revoked).status_code == 200  # asked first
    admin.post(LIST, form | {"confirmed": "yes"})
    expired = invited(tenant, "newcomer", lasts=timedelta(seconds=-1))
    replaced, latest = invited(tenant, "newcomer"), invited(tenant, "newcomer")
    for link in (declined, revoked, expired, replaced):
        assert newcomer.get(link).status_code == 404
        assert newcomer.post(link, {"answer": "accept"}).status_code == 404
    assert roles("newcomer") == {}
    assert newcomer.get(latest).status_code == 200
    states = {one.condition(timezone.now()) for one in Invitation.objects.all()}
    assert states == {"declined", "revoked", "expired", "open"}


@pytest.mark.parametrize("by", ["invitation", "superuser"])
def test_the_workspace_one_lands_in_stays(
    tenant: Tenant, neighbour: Tenant, by: str, client: Client
) -> None:
    """Also when the new workspace stands before the own one by name."""
    user = User.objects.create_user("nomad", password="correct horse", is_staff=True)
    Membership.objects.create(workspace=neighbour.workspace, user=user, role=Role.READER)
    client.force_login(user)
    if by == "invitation":
        client.post(invited(tenant, "nomad"), {"answer": "accept"})
    else:
        boss = Client()
        boss.force_login(root := User.objects.create_superuser("root"))
        Membership.objects.create(workspace=tenant.workspace, user=root, role=Role.ADMIN)
        boss.post(f"{MEMBERS}add/", {"username": "nomad", "role": "reviewer"})
    assert set(roles("nomad")) == {"acme", "zenith"}
    again = Client()
    again.force_login(user)
    for browser in (client, again):
        settings = browser.get("/api/v1/workspace/settings").json()
        assert settings["workspace"] == "zenith"


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer"])
def test_inviting_needs_an_admin(tenant: Tenant, member: Any, role: str) -> None:
    client = member(role)
    assert client.get(LIST).status_code == 403
    asked = {"username": "newcomer", "role": "reader", "days": "7"}
    assert client.post(ADD, asked).status_code == 403
    assert not Invitation.objects.exists()


def test_invitations_of_another_workspace_do_not_show(
    tenant: Tenant, neighbour: Tenant, member: Any
) -> None:
    invited(neighbour, "zenithfriend")
    admin = member("admin")
    assert "zenithfriend" not in admin.get(LIST).content.decode()
    theirs = Invitation.objects.get()
    assert (
        "zenithfriend" not in admin.get(f"{LIST}{theirs.pk}/change/", follow=True).content.decode()
    )
    form = {"action": "revoke", "_selected_action": [str(theirs.pk)], "confirmed": "yes"}
    admin.post(LIST, form)
    assert Invitation.objects.get().revoked_at is None


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("username", "a b", "valid username"), ("days", "4000", "valid choice"),
     ("username", "admin-person", "is a member already")],
)  # fmt: skip
def test_a_wrong_invitation_is_refused_with_a_reason(
    tenant: Tenant, member: Any, field: str, value: str, message: str
) -> None:
    asked = {"username": "newcomer", "role": "reader", "days": "7"} | {field: value}
    assert message in member("admin").post(ADD, asked).content.decode()
    assert not Invitation.objects.exists()


def test_the_command_prints_the_link_and_revokes_it(tenant: Tenant) -> None:
    out = StringIO()
    call_command(
        "invite", "newcomer", "--workspace", "acme", "--role", "agent",
        "--url", "https://engram.example/", stdout=out,
    )  # fmt: skip
    link = out.getvalue().strip()
    assert link.startswith("https://engram.example/invitation/")
    path, newcomer = link.removeprefix("https://engram.example"), person("newcomer")
    assert newcomer.get(path).status_code == 200
    call_command("invite", "newcomer", "--workspace", "acme", "--revoke", stdout=out)
    assert newcomer.get(path).status_code == 404
    with pytest.raises(CommandError, match="no open invitation"):
        call_command("invite", "newcomer", "--workspace", "acme", "--revoke")
    with pytest.raises(CommandError, match="no workspace"):
        call_command("invite", "newcomer", "--workspace", "nowhere")
    with pytest.raises(CommandError, match="between 1 and"):
        call_command("invite", "newcomer", "--workspace", "acme", "--expires-in-days", "0")


def test_a_person_who_is_no_staff_signs_in_accepts_and_sees_the_pages(tenant: Tenant) -> None:
    User.objects.create_user("bob", password="correct horse battery")
    path = invited(tenant, "bob")
    client = Client()
    asked = client.get(path)
    assert asked.status_code == 302
    sent = {"username": "bob", "password": "correct horse battery", "next": path}
    answer = client.post(asked["Location"], sent, follow=True)
    assert answer.redirect_chain[-1][0] == path
    assert client.get("/admin/").status_code == 302  # belongs nowhere yet
    assert client.post(path, {"answer": "accept"}, follow=True).status_code == 200
    assert roles("bob") == {"acme": "reviewer"}
    assert client.get("/").status_code == 200
    assert client.get("/admin/memories/memory/").status_code == 200
    assert client.get("/admin/auth/user/").status_code == 403


@pytest.mark.parametrize("how", ["demoted", "removed", "deactivated", "deleted"])
def test_an_invitation_ends_with_the_role_of_who_made_it(
    tenant: Tenant, member: Any, how: str
) -> None:
    admin, newcomer = member("admin"), person("newcomer")
    html = admin.post(ADD, {"username": "newcomer", "role": "admin", "days": "7"}).content.decode()
    (link,) = re.findall(r"http://testserver(/invitation/[\w-]+/)", html)
    by_command = invited(tenant, "other")
    assert newcomer.get(link).status_code == 200
    boss = User.objects.create_user("second-admin", is_staff=True)
    Membership.objects.create(workspace=tenant.workspace, user=boss, role=Role.ADMIN)
    second = Client()
    second.force_login(boss)
    former = User.objects.get(username="admin-person")
    row = f"{MEMBERS}{Membership.objects.get(user=former).pk}"
    if how == "demoted":
        second.post(f"{row}/change/", {"role": "reviewer"})
        assert roles("admin-person") == {"acme": "reviewer"}
    elif how == "removed":
        second.post(f"{row}/delete/", {"post": "yes"})
        assert roles("admin-person") == {}
    elif how == "deactivated":
        User.objects.filter(pk=former.pk).update(is_active=False)
    else:
        former.delete()
    assert newcomer.get(link).status_code == 404
    assert newcomer.post(link, {"answer": "accept"}).status_code == 404
    assert roles("newcomer") == {}
    if how in {"demoted", "removed"}:
        made = Invitation.objects.get(username="newcomer")
        assert made.condition(timezone.now()) == "revoked"
    assert person("other").get(by_command).status_code == 200
