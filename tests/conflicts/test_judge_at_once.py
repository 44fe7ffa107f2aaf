"""Several callers judge, report, verdict and erase at once: one card a pair, and no deadlock."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conflicts.models import Judgement
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.collisions import AGAIN
from engram.kernel.models import Role
from engram.kernel.tenancy import in_workspace
from tests.conflicts.test_card_changes import both, commit
from tests.conftest import NOW, Caller, Tenant, build_tenant


@pytest.fixture
def shared_tenant(transactional_db: None) -> Tenant:
    """Return a workspace that several connections see."""
    return build_tenant("busy")


def judge(caller: Caller, memory: str, other: str, relation: str = "contradicts") -> Any:
    return caller.post(f"memories/{memory}/relations", {"other": other, "relation": relation})


def test_judged_from_all_sides_a_pair_is_one_card(shared_tenant: Tenant) -> None:
    tenant = shared_tenant
    _, token = keys.issue(tenant.workspace, name="second", role=Role.AGENT, actor=SYSTEM, now=NOW)
    second = Caller(token, Client())
    for turn in range(4):
        a = commit(tenant, f"Crate {turn} holds cedar.")
        b = commit(tenant, f"Nothing but lamps came in delivery {turn}.")
        answers = both(
            lambda a=a, b=b: judge(tenant.agent, a, b),
            lambda a=a, b=b: judge(second, b, a),
            lambda a=a, b=b: judge(tenant.agent, b, a),
            lambda a=a, b=b: tenant.reviewer.post("conflicts", {"memory_ids": [b, a]}),
        )
        assert [answer.status_code for answer in answers] == [201] * 4
    found = tenant.reader.get("conflicts").json()["results"]
    assert [len(card["memories"]) for card in found] == [2] * 4
    with in_workspace(tenant.workspace):  # each agent's answer once a pair
        assert Judgement.objects.count() == 4 * 2


def test_judging_beside_erasing_and_a_verdict_does_not_deadlock(shared_tenant: Tenant) -> None:
    tenant = shared_tenant
    for turn in range(4):
        a = commit(tenant, f"Crate {turn} holds cedar.")
        b = commit(tenant, f"Nothing but lamps came in delivery {turn}.")
        c = commit(tenant, f"Customs kept parcel {turn} for good.")
        card = judge(tenant.agent, a, b).json()["conflict"]
        judged, resolved, erased = both(
            lambda a=a, c=c: judge(tenant.agent, c, a),
            lambda card=card: tenant.reviewer.post(f"conflicts/{card}/resolve", {"verdict": "no"}),
            lambda b=b: tenant.admin.delete(f"memories/{b}"),
        )
        assert judged.status_code in {201, 409, 422}
        assert resolved.status_code in {200, 409, 422}
        assert AGAIN not in [answer.json().get("detail") for answer in (judged, resolved)]
        assert erased.status_code in {200, 204}
