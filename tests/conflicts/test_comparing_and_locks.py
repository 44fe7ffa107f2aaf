"""No claims are compared while locks are held: a pair of long texts takes a fifth of a second."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from conflicts.core import comparisons, subjects
from conflicts.services.detection.detect import detect_due
from memories.core import claims
from tests.conflicts.test_card_changes import commit, commit_places, report
from tests.conftest import Tenant, build_tenant

LIMIT = "The API rate limit is {} requests per second."


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    """Return a workspace outside of any transaction of the test's own."""
    return build_tenant("busy")


def locks_held() -> int:
    """Return how many locks this connection holds by which others may have to wait."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks LEFT JOIN pg_class ON pg_class.oid = relation"
            " WHERE pid = pg_backend_pid() AND (locktype = 'advisory' OR (locktype = 'relation'"
            " AND mode <> 'AccessShareLock' AND relkind <> 'S'))"  # nobody waits for a sequence
        )
        (held,) = cursor.fetchone()
    return int(held)


def watch(monkeypatch: pytest.MonkeyPatch, told: Callable[..., None]) -> None:
    """Call `told` before every comparison that a module of conflicts makes; none is known yet."""
    monkeypatch.setattr(comparisons, "KEPT", comparisons.KeptAnswers())

    def compare(*texts: Any, **options: Any) -> Any:
        told(*texts)
        return claims.compare(*texts, **options)

    watched = SimpleNamespace(**{**vars(claims), "compare": compare})
    for name, module in list(sys.modules.items()):
        if name.startswith("conflicts."):
            for attribute, value in list(vars(module).items()):
                if value is claims:
                    monkeypatch.setattr(module, attribute, watched)
                elif value is claims.compare:
                    monkeypatch.setattr(module, attribute, compare)
    differ = subjects._clearly_differ.__wrapped__

    def clearly_differ(*notes: Any) -> bool:
        told(*notes)
        return bool(differ(*notes))

    monkeypatch.setattr(subjects, "_clearly_differ", clearly_differ)


def read(tenant: Tenant) -> None:
    runs = detect_due(tenant.workspace, clock=timezone.now)
    assert {run.status for run in runs} <= {"done"}


def of_rules(tenant: Tenant, *values: int) -> tuple[list[str], dict[str, Any]]:
    ids = [commit(tenant, LIMIT.format(v), agent=f"agent {v}") for v in values]
    read(tenant)
    [card] = tenant.reader.get("conflicts").json()["results"]
    return ids, card


def filing_of_rules(tenant: Tenant) -> Callable[[], Any]:
    ids, card = of_rules(tenant, 1000, 5000)
    dismissed = tenant.reviewer.post(f"conflicts/{card['id']}/resolve", {"verdict": "both_valid"})
    assert dismissed.status_code == 200
    tenant.reviewer.patch(f"memories/{ids[0]}", {"content": LIMIT.format(700)})
    return lambda: read(tenant)


def rewording(tenant: Tenant) -> Callable[[], Any]:
    ids, _ = of_rules(tenant, 1000, 5000, 800)
    tenant.agent.patch(f"memories/{ids[0]}", {"content": "The canteen opens at noon."})
    return lambda: read(tenant)


def patching(tenant: Tenant) -> Callable[[], Any]:
    ids, _ = of_rules(tenant, 1000, 5000, 800)
    return lambda: tenant.agent.patch(f"memories/{ids[0]}", {"content": LIMIT.format(12)})


def superseding(tenant: Tenant) -> Callable[[], Any]:
    ids, _ = of_rules(tenant, 1000, 5000, 800)
    return lambda: commit(tenant, LIMIT.format(12), supersedes=ids[0])


def forgetting(tenant: Tenant) -> Callable[[], Any]:
    a, b, c = commit_places(tenant, 3)
    report(tenant, a, b, c)
    return lambda: tenant.reviewer.post("memories/forget", {"ids": [c], "confirm": True})


def reporting(tenant: Tenant) -> Callable[[], Any]:
    ids = commit_places(tenant, 4)
    return lambda: report(tenant, *ids)


def joining(tenant: Tenant) -> Callable[[], Any]:
    ids = [commit(tenant, LIMIT.format(v), agent=f"agent {v}") for v in (1000, 5000, 800)]
    report(tenant, *ids[:2])
    return lambda: report(tenant, *ids[1:])


def relating(tenant: Tenant) -> Callable[[], Any]:
    ids = [commit(tenant, LIMIT.format(v), agent=f"agent {v}") for v in (1000, 5000, 800)]
    report(tenant, *ids[:2])
    told = {"other": ids[1], "relation": "contradicts", "reason": ""}
    return lambda: tenant.agent.post(f"memories/{ids[2]}/relations", told)


def deciding(tenant: Tenant) -> Callable[[], Any]:
    a, b, c = commit_places(tenant, 3)
    card = report(tenant, a, b, c)
    return lambda: tenant.reviewer.post(f"conflicts/{card['id']}/resolve", {"verdict": "no"})


STORIES = [
    filing_of_rules, rewording, patching, superseding, forgetting, reporting, joining, relating,
    deciding,
]  # fmt: skip
WITHOUT = {patching, superseding, forgetting}  # nothing at all is compared


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_nothing_is_compared_under_locks(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, story: Callable[[Tenant], Callable[[], Any]]
) -> None:
    act = story(tenant)
    held: list[int] = []
    watch(monkeypatch, lambda *_: held.append(locks_held()))
    act()
    assert (bool(held), any(held)) == (story not in WITHOUT, False)


@pytest.mark.parametrize("verb", ["report", "resolve"])
def test_a_text_that_changed_meanwhile_is_compared_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    a, b, c = commit_places(tenant, 3)
    card = report(tenant, a, b, c) if verb == "resolve" else {}
    new = "Nobody flies to Oslo this year."
    compared: list[str] = []

    def change(*texts: Any) -> None:
        if not compared:
            compared.append("")
            assert tenant.agent.patch(f"memories/{b}", {"content": new}).status_code == 200
        compared.extend(getattr(text, "content", text) for text in texts)

    watch(monkeypatch, change)
    if verb == "report":
        report(tenant, a, c, b)
    else:
        body = {"verdict": "no"}
        refused = tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body)
        assert refused.json()["type"] == "/problems/keep-needed"
    assert new in compared
    assert "Everybody flies to Oslo in June." in compared[: compared.index(new)]


def test_look_ups_compare_each_pair_once_and_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "KEPT", comparisons.KeptAnswers())
    known = comparisons.LookUps()
    texts = LIMIT.format(1000), LIMIT.format(5000)
    assert known.relation(*texts) == "different"  # not known: whoever acts on it is stopped
    with pytest.raises(comparisons.NotComparedError):
        known.demand_known()
    known.compare_missing()
    monkeypatch.setattr(comparisons, "claims", None)
    known.demand_known()
    assert known.relation(*texts) == "contradicts"
    assert not known.is_missing
