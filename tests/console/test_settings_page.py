"""The form of all settings: ranges and defaults, errors that lose nothing, days after a count."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from conflicts.services.detection.narrative import narrative_state
from engram.console.settings_help import HELP
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from tests.conftest import NOW, Tenant

Member = Callable[[str], Client]
PAGE = "/console/settings/"


def page(client: Client) -> str:
    answer = client.get(PAGE)
    assert answer.status_code == 200
    return str(answer.content.decode())


def fields_of(html: str) -> dict[str, Any]:
    """Return what a browser sends of the form when nothing was typed."""
    form = html[html.index('class="settings"') :]
    sent: dict[str, Any] = {}
    for tag in re.findall(r"<input [^>]*>", form):
        name, kind = re.search(r'name="([^"]*)"', tag), re.search(r'type="([^"]*)"', tag)
        value = re.search(r'value="([^"]*)"', tag)
        if name is None or (kind and kind[1] == "checkbox" and " checked" not in tag):
            continue
        sent[name[1]] = value[1] if value else "on" if kind and kind[1] == "checkbox" else ""
    for name, options in re.findall(r'<select name="([^"]*)"[^>]*>(.*?)</select>', form, re.S):
        chosen = re.search(r'value="([^"]*)" selected', options)
        sent[name] = chosen[1] if chosen else ""
    for name, text in re.findall(r'<textarea name="([^"]*)"[^>]*>(.*?)</textarea>', form, re.S):
        sent[name] = text.strip()
    return sent


def stored(tenant: Tenant) -> dict[str, Any]:
    return Workspace.objects.get(pk=tenant.workspace.pk).settings


def changes(tenant: Tenant) -> list[dict[str, Any]]:
    with in_workspace(tenant.workspace):
        return [event.data for event in Event.objects.filter(type="settings.changed")]


def test_every_setting_has_one_field_with_its_meaning(tenant: Tenant, member: Member) -> None:
    html = page(member("admin"))
    for name in WorkspaceSettings.model_fields:
        assert len(re.findall(rf'<(?:input|select|textarea)[^>]* name="{name}"', f" {html}")) == 1
    assert "How near in meaning two statements must be to be compared claim by claim" in html
    assert "0.3 to 1.0; default" in html
    assert "1 to 36,500, or empty; default" in html
    helps = re.findall(r'_helptext">([^<]*)<', html)
    assert [one for one in helps if re.search(r"null|min_score|collect:|off:", one)] == []
    assert set(HELP) <= set(WorkspaceSettings.model_fields)
    assert "Further" not in re.findall(r"<h2[^>]*>([^<]*)<", html)


def test_the_form_is_written_for_who_did_not_build_it(tenant: Tenant, member: Member) -> None:
    html = page(member("admin"))
    form = html[html.index('class="settings"') :]
    said = re.findall(r"<label[^>]*>([^<]*)<", form) + re.findall(r'_helptext">([^<]*)<', form)
    said += re.findall(r'<p class="body small muted">([^<]*)<', form)
    assert len(said) > 100
    private = re.compile(r"\b(?:literal|ours|story|stories|cards?|flat(?:ness)?|thinned)\b", re.I)
    assert [one for one in said if private.search(one)] == []


def test_what_is_sent_unchanged_changes_nothing(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    answer = client.post(PAGE, fields_of(page(client)), follow=True)
    assert "Nothing was changed." in answer.content.decode()
    assert stored(tenant) == {}
    assert changes(tenant) == []


def test_what_was_changed_is_saved_and_told(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    sent = fields_of(page(client))
    sent |= {"gate_policy": "suggest", "gate_threshold": "0.7", "muted_rules": "ambiguity.number"}
    del sent["detection_enabled"]
    answer = client.post(PAGE, sent, follow=True)
    assert "Saved: 4 settings changed." in answer.content.decode()
    assert stored(tenant) == {
        "gate_policy": "suggest",
        "gate_threshold": 0.7,
        "muted_rules": ["ambiguity.number"],
        "detection_enabled": False,
    }
    assert changes(tenant)[0]["gate_threshold"] == [0.6, 0.7]


def test_what_somebody_else_changed_meanwhile_stays(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    sent = fields_of(page(client))
    tenant.admin.patch("workspace/settings", {"digest_hour": 17})
    client.post(PAGE, sent | {"drift_threshold": "0.8"})
    assert stored(tenant) == {"digest_hour": 17, "drift_threshold": 0.8}


@pytest.mark.parametrize(
    ("name", "typed", "why"),
    [
        ("gate_threshold", "7", "1.0 is the most."),
        ("gate_threshold", "much", "Enter a number"),
        ("gate_threshold", "nan", "Enter a number"),
        ("writes_per_minute", "", "This field is required"),
        ("digest_hour", "24", "23 is the most."),
        ("predictor_mode", "maybe", "Select a valid choice"),
        ("time_zone", "Mars/X", "not a time zone name such as Europe/Berlin"),
        ("muted_rules", "ambiguty.number", "the nearest is “ambiguity.number”"),
        ("drift_threshold", "0", "greater than 0"),
        ("narrative_daily_usd", "1e999", "Enter a number"),
    ],
)
def test_an_error_is_told_at_its_field_and_nothing_typed_is_lost(
    tenant: Tenant, member: Member, name: str, typed: str, why: str
) -> None:
    client = member("admin")
    sent = fields_of(page(client)) | {"janitor_summary_days": "222", name: typed}
    answer = client.post(PAGE, sent)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "Nothing was saved." in html
    at = html.index(f'name="{name}"')
    assert why in html[at : at + 1500 + len(html[at:].partition("</select>")[0])]
    again = fields_of(html)
    assert (again["janitor_summary_days"], again.get(name, "")) in {
        ("222", typed),
        ("222", ""),  # of a choice that does not exist
    }
    assert stored(tenant) == {}


def test_other_days_are_saved_after_a_count_only(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    sent = fields_of(page(client)) | {"retention_session_days": "30", "digest_hour": "9"}
    answer = client.post(PAGE, sent)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "Not saved yet" in html
    assert "0 sessions due now" in html
    assert stored(tenant) == {}
    assert client.post(PAGE, fields_of(html)).status_code == 302
    assert stored(tenant) == {"retention_session_days": 30, "digest_hour": 9}


def test_the_replay_takes_what_is_typed(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    html = page(client)
    assert 'formaction="/console/replay/"' in html
    sent = fields_of(html) | {"gate_threshold": "0.9", "do": "replay"}
    tried = client.post("/console/replay/", sent)
    assert tried.status_code == 200
    assert 'value="0.9"' in tried.content.decode()
    assert stored(tenant) == {}


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer"])
def test_settings_are_for_admins(tenant: Tenant, member: Member, role: str) -> None:
    client = member(role)
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE, {"gate_policy": "off"}).status_code == 403
    assert stored(tenant) == {}


def test_the_page_takes_few_queries(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    page(client)
    with CaptureQueriesContext(connection) as taken:
        page(client)
    assert len(taken) < 40


def test_a_stored_value_that_is_not_valid_any_more_gives_way_to_its_default(
    tenant: Tenant, member: Member
) -> None:
    old = {"gate_threshold": 7, "time_zone": "Mars/X", "gate_policy": "suggest", "gone": 1}
    Workspace.objects.filter(pk=tenant.workspace.pk).update(settings=old)
    client = member("admin")
    sent = fields_of(page(client))
    assert (sent["gate_threshold"], sent["time_zone"]) == ("0.6", "UTC")
    assert sent["gate_policy"] == "suggest"
    assert tenant.reader.get("memories").status_code == 200
    sent["digest_hour"] = "9"
    answer = client.post(PAGE, sent, follow=True)
    assert "Saved: 1 setting changed." in answer.content.decode()
    assert stored(tenant)["gate_policy"] == "suggest"
    assert Workspace.objects.get(pk=tenant.workspace.pk).config.gate_threshold == 0.6


def test_a_model_is_chosen_of_those_that_the_installation_offers(
    tenant: Tenant, member: Member, settings: Any
) -> None:
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"model": "own", "models": ("large", "own")}
    client = member("admin")
    html = page(client)
    choices = re.search(r'<select name="language_model"[^>]*>(.*?)</select>', html, re.S)
    assert choices is not None
    assert re.findall(r'value="([^"]*)"', choices[1]) == ["", "own", "large"]
    assert client.post(PAGE, fields_of(html) | {"language_model": "large"}).status_code == 302
    assert stored(tenant) == {"language_model": "large"}

    refused = client.post(PAGE, fields_of(page(client)) | {"language_model": "gpt-other"})
    assert refused.status_code == 422
    asked = tenant.admin.patch("workspace/settings", {"language_model": "gpt-other"})
    assert asked.status_code == 422
    assert "“own”, “large”" in asked.json()["detail"]
    assert stored(tenant) == {"language_model": "large"}


def test_a_model_that_is_no_longer_offered_gives_way_to_the_own_one(
    tenant: Tenant, member: Member, settings: Any
) -> None:
    offering = settings.ENGRAM_LLM | {"model": "own", "base_url": "http://localhost:1"}
    Workspace.objects.filter(pk=tenant.workspace.pk).update(settings={"language_model": "large"})
    client, found = member("admin"), []
    for offered in (("large",), ()):
        settings.ENGRAM_LLM = offering | {"models": offered}
        workspace = Workspace.objects.get(pk=tenant.workspace.pk)
        found.append(narrative_state(workspace, now=NOW).model)
        assert f"Configured: <strong>{found[-1]}</strong>" in page(client)
    assert found == ["large", "own"]
