"""A question and the same one with a limit are two; a fuller name of the matter is no limit."""

from __future__ import annotations

import pytest

from conflicts.core.answers.question_guards import Asked, rates
from conflicts.core.answers.question_limits import is_limited
from conflicts.core.answers.questions import is_one_question

NEAR = 0.97
OPENS = "When does the bakery open?"
PORT = "Which port does the API use?"
HELD = "How many guests may the hall hold?"


@pytest.mark.parametrize(
    ("general", "limited"),
    [
        *((OPENS, f"When does the bakery open {limit}?") for limit in (
            "over Easter", "on public holidays", "during the school holidays", "next week",
            "for members", "to suppliers", "outside the season", "on request", "per month",
        )),
        *((PORT, f"Which port does the {kind} API use?") for kind in (
            "admin", "internal", "legacy", "test", "partner", "old", "second",
        )),
        ("Who is the contact?", "Who is the emergency contact?"),
        ("How much is a berth?", "How much is a berth per month?"),
        ("How long are invoices kept?", "How long are paid invoices kept?"),
        ("How long are invoices kept?", "How long are invoices kept after a dispute?"),
        (HELD, "How many seated guests may the hall hold?"),
        (HELD, "How many guests may the hall hold under the fire rules?"),
        ("When is rubbish collected?", "When is garden rubbish collected?"),
        ("Are dogs allowed in the cabins?", "Are guide dogs allowed in the cabins?"),
        ("What is the timeout?", "What is the idle timeout?"),
        ("Which database does the shop use?", "Which database does the shop use for search?"),
        ("Who runs the night desk?", "Who runs the night desk this week?"),
    ],
)  # fmt: skip
def test_a_limit_makes_another_question(general: str, limited: str) -> None:
    one, other = Asked(general), Asked(limited)
    assert is_limited(one, other)
    assert is_limited(other, one)
    assert not is_one_question(one, other, NEAR)
    assert not is_one_question(other, one, NEAR, slack=0.2)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Who owns billing?", "Who owns the billing service?"),
        (PORT, "Which port does the API listen on?"),
        ("Which database does the shop use?", "Which database system does the shop use?"),
        ("What food does Milo get?", "What food does Milo eat?"),
        ("Who repairs rental bikes?", "Who repairs rental bike units?"),
        ("Where do nightly backups run?", "On which host do nightly backups run?"),
        ("How warm is C1-F?", "How warm is freezer C1-F?"),
        ("Where is Bruno?", "Where is Bruno the bull?"),
        ("How long may a film be borrowed?", "How long may a reader borrow a film?"),
        ("How many guests may the hall hold?", "How many guests may the hall hold at most?"),
        ("What does a day ticket cost?", "What does the day ticket cost?"),
    ],
)
def test_what_is_asked_done_or_named_in_full_is_no_limit(a: str, b: str) -> None:
    assert not is_limited(Asked(a), Asked(b))
    assert is_one_question(Asked(a), Asked(b), NEAR)


def test_a_limit_may_stand_in_the_other_memory_or_its_scope() -> None:
    limited = Asked("Which port does the admin API use?")
    assert not is_limited(limited, Asked(PORT, scope="service:admin"))
    assert not is_limited(limited, Asked(PORT, content="The admin one listens on 9090."))
    priced = Asked("How much is a locker per month?")
    assert not is_limited(priced, Asked("How much is a locker?", answer="25 euros a month"))


def test_what_a_text_about_the_matter_does_not_tell_is_no_limit_of_it() -> None:
    general = Asked("Is a card required to start the trial?")
    limited = "Is a credit card required to start a trial?"
    told = "Nobody has to show a card when they start the trial."
    assert not is_limited(general, Asked(limited, content=told))
    assert is_limited(general, Asked(limited, content=told.replace("a card", "a credit card")))
    assert is_limited(general, Asked(limited, content="Nothing has to be shown."))


def test_a_rate_is_read_in_several_forms() -> None:
    assert rates("per month") == rates("25 euros a month.") == rates("the monthly fee") == {"month"}
    assert rates("the annual fee") == rates("every year, in May") == {"year"}
    assert rates("a day ticket") == rates("a user") == frozenset()
