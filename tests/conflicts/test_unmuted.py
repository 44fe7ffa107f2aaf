"""What was written while a rule was muted is asked about once the rule finds again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from conflicts.models import DetectionDue
from conflicts.services.detection.detect import detect_due
from conflicts.services.muting import answer
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from tests.conflicts.test_muting import HIGH, LOW, NUMBER, RULE, propose
from tests.conftest import Tenant


def mute(tenant: Tenant, *names: str) -> None:
    sent = tenant.admin.patch("workspace/settings", {"muted_rules": list(names)})
    assert sent.status_code == 200, sent.json()


def commit(tenant: Tenant, *contents: str) -> list[str]:
    sent = [tenant.agent.post("memories", {"content": text}).json() for text in contents]
    return [one["memory"]["id"] for one in sent]


def read(tenant: Tenant) -> int:
    """Read what is due; return how many memories were."""
    fresh = Workspace.objects.get(pk=tenant.workspace.pk)
    return sum(run.trigger_count for run in detect_due(fresh, clock=timezone.now))


def due(tenant: Tenant) -> set[str]:
    with in_workspace(tenant.workspace):
        return {str(pk) for pk in DetectionDue.objects.values_list("memory_id", flat=True)}


def asked(tenant: Tenant) -> list[str]:
    found: list[str] = [
        card["rule"]["id"] for card in tenant.reader.get("conflicts").json()["results"]
    ]
    return found


@pytest.mark.parametrize("name", [NUMBER, "rules"])
def test_a_pair_that_was_found_while_muted_is_asked_about_after_unmuting(
    tenant: Tenant, name: str
) -> None:
    commit(tenant, "The depot opens at seven.", LOW)
    read(tenant)
    mute(tenant, name)
    [new] = commit(tenant, HIGH)
    read(tenant)
    assert (asked(tenant), due(tenant)) == ([], set())
    assert tenant.reviewer.post("mutings/unmute", {"rule": name}).status_code == 200
    assert due(tenant) == {new}
    read(tenant)
    assert asked(tenant) == [NUMBER]


def test_what_waited_when_the_rule_was_muted_is_read_again(tenant: Tenant) -> None:
    pair = commit(tenant, LOW, HIGH)
    mute(tenant, NUMBER)
    read(tenant)
    mute(tenant)
    assert due(tenant) == {*pair}
    read(tenant)
    assert asked(tenant) == [NUMBER]


def test_taking_back_the_answer_that_muted_reads_again(tenant: Tenant) -> None:
    proposal = answer.accept(
        tenant.workspace, propose(tenant)["id"], actor=SYSTEM, now=timezone.now()
    )
    pair = commit(tenant, LOW, HIGH)
    read(tenant)
    answer.take_back(tenant.workspace, proposal.id, actor=SYSTEM, now=timezone.now())
    assert due(tenant) >= {*pair}


def test_of_two_rules_the_one_that_was_muted_longer_counts(tenant: Tenant) -> None:
    mute(tenant, RULE)
    first = commit(tenant, LOW)
    read(tenant)
    mute(tenant, RULE, NUMBER)
    second = commit(tenant, "The depot opens at seven.")
    read(tenant)
    mute(tenant, RULE)
    assert due(tenant) == {*second}
    mute(tenant)
    assert due(tenant) == {*first, *second}


def test_nothing_is_read_again_for_other_settings_or_without_detection(
    tenant: Tenant, neighbour: Tenant
) -> None:
    commit(neighbour, LOW, HIGH)
    read(neighbour)
    mute(tenant, NUMBER)
    commit(tenant, LOW, HIGH)
    read(tenant)
    assert tenant.admin.patch("workspace/settings", {"rrf_k": 13}).status_code == 200
    mute(tenant, NUMBER, RULE)
    assert due(tenant) == set()
    off = {"detection_enabled": False, "muted_rules": []}
    assert tenant.admin.patch("workspace/settings", off).status_code == 200
    assert (due(tenant), due(neighbour)) == (set(), set())


def test_what_the_history_does_not_know_reads_everything(tenant: Tenant) -> None:
    pair = commit(tenant, LOW, HIGH)
    Workspace.objects.filter(pk=tenant.workspace.pk).update(settings={"muted_rules": [NUMBER]})
    read(tenant)
    mute(tenant)
    assert due(tenant) == {*pair}


def test_a_runner_that_began_before_the_unmuting_reads_with_the_rule(tenant: Tenant) -> None:
    mute(tenant, NUMBER)
    commit(tenant, LOW, HIGH)
    read(tenant)
    runner = Workspace.objects.get(pk=tenant.workspace.pk)
    assert runner.config.muted_rules == [NUMBER]
    mute(tenant)
    detect_due(runner, clock=lambda: timezone.now() + timedelta(seconds=1))
    assert asked(tenant) == [NUMBER]
