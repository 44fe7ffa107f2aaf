"""What prompts of a session said: kept without credentials, shown to reviewers, deleted in time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engram.kernel.actors import SYSTEM
from engram.kernel.services import change_settings
from engram.kernel.tenancy import in_workspace
from memories.models import Session, SessionPrompt
from memories.services.lifecycle.erase import erase
from memories.services.lifecycle.forget import forget
from memories.services.retention.apply import delete_transcripts
from memories.services.sessions.end import end_session
from memories.services.sessions.erase import delete_session
from memories.services.sessions.prompts import prompt
from tests.conftest import NOW, Tenant
from tests.memories.session_world import AGENT, begin, remember

Member = Callable[[str], Client]
DOG = "The office dog is called Biscuit."
ASKED = "Who walks <b>Biscuit</b> the office dog today?"


def say(tenant: Tenant, *texts: str, key: str = "talk") -> None:
    for text in texts:
        prompt(tenant.workspace, key, text, actor=AGENT, now=NOW)


def kept(tenant: Tenant) -> list[tuple[int, str]]:
    with in_workspace(tenant.workspace):
        return list(SessionPrompt.objects.values_list("number", "text"))


def page_of(tenant: Tenant) -> str:
    with in_workspace(tenant.workspace):
        return f"/admin/memories/session/{Session.objects.get().pk}/change/"


def test_reviewers_read_prompts_with_what_they_matched(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    dog = remember(tenant, DOG)
    for each in (tenant, neighbour):
        begin(each, "talk")
    say(tenant, ASKED, "And the weather?", ASKED)
    say(neighbour, "What do the neighbours say?")
    assert kept(tenant) == [(1, ASKED), (2, "And the weather?")]
    html = member("reviewer").get(page_of(tenant)).content.decode()
    assert "Who walks &lt;b&gt;Biscuit&lt;/b&gt; the office dog today?" in html
    said, _, rest = html.partition('id="prompts-title"')[2].partition("And the weather?")
    assert f'href="/console/memories/{dog}/"' in said
    assert "matched nothing" in rest
    assert "neighbours" not in html
    read = member("reader").get(page_of(tenant)).content.decode()
    assert "weather" not in read
    assert "Prompts and transcripts are shown to the role reviewer." in read


def test_the_page_asks_as_much_for_many_prompts(tenant: Tenant, member: Member) -> None:
    remember(tenant, DOG)
    begin(tenant, "talk")
    client, counts = member("reviewer"), []
    for texts in (["The office dog Biscuit?"], [f"Biscuit the office dog, {n}" for n in range(9)]):
        say(tenant, *texts)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(page_of(tenant))
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_credential_in_a_prompt_is_not_kept(tenant: Tenant) -> None:
    begin(tenant, "talk")
    say(tenant, "The token is ghp_16C7e42F292c6912E7710c838347Ae178B4a, use it.")
    [(_, text)] = kept(tenant)
    assert "ghp_" not in text
    assert text.endswith("use it.")


def test_a_workspace_may_keep_no_prompts(tenant: Tenant, member: Member) -> None:
    change_settings(tenant.workspace, {"recalls_kept": False}, actor=SYSTEM, now=NOW)
    begin(tenant, "talk")
    say(tenant, ASKED)
    assert kept(tenant) == []
    assert "What the prompts said is not kept." in (
        member("reviewer").get(page_of(tenant)).content.decode()
    )


def test_prompts_are_withheld_with_the_transcript(tenant: Tenant, member: Member) -> None:
    dog = remember(tenant, DOG)
    begin(tenant, "talk")
    say(tenant, ASKED)
    client = member("admin")
    assert "Who walks" in client.get(page_of(tenant)).content.decode()
    forget(tenant.workspace, [dog], actor=AGENT, now=NOW)
    html = client.get(page_of(tenant)).content.decode()
    assert "Who walks" not in html
    assert "Biscuit" not in html


def test_erasing_a_memory_takes_the_prompts_that_quote_it(
    tenant: Tenant, neighbour: Tenant
) -> None:
    dog = remember(tenant, DOG)
    for each in (tenant, neighbour):
        begin(each, "talk")
        say(each, f"I heard: the OFFICE dog is  called biscuit. {each.workspace.slug}", "Else?")
    erase(tenant.workspace, dog, actor=SYSTEM, now=NOW)
    assert kept(tenant) == [(2, "Else?")]
    assert [number for number, _ in kept(neighbour)] == [1, 2]


def test_prompts_go_with_the_transcript_and_with_the_session(tenant: Tenant) -> None:
    for key in ("old", "open"):
        begin(tenant, key)
        say(tenant, f"Asked in {key}.", key=key)
    end_session(tenant.workspace, "old", "", actor=AGENT, now=NOW)
    later = NOW + timedelta(days=9)
    assert delete_transcripts(tenant.workspace, NOW, later) == 0
    assert delete_transcripts(tenant.workspace, NOW + timedelta(days=1), later) == 1
    assert delete_transcripts(tenant.workspace, NOW + timedelta(days=1), later) == 0
    assert kept(tenant) == [(1, "Asked in open.")]
    delete_session(tenant.workspace, "open", actor=AGENT, now=later)
    assert kept(tenant) == []
