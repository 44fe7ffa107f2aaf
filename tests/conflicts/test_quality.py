"""How good the detective is: which verdicts count, and for whom."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.core.rules.registry import rule_of
from conflicts.models import Conflict, Judgement
from conflicts.services.cards.file import file_findings
from conflicts.services.verdicts.resolve import resolve
from conflicts.services.verdicts.undo import undo
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.metrics import wilson
from memories.services.commit.commit import commit
from memories.services.commit.draft import Draft
from memories.services.lifecycle import forget
from tests.conftest import NOW, Tenant

_numbers = count()
Asked = Callable[..., Conflict]


def ask(
    workspace: Workspace,
    *,
    kind: Any = "ambiguity",
    found_by: str = "rules",
    confidence: float = 0.7,
    rules: tuple[str, ...] = ("ambiguity.choice",),
    at: datetime = NOW,
) -> Conflict:
    """Open a card about two memories of its own."""
    number = next(_numbers)
    made = [
        commit(
            workspace,
            Draft(content=f"Door {number} of the depot is {colour}.", scope=f"depot/{number}/{n}"),
            actor=SYSTEM,
            now=at,
        ).memory
        for n, colour in enumerate(("red", "green"))
    ]
    ids = tuple(str(memory.id) for memory in made if memory)
    finding = Finding(kind, ids, ids[1:], f"Is door {number} green?", "Two colours.",
                      "medium", confidence, None, rules)  # fmt: skip
    with in_workspace(workspace):
        filed = file_findings([finding], Comparisons(), detected_by=found_by, now=at)
        return Conflict.objects.get(pk=filed.cards[0])


def decide(workspace: Workspace, verdict: str, *, at: datetime = NOW, **asked: Any) -> Conflict:
    """Open a card and decide it."""
    card = ask(workspace, at=at, **asked)
    resolve(workspace, card.pk, verdict=verdict, actor=SYSTEM, now=at)
    return card


def quality(tenant: Tenant, **period: str) -> dict[str, Any]:
    answer = tenant.reader.get("conflicts/quality", period)
    assert answer.status_code == 200, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def test_without_verdicts_nothing_is_known(tenant: Tenant, neighbour: Tenant) -> None:
    decide(neighbour.workspace, "dismiss")
    shown = quality(tenant)
    unknown = {"share": None, "low": 0.0, "high": 1.0, "n": 0}
    assert (shown["decided"], shown["confirmed"], shown["dismissed"]) == (0, unknown, unknown)
    assert (shown["months"], shown["waiting"], shown["undone"], shown["lapsed"]) == ([], 0, 0, 0)


def test_every_verdict_but_dismiss_confirms(tenant: Tenant) -> None:
    for verdict in ("yes", "no", "none_valid", "both_valid", "dismiss"):
        decide(tenant.workspace, verdict)
    card = ask(tenant.workspace)
    with in_workspace(tenant.workspace):
        kept = card.members.all()[0].memory_id
    resolve(tenant.workspace, card.pk, verdict="keep", keep=[kept], actor=SYSTEM, now=NOW)
    shown = quality(tenant)
    assert (shown["decided"], shown["both_valid"]) == (6, 1)
    expected = wilson(5, 6)
    assert shown["confirmed"] == {
        "share": expected.mean, "low": expected.low, "high": expected.high, "n": 6,
    }  # fmt: skip
    assert shown["dismissed"]["share"] == pytest.approx(1 / 6)


def test_verdicts_are_told_apart_by_kind_and_detector(tenant: Tenant) -> None:
    decide(tenant.workspace, "yes", kind="reversal")
    decide(tenant.workspace, "dismiss", kind="stale", found_by="narrative")
    decide(tenant.workspace, "dismiss", kind="stale", found_by="agent")
    both = decide(tenant.workspace, "yes", kind="stale")
    with in_workspace(tenant.workspace):
        Conflict.objects.filter(pk=both.pk).update(detected_by=["rules", "agent"])
    shown = quality(tenant)
    kinds = {k: (v["decided"], v["dismissed"]["share"]) for k, v in shown["kinds"].items()}
    assert kinds == {
        "reversal": (1, 0.0), "ambiguity": (0, None), "stale": (3, pytest.approx(2 / 3)),
    }  # fmt: skip
    found = {k: (v["decided"], v["dismissed"]["share"]) for k, v in shown["detectors"].items()}
    assert found == {
        "rules": (2, 0.0), "narrative": (1, 1.0), "agent": (2, 0.5), "person": (0, None),
    }  # fmt: skip


def test_verdicts_are_counted_by_rule_with_intervals(tenant: Tenant, neighbour: Tenant) -> None:
    choice, date, number = "ambiguity.choice", "ambiguity.date", "ambiguity.number"
    decide(neighbour.workspace, "yes", rules=(number,))
    decide(tenant.workspace, "yes", rules=(choice,))
    decide(tenant.workspace, "dismiss", rules=(choice, date))
    taken_back = decide(tenant.workspace, "yes", rules=(date,))
    undo(tenant.workspace, taken_back.pk, actor=SYSTEM, now=NOW)
    ask(tenant.workspace, rules=(number,))
    shown = quality(tenant)["rules"]
    assert [(one["rule"]["id"], one["decided"]) for one in shown] == [(choice, 2), (date, 1)]
    assert shown[0]["rule"]["meaning"] == rule_of(choice).meaning
    half = wilson(1, 2)
    assert shown[0]["confirmed"] == {"share": 0.5, "low": half.low, "high": half.high, "n": 2}
    assert (shown[1]["confirmed"]["share"], shown[1]["dismissed"]["share"]) == (0.0, 1.0)


def test_undone_verdicts_and_lapsed_cards_do_not_count(tenant: Tenant) -> None:
    decide(tenant.workspace, "yes")
    taken_back = decide(tenant.workspace, "dismiss")
    undo(tenant.workspace, taken_back.pk, actor=SYSTEM, now=NOW)
    lapsed = ask(tenant.workspace)
    with in_workspace(tenant.workspace):
        member = lapsed.members.all()[0].memory_id
    forget.forget(tenant.workspace, [member], actor=SYSTEM, now=NOW)
    shown = quality(tenant)
    assert (shown["decided"], shown["confirmed"]["share"]) == (1, 1.0)
    assert (shown["undone"], shown["lapsed"], shown["waiting"]) == (1, 1, 1)
    resolve(tenant.workspace, taken_back.pk, verdict="yes", actor=SYSTEM, now=NOW)
    assert (quality(tenant)["decided"], quality(tenant)["dismissed"]["share"]) == (2, 0.0)


def test_a_period_takes_the_verdicts_within_it(tenant: Tenant) -> None:
    march = datetime(2026, 3, 10, tzinfo=UTC)
    decide(tenant.workspace, "dismiss", at=march)
    decide(tenant.workspace, "yes", at=march + timedelta(days=60))
    one = quality(tenant, since="2026-03-01T00:00:00Z", until="2026-04-01T00:00:00Z")
    assert (one["decided"], one["dismissed"]["share"]) == (1, 1.0)
    at_its_end = quality(tenant, until="2026-03-10T00:00:00Z")
    assert at_its_end["decided"] == 0
    every = quality(tenant)
    told = [(m["month"], m["decided"], m["confirmed"]["share"]) for m in every["months"]]
    assert told == [("2026-03-01", 1, 0.0), ("2026-04-01", 0, None), ("2026-05-01", 1, 1.0)]


@pytest.mark.parametrize(
    "period",
    [
        {"since": "2026-03-01T00:00:00Z", "until": "2026-03-01T00:00:00Z"},
        {"since": "yesterday"},
        {"from": "2026-03-01T00:00:00Z"},
    ],
)
def test_a_period_that_makes_no_sense_is_refused(tenant: Tenant, period: dict[str, str]) -> None:
    assert tenant.reader.get("conflicts/quality", period).status_code == 422


def test_many_verdicts_cost_as_many_queries_as_one(tenant: Tenant) -> None:
    decide(tenant.workspace, "yes", found_by="agent")
    quality(tenant)
    with CaptureQueriesContext(connection) as one:
        quality(tenant)
    for verdict in ("yes", "dismiss", "both_valid"):
        decide(tenant.workspace, verdict, kind="stale", found_by="agent")
    with CaptureQueriesContext(connection) as many:
        quality(tenant)
    assert len(many) == len(one)


def test_agents_are_judged_by_what_they_reported_or_judged(
    tenant: Tenant, neighbour: Tenant
) -> None:
    for owner in (tenant, neighbour):
        for number, verdict in enumerate(("dismiss", "yes", "dismiss")):
            ids = [
                owner.agent.post(
                    "memories", {"content": f"Gate {number} is {c}.", "scope": f"{number}/{c}"}
                ).json()["memory"]["id"]
                for c in ("red", "green")
            ]
            card = owner.agent.post("conflicts", {"memory_ids": ids}).json()["id"]
            resolve(owner.workspace, card, verdict=verdict, actor=SYSTEM, now=NOW)
    judged = decide(tenant.workspace, "yes", found_by="agent")
    with in_workspace(tenant.workspace):
        one, other = [member.memory for member in judged.members.all()]
        Judgement.objects.create(
            memory=one, other=other, relation="contradicts", agent="critic", conflict=judged,
            created_at=NOW,
        )  # fmt: skip
    told = {a["agent"]: (a["decided"], a["dismissed"]["share"]) for a in quality(tenant)["agents"]}
    assert told == {"acme agent": (3, pytest.approx(2 / 3)), "critic": (1, 0.0)}
