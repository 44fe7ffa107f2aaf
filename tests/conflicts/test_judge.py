"""Agents tell how memories relate: nothing changes by it, and people decide what follows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from conflicts.core.records import Record, together
from conflicts.models import Judgement
from conflicts.services.detection.detect import detect_due
from conflicts.services.reports.records import agent_records, is_seconded
from engram.kernel import keys
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.models import ApiKey, Event, Role
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import NOW, Caller, House

BARN = "Guests park behind the barn."
YARD = "The yard in front is where visitors leave their cars."
STREET = "Whoever visits leaves the car in the street."


def commit(house: House, content: str, **fields: Any) -> str:
    answer = house.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["memory"]["id"])


def tell(house: House) -> tuple[str, str]:
    one = commit(house, BARN, observed_at="2026-01-10T09:00:00Z")
    return one, commit(house, YARD, observed_at="2026-03-10T09:00:00Z")


def judge(
    caller: Caller, memory: str, other: str, relation: str = "contradicts", **body: Any
) -> Any:
    return caller.post(
        f"memories/{memory}/relations", {"other": other, "relation": relation, **body}
    )


def another_agent(house: House, name: str = "second") -> Caller:
    _, token = keys.issue(house.workspace, name=name, role=Role.AGENT, actor=SYSTEM, now=NOW)
    return Caller(token, Client())


def cards(house: House, **filters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = house.reader.get("conflicts", filters).json()["results"]
    return found


def rows(house: House) -> list[Any]:
    with in_workspace(house.workspace):
        return list(Memory.objects.order_by("pk").values())


def decide(house: House, card: str, verdict: str) -> None:
    answer = house.reviewer.post(f"conflicts/{card}/resolve", {"verdict": verdict})
    assert answer.status_code == 200, answer.json()


def earn(house: House, caller: Caller, verdicts: list[str]) -> None:
    """Let people decide about as many contradictions of a caller."""
    for number, verdict in enumerate(verdicts):
        one = commit(house, f"Shelf {number} of hall {uuid4().hex} holds pears.")
        other = commit(house, f"Hall {uuid4().hex}: nothing but plums.")
        answer = judge(caller, other, one).json()
        decide(house, answer["conflict"], verdict)


def test_a_contradiction_opens_a_card_and_changes_no_memory(house: House) -> None:
    one, other = tell(house)
    before = rows(house)
    answer = judge(house.agent, other, one, reason="Only one of the two can be true.")
    assert answer.status_code == 201
    [card] = cards(house)
    told = answer.json()
    assert (told["outcome"], told["conflict"], told["suggestion"]) == ("opened", card["id"], None)
    assert (told["memory"], told["other"], told["weight"]) == (other, one, 0.5)
    assert [m["id"] for m in card["memories"]] == [one, other]
    assert (card["detected_by"], card["reasoning"]) == (
        ["agent"],
        "Only one of the two can be true.",
    )
    assert (card["suggestion"]["confidence"], card["yes_keeps"]) == (0.5, [other])
    assert rows(house) == before


def test_a_contradiction_joins_the_card_of_the_rules(house: House) -> None:
    low = commit(house, "The API rate limit is 1000 requests per second.")
    high = commit(house, "The API rate limit is 5000 requests per second.")
    detect_due(house.workspace, clock=timezone.now)
    answers = [judge(house.agent, low, high).json()["outcome"] for _ in range(2)]
    assert answers == ["joined", "known"]
    assert [c["detected_by"] for c in cards(house)] == [["rules", "agent"]]


def test_values_that_are_judged_pair_by_pair_are_one_card(house: House) -> None:
    told = [
        commit(house, f"Design reviews for the Halden checkout are chaired by {who}.", scope=who)
        for who in ("the platform guild", "Ingrid of payments", "the design council")
    ]
    judge(house.agent, told[1], told[0])
    assert judge(house.agent, told[2], told[0]).json()["outcome"] == "joined"
    assert judge(house.agent, told[2], told[1]).json()["outcome"] == "known"
    assert [[m["id"] for m in card["memories"]] for card in cards(house)] == [told]


def test_another_matter_of_a_member_is_another_card(house: House) -> None:
    one, other = tell(house)
    judge(house.agent, other, one)
    third = commit(house, "The barn burnt down in spring and nothing stands there.")
    assert judge(house.agent, third, one).json()["outcome"] == "opened"
    assert [len(card["memories"]) for card in cards(house)] == [2, 2]


def test_a_decided_pair_is_not_asked_again(house: House) -> None:
    one, other = tell(house)
    card = judge(house.agent, other, one).json()["conflict"]
    decide(house, card, "both_valid")
    again = judge(another_agent(house), one, other).json()
    assert (again["outcome"], again["conflict"]) == ("decided", card)
    assert [c["status"] for c in cards(house)] == ["resolved"]


@pytest.mark.parametrize("relation", ["same", "refines"])
def test_sameness_becomes_a_merge_suggestion(house: House, relation: str) -> None:
    one, other = tell(house)
    before = rows(house)
    answer = judge(house.agent, other, one, relation).json()
    [suggestion] = house.reader.get("merge-suggestions").json()["results"]
    assert (answer["outcome"], answer["suggestion"]) == ("suggested", suggestion["id"])
    assert (suggestion["relation"], suggestion["detected_by"]) == (relation, "agent")
    assert (rows(house), cards(house)) == (before, [])
    house.reviewer.post(f"merge-suggestions/{suggestion['id']}/reject")
    assert judge(house.agent, other, one, relation).json()["outcome"] == "apart"


def test_sameness_across_scopes_and_difference_are_noted(house: House) -> None:
    one, other = tell(house)
    far = commit(house, STREET, scope="elsewhere")
    assert judge(house.agent, far, one, "same").json()["outcome"] == "noted"
    assert judge(house.agent, other, one, "different").json()["outcome"] == "noted"
    assert house.reader.get("merge-suggestions").json()["results"] == []
    with in_workspace(house.workspace):
        assert sorted(Judgement.objects.values_list("relation", flat=True)) == ["different", "same"]


def test_a_later_answer_replaces_the_earlier_one_whichever_way_round(house: House) -> None:
    one, other = tell(house)
    first = judge(house.agent, other, one, "different").json()
    second = judge(house.agent, one, other, "same", reason="Read again.").json()
    assert (first["id"], second["memory"]) == (second["id"], one)
    judge(another_agent(house), one, other, "different")
    with in_workspace(house.workspace):
        told = Judgement.objects.order_by("created_at").values_list("relation", flat=True)
        assert list(told) == ["same", "different"]


def test_what_cannot_be_related_is_refused(house: House, neighbour: House) -> None:
    one, other = tell(house)
    foreign = commit(neighbour, "Zenith keeps its codes under the flowerpot.")
    gone = commit(house, STREET)
    house.agent.post("memories/forget", {"ids": [gone], "confirm": True})
    for hidden in (foreign, gone, str(uuid4())):
        assert judge(house.agent, hidden, one).status_code == 404
        refused = judge(house.agent, one, hidden)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "other")
    assert judge(house.agent, one, one).status_code == 422
    later = commit(house, "Guests park on the new meadow.", supersedes=one)
    assert judge(house.agent, one, other).status_code == 409
    assert judge(house.agent, other, one).status_code == 422
    for body in (
        {},
        {"other": later},
        {"other": later, "relation": "unlike"},
        {"other": later, "relation": "same", "reason": "x" * 1001},
        {"other": 7, "relation": "same"},
        {"other": later, "relation": "same", "because": "typo"},
        {"other": later, "relation": ["same"]},
    ):
        assert house.agent.post(f"memories/{other}/relations", body).status_code == 422
    with in_workspace(house.workspace):
        assert Judgement.objects.count() == 0
    assert (cards(house), cards(neighbour)) == ([], [])


def test_sent_again_under_a_key_it_is_done_once(house: House) -> None:
    one, other = tell(house)
    path, body = f"memories/{other}/relations", {"other": one, "relation": "contradicts"}
    answers = [house.agent.post(path, body, **{"Idempotency-Key": "k"}).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0]["outcome"] == "opened"


def test_a_key_judges_so_many_relations_an_hour(house: House) -> None:
    house.workspace.settings = {"judgements_per_hour": 2}
    house.workspace.save()
    one, other = tell(house)
    third = commit(house, STREET, scope="elsewhere")
    assert judge(house.agent, other, one, "different").status_code == 201
    assert house.agent.post("conflicts", {"memory_ids": [one, third]}).status_code == 201
    refused = judge(house.agent, other, third)
    assert refused.status_code == 429
    assert 3500 < int(refused.headers["Retry-After"]) <= 3600
    assert house.agent.post("conflicts", {"memory_ids": [other, third]}).status_code == 429
    assert judge(another_agent(house), other, third, "different").status_code == 201
    with in_workspace(house.workspace):
        Event.objects.filter(type="memory.judged").update(at=timezone.now() - timedelta(hours=1))
    assert judge(house.agent, other, third).status_code == 201


def test_an_answer_that_is_given_again_counts_again(house: House) -> None:
    limit(house, 3)
    one, other = tell(house)
    flips = ["different", "contradicts", "different", "contradicts"]
    assert [judge(house.agent, other, one, f).status_code for f in flips] == [201] * 3 + [429]
    second = another_agent(house)
    notes = [
        second.post("conflicts", {"memory_ids": [one, other], "note": f"again {i}"}).status_code
        for i in range(4)
    ]
    assert notes == [201] * 3 + [429]
    [card] = cards(house)
    assert len(card["comments"]) == 3
    with in_workspace(house.workspace):
        assert Judgement.objects.count() == 2


def test_a_report_counts_once_a_pair_that_it_names(house: House) -> None:
    limit(house, 3)
    told = [*tell(house), commit(house, STREET, scope="elsewhere")]
    assert house.agent.post("conflicts", {"memory_ids": told}).status_code == 201
    assert judge(house.agent, told[1], told[0]).status_code == 429


def test_what_is_refused_does_not_count(house: House) -> None:
    limit(house, 1)
    one, other = tell(house)
    assert judge(house.agent, one, one).status_code == 422
    assert judge(house.agent, one, other).status_code == 201


def limit(house: House, most: int) -> None:
    house.workspace.settings = {"judgements_per_hour": most}
    house.workspace.save()


def test_two_bad_records_do_not_second_each_other(house: House) -> None:
    bad = [house.agent, another_agent(house)]
    for caller in bad:
        earn(house, caller, ["dismiss"] * 8)
    one, other = tell(house)
    assert [judge(caller, other, one).json()["outcome"] for caller in bad] == ["kept"] * 2
    assert judge(another_agent(house, "third"), other, one).json()["outcome"] == "opened"


def test_another_key_of_one_name_or_a_person_seconds_and_not_oneself(house: House) -> None:
    one, other = tell(house)
    judge(house.agent, other, one)
    another_agent(house, "house agent")
    with in_workspace(house.workspace):
        memory, before = Memory.objects.get(pk=other), Memory.objects.get(pk=one)
        first = Judgement.objects.get()
        assert first.key is not None
        others = ApiKey.objects.exclude(pk=first.key.pk).filter(role=Role.AGENT)
        twin = others.latest("created_at")
        me = Actor("key", str(first.key_id), first.agent, Role.AGENT)
        also_me = Actor("key", str(twin.pk), first.agent, Role.AGENT)
        assert [is_seconded(memory, before, who) for who in (me, also_me)] == [False, True]
        Judgement.objects.update(key=None, agent="ann")
        assert is_seconded(memory, before, me)
        assert not is_seconded(memory, before, Actor("user", "1", "ann", Role.REVIEWER))


def test_a_record_moves_the_weight_and_two_voices_the_confidence(house: House) -> None:
    second = another_agent(house)
    earn(house, house.agent, ["yes", "no", "dismiss", "yes"])
    one, other = tell(house)
    first = judge(house.agent, other, one).json()
    assert first["weight"] == Record(3, 1).weight == 5 / 8
    judge(second, one, other)
    [card] = cards(house, status="open")
    assert card["suggestion"]["confidence"] == round(together([5 / 8, 0.5]), 3) == 0.812


def test_a_bad_record_opens_no_card_alone(house: House) -> None:
    earn(house, house.agent, ["dismiss"] * 7)
    one, other = tell(house)
    third = commit(house, STREET, scope="elsewhere")
    decide(house, judge(house.agent, third, one).json()["conflict"], "dismiss")
    kept = judge(house.agent, other, one).json()
    assert (kept["outcome"], kept["conflict"]) == ("kept", None)
    reported = house.agent.post("conflicts", {"memory_ids": [one, other]})
    assert (reported.status_code, reported.json()) == (202, {"outcome": "kept"})
    assert cards(house, status="open") == []
    # Somebody else says so too: now people are asked, and the first voice counts again.
    opened = judge(another_agent(house), one, other).json()
    assert opened["outcome"] == "opened"
    decide(house, opened["conflict"], "no")
    records = {record.agent: record for record in agent_records(house.workspace)}
    assert records["acme agent"].record == Record(1, 8)
    assert records["second"].record == Record(1, 0)


def test_a_bad_record_is_heard_where_a_card_asks_already(house: House) -> None:
    earn(house, house.agent, ["dismiss"] * 8)
    one, other = tell(house)
    house.reviewer.post("conflicts", {"memory_ids": [one, other]})
    assert judge(house.agent, one, other).json()["outcome"] == "known"


def test_only_standing_verdicts_make_a_record(house: House) -> None:
    earn(house, house.agent, ["dismiss", "both_valid"])
    undone = cards(house, status="dismissed")[0]["id"]
    house.reviewer.post(f"conflicts/{undone}/undo")
    one, other = tell(house)
    judge(house.agent, one, other)
    house.agent.post("memories/forget", {"ids": [one], "confirm": True})  # the card lapses
    [record] = agent_records(house.workspace)
    assert (record.judged, record.contradicts, record.kept) == (3, 3, 0)
    assert (record.record, record.dismissed_share) == (Record(1, 0), 0.0)


def test_records_of_another_workspace_do_not_count(house: House, neighbour: House) -> None:
    earn(neighbour, neighbour.agent, ["dismiss"] * 8)
    assert agent_records(house.workspace) == []


def test_a_report_says_what_became_of_it(house: House) -> None:
    one, other = tell(house)
    third = commit(house, STREET, scope="elsewhere")
    ids: list[str] = [one, other]
    first = house.agent.post("conflicts", {"memory_ids": ids}).json()
    again = house.agent.post("conflicts", {"memory_ids": ids}).json()
    wider = house.reviewer.post("conflicts", {"memory_ids": [*ids, third]}).json()
    told = [(one["id"], one["outcome"]) for one in (first, again, wider)]
    assert told == [(first["id"], name) for name in ("opened", "known", "joined")]


def test_a_value_that_is_said_again_after_another_is_asked_about_as_a_return(house: House) -> None:
    old, region = "2026-01-01T00:00:00Z", "The deploy region of Atlas is Frankfurt."
    first = commit(house, region, observed_at=old)
    moved = commit(house, "Atlas went to live in Dublin.", observed_at="2026-02-01T00:00:00Z")
    again = commit(house, region, scope="ops", observed_at="2026-03-01T00:00:00Z")
    card = house.agent.post("conflicts", {"memory_ids": [again, first, moved]}).json()
    assert [m["id"] for m in card["memories"]] == [first, moved, again]
    assert (card["kind"], card["yes_keeps"]) == ("reversal", [first, again])


def test_erasing_empties_what_quotes_the_words(house: House) -> None:
    one, other = tell(house)
    secret = commit(house, "Codeword wisteria opens the cellar.")
    judge(house.agent, one, other, "different", reason="Codeword wisteria opens the cellar.")
    house.admin.delete(f"memories/{secret}")
    with in_workspace(house.workspace):
        assert [j.reason for j in Judgement.objects.all()] == ["Erased."]


@pytest.mark.parametrize(
    ("confirmed", "dismissed", "may_open"),
    [(0, 0, True), (0, 7, True), (3, 5, False), (4, 4, True), (30, 90, False), (40, 60, True)],
)
def test_enough_dismissals_take_the_leave_to_open(
    confirmed: int, dismissed: int, may_open: bool
) -> None:
    assert Record(confirmed, dismissed).may_open is may_open


def test_a_card_that_has_grown_asks_for_the_smaller_ones(house: House) -> None:
    one, other = tell(house)
    third = commit(house, STREET, scope="elsewhere")
    ids: list[str] = [one, other, third]
    # Reported pair by pair, the third first with what it shares least with.
    house.agent.post("conflicts", {"memory_ids": [one, other], "note": "Barn?"})
    barn = commit(house, "Barley is kept in the old barn.")
    house.agent.post("conflicts", {"memory_ids": [one, barn]})
    judge(another_agent(house), third, barn)
    whole = house.reviewer.post("conflicts", {"memory_ids": [*ids, barn]}).json()
    waiting = cards(house, status="open")
    assert [c["id"] for c in waiting] == [whole["id"]]
    assert sorted(m["id"] for m in whole["memories"]) == sorted([*ids, barn])
    assert waiting[0]["detected_by"] == ["agent"]
    closed = [c for c in cards(house) if c["id"] != whole["id"]]
    assert len(closed) >= 1
    assert {(c["status"], c["resolution"]["verdict"]) for c in closed} == {("resolved", None)}
    # The pairs are the wider card's: its verdict answers them all.
    decide(house, whole["id"], "both_valid")
    assert judge(house.agent, third, barn).json()["outcome"] == "decided"
