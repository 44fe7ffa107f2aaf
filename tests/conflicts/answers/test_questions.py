"""Two questions ask for the same thing: by meaning, where nothing in them differs."""

from __future__ import annotations

import pytest

from conflicts.core.answers.question_guards import Asked
from conflicts.core.answers.question_words import ask_of_two_things
from conflicts.core.answers.questions import is_one_question, may_be_one_question
from conflicts.core.answers.sorts import Sort, sort_of

NEAR = 0.95


def is_one(a: str, b: str, cosine: float = NEAR, **around: str) -> bool:
    one, other = Asked(a, **around), Asked(b, **around)
    found = may_be_one_question(one, other, cosine) and is_one_question(one, other, cosine)
    back = may_be_one_question(other, one, cosine) and is_one_question(other, one, cosine)
    assert found == back
    return found


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Who approves refunds?", "who approves refunds"),
        ("Who approves refunds?", "Who signs off on refunds?"),
        ("How long are audit logs kept?", "How many days are audit logs kept?"),
        ("What is the upload limit?", "How large is the upload limit?"),
        ("Is a card required for the trial?", "Must a card be given for the trial?"),
    ],
)
def test_questions_in_other_words_are_one(a: str, b: str) -> None:
    assert is_one(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Who approves refunds?", "When are refunds approved?"),
        ("How long are audit logs kept?", "How long are debug logs kept?"),
        ("Who is on call in week 33?", "Who is on call in week 34?"),
        ("Which rota starts in June?", "Which rota starts in July?"),
        ("What is the timeout in staging?", "What is the timeout in production?"),
        ("How long is the notice during probation?", "How long is the notice after probation?"),
        ("Who leads Helio?", "Who leads Orion?"),
        ("When do trains run?", "When do no trains run?"),
        ("Why was the queue replaced?", "Why was the queue changed?"),
        ("Where is Chidi's passport?", "Which passport does Chidi have?"),
        ("What is HEL-3 about?", "What is the status of HEL-3?"),
        ("Who guards barrier two?", "Who guards barrier three?"),
        ("Who cleans hall one?", "Who cleans hall six?"),
        ("What is the fee per month?", "What is the fee per year?"),
        ("May trainees enter with a badge?", "May trainees enter without a badge?"),
    ],
)
def test_questions_that_differ_in_what_they_name_are_two(a: str, b: str) -> None:
    assert not is_one(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Where does the procession start?", "Where does the procession end?"),
        ("What is the day tariff?", "What is the night tariff?"),
        ("What is the frame rate cap on phones?", "What is the frame rate cap on tablets?"),
        ("What colour are domestic labels?", "What colour are export labels?"),
    ],
)
def test_two_ends_times_or_groups_of_one_thing_are_two_questions(a: str, b: str) -> None:
    assert not may_be_one_question(Asked(a), Asked(b), 0.95)
    assert may_be_one_question(Asked(a), Asked(a.replace("What is", "What's")), 0.95)


def test_questions_that_are_far_from_each_other_are_two() -> None:
    assert not is_one("Who approves refunds?", "Who signs off on refunds?", 0.5)


def test_another_thing_of_one_name_needs_a_higher_cosine() -> None:
    assert not is_one("Where is the Halden signing?", "Where are the Halden originals?", 0.8)
    assert is_one("Where is Bruno the bull?", "Where is Bruno?", 0.8)


def test_a_question_about_a_case_is_not_the_general_one() -> None:
    general = "What does a programme cost?"
    assert not is_one(general, "What does a programme cost at school matinees?", 0.8)
    assert is_one(general, "What does a programme cost a guest?", 0.8)


def test_a_question_for_yes_or_no_states_the_claim_so_that_its_nouns_may_differ() -> None:
    asked = "May a dog ride in the tram?", "Are pets allowed on trams?"
    assert is_one(*asked, cosine=0.73)
    assert not is_one("Which dogs ride in the tram?", "Which pets are on trams?", 0.73)


def test_two_sorts_of_questions_are_one_where_both_answers_are_times_or_amounts_of_a_unit() -> None:
    a, b = "What is the cut-off for pool tickets?", "When is the cut-off for pool tickets?"
    one, other = Asked(a, answer="21:00"), Asked(b, answer="noon")
    assert may_be_one_question(one, other, 0.75)
    assert is_one_question(one, other, 0.75)
    vague = Asked(b, answer="when the last guest has left")
    assert not is_one_question(one, vague, 0.75)


def test_one_of_two_questions_may_lack_a_name_where_the_caller_says_so() -> None:
    one, other = Asked("Who feeds Bodo at noon?"), Asked("Who does the noon feeding?")
    third = Asked("Who feeds Alma at noon?")
    assert not may_be_one_question(one, other, NEAR)
    assert may_be_one_question(one, other, NEAR, may_lack_name=True)
    assert not may_be_one_question(one, third, NEAR, may_lack_name=True)


@pytest.mark.parametrize(
    ("a", "b", "are_two"),
    [
        ("Who signs leases at the dock?", "Who signs cheques at the dock?", True),
        ("Which queue does the notifier use?", "Which broker does the notifier use?", False),
        ("Who signs leases?", "Who is to sign cheques?", False),
        ("Who signs leases?", "Who signs leases?", False),
    ],
)
def test_one_sentence_with_another_word_asks_of_two_things(a: str, b: str, are_two: bool) -> None:
    assert ask_of_two_things(a, b) == ask_of_two_things(b, a) == are_two


def test_a_name_may_stand_in_the_scope_instead() -> None:
    asked = "Which database does Helio use?", "Which database is used?"
    assert is_one(*asked, scope="project:helio")
    assert not is_one(*asked, scope="project:orion")


def test_the_same_words_about_two_scopes_are_two_questions() -> None:
    one = Asked("Which model does the checkout team use?", scope="team:checkout")
    other = Asked("Which model does the catalog team use?", scope="team:catalog")
    assert not may_be_one_question(one, other, 0.97)


@pytest.mark.parametrize(
    ("question", "sort"),
    [
        ("Who owns it?", "who"),
        ("Which team owns it?", "who"),
        ("On which day is it emptied?", "when"),
        ("At what temperature is it kept?", "which"),
        ("How often is it fed?", "how often"),
        ("After how long does it expire?", "how much"),
        ("How many times does it retry?", "how much"),
        ("What does it cost to enter?", "how much"),
        ("What is the entry fee?", "how much"),
        ("Is it open?", "yes or no"),
        ("Why?", "reason"),
        ("売上は?", ""),
    ],
)
def test_the_question_word_tells_what_is_asked_for(question: str, sort: Sort) -> None:
    assert sort_of(question) == sort
