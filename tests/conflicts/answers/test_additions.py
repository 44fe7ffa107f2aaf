"""Two answers to one question that may both be true, and those that cannot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conflicts.core.answers.additions import (
    WEIGHTS_FILE,
    AnswerPair,
    features_of,
    is_fitted_to,
    may_both_be_true,
)
from conflicts.core.answers.several import (
    asks_of_past_events,
    has_several_answers,
    leaves_no_room,
)
from conflicts.core.detective import detect
from conflicts.core.facts import DetectiveSettings
from conflicts.core.weights import Weights
from engram.kernel.embedding import embed
from engram.kernel.minilm import NAME
from memories.core.answers import Answer
from tests.conflicts.answers.test_findings import Told, rules, told
from tests.conflicts.test_core_detective import NOW

# Question, one answer with its text, another answer with its text.
ADDED = [
    ("Who plays in the band?", ("Tim", "Tim plays the drums."), ("Ann", "Ann is on bass.")),
    ("What is on the menu?", ("soup", "Soup is on."), ("fish", "There is fish.")),
    ("Where did Ana travel?", ("Rome", "Ana was in Rome."), ("Oslo", "Ana went to Oslo.")),
    ("What did the audit find?", ("an open port", "The audit found an open port."),
     ("two missing receipts", "Two receipts were missing.")),
]  # fmt: skip
EXCLUSIVE = [
    ("Who approves overtime?", ("the shift lead", "Overtime: the shift lead approves."),
     ("the works council", "Overtime goes to the works council.")),
    ("Where are signed contracts filed?",
     ("in the blue cabinet", "Signed contracts go into the blue cabinet."),
     ("in DocuSafe", "File signed contracts in DocuSafe.")),
    ("Which database does billing use?", ("MySQL", "Billing keeps its rows in MySQL."),
     ("Postgres", "Postgres is what billing runs on.")),
]  # fmt: skip
Given = tuple[str, tuple[str, str], tuple[str, str]]


def facts_of(given: Given) -> tuple[Told, Told]:
    question, (one, text), (other, rest) = given
    return (text, Answer(question, one)), (rest, Answer(question, other))


def found_by_vectors(given: Given, model: str) -> list[str]:
    """Return the rules that find something, with the built-in model's vectors under a name."""
    facts = told(*facts_of(given))
    vectors = np.asarray(embed([fact.content for fact in facts], NAME), dtype=np.float32)
    questions = {given[0]: np.asarray(embed([given[0]], NAME)[0], dtype=np.float32)}
    settings = DetectiveSettings(embedding_model=model)
    findings = detect(facts, vectors, now=NOW, settings=settings, questions=questions)
    return [rule for finding in findings for rule in finding.rules]


@pytest.mark.parametrize("given", ADDED)
def test_an_answer_that_adds_to_a_list_or_tells_another_event_is_no_contradiction(
    given: Given,
) -> None:
    assert found_by_vectors(given, NAME) == []
    assert rules(*facts_of(given)) == []  # by the form of the question, without its vectors


@pytest.mark.parametrize("given", EXCLUSIVE)
def test_two_answers_of_which_one_can_hold_are_a_contradiction(given: Given) -> None:
    assert "ambiguity.two-answers" in found_by_vectors(given, NAME)
    assert "ambiguity.two-answers" in rules(*facts_of(given))


def test_vectors_of_another_model_are_not_judged_by_these_weights() -> None:
    given = ("Who reads the meter?", ("Ida", "Ida reads the meter."), ("Bo", "Bo reads it."))
    assert is_fitted_to(NAME)
    assert not is_fitted_to("other")
    assert found_by_vectors(given, "other") == rules(*facts_of(given))


def test_an_answer_that_leaves_no_room_contradicts_others() -> None:
    may_enter = "Who can enter the cold room?"
    some = ("Technicians can enter the cold room.", Answer(may_enter, "technicians"))
    drivers = ("Drivers can enter the cold room.", Answer(may_enter, "drivers"))
    assert rules(some, drivers) == []
    only = ("Only technicians can enter the cold room.", Answer(may_enter, "only technicians"))
    assert rules(only, drivers) == ["ambiguity.two-answers"]
    assert leaves_no_room("nobody else")


def test_a_pair_is_judged_alike_in_both_orders() -> None:
    vectors = np.asarray(embed(["Who sings?", "Who is singing?"], NAME), dtype=float)
    pair = AnswerPair(
        ("Who sings?", "Who is singing?"), ("Ida", "Bo"), ("Ida sings.", "Bo does."),
        vectors, vectors[::-1],
    )  # fmt: skip
    turned = replace(
        pair,
        questions=pair.questions[::-1], answers=pair.answers[::-1], texts=pair.texts[::-1],
        question_vectors=vectors[::-1], text_vectors=vectors,
    )  # fmt: skip
    assert np.allclose(features_of(pair), features_of(turned))
    assert may_both_be_true(pair) == may_both_be_true(turned)


def test_weights_are_read_as_they_were_written(tmp_path: Path) -> None:
    shipped = Weights.load(WEIGHTS_FILE)
    shipped.save(tmp_path / "weights.npz")
    again = Weights.load(tmp_path / "weights.npz")
    assert (again.model, len(again.weights)) == (NAME, len(again.mean) + 1)
    assert np.array_equal(again.weights, shipped.weights)


@pytest.mark.parametrize(
    ("question", "several", "past"),
    [
        ("Which formats are accepted?", True, False),
        ("What does the pack contain?", True, False),
        ("Where can one park?", True, False),
        ("Who sits on the board?", True, False),
        ("Who is on call?", False, False),
        ("Who is in charge of the library?", False, False),
        ("What do pupils have to do with their phones?", False, False),
        ("What does POST /files return?", False, False),
        ("What happens on Saturday?", True, False),
        ("What happens when a payment fails?", False, False),
        ("Who called?", False, True),
        ("Who founded the shop?", False, False),
        ("Where was the 2024 retreat?", False, False),
        ("Where did we advertise?", False, True),
        ("In which currency are salaries paid?", False, False),
        ("Which bug blocks the release?", True, False),
        ("Which issue tracker do we use?", False, False),
    ],
)
def test_the_form_of_a_question_tells_whether_it_has_several_answers(
    question: str, several: bool, past: bool
) -> None:
    assert (has_several_answers(question), asks_of_past_events(question)) == (several, past)
