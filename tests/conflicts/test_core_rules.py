"""What the rules tell apart: sentences of one kind on either side of the line."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from conflicts.core.cues import Cue, cues
from conflicts.core.detective import Fact, detect
from conflicts.core.facts import DetectiveSettings
from conflicts.core.qualifiers import qualifiers
from conflicts.core.severity import severity_of
from conflicts.core.states import state_of
from conflicts.core.timeline import Timeline, conversations
from memories.core.exclusions import find_exclusion
from tests.conflicts.test_core_detective import NOW, START, blind, similar, story, summary


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("We moved the shop from Lyon to Nice.", Cue.SWITCH),
        ("Starting in May, Hamid mentors the interns.", Cue.SWITCH),
        ("The limit was raised to 40.", Cue.ADJUST),
        ("Rolled back to the old parser.", Cue.RETURN),
        ("Lucy mentors the interns once more.", Cue.AGAIN),
        ("The lease on the hall ended in May.", Cue.END),
        ("Ana joined in his place.", Cue.SUCCESSOR),
        ("Correction: the port is 81.", Cue.SETTLE),
        ("The lift is out of order until Friday.", Cue.TEMPORARY),
        ("Idea: the shop could use a queue.", Cue.UNREAL),
        ("It used to be blue.", Cue.PAST),
        ("Offer to Rashid accepted, he starts in May.", Cue.EVENT),
        ("Stage two: reads go to the new store.", Cue.PROGRESS),
    ],
)
def test_cue_is_heard(text: str, cue: Cue) -> None:
    assert cue in cues(text)


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("The sunset over the lake was removed from view.", Cue.SWITCH),
        ("Releases are cut from main.", Cue.ADJUST),
        ("Once the lease has ended, hand in the keys.", Cue.END),
        ("Rows are deleted after a month.", Cue.END),
        ("Logs are kept for two weeks.", Cue.TEMPORARY),
        ("Bookings are stored in the ledger.", Cue.EVENT),
        ("The Baltic office keeps an offbeat calendar.", Cue.RETURN),
    ],
)
def test_cue_is_not_overheard(text: str, cue: Cue) -> None:
    assert cue not in cues(text)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("EIP-3 has status Draft", ("eip-3", "status"), "draft"),
        ("The status of ticket 4 is In Review.", ("ticket 4", "status"), "in review"),
        ("Orion's phase: build", ("orion", "phase"), "build"),
        ("Order 7 status = shipped", ("order 7", "status"), "shipped"),
    ],
)
def test_state_is_read_in_its_usual_forms(text: str, key: tuple[str, str], value: str) -> None:
    state = state_of(text)
    assert state is not None
    assert (state.key, state.value) == (key, value)


@pytest.mark.parametrize(
    "text", ["", "Deploys state the ticket.", "The status page is blue and red."]
)
def test_state_is_not_read_into_other_texts(text: str) -> None:
    assert state_of(text) is None


@pytest.mark.parametrize(
    ("a", "b", "way", "words"),
    [
        ("Cart contents survive a logout.", "Logging out empties the cart.",
         "kept or discarded", ("survive", "empties")),
        ("Late claims are refused.", "We accept late claims.",
         "refused or accepted", ("refused", "accept")),
        ("A lead calls us.", "A lead fills in the web form.",
         "by phone or in writing", ("calls us", "web form")),
    ],
)  # fmt: skip
def test_ways_exclude_each_other_both_ways(
    a: str, b: str, way: str, words: tuple[str, str]
) -> None:
    assert find_exclusion(a, b) == f"{way}: {words[0]} against {words[1]}"
    assert find_exclusion(b, a) == f"{way}: {words[1]} against {words[0]}"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Members keep their lockers.", "Members keep their keys."),
        ("We keep a copy, then it is deleted.", "The copy is deleted."),
    ],
)
def test_other_ways_do_not_exclude_each_other(a: str, b: str) -> None:
    assert find_exclusion(a, b) == find_exclusion(b, a) == ""


def test_region_codes_are_no_pronouns() -> None:
    assert qualifiers("ask us about it") == frozenset()
    assert len(qualifiers("the US platform")) == 1
    assert qualifiers("org:platform-us") == qualifiers("the US platform")


def pair(a: str, b: str, scope_a: str = "svc:shop", scope_b: str = "svc:shop") -> list[Fact]:
    first, second = story(a, b)
    return [replace(first, scope=scope_a), replace(second, scope=scope_b)]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The largest upload to the archive is 25 MB.", "The archive takes uploads up to 50 MB."),
        ("Audit logs are retained for 30 days here.", "Audit logs are held for 12 weeks here."),
        ("A badge is mandatory for lab visitors.", "For lab visitors a badge is optional."),
        ("Hall two's guide is written in French.", "Hall two's guide is written in English."),
    ],
)  # fmt: skip
def test_two_current_values_of_one_slot_are_an_ambiguity(a: str, b: str) -> None:
    facts = pair(a, b)
    assert summary(detect(facts, similar(facts, 0.8), now=NOW)) == [("ambiguity", ("f0", "f1"))]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The search timeout is 30 s.", "The search timeout is 30000 ms."),
        ("The staging upload limit is 25 MB.", "The production upload limit is 50 MB."),
        ("During probation the notice is 2 weeks.", "After probation the notice is 8 weeks."),
        ("Debug logs are retained for 7 days.", "Audit logs are retained for 30 days."),
        ("Build time of the shop is at 38 minutes.", "Build time of the shop is at 9 minutes."),
        ("The target for Q1 2025 is 2.4M EUR.", "The target for Q2 2025 is 2.7M EUR."),
        ("The upload limit is 25 MB.", "Correction: the upload limit is 50 MB."),
        ("The upload limit is 25 MB.", "The upload limit could be 50 MB one day, maybe."),
    ],
)  # fmt: skip
def test_units_parts_periods_and_corrections_are_no_ambiguity(a: str, b: str) -> None:
    facts = pair(a, b)
    assert detect(facts, similar(facts, 0.8), now=NOW) == []


def test_later_decision_settles_an_ambiguity() -> None:
    facts = story(
        "The upload limit of the archive is 25 MB.",
        "The upload limit of the archive is 50 MB.",
        "Checked the archive handler: the upload limit is 50 MB, the other number was wrong.",
    )
    assert detect(facts, similar(facts, 0.8), now=NOW) == []


def test_three_disagreeing_values_are_one_finding() -> None:
    facts = story(
        "The upload limit of the archive is 25 MB.",
        "The upload limit of the archive is 50 MB.",
        "The upload limit of the archive is 75 MB.",
    )
    findings = detect(facts, similar(facts, 0.8), now=NOW)
    assert summary(findings) == [("ambiguity", ("f0", "f1", "f2"))]
    assert findings[0].yes_keeps == ("f2",)


def test_values_at_odds_about_two_matters_are_two_findings() -> None:
    facts = story(
        "The upload limit of the archive is 25 MB.",
        "The upload limit of the archive is 50 MB.",
        "Quarterly invoices are paid within 14 days of receipt.",
        "Quarterly invoices are paid within 30 days of receipt.",
    )
    vectors = similar(facts, 0.8)
    vectors[2:, 0], vectors[2:, 100] = 0.0, np.sqrt(0.8)
    assert summary(detect(facts, vectors, now=NOW)) == [
        ("ambiguity", ("f0", "f1")),
        ("ambiguity", ("f2", "f3")),
    ]


def test_other_things_of_one_kind_are_kept_apart_by_scope() -> None:
    facts = pair(
        "Look the device up in the Pulsar console.",
        "The merchant app's Pulsar account was cancelled and erased.",
        "app:courier",
        "app:merchant",
    )
    assert detect(facts, similar(facts, 0.6), now=NOW) == []


def test_end_with_a_successor_is_not_stale() -> None:
    facts = pair(
        "Dry the glassware in the Memmert oven overnight.",
        "The Memmert oven has been scrapped, glassware is dried in the Binder now.",
    )
    assert detect(facts, similar(facts, 0.6), now=NOW) == []


def test_other_number_of_a_thing_is_not_stale() -> None:
    facts = pair("To the depot, take line 14.", "Line 41 was discontinued.")
    assert detect(facts, similar(facts, 0.6), now=NOW) == []


def test_states_arriving_one_by_one_are_found_as_in_one_batch() -> None:
    values = {
        "A-1": ["Draft", "Review", "Draft", "Final"],
        "A-2": ["Draft", "Review", "Final"],
        "A-3": ["Open", "Closed", "Open"],
        "A-4": ["Draft", "Draft"],
    }
    facts = [
        replace(
            story(f"{name} has status {value}")[0],
            id=f"{name}#{number}",
            lineage=f"{name}#{number}",
            session_key="",
            observed_at=START + timedelta(days=10 * number, hours=len(name)),
        )
        for name, history in values.items()
        for number, value in enumerate(history)
    ]
    vectors = similar(facts, 0.9)
    whole = {f.fact_ids[0].split("#")[0] for f in detect(facts, vectors, now=NOW)}
    order = sorted(range(len(facts)), key=lambda i: facts[i].observed_at)
    arrived: set[str] = set()
    for count, newest in enumerate(order, start=1):
        seen = order[:count]
        found = detect(
            [facts[i] for i in seen], vectors[seen], now=NOW, triggers={facts[newest].id}
        )
        arrived |= {f.fact_ids[0].split("#")[0] for f in found}
    assert whole == arrived == {"A-1", "A-3"}


def test_conversation_goes_on_while_each_fact_follows_soon() -> None:
    facts = [
        replace(fact, session_key="s", observed_at=START + timedelta(minutes=minutes))
        for fact, minutes in zip(story("a", "b", "c", "d"), (0, 10, 24, 60), strict=True)
    ]
    assert conversations(facts, 15.0) == ["f0", "f0", "f0", "f3"]
    assert conversations([replace(f, session_key="") for f in facts], 15.0) == [""] * 4


def test_rare_words_lead_to_neighbours_without_vectors() -> None:
    facts = [*story("The zephyr relay is blue.", "Zephyr relay logs are kept."), *story("Tea.")[:1]]
    facts[2] = replace(facts[2], id="f9", lineage="l9")
    timeline = Timeline(facts, blind(facts), DetectiveSettings())
    assert timeline.neighbours(timeline.position["f0"]) == (timeline.position["f1"],)


def test_cost_follows_the_triggers_not_the_pairs() -> None:
    rng = np.random.default_rng(5)
    facts = [
        replace(story(f"Item {i} is kept on shelf {i % 97}.")[0], id=f"m{i}", lineage=f"m{i}")
        for i in range(3000)
    ]
    vectors = rng.normal(size=(3000, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    timeline = Timeline(facts, vectors, DetectiveSettings())
    assert max(len(timeline.neighbours(i)) for i in range(0, 3000, 100)) <= 48
    assert detect(facts, vectors, now=datetime(2026, 1, 1, tzinfo=UTC), triggers={"m7"}) == []


def test_grave_matters_come_first() -> None:
    tea, dose = story("Tea is in the cupboard.", "The dose is 5 mg.")
    assert severity_of([tea]) == "low"
    assert severity_of([tea, dose]) == "high"
    assert severity_of([replace(tea, provenance="user_stated")]) == "low"
    assert severity_of([replace(tea, kind="constraint")]) == "high"
