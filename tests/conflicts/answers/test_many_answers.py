"""Many memories that answer one question: what is compared, and what a turn leaves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from conflicts.core.answers import history
from conflicts.core.answers.alike import ALIKE_READ
from conflicts.core.detective import DetectiveSettings, Found, detect, detect_in_turn
from conflicts.core.facts import Fact
from memories.core.answers import Answer
from tests.conflicts.answers.test_findings import told
from tests.conflicts.test_core_detective import NOW, similar

ASKED = "Who signs for the autumn delivery?"
NAMES = ("Olga", "Ruben", "Priya")
QUESTIONS = {ASKED: np.array([1.0, 0.0], dtype=np.float32)}


def signing(count: int, names: tuple[str, ...] = NAMES) -> list[Fact]:
    """Return facts that answer one question, an hour apart, each with the next of some names."""
    given = [names[i % len(names)] for i in range(count)]
    facts = told(
        *((f"{name} signs when the autumn delivery comes.", Answer(ASKED, name)) for name in given)
    )
    begin = facts[0].observed_at
    return [replace(fact, observed_at=begin + timedelta(hours=i)) for i, fact in enumerate(facts)]


def in_turn(facts: list[Fact], triggers: list[str], most: int) -> Found:
    """Read the triggers until so many are read."""
    asked: list[int] = []

    def is_over() -> bool:
        asked.append(1)
        return len(asked) >= most

    return detect_in_turn(
        facts, similar(facts, 0.3), now=NOW, triggers=triggers, settings=DetectiveSettings(),
        questions=QUESTIONS, is_over=is_over,
    )  # fmt: skip


def test_each_fact_is_compared_with_some_of_each_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    real = history.exclude_each_other

    def count(*pair: object) -> bool:
        compared.append(1)
        return real(*pair)  # type: ignore[arg-type]

    monkeypatch.setattr(history, "exclude_each_other", count)

    def comparisons(size: int) -> int:
        compared.clear()
        facts = signing(size)
        findings = detect(facts, similar(facts, 0.3), now=NOW, questions=QUESTIONS)
        named = {i for one in findings for i in (*one.fact_ids, *one.unlisted)}
        assert named == {fact.id for fact in facts}
        return len(compared)

    once, twice = comparisons(40), comparisons(80)
    of_each = len(NAMES) * ALIKE_READ
    assert once <= 40 * of_each + of_each**2
    assert twice - once <= 40 * of_each + 1


def test_an_answer_that_contradicts_only_the_older_of_many_equal_ones_is_found() -> None:
    """The newest of them speak of other cases: they are read, and do not do."""
    olga = Answer(ASKED, "Olga")
    kept = [("Olga signs when the autumn delivery comes.", olga)]
    apart = [
        (f"For tenant {name} it is Olga who signs when the delivery comes.", olga)
        for name in ("Acme", "Globex", "Initech", "Umbrella", "Hooli")
    ]
    facts = told(
        *kept, *apart,
        ("Ruben signs for tenant Stark when the delivery comes.", Answer(ASKED, "Ruben")),
    )  # fmt: skip
    whole = detect(facts, similar(facts, 0.3), now=NOW, questions=QUESTIONS)
    assert {facts[0].id, facts[-1].id} <= {i for one in whole for i in one.fact_ids}


def test_answers_of_the_own_conversation_take_no_place_of_others() -> None:
    first, last = signing(2)
    begin = last.observed_at
    talk = [
        replace(
            fact, session_key="one", id=f"t{i}", lineage=f"t{i}",
            observed_at=begin + timedelta(minutes=i),
        )
        for i, fact in enumerate(signing(2 * ALIKE_READ, ("Olga",)))
    ]  # fmt: skip
    last = replace(last, session_key="one", observed_at=talk[-1].observed_at + timedelta(minutes=1))
    everything = [first, *talk, last]
    findings = detect(
        everything, similar(everything, 0.3), now=NOW, triggers=[last.id], questions=QUESTIONS
    )
    [finding] = findings
    assert finding.fact_ids == (first.id, last.id)


def test_a_turn_reads_in_the_order_of_its_triggers_and_names_what_it_left() -> None:
    facts = signing(6)
    triggers = [fact.id for fact in reversed(facts)]
    found = in_turn(facts, triggers, 2)
    assert found.left == set(triggers[2:])
    assert all(set(triggers[:2]) & set(one.fact_ids) for one in found.findings)
    assert found.findings


def test_turns_find_together_what_one_finds() -> None:
    facts = signing(9)
    whole = detect(facts, similar(facts, 0.3), now=NOW, questions=QUESTIONS)
    left, findings = [fact.id for fact in facts], []
    turns = 0
    while left:
        found = in_turn(facts, left, 2)
        findings += found.findings
        left = [i for i in left if i in found.left]
        turns += 1
    assert turns == 5
    assert {one.fact_ids for one in findings} == {one.fact_ids for one in whole}
    assert in_turn(facts, [fact.id for fact in facts], 99) == Found(whole)
