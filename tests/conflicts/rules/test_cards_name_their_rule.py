"""Every card names the rule that opened it, whoever found it, and keeps it when others join."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.utils import timezone

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.core.rules.registry import RULES, rule_of
from conflicts.core.rules.rule import Rule
from conflicts.core.titles import title_of
from conflicts.models import Conflict, Judgement
from conflicts.services.cards.file import file_findings
from conflicts.services.cards.finders import finders
from conflicts.services.detection.detect import detect_due
from conflicts.services.detection.narrate import narrate_due
from conflicts.services.reports.judge import judge
from conflicts.services.reports.records import agent_records
from conflicts.services.reports.report import correct, report
from engram.kernel.actors import Actor
from engram.kernel.models import Event, Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import Tenant
from tests.model_server import ModelServer, completion

BARN = "Guests park behind the barn."
YARD = "The yard in front is where visitors leave their cars."
PERSON = Actor("user", "1", "Ana", Role.REVIEWER)
STREET = "Whoever visits leaves the car in the street."


def commit(tenant: Tenant, content: str, day: int = 1, **fields: Any) -> str:
    body = {"content": content, "observed_at": f"2026-01-{day:02}T09:00:00Z", **fields}
    answer = tenant.agent.post("memories", body)
    assert answer.status_code in {200, 201}, answer.json()
    return str(answer.json()["memory"]["id"])


def cards(tenant: Tenant, **filters: str) -> list[dict[str, Any]]:
    answer = tenant.reader.get("conflicts", filters)
    assert answer.status_code == 200, answer.json()
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def shown(rule_id: str) -> dict[str, str]:
    return {"id": rule_id, "meaning": rule_of(rule_id).meaning}


def opened_by(tenant: Tenant) -> list[tuple[Any, Any]]:
    return [(card["rule"], card["further_rules"]) for card in cards(tenant)]


DETECTED = [rule for rule in RULES if rule.example]


@pytest.mark.parametrize("rule", DETECTED, ids=lambda rule: rule.id)
def test_the_example_of_a_rule_opens_a_card_by_it(tenant: Tenant, rule: Rule) -> None:
    said_by_user = {"provenance": "user_stated"}
    for day, statement in enumerate(rule.example, start=1):
        answers = [one.as_record() for one in rule.answers[day - 1]] if rule.answers else []
        commit(
            tenant, statement, day, scope="depot", **(said_by_user if day == 1 else {}),
            **({"answers": answers} if answers else {}),
        )  # fmt: skip
    detect_due(tenant.workspace, clock=timezone.now)
    [(first, further)] = opened_by(tenant)
    assert first == shown(rule.id)
    # What a plain statement answers is read from it, so that both may find the same.
    assert [one["id"] for one in further] in ([], ["ambiguity.two-answers"])


def test_what_the_detective_does_not_find_has_no_example() -> None:
    others = {rule.id.partition(".")[0] for rule in RULES if not rule.example}
    assert others == {"report", "relation", "model", "unknown"}


def test_a_report_by_an_agent_names_it(tenant: Tenant) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2)]
    answer = tenant.agent.post("conflicts", {"memory_ids": ids})
    assert (answer.status_code, answer.json()["rule"]) == (201, shown("report.agent"))


@pytest.mark.parametrize("role", ["reviewer", "admin"])
def test_a_report_by_a_key_of_the_role_counts_as_a_person_s(tenant: Tenant, role: str) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2)]
    answer = tenant.caller(role).post("conflicts", {"memory_ids": ids, "note": "Which?"})
    assert (answer.status_code, answer.json()["rule"]) == (201, shown("report.person"))
    assert answer.json()["detected_by"] == ["person"]
    with in_workspace(tenant.workspace):
        card = Conflict.objects.get()
        [finder] = finders(card, list(Event.objects.order_by("-seq")), is_withheld=False)
        assert finder.name == f"A person: acme {role}"
        assert not Judgement.objects.exists()
        assert Event.objects.filter(type="memory.judged").count() == 1  # for the hourly limit
    assert agent_records(tenant.workspace) == []


@pytest.mark.parametrize("role", ["reviewer", "admin"])
def test_a_relation_by_a_key_of_the_role_counts_as_a_person_s(tenant: Tenant, role: str) -> None:
    one, other = commit(tenant, BARN), commit(tenant, YARD, 2)
    body = {"other": one, "relation": "contradicts"}
    assert tenant.caller(role).post(f"memories/{other}/relations", body).status_code == 201
    assert opened_by(tenant) == [(shown("relation.person"), [])]
    tenant.agent.post("conflicts", {"memory_ids": [one, other]})
    with in_workspace(tenant.workspace):
        card = Conflict.objects.get()
        names = [f.name for f in finders(card, list(Event.objects.order_by("-seq")),
                                         is_withheld=False)]  # fmt: skip
        assert names == [f"A person: acme {role}", "An agent: acme agent"]
        assert card.confidence == 0.5  # two agents that report the same would give 0.75
    assert [one.agent for one in agent_records(tenant.workspace)] == ["acme agent"]


def test_a_report_by_a_person_names_it(tenant: Tenant) -> None:
    ids = [UUID(commit(tenant, BARN)), UUID(commit(tenant, YARD, 2))]
    report(tenant.workspace, ids, note="", actor=PERSON, now=timezone.now())
    assert opened_by(tenant) == [(shown("report.person"), [])]


def test_a_relation_by_an_agent_names_it(tenant: Tenant) -> None:
    one, other = commit(tenant, BARN), commit(tenant, YARD, 2)
    said = {"other": one, "relation": "contradicts"}
    assert tenant.agent.post(f"memories/{other}/relations", said).status_code == 201
    assert opened_by(tenant) == [(shown("relation.agent"), [])]


def test_a_relation_by_a_person_names_it(tenant: Tenant) -> None:
    one, other = UUID(commit(tenant, BARN)), UUID(commit(tenant, YARD, 2))
    judge(
        tenant.workspace, other, other_id=one, relation="contradicts", reason="",
        actor=PERSON, now=timezone.now(),
    )  # fmt: skip
    assert opened_by(tenant) == [(shown("relation.person"), [])]


def test_a_correction_is_a_rule_of_its_own(tenant: Tenant) -> None:
    wrong = UUID(commit(tenant, BARN))
    correct(tenant.workspace, wrong, right=YARD, actor=PERSON, now=timezone.now())
    assert opened_by(tenant) == [(shown("report.correction"), [])]


@pytest.mark.parametrize("kind", ["reversal", "ambiguity", "stale"])
def test_a_model_s_finding_names_its_kind(
    tenant: Tenant, settings: Any, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    commit(tenant, BARN)
    commit(tenant, YARD, 2)
    found = {"kind": kind, "facts": [1, 2], "yes": [1], "question": "Do guests park behind the "
             "barn?", "severity": "low", "reasoning": "Two places."}  # fmt: skip
    with ModelServer() as server:
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": server.base_url}
        tenant.admin.patch("workspace/settings", {"answers_by_model": False})
        server.answer_chat(completion(json.dumps({"findings": [found]})))
        workspace = Workspace.objects.get(pk=tenant.workspace.pk)
        detect_due(workspace, clock=timezone.now)
        narrate_due(workspace, clock=timezone.now)
    assert opened_by(tenant) == [(shown(f"model.{kind}"), [])]


def find(ids: list[str], *rules: str, tenant: Tenant, by: str = "rules") -> Conflict:
    """File a finding about memories as the detective does."""
    finding = Finding(
        "ambiguity", tuple(ids), (ids[-1],), "Is it so?", "They differ.", "low", 0.6, None, rules
    )
    with in_workspace(tenant.workspace):
        filed = file_findings([finding], Comparisons(), detected_by=by, now=timezone.now())
        return Conflict.objects.get(pk=filed.cards[0])


def test_another_rule_joins_and_the_first_one_stays(tenant: Tenant) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2)]
    find(ids, "ambiguity.choice", tenant=tenant)
    answer = tenant.agent.post("conflicts", {"memory_ids": ids})
    assert answer.json()["rule"]["id"] == "ambiguity.choice"
    assert answer.json()["further_rules"] == [shown("report.agent")]


def test_another_rule_alone_makes_no_new_version(tenant: Tenant) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2)]
    before = find(ids, "ambiguity.choice", tenant=tenant)
    again = find(ids, "ambiguity.number", "ambiguity.choice", tenant=tenant)
    assert again.rules == ["ambiguity.choice", "ambiguity.number"]
    assert again.version == before.version
    assert find(ids, "ambiguity.number", tenant=tenant).rules == again.rules


def test_a_card_that_absorbs_another_takes_its_rules_along(tenant: Tenant) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2), commit(tenant, STREET, 3)]
    find([ids[0], ids[1]], "ambiguity.choice", tenant=tenant)
    find([ids[0], ids[2]], "ambiguity.date", tenant=tenant)
    find(ids, "ambiguity.number", tenant=tenant)
    with in_workspace(tenant.workspace):
        [kept] = Conflict.objects.waiting()
    assert set(kept.rules) == {"ambiguity.choice", "ambiguity.date", "ambiguity.number"}


def test_two_findings_of_one_run_are_one_card_with_both_rules(tenant: Tenant) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2), commit(tenant, STREET, 3)]
    rest = ("Is it so?", "They differ.", "low", 0.6, None)
    two = [
        Finding("ambiguity", tuple(ids[:2]), (ids[1],), *rest, ("ambiguity.choice",)),
        Finding("ambiguity", tuple(ids), (ids[2],), *rest, ("ambiguity.date",)),
    ]
    with in_workspace(tenant.workspace):
        filed = file_findings(two, Comparisons(), detected_by="rules", now=timezone.now())
        [card] = Conflict.objects.filter(pk__in=filed.cards)
    assert card.rules == ["ambiguity.choice", "ambiguity.date"]


def test_the_list_is_filtered_by_rule(tenant: Tenant, neighbour: Tenant) -> None:
    for one in (tenant, neighbour):
        ids = [commit(one, BARN), commit(one, YARD, 2)]
        find(ids, "ambiguity.choice", "ambiguity.date", tenant=one)
    for rule, n in (("ambiguity.choice", 1), ("ambiguity.date", 1), ("ambiguity.number", 0)):
        assert len(cards(tenant, rule=rule)) == n
    assert tenant.reader.get("conflicts", {"rule": "moon"}).status_code == 422


def test_a_card_from_before_says_so(tenant: Tenant) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2)]
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=find(ids, "x", tenant=tenant).pk).update(rule="unknown")
    assert opened_by(tenant) == [(shown("unknown"), [])]


Member = Callable[[str], Client]


def test_the_pages_say_by_which_rule_and_escape_what_is_stored(
    tenant: Tenant, member: Member
) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2)]
    card = find(ids, "ambiguity.choice", "<b>moon</b>", tenant=tenant)
    reader = member("reader")
    for path in ("/console/triage/", f"/console/conflicts/{card.pk}/", "/console/inbox/",
                 f"/admin/conflicts/conflict/{card.pk}/change/"):  # fmt: skip
        page = reader.get(path).content.decode()
        assert rule_of("ambiguity.choice").meaning in page
        assert 'href="/rules/#ambiguity.choice"' in page
        assert f">{title_of('ambiguity.choice')}</a>" in page
        assert ">ambiguity.choice<" not in page
        assert "&lt;b&gt;moon&lt;/b&gt;" in page
        assert "<b>moon" not in page


def test_people_filter_the_queue_and_the_admin_by_rule(tenant: Tenant, member: Member) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2)]
    card = find(ids, "ambiguity.choice", tenant=tenant)
    reader = member("reader")
    for path in ("/console/conflicts/", "/console/triage/", "/admin/conflicts/conflict/"):
        assert str(card.pk) in reader.get(path, {"rule": "ambiguity.choice"}).content.decode()
        for other in ("ambiguity.number",):
            assert str(card.pk) not in reader.get(path, {"rule": other}).content.decode()
    assert (
        str(card.pk)
        not in reader.get("/admin/conflicts/conflict/", {"rule": "moon"}).content.decode()
    )


def test_all_rules_are_listed_for_everybody(client: Client) -> None:
    page = client.get("/rules/").content.decode()
    listed = client.get("/rules/", headers={"Accept": "application/json"}).json()["results"]
    assert [one["id"] for one in listed] == [rule.id for rule in RULES]
    for rule in RULES:
        assert f'id="{rule.id}"' in page
        assert rule.path in page


def test_withheld_cards_still_name_their_rule(tenant: Tenant) -> None:
    ids = [commit(tenant, BARN), commit(tenant, YARD, 2)]
    find(ids, "ambiguity.choice", tenant=tenant)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=ids[0]).update(forgotten_at=timezone.now())
    [card] = cards(tenant)
    assert (card["rule"]["id"], card["reasoning"]) == ("ambiguity.choice", "")
