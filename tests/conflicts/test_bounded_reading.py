"""What a card costs to read is bounded, whatever its members say, and is paid once."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from conflicts.core import comparisons
from conflicts.core.parts import MAX_MEMBERS
from conflicts.models import Conflict, ConflictMember
from conflicts.services.cards import show
from conflicts.services.reports import report as reports
from conflicts.services.verdicts import bulk
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.models import Role
from engram.kernel.tenancy import has_workspace, in_workspace
from memories.core.comparing import MAX_COMPARED_CHARS
from memories.services.commit.commit import commit_all
from memories.services.commit.draft import Draft
from tests.conflicts.test_comparing_and_locks import locks_held, watch
from tests.conftest import Tenant, build_tenant

ROOMS = "The meeting room {} has {} chairs and a window to the yard. "


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    """Return a workspace outside of any transaction of the test's own."""
    return build_tenant("busy")


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return the pairs of texts that are compared claim by claim from now on."""
    pairs: list[tuple[str, ...]] = []

    def note(*texts: Any) -> None:
        if isinstance(texts[0], str):
            assert not has_workspace()
            assert not locks_held()
            pairs.append(texts)

    watch(monkeypatch, note)
    return pairs


def write(tenant: Tenant, *texts: str) -> list[str]:
    done = commit_all(
        tenant.workspace, [Draft(content=text) for text in texts],
        actor=SYSTEM, now=timezone.now(), is_gated=False, is_detected=False,
    )  # fmt: skip
    return [str(one.memory.id) for one in done if one.memory is not None]


def report(tenant: Tenant, ids: list[str], **headers: str) -> dict[str, Any]:
    answer = tenant.reviewer.post("conflicts", {"memory_ids": ids, "note": ""}, **headers)
    assert answer.status_code == 201, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def read(tenant: Tenant, card: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = tenant.reader.get(f"conflicts/{card['id']}").json()
    return found


def of_no(card: dict[str, Any]) -> dict[str, Any]:
    [found] = [c for c in card["consequences"] if c["verdict"] == "no"]
    return dict(found)


def chars(pairs: list[tuple[str, ...]]) -> int:
    return sum(map(len, {text for pair in pairs for text in pair}))


def test_long_members_are_not_compared_and_a_no_names_what_is_true(
    tenant: Tenant, compared: list[tuple[str, ...]]
) -> None:
    texts = [(ROOMS.format("north", n) * 150)[:8000] for n in range(MAX_MEMBERS)]
    ids = write(tenant, *texts)
    card = report(tenant, ids)
    for _ in range(2):
        shown = of_no(read(tenant, card))
        assert (shown["is_possible"], shown["needs_keep"]) == (True, True)
        assert "too long to compare" in shown["reason"]
    assert compared == []
    path = f"conflicts/{card['id']}/resolve"
    refused = tenant.reviewer.post(path, {"verdict": "no"}).json()
    assert (refused["type"], "too long to compare" in str(refused)) == (
        "/problems/keep-needed", True,
    )  # fmt: skip
    with in_workspace(tenant.workspace):
        view = show.show(Conflict.objects.get(pk=card["id"]), now=timezone.now())
    effect = next(one.effect for one in view.outcomes if one.verdict == "no")
    assert "too long to compare: tick those that are true" in effect
    assert tenant.reviewer.post(path, {"verdict": "no", "keep": ids[:1]}).status_code == 200
    assert compared == []


@pytest.mark.parametrize("members", [3, MAX_MEMBERS])
def test_at_most_so_many_characters_of_a_card_are_compared_and_no_pair_again(
    tenant: Tenant, compared: list[tuple[str, ...]], members: int
) -> None:
    size = MAX_COMPARED_CHARS // members
    texts = [ROOMS.format("north", n).ljust(size, "x")[:size] for n in range(members)]
    card = report(tenant, write(tenant, *texts))
    shown = of_no(read(tenant, card))
    assert "More than one value would remain" in shown["reason"]
    assert 0 < chars(compared) <= MAX_COMPARED_CHARS
    asked = len(compared)
    # Once for what the two say, once for what they speak of where nothing simpler tells.
    assert max(Counter(compared).values()) <= 2
    read(tenant, card)
    read(tenant, card)
    assert len(compared) == asked


def test_one_that_stays_needs_no_comparison_however_long(
    tenant: Tenant, compared: list[tuple[str, ...]]
) -> None:
    texts = [(ROOMS.format("north", n) * 150)[:8000] for n in range(2)]
    shown = of_no(read(tenant, report(tenant, write(tenant, *texts))))
    assert (shown["needs_keep"], shown["reason"], len(shown["kept"])) == (False, "", 1)
    assert compared == []


@pytest.mark.parametrize("verb", ["report", "resolve"])
def test_an_answer_under_a_key_is_compared_before_its_locks(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    ids = write(tenant, *(ROOMS.format("north", n) for n in range(4)))
    card = report(tenant, ids) if verb == "resolve" else {}
    held: list[int] = []
    watch(monkeypatch, lambda *_: held.append(locks_held() - 1))  # one is the key's own
    key = {"Idempotency-Key": "once"}
    if verb == "report":
        card = report(tenant, ids, **key)
        assert len(card["consequences"]) == 6
    else:
        body = {"verdict": "no", "keep": ids[:1]}
        done = tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body, **key)
        assert done.status_code == 200
    assert held
    assert not any(held)


def test_a_deed_for_many_cards_compares_so_many_characters_altogether(
    tenant: Tenant, compared: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["north", "south", "east", "west"]
    for name in names:
        texts = [f"{name} {ROOMS.format(name, n)}".ljust(400, name[0]) for n in range(3)]
        report(tenant, write(tenant, *texts))
    compared.clear()
    monkeypatch.setattr(comparisons, "KEPT", comparisons.KeptAnswers())
    monkeypatch.setattr("tests.conflicts.test_bounded_reading.has_workspace", lambda: False)
    monkeypatch.setattr("tests.conflicts.test_bounded_reading.locks_held", lambda: 0)
    monkeypatch.setattr(bulk, "MAX_CHARS", 2000)
    with in_workspace(tenant.workspace):
        cards = list(Conflict.objects.all())
        planned = bulk.plan(cards, bulk.BulkDecide("no"), left=0, now=timezone.now())
    assert len(cards) == len(planned.passed) == len(names)
    told = [one.reason.split(":")[0] for one in planned.passed]
    assert told.count("The other sides are too long to compare") == 2
    assert 0 < chars(compared) <= 2000


PERSON = Actor(kind="user", id="1", label="ana", role=Role.REVIEWER)


def test_what_does_not_fit_on_a_card_is_asked_on_another(tenant: Tenant) -> None:
    ids = [
        UUID(i) for i in write(tenant, *(ROOMS.format("north", n) for n in range(MAX_MEMBERS + 2)))
    ]

    def report_card(*memories: UUID) -> Conflict:
        found = reports.report(
            tenant.workspace, memories, note="", actor=PERSON, now=timezone.now()
        )
        assert found.card is not None
        return found.card

    first = report_card(*ids[:MAX_MEMBERS])
    second = report_card(
        *ids[MAX_MEMBERS - 2 : MAX_MEMBERS + 1]
    )  # two of a full card, and a newcomer
    third = report_card(*ids[MAX_MEMBERS:])
    assert (second.id != first.id, third.id) == (True, second.id)
    again = report_card(*ids[:MAX_MEMBERS])
    with in_workspace(tenant.workspace):
        waiting = Conflict.objects.filter(status="open")
        sizes = sorted(card.members.count() for card in waiting)
        named = set(ConflictMember.objects.values_list("memory_id", flat=True))
    assert (sizes, named, again.id) == ([3, MAX_MEMBERS], set(ids), first.id)
