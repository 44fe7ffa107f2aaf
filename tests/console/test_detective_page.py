"""The detective's page and the replay's: figures, runs, empty states, nothing of others."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils import timezone

from conflicts.core.rules.registry import rule_of
from conflicts.core.titles import title_of
from conflicts.models import DetectionRun, Judgement
from conflicts.services.cards.naming import WITHHELD
from engram.kernel.models import ApiKey, Event, ModelSpend, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.metrics import Interval, wilson
from tests.conflicts.test_quality import ask, decide
from tests.conftest import NOW, Tenant
from tests.shown import shows_number

Member = Callable[[str], Client]
PAGE, REPLAY = "/console/detective/", "/console/replay/"
NO_MODEL = {"model": "gpt-4o-mini", "models": (), "base_url": None, "api_key": None}
MODEL = NO_MODEL | {"api_key": "sk-local"}
ASKED = {
    "gate_policy": "merge", "gate_threshold": "0.6", "detection_min_confidence": "0.8",
    "days": "30", "do": "replay",
}  # fmt: skip


def get_page(client: Client, **query: Any) -> str:
    answer = client.get(PAGE, query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def format_interval(interval: Interval) -> str:
    return f"{interval.low * 100:.0f}\u00a0% to {interval.high * 100:.0f}\u00a0%"


def run(tenant: Tenant, number: int, **fields: Any) -> None:
    """Write a run, `number` minutes old."""
    with in_workspace(tenant.workspace):
        DetectionRun.objects.create(
            reason="commit", created_at=timezone.now() - timedelta(minutes=number),
            **{"status": "done", "lag_seconds": float(number)} | fields,
        )  # fmt: skip


def test_an_empty_page_teaches(tenant: Tenant, neighbour: Tenant, member: Member) -> None:
    decide(neighbour.workspace, "dismiss", at=timezone.now())
    run(neighbour, 1, model="secret-model", error="TheirError")
    html = get_page(member("reader"))
    assert "No questions yet" in html
    assert "It has not read anything yet" in html
    assert "secret-model" not in html
    assert "TheirError" not in html


def test_a_run_tells_what_it_left_unread(tenant: Tenant, member: Member) -> None:
    reader = member("reader")
    run(tenant, 1, opened=1)
    assert "left unread" not in get_page(reader)
    run(tenant, 2, left_unread=3)
    assert "3 too long for the rules, left unread" in get_page(reader)


def test_open_questions_without_answers_ask_for_some(tenant: Tenant, member: Member) -> None:
    ask(tenant.workspace)
    html = get_page(member("reader"))
    assert "Nobody has answered yet" in html
    assert "Answer 1 open question<" in html


def test_verdicts_stand_by_rule_with_what_it_means(tenant: Tenant, member: Member) -> None:
    decide(tenant.workspace, "yes", at=timezone.now(), rules=("ambiguity.date", "<b>moon</b>"))
    html = get_page(member("reader"))
    assert f">{title_of('ambiguity.date')}</a>" in html
    assert ">ambiguity.date<" not in html
    assert rule_of("ambiguity.date").meaning in html
    assert "/console/conflicts/?status=all&amp;rule=ambiguity.date" in html
    assert "&lt;b&gt;moon" in html
    assert "<b>moon" not in html
    assert title_of("ambiguity.version") not in html


def test_shares_stand_with_their_intervals(tenant: Tenant, member: Member) -> None:
    now = timezone.now()
    for verdict in ("yes", "yes", "dismiss", "both_valid"):
        decide(tenant.workspace, verdict, at=now)
    html = get_page(member("reader"))
    assert re.search(r"Precision</span><span class=.value.>75\u00a0%<", html)
    assert "30\u00a0% to 95\u00a0% by 4 verdicts" in html
    assert f"75\u00a0% ({format_interval(wilson(3, 4))})" in html  # of the kind
    assert '<td class="num right" data-label="not a conflict">1</td>' in html
    assert html.count('class="band"') >= 5
    assert "unknown" in html  # other kinds


def test_a_period_limits_the_verdicts(tenant: Tenant, member: Member) -> None:
    decide(tenant.workspace, "dismiss", at=timezone.now() - timedelta(days=60))
    client = member("reader")
    assert "No questions yet" in get_page(client, days="30")
    html = get_page(client, days="90")
    assert re.search(r"Dismissed</span><span class=.value.>100\u00a0%<", html)
    assert "No questions yet" not in get_page(client, days="nonsense")


def test_runs_stand_newest_first_page_by_page(tenant: Tenant, member: Member) -> None:
    for number in range(30):
        run(tenant, number, trigger_count=1000 + number, tokens=7, cost_usd=0.25)
    client = member("reader")
    html = get_page(client)
    assert re.findall(r">(\d+) new beside", html) == [str(1000 + number) for number in range(25)]
    assert "14.5\u00a0s" in html  # the median lag
    assert "27.5\u00a0s" in html  # its 95th percentile: 27.55
    assert "$7.50" in html
    older = re.search(r'rel="next" href="([^"]+)"', html)
    assert older is not None
    rest = client.get(PAGE + older.group(1).replace("&amp;", "&")).content.decode()
    assert re.findall(r">(\d+) new beside", rest) == [str(n) for n in range(1025, 1030)]
    assert "Older" not in rest
    assert client.get(PAGE, {"cursor": "nonsense"}).status_code == 200


def test_what_all_runs_have_alike_needs_no_column(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    run(tenant, 1)
    html = get_page(client)
    assert "state <strong>done</strong>" in html
    assert "readers <strong>rules only</strong>" in html
    assert ">State</th>" not in html
    assert ">Language model</th>" not in html
    run(tenant, 2, status="failed", model="some-model")
    html = get_page(client)
    assert "All on this page" not in html
    assert ">State</th>" in html
    assert ">Language model</th>" in html
    assert html.count("rules only") == 1


def test_what_went_wrong_is_text(tenant: Tenant, member: Member) -> None:
    run(tenant, 1, status="failed", error="<b>TimeoutError</b>", narrative="failed")
    html = get_page(member("reader"))
    assert "&lt;b&gt;TimeoutError" in html
    assert "1 failed; what they read stays due" in html
    assert "language model failed" in html


@pytest.mark.parametrize(
    ("options", "settings", "words"),
    [
        (NO_MODEL, {}, "OPENAI_API_KEY"),
        (MODEL, {"narrative_enabled": False}, "narrative_enabled"),
        (MODEL, {"narrative_daily_usd": 0.5}, "The language model’s daily budget is spent"),
        (NO_MODEL, {"detection_enabled": False}, "The detective is off"),
    ],
)
def test_the_page_says_why_no_model_reads(
    tenant: Tenant, member: Member, options: Any, settings: Any, words: str
) -> None:
    Workspace.objects.filter(pk=tenant.workspace.pk).update(settings=settings)
    with in_workspace(tenant.workspace):
        ModelSpend.objects.create(day=datetime.now(UTC).date(), cost_usd=0.5)
    with override_settings(ENGRAM_LLM=options):
        assert words in get_page(member("reader"))


def test_the_page_is_quiet_while_a_model_reads(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    with in_workspace(neighbour.workspace):
        ModelSpend.objects.create(day=datetime.now(UTC).date(), cost_usd=100)
    run(tenant, 1)
    with override_settings(ENGRAM_LLM=MODEL):
        html = get_page(member("reader"))
    assert "Only the rules read memories here" not in html
    assert "$0.00" in html
    assert not shows_number(html, "100.00")


def test_the_page_asks_as_often_for_many_as_for_one(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    decide(tenant.workspace, "yes", found_by="agent")
    run(tenant, 1)
    get_page(client)
    with CaptureQueriesContext(connection) as one:
        get_page(client)
    for number in range(2, 12):
        decide(tenant.workspace, "dismiss", found_by="agent")
        run(tenant, number)
    with CaptureQueriesContext(connection) as many:
        get_page(client)
    assert len(many) == len(one)


def test_a_replay_is_for_reviewers(tenant: Tenant, member: Member) -> None:
    for role, status in (("reader", 403), ("agent", 403), ("reviewer", 200)):
        client = member(role)
        assert client.get(REPLAY).status_code == status
        assert client.post(REPLAY, ASKED).status_code == status
        assert ("What if</a>" in get_page(client)) == (status == 200)


def test_the_page_of_a_replay_is_called_as_its_tab_is(tenant: Tenant, member: Member) -> None:
    html = str(member("reviewer").get(REPLAY).content.decode())
    [tab] = re.findall(r'<nav class="section".*aria-current="page">([^<]+)</a>', html, re.DOTALL)
    assert re.findall(r"<h1>([^<]+)</h1>", html) == [tab.strip()]
    assert f"<title>{tab.strip()} · Engram</title>" in " ".join(html.split())


def test_a_replay_names_what_would_differ(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    now = timezone.now()
    decide(neighbour.workspace, "yes", at=now, confidence=0.6)
    confirmed = decide(tenant.workspace, "yes", at=now, confidence=0.6)
    decide(tenant.workspace, "dismiss", at=now, confidence=0.6)
    html = member("reviewer").post(REPLAY, ASKED).content.decode()
    assert "1 dismissed would not have come" in html
    assert "1 confirmed would be missed" in html
    assert confirmed.question in html
    assert 'value="save"' not in html  # a reviewer does not save
    with in_workspace(tenant.workspace):
        assert not Event.objects.filter(type="settings.changed").exists()


def test_questions_about_what_is_forgotten_are_withheld(tenant: Tenant, member: Member) -> None:
    card = ask(tenant.workspace, at=timezone.now(), confidence=0.6)
    with in_workspace(tenant.workspace):
        gone = str(card.members.all()[0].memory_id)
    tenant.agent.post("memories/forget", {"ids": [gone], "confirm": True})
    html = member("reviewer").post(REPLAY, ASKED).content.decode()
    assert card.question not in html
    assert WITHHELD in html


def test_a_replay_counts_what_is_stored_and_saves_no_retention(
    tenant: Tenant, member: Member
) -> None:
    client = member("admin")
    asked = ASKED | {"retention_query_days": "5", "janitor_assistant_days": ""}
    html = client.post(REPLAY, asked).content.decode()
    stored = html.partition('id="stored-title"')[2].partition("</section>")[0]
    assert "Days past recalls are kept" in stored
    assert "past recalls deleted now" in stored
    assert "Days before" not in stored  # an empty field of the janitor is as it is set
    answer = client.post(REPLAY, asked | {"do": "save"})
    assert answer.status_code == 422
    assert "are saved on the settings page, after a count" in answer.content.decode()
    tenant.workspace.refresh_from_db()
    assert tenant.workspace.config.retention_query_days == 30


def test_an_admin_saves_what_was_replayed(tenant: Tenant, member: Member) -> None:
    client = member("admin")
    assert 'value="save"' in client.post(REPLAY, ASKED).content.decode()
    saved = client.post(REPLAY, ASKED | {"do": "save"}, follow=True)
    assert "Saved: this holds" in saved.content.decode()
    tenant.workspace.refresh_from_db()
    assert tenant.workspace.settings == {"detection_min_confidence": 0.8}
    assert member("reviewer").post(REPLAY, ASKED | {"do": "save"}).status_code == 403


@pytest.mark.parametrize(
    "wrong",
    [{"gate_threshold": "2"}, {"days": "0"}, {"gate_policy": "x"}, {"gate_threshold": "nan"},
     {"detection_min_confidence": ""}],
)  # fmt: skip
def test_values_out_of_range_are_refused_beside_their_field(
    tenant: Tenant, member: Member, wrong: dict[str, str]
) -> None:
    answer = member("admin").post(REPLAY, ASKED | wrong | {"do": "save"})
    assert answer.status_code == 422
    assert 'class="wrong"' in answer.content.decode()
    tenant.workspace.refresh_from_db()
    assert tenant.workspace.settings == {}


def test_agents_stand_with_what_they_judged(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    for owner, name in ((tenant, "critic"), (neighbour, "stranger")):
        card = decide(owner.workspace, "dismiss", at=timezone.now(), found_by="agent")
        with in_workspace(owner.workspace):
            one, other = [row.memory for row in card.members.all()]
            Judgement.objects.create(
                memory=one, other=other, relation="contradicts", agent=name, conflict=card,
                key=ApiKey.objects.get(role="agent"), created_at=NOW,
            )  # fmt: skip
    html = get_page(member("reader"))
    assert re.search(r"<strong>critic</strong>.*1 pairs judged; its word weighs 0\.\d\d", html)
    assert "stranger" not in html


def test_the_settings_of_the_workspace_lead_to_the_replay(tenant: Tenant, member: Member) -> None:
    path = f"/admin/kernel/workspace/{tenant.workspace.pk}/change/"
    assert f'href="{REPLAY}"' in member("admin").get(path).content.decode()
