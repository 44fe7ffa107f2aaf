"""Agents tell how memories relate: nothing changes by it, and people decide what follows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from conflicts.models import Judgement
from conflicts.services.detection.detect import detect_due
from conflicts.services.reports.records import agent_records, is_confirmed_by_another
from engram.kernel import keys
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.models import ApiKey, Event, Role
from engram.kernel.tenancy import in_workspace
from memories.core.track_records import Record, together
from memories.models import Memory
from tests.conftest import NOW, Caller, Tenant

BARN = "Guests park behind the barn."
YARD = "The yard in front is where visitors leave their cars."
STREET = "Whoever visits leaves the car in the street."


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["memory"]["id"])


def commit_pair(tenant: Tenant) -> tuple[str, str]:
    one = commit(tenant, BARN, observed_at="2026-01-10T09:00:00Z")
    return one, commit(tenant, YARD, observed_at="2026-03-10T09:00:00Z")


def judge(
    caller: Caller, memory: str, other: str, relation: str = "contradicts", **body: Any
) -> Any:
    return caller.post(
        f"memories/{memory}/relations", {"other": other, "relation": relation, **body}
    )


def another_agent(tenant: Tenant, name: str = "second") -> Caller:
    _, token = keys.issue(tenant.workspace, name=name, role=Role.AGENT, actor=SYSTEM, now=NOW)
    return Caller(token, Client())


def cards(tenant: Tenant, **filters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tenant.reader.get("conflicts", filters).json()["results"]
    return found


def rows(tenant: Tenant) -> list[Any]:
    with in_workspace(tenant.workspace):
        return list(Memory.objects.order_by("pk").values())


def decide(tenant: Tenant, card: str, verdict: str) -> None:
    answer = tenant.reviewer.post(f"conflicts/{card}/resolve", {"verdict": verdict})
    assert answer.status_code == 200, answer.json()


def earn(tenant: Tenant, caller: Caller, verdicts: list[str]) -> None:
    """Let people decide about as many contradictions of a caller."""
    for number, verdict in enumerate(verdicts):
        one = commit(tenant, f"Shelf {number} of hall {uuid4().hex} holds pears.")
        other = commit(tenant, f"Hall {uuid4().hex}: nothing but plums.")
        answer = judge(caller, other, one).json()
        decide(tenant, answer["conflict"], verdict)


def test_a_contradiction_opens_a_card_and_changes_no_memory(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    before = rows(tenant)
    answer = judge(tenant.agent, other, one, reason="Only one of the two can be true.")
    assert answer.status_code == 201
    [card] = cards(tenant)
    told = answer.json()
    assert (told["outcome"], told["conflict"], told["suggestion"]) == ("opened", card["id"], None)
    assert (told["memory"], told["other"], told["weight"]) == (other, one, 0.5)
    assert [m["id"] for m in card["memories"]] == [one, other]
    assert (card["detected_by"], card["reasoning"]) == (
        ["agent"],
        "Only one of the two can be true.",
    )
    assert (card["suggestion"]["confidence"], card["yes_keeps"]) == (0.5, [other])
    assert rows(tenant) == before


def test_a_contradiction_joins_the_card_of_the_rules(tenant: Tenant) -> None:
    low = commit(tenant, "The API rate limit is 1000 requests per second.")
    high = commit(tenant, "The API rate limit is 5000 requests per second.")
    detect_due(tenant.workspace, clock=timezone.now)
    answers = [judge(tenant.agent, low, high).json()["outcome"] for _ in range(2)]
    assert answers == ["joined", "known"]
    assert [c["detected_by"] for c in cards(tenant)] == [["rules", "agent"]]


def test_values_that_are_judged_pair_by_pair_are_one_card(tenant: Tenant) -> None:
    told = [
        commit(tenant, f"Design reviews for the Halden checkout are chaired by {who}.", scope=who)
        for who in ("the platform guild", "Ingrid of payments", "the design council")
    ]
    judge(tenant.agent, told[1], told[0])
    assert judge(tenant.agent, told[2], told[0]).json()["outcome"] == "joined"
    assert judge(tenant.agent, told[2], told[1]).json()["outcome"] == "known"
    assert [[m["id"] for m in card["memories"]] for card in cards(tenant)] == [told]


def test_another_matter_of_a_member_is_another_card(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    judge(tenant.agent, other, one)
    third = commit(tenant, "The barn burnt down in spring and nothing stands there.")
    assert judge(tenant.agent, third, one).json()["outcome"] == "opened"
    assert [len(card["memories"]) for card in cards(tenant)] == [2, 2]


def test_a_decided_pair_is_not_asked_again(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    card = judge(tenant.agent, other, one).json()["conflict"]
    decide(tenant, card, "both_valid")
    again = judge(another_agent(tenant), one, other).json()
    assert (again["outcome"], again["conflict"]) == ("decided", card)
    assert [c["status"] for c in cards(tenant)] == ["resolved"]


@pytest.mark.parametrize("relation", ["same", "refines"])
def test_sameness_becomes_a_merge_suggestion(tenant: Tenant, relation: str) -> None:
    one, other = commit_pair(tenant)
    before = rows(tenant)
    answer = judge(tenant.agent, other, one, relation).json()
    [suggestion] = tenant.reader.get("merge-suggestions").json()["results"]
    assert (answer["outcome"], answer["suggestion"]) == ("suggested", suggestion["id"])
    assert (suggestion["relation"], suggestion["detected_by"]) == (relation, "agent")
    assert (rows(tenant), cards(tenant)) == (before, [])
    tenant.reviewer.post(f"merge-suggestions/{suggestion['id']}/reject")
    assert judge(tenant.agent, other, one, relation).json()["outcome"] == "apart"


def test_sameness_across_scopes_and_difference_are_noted(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    far = commit(tenant, STREET, scope="elsewhere")
    assert judge(tenant.agent, far, one, "same").json()["outcome"] == "noted"
    assert judge(tenant.agent, other, one, "different").json()["outcome"] == "noted"
    assert tenant.reader.get("merge-suggestions").json()["results"] == []
    with in_workspace(tenant.workspace):
        assert sorted(Judgement.objects.values_list("relation", flat=True)) == ["different", "same"]


def test_a_later_answer_replaces_the_earlier_one_whichever_way_round(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    first = judge(tenant.agent, other, one, "different").json()
    second = judge(tenant.agent, one, other, "same", reason="Read again.").json()
    assert (first["id"], second["memory"]) == (second["id"], one)
    judge(another_agent(tenant), one, other, "different")
    with in_workspace(tenant.workspace):
        told = Judgement.objects.order_by("created_at").values_list("relation", flat=True)
        assert list(told) == ["same", "different"]


def test_what_cannot_be_related_is_refused(tenant: Tenant, neighbour: Tenant) -> None:
    one, other = commit_pair(tenant)
    foreign = commit(neighbour, "Zenith keeps its codes under the flowerpot.")
    gone = commit(tenant, STREET)
    tenant.agent.post("memories/forget", {"ids": [gone], "confirm": True})
    for hidden in (foreign, gone, str(uuid4())):
        assert judge(tenant.agent, hidden, one).status_code == 404
        refused = judge(tenant.agent, one, hidden)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "other")
    assert judge(tenant.agent, one, one).status_code == 422
    later = commit(tenant, "Guests park on the new meadow.", supersedes=one)
    assert judge(tenant.agent, one, other).status_code == 409
    assert judge(tenant.agent, other, one).status_code == 422
    for body in (
        {},
        {"other": later},
        {"other": later, "relation": "unlike"},
        {"other": later, "relation": "same", "reason": "x" * 1001},
        {"other": 7, "relation": "same"},
        {"other": later, "relation": "same", "because": "typo"},
        {"other": later, "relation": ["same"]},
    ):
        assert tenant.agent.post(f"memories/{other}/relations", body).status_code == 422
    with in_workspace(tenant.workspace):
        assert Judgement.objects.count() == 0
    assert (cards(tenant), cards(neighbour)) == ([], [])


def test_sent_again_under_a_key_it_is_done_once(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    path, body = f"memories/{other}/relations", {"other": one, "relation": "contradicts"}
    answers = [tenant.agent.post(path, body, **{"Idempotency-Key": "k"}).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0]["outcome"] == "opened"


def test_a_key_judges_so_many_relations_an_hour(tenant: Tenant) -> None:
    tenant.workspace.settings = {"judgements_per_hour": 2}
    tenant.workspace.save()
    one, other = commit_pair(tenant)
    third = commit(tenant, STREET, scope="elsewhere")
    assert judge(tenant.agent, other, one, "different").status_code == 201
    assert tenant.agent.post("conflicts", {"memory_ids": [one, third]}).status_code == 201
    refused = judge(tenant.agent, other, third)
    assert refused.status_code == 429
    assert 3500 < int(refused.headers["Retry-After"]) <= 3600
    assert tenant.agent.post("conflicts", {"memory_ids": [other, third]}).status_code == 429
    assert judge(another_agent(tenant), other, third, "different").status_code == 201
    with in_workspace(tenant.workspace):
        Event.objects.filter(type="memory.judged").update(at=timezone.now() - timedelta(hours=1))
    assert judge(tenant.agent, other, third).status_code == 201


def test_an_answer_that_is_given_again_counts_again(tenant: Tenant) -> None:
    limit(tenant, 3)
    one, other = commit_pair(tenant)
    flips = ["different", "contradicts", "different", "contradicts"]
    assert [judge(tenant.agent, other, one, f).status_code for f in flips] == [201] * 3 + [429]
    second = another_agent(tenant)
    notes = [
        second.post("conflicts", {"memory_ids": [one, other], "note": f"again {i}"}).status_code
        for i in range(4)
    ]
    assert notes == [201] * 3 + [429]
    [card] = cards(tenant)
    assert len(card["comments"]) == 3
    with in_workspace(tenant.workspace):
        assert Judgement.objects.count() == 2


def test_a_report_counts_once_a_pair_that_it_names(tenant: Tenant) -> None:
    limit(tenant, 3)
    told = [*commit_pair(tenant), commit(tenant, STREET, scope="elsewhere")]
    assert tenant.agent.post("conflicts", {"memory_ids": told}).status_code == 201
    assert judge(tenant.agent, told[1], told[0]).status_code == 429


def test_what_is_refused_does_not_count(tenant: Tenant) -> None:
    limit(tenant, 1)
    one, other = commit_pair(tenant)
    assert judge(tenant.agent, one, one).status_code == 422
    assert judge(tenant.agent, one, other).status_code == 201


def limit(tenant: Tenant, most: int) -> None:
    tenant.workspace.settings = {"judgements_per_hour": most}
    tenant.workspace.save()


def test_two_bad_records_do_not_second_each_other(tenant: Tenant) -> None:
    bad = [tenant.agent, another_agent(tenant)]
    for caller in bad:
        earn(tenant, caller, ["dismiss"] * 8)
    one, other = commit_pair(tenant)
    assert [judge(caller, other, one).json()["outcome"] for caller in bad] == ["kept"] * 2
    assert judge(another_agent(tenant, "third"), other, one).json()["outcome"] == "opened"


def test_another_key_of_one_name_or_a_person_seconds_and_not_oneself(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    judge(tenant.agent, other, one)
    another_agent(tenant, "house agent")
    with in_workspace(tenant.workspace):
        memory, before = Memory.objects.get(pk=other), Memory.objects.get(pk=one)
        first = Judgement.objects.get()
        assert first.key is not None
        others = ApiKey.objects.exclude(pk=first.key.pk).filter(role=Role.AGENT)
        twin = others.latest("created_at")
        me = Actor("key", str(first.key_id), first.agent, Role.AGENT)
        also_me = Actor("key", str(twin.pk), first.agent, Role.AGENT)
        assert [is_confirmed_by_another(memory, before, who) for who in (me, also_me)] == [
            False,
            True,
        ]
        Judgement.objects.update(key=None, agent="ann")
        assert is_confirmed_by_another(memory, before, me)
        assert not is_confirmed_by_another(memory, before, Actor("user", "1", "ann", Role.REVIEWER))


def test_a_record_moves_the_weight_and_two_voices_the_confidence(tenant: Tenant) -> None:
    second = another_agent(tenant)
    earn(tenant, tenant.agent, ["yes", "no", "dismiss", "yes"])
    one, other = commit_pair(tenant)
    first = judge(tenant.agent, other, one).json()
    assert first["weight"] == Record(3, 1).weight == 5 / 8
    judge(second, one, other)
    [card] = cards(tenant, status="open")
    assert card["suggestion"]["confidence"] == round(together([5 / 8, 0.5]), 3) == 0.812


def test_a_bad_record_opens_no_card_alone(tenant: Tenant) -> None:
    earn(tenant, tenant.agent, ["dismiss"] * 7)
    one, other = commit_pair(tenant)
    third = commit(tenant, STREET, scope="elsewhere")
    decide(tenant, judge(tenant.agent, third, one).json()["conflict"], "dismiss")
    kept = judge(tenant.agent, other, one).json()
    assert (kept["outcome"], kept["conflict"]) == ("kept", None)
    reported = tenant.agent.post("conflicts", {"memory_ids": [one, other]})
    assert (reported.status_code, reported.json()) == (202, {"outcome": "kept"})
    assert cards(tenant, status="open") == []
    # Somebody else says so too: now people are asked, and the first voice counts again.
    opened = judge(another_agent(tenant), one, other).json()
    assert opened["outcome"] == "opened"
    decide(tenant, opened["conflict"], "no")
    records = {record.agent: record for record in agent_records(tenant.workspace)}
    assert records["acme agent"].record == Record(1, 8)
    assert records["second"].record == Record(1, 0)


def test_a_bad_record_is_heard_where_a_card_asks_already(tenant: Tenant) -> None:
    earn(tenant, tenant.agent, ["dismiss"] * 8)
    one, other = commit_pair(tenant)
    tenant.reviewer.post("conflicts", {"memory_ids": [one, other]})
    assert judge(tenant.agent, one, other).json()["outcome"] == "joined"


def test_only_standing_verdicts_make_a_record(tenant: Tenant) -> None:
    earn(tenant, tenant.agent, ["dismiss", "both_valid"])
    undone = cards(tenant, status="dismissed")[0]["id"]
    tenant.reviewer.post(f"conflicts/{undone}/undo")
    one, other = commit_pair(tenant)
    judge(tenant.agent, one, other)
    tenant.agent.post("memories/forget", {"ids": [one], "confirm": True})  # the card lapses
    [record] = agent_records(tenant.workspace)
    assert (record.judged, record.contradicts, record.kept) == (3, 3, 0)
    assert record.record == Record(1, 0)


def test_records_of_another_workspace_do_not_count(tenant: Tenant, neighbour: Tenant) -> None:
    earn(neighbour, neighbour.agent, ["dismiss"] * 8)
    assert agent_records(tenant.workspace) == []


def test_a_report_says_what_became_of_it(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    third = commit(tenant, STREET, scope="elsewhere")
    ids: list[str] = [one, other]
    first = tenant.agent.post("conflicts", {"memory_ids": ids}).json()
    again = tenant.agent.post("conflicts", {"memory_ids": ids}).json()
    wider = tenant.reviewer.post("conflicts", {"memory_ids": [*ids, third]}).json()
    told = [(one["id"], one["outcome"]) for one in (first, again, wider)]
    assert told == [(first["id"], name) for name in ("opened", "known", "joined")]


def test_a_value_that_is_said_again_after_another_is_asked_about_as_a_return(
    tenant: Tenant,
) -> None:
    old, region = "2026-01-01T00:00:00Z", "The deploy region of Atlas is Frankfurt."
    first = commit(tenant, region, observed_at=old)
    moved = commit(tenant, "Atlas went to live in Dublin.", observed_at="2026-02-01T00:00:00Z")
    again = commit(tenant, region, scope="ops", observed_at="2026-03-01T00:00:00Z")
    card = tenant.agent.post("conflicts", {"memory_ids": [again, first, moved]}).json()
    assert [m["id"] for m in card["memories"]] == [first, moved, again]
    assert (card["kind"], card["yes_keeps"]) == ("reversal", [first, again])


def test_erasing_empties_what_quotes_the_words(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    secret = commit(tenant, "Codeword wisteria opens the cellar.")
    judge(tenant.agent, one, other, "different", reason="Codeword wisteria opens the cellar.")
    tenant.admin.delete(f"memories/{secret}")
    with in_workspace(tenant.workspace):
        assert [j.reason for j in Judgement.objects.all()] == ["Erased."]


@pytest.mark.parametrize(
    ("confirmed", "dismissed", "may_open"),
    [(0, 0, True), (0, 7, True), (3, 5, False), (4, 4, True), (30, 90, False), (40, 60, True)],
)
def test_enough_dismissals_take_the_leave_to_open(
    confirmed: int, dismissed: int, may_open: bool
) -> None:
    assert Record(confirmed, dismissed).may_open is may_open


def test_a_card_that_has_grown_asks_for_the_smaller_ones(tenant: Tenant) -> None:
    one, other = commit_pair(tenant)
    third = commit(tenant, STREET, scope="elsewhere")
    ids: list[str] = [one, other, third]
    # Reported pair by pair, the third first with what it shares least with.
    tenant.agent.post("conflicts", {"memory_ids": [one, other], "note": "Barn?"})
    barn = commit(tenant, "Barley is kept in the old barn.")
    tenant.agent.post("conflicts", {"memory_ids": [one, barn]})
    judge(another_agent(tenant), third, barn)
    whole = tenant.reviewer.post("conflicts", {"memory_ids": [*ids, barn]}).json()
    waiting = cards(tenant, status="open")
    assert [c["id"] for c in waiting] == [whole["id"]]
    assert sorted(m["id"] for m in whole["memories"]) == sorted([*ids, barn])
    assert waiting[0]["detected_by"] == ["agent", "person"]
    closed = [c for c in cards(tenant) if c["id"] != whole["id"]]
    assert len(closed) >= 1
    assert {(c["status"], c["resolution"]["verdict"]) for c in closed} == {("resolved", None)}
    # The pairs are the wider card's: its verdict answers them all.
    decide(tenant, whole["id"], "both_valid")
    assert judge(tenant.agent, third, barn).json()["outcome"] == "decided"


def contradict(tenant: Tenant, caller: Caller) -> tuple[str, str, dict[str, Any]]:
    """Let a caller relate two new memories; return them and what came of it."""
    one = commit(tenant, f"Shelf of hall {uuid4().hex} holds pears.")
    other = commit(tenant, f"Hall {uuid4().hex}: nothing but plums.")
    return one, other, judge(caller, other, one).json()


def cap(tenant: Tenant, most: int) -> None:
    tenant.workspace.settings = {"undecided_cards_per_key": most}
    tenant.workspace.save()


def test_a_new_key_opens_so_many_undecided_cards(tenant: Tenant) -> None:
    cap(tenant, 2)
    [first, _] = [contradict(tenant, tenant.agent)[2] for _ in range(2)]
    one, other, third = contradict(tenant, tenant.agent)
    assert (third["outcome"], third["conflict"]) == ("capped", None)
    assert third["detail"].startswith("Recorded. A new key may have only so many")
    reported = tenant.agent.post("conflicts", {"memory_ids": [one, other]})
    assert (reported.status_code, reported.json()) == (202, {"outcome": "capped"})
    assert len(cards(tenant, status="open")) == 2
    decide(tenant, first["conflict"], "both_valid")
    assert judge(tenant.agent, other, one).json()["outcome"] == "opened"


def test_what_joins_a_card_is_not_capped_and_people_are_not(tenant: Tenant) -> None:
    cap(tenant, 0)
    one, other, capped = contradict(tenant, tenant.agent)
    assert capped["outcome"] == "capped"
    assert tenant.reviewer.post("conflicts", {"memory_ids": [one, other]}).status_code == 201
    assert judge(tenant.agent, other, one).json()["outcome"] == "joined"


def test_new_keys_do_not_lift_each_others_cap_and_a_known_one_does(tenant: Tenant) -> None:
    known = another_agent(tenant, "known")
    earn(tenant, known, ["yes"] * 8)
    cap(tenant, 0)
    one, other, _ = contradict(tenant, tenant.agent)
    assert judge(another_agent(tenant, "new too"), other, one).json()["outcome"] == "capped"
    assert judge(known, other, one).json()["outcome"] == "opened"
    third, fourth, _ = contradict(tenant, known)
    assert judge(tenant.agent, fourth, third).json()["outcome"] == "known"


def test_a_replaced_memory_names_what_took_its_place(tenant: Tenant) -> None:
    old, other = commit_pair(tenant)
    new = commit(tenant, STREET, supersedes=old)
    refused = judge(tenant.agent, old, other)
    assert refused.status_code == 409
    assert [error["message"] for error in refused.json()["errors"]] == [new]
    refused = judge(tenant.agent, other, old)
    assert refused.status_code == 422
    assert "That memory is superseded" in refused.json()["detail"]
    refused = judge(tenant.agent, other, str(uuid4()))
    assert "There is no live memory of this id" in refused.json()["detail"]
