"""The pages by which admins delete a workspace or what is old, and the command."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from engram.kernel.actors import SYSTEM
from engram.kernel.deletion import close_workspace, delete_turn
from engram.kernel.models import Event, Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace
from engram.kernel.workspace_deletions import WorkspaceDeletion
from memories.models import Session
from memories.services.sessions.end import end_session
from tests.conftest import NOW, Tenant
from tests.console.transfer_world import read, write
from tests.memories.session_world import AGENT, begin

Member = Callable[[str], Client]
DELETIONS = "/console/deletions/"


def page_of(tenant: Tenant) -> str:
    return f"/admin/kernel/workspace/{tenant.workspace.pk}/delete/"


def test_an_admin_types_the_slug_and_sees_how_far_it_is(tenant: Tenant, member: Member) -> None:
    tenant.agent.post("memories", {"content": "The billing service runs on PostgreSQL."})
    client = member("admin")
    html = client.get(page_of(tenant)).content.decode()
    assert "Delete the workspace Acme?" in html
    assert "1 memory" in html or "1 memories" in html or "memor" in html
    change = client.get(page_of(tenant).replace("delete", "change")).content.decode()
    assert page_of(tenant) in change
    for typed in ("", "Acme", "zenith", "\0"):
        refused = client.post(page_of(tenant), {"slug": typed})
        assert refused.status_code == 422
        assert "This is not the slug" in refused.content.decode()
    assert not WorkspaceDeletion.objects.exists()
    sent = client.post(page_of(tenant), {"slug": "acme"})
    assert (sent.status_code, sent.headers["Location"]) == (302, DELETIONS)
    html = client.get(DELETIONS).content.decode()
    assert "Waits for a worker" in html
    assert 'http-equiv="refresh"' in html
    row = WorkspaceDeletion.objects.get()
    assert row.caller == f"user:{User.objects.get().pk}"
    assert delete_turn(row.pk, clock=lambda: NOW, seconds=60)
    html = client.get(DELETIONS).content.decode()
    assert "Nothing of it was left in the database" in html
    assert 'http-equiv="refresh"' not in html
    assert client.get(page_of(tenant)).status_code == 403  # without a workspace


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer"])
def test_others_may_not(tenant: Tenant, member: Member, role: str) -> None:
    client = member(role)
    assert client.get(page_of(tenant)).status_code == 403
    assert client.post(page_of(tenant), {"slug": "acme"}).status_code == 403
    change = client.get(page_of(tenant).replace("delete", "change")).content.decode()
    assert page_of(tenant) not in change
    assert not WorkspaceDeletion.objects.exists()


def test_nor_admins_of_another_workspace(tenant: Tenant, neighbour: Tenant, member: Member) -> None:
    client = member("admin")
    assert client.post(page_of(neighbour), {"slug": "zenith"}).status_code in {302, 403, 404}
    user = User.objects.get()
    Membership.objects.create(workspace=neighbour.workspace, user=user, role=Role.ADMIN)
    # It is not the one that is chosen.
    assert client.post(page_of(neighbour), {"slug": "zenith"}).status_code == 403
    assert not WorkspaceDeletion.objects.exists()


def test_people_see_their_own_deletions_and_superusers_all(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    client = member("admin")
    client.post(page_of(tenant), {"slug": "acme"})
    close_workspace(neighbour.workspace, "zenith", actor=SYSTEM, now=NOW)
    html = client.get(DELETIONS).content.decode()
    assert str(tenant.workspace.pk) in html
    assert str(neighbour.workspace.pk) not in html
    User.objects.update(is_superuser=True)
    html = client.get(DELETIONS).content.decode()
    assert str(tenant.workspace.pk) in html
    assert str(neighbour.workspace.pk) in html
    assert Client().get(DELETIONS).status_code == 302
    assert client.post(DELETIONS).status_code == 405


def test_the_command_deletes_to_the_end(tenant: Tenant, neighbour: Tenant) -> None:
    with pytest.raises(CommandError, match="no workspace 'acne'"):
        call_command("delete_workspace", "acne", confirm="acne")
    with pytest.raises(CommandError, match="give --confirm"):
        call_command("delete_workspace", "acme")
    with pytest.raises(CommandError, match="Nothing was deleted"):
        call_command("delete_workspace", "acme", confirm="zenith")
    assert Workspace.objects.count() == 2
    told = StringIO()
    call_command("delete_workspace", "acme", confirm="acme", stdout=told)
    assert "nothing is left" in told.getvalue()
    assert list(Workspace.with_closed.all()) == [neighbour.workspace]


def test_a_workspace_that_was_imported_again_is_deleted_again(
    tenant: Tenant, member: Member, tmp_path: Path
) -> None:
    archive = write(tmp_path / "acme.zip", tenant.workspace)
    for _ in range(2):  # by the command, which takes it to the end
        call_command("delete_workspace", "acme", confirm="acme", stdout=StringIO())
        assert not Workspace.with_closed.exists()
        read(archive)
        assert Workspace.objects.get().pk == tenant.workspace.pk
    client = member("admin")
    sent = client.post(page_of(tenant), {"slug": "acme"})
    assert (sent.status_code, sent.headers["Location"]) == (302, DELETIONS)
    html = client.get(DELETIONS).content.decode()
    assert "Waits for a worker" in html
    assert WorkspaceDeletion.objects.filter(target=tenant.workspace.pk).count() == 3


RETENTION = "/console/retention/"
COUNTED = re.compile(r'name="counted" value="([^"]+)"')


def counted_of(html: str) -> str:
    """Return what the form carries of the count that it shows."""
    found = COUNTED.search(html)
    assert found is not None
    return found[1]


def test_days_are_tried_and_saved(tenant: Tenant, member: Member) -> None:
    begin(tenant, "old", now=NOW)
    end_session(tenant.workspace, "old", "User: hello", actor=AGENT, now=NOW)
    client = member("admin")
    html = client.get(RETENTION).content.decode()
    assert html.count("nothing is deleted") == 3
    assert "Save these days" not in html
    days = {"retention_transcript_days": "30", "retention_session_days": ""}
    days["retention_query_days"] = "30"
    html = client.post(RETENTION, days | {"do": "count"}).content.decode()
    assert "1 transcript<" in html
    assert "0 sessions" in html
    assert "Save these days" in html
    assert Workspace.objects.get().config.retention_transcript_days is None
    days |= {"do": "save", "counted": counted_of(html)}
    saved = client.post(RETENTION, days, follow=True).content.decode()
    assert "deleted within the hour" in saved
    config = Workspace.objects.get().config
    assert (config.retention_transcript_days, config.retention_session_days) == (30, None)
    with in_workspace(tenant.workspace):
        assert Session.objects.get().transcript  # a sweep deletes it
        changed = Event.objects.get(type="settings.changed")
    assert changed.data == {"retention_transcript_days": [None, 30]}
    assert 'value="30"' in client.get(RETENTION).content.decode()


def test_days_that_were_not_counted_are_counted_and_not_saved(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    client = member("admin")

    def days(sessions: str, do: str) -> dict[str, str]:
        return {"retention_session_days": sessions, "do": do}

    counted = counted_of(client.post(RETENTION, days("300", "count")).content.decode())
    elsewhere = counted.replace(str(tenant.workspace.pk), str(neighbour.workspace.pk))
    for sent in (
        days("250", "save") | {"counted": counted},
        days("250", "save"),
        days("300", "save"),
        days("300", "save") | {"counted": elsewhere},
        days("300", "save") | {"retention_recall_days": "9", "counted": counted},
    ):
        answer = client.post(RETENTION, sent)
        assert answer.status_code == 422
        assert "these days had not been counted" in answer.content.decode()
        assert Workspace.objects.get(pk=tenant.workspace.pk).settings == {}
    again = counted_of(client.post(RETENTION, days("250", "save")).content.decode())
    client.post(RETENTION, days("250", "save") | {"counted": again})
    saved = Workspace.objects.get(pk=tenant.workspace.pk).config
    assert (saved.retention_session_days, saved.retention_recall_days) == (250, None)


@pytest.mark.parametrize("wrong", ["0", "-1", "36501", "x", "1.5", "\0", "٣٠x"])
def test_days_that_are_none_are_refused_in_the_form(
    tenant: Tenant, member: Member, wrong: str
) -> None:
    sent = {"retention_session_days": wrong, "do": "save"}
    answer = member("admin").post(RETENTION, sent)
    assert answer.status_code == 422
    assert 'class="wrong"' in answer.content.decode()
    assert Workspace.objects.get().settings == {}


def test_reviewers_count_and_readers_see_nothing(tenant: Tenant, member: Member) -> None:
    reviewer = member("reviewer")
    html = reviewer.get(RETENTION).content.decode()
    assert "Changing the days is for admins" in html
    assert "readonly" in html
    sent = {"retention_session_days": "3", "do": "save"}
    assert reviewer.post(RETENTION, sent).status_code == 403
    assert member("reader").get(RETENTION).status_code == 403
    assert Workspace.objects.get().settings == {}
