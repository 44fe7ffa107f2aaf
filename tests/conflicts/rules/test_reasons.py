"""Reasons quote the memories as they are written, and give each difference once."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from conflicts.core.detective import detect
from conflicts.core.facts import Fact, Finding
from conflicts.core.rules.registry import RULES
from conflicts.core.rules.rule import Rule
from memories.core.claims import compare, read
from memories.core.objections import objection
from memories.core.reasons import Difference, distinct
from tests.conflicts.test_core_detective import NOW, similar
from tests.conftest import Tenant

# A reason of the form "label: one against other"; other reasons are sentences of their own.
DIFFERENCE = re.compile(r"(?:[\w ]+: )?(?P<one>[^:;()]+(?::\d\d[^:;()]*)?) (?:against|vs) "
                        r"(?P<other>[^:;()]+(?::\d\d[^:;()]*)?)")  # fmt: skip
WITHOUT_WORDS = {
    "ambiguity.roles",
    "ambiguity.negation",
    "ambiguity.denial",
    "ambiguity.direction",
    "ambiguity.moved-away",
    "ambiguity.order",
    "ambiguity.pairing",
    "ambiguity.other-words.negation",
}  # they quote a word of one side, or none
OTHER_WORDS = [
    ("The nightly job is turned off.", "The nightly job is turned on.",
     "turned off against turned on"),
    ("Pull request 7 is open.", "Pull request 7 is closed.", "open against closed"),
    ("The audit begins on March 3, 2026.", "The audit begins on March 9, 2026.",
     "date differs: March 3, 2026 vs March 9, 2026"),
    ("Every volunteer receives a badge.", "A volunteer receives a badge.",
     "only one side says Every"),
    ("The freezer is Sub-Zero 7.", "The freezer is Sub-Zero 9.", "Sub-Zero 7 against Sub-Zero 9"),
]  # fmt: skip


def facts(*texts: str) -> list[Fact]:
    """Return the texts as facts, the oldest first."""
    return [
        Fact(
            f"f{day}", f"l{day}", text, "depot", "", "a", f"s{day}",
            NOW - timedelta(days=30 - day), "assistant_derived" if day else "user_stated",
        )
        for day, text in enumerate(texts)
    ]  # fmt: skip


def finding(*texts: str) -> Finding:
    """Return the one finding of some texts."""
    story = facts(*texts)
    [found] = detect(story, similar(story, 0.85), now=NOW)
    return found


def reasons(found: Finding) -> list[str]:
    """Return what the reasoning of an ambiguity gives in brackets."""
    given = re.search(r"\((.*)\) and no later", found.reasoning)
    return given[1].split("; ") if given else []


AMBIGUITIES = [rule for rule in RULES if rule.id.startswith("ambiguity.") and not rule.answers]


@pytest.mark.parametrize("rule", AMBIGUITIES, ids=lambda rule: rule.id)
def test_a_reason_quotes_the_words_of_the_example(rule: Rule) -> None:
    found = finding(*rule.example)
    assert found.rules == (rule.id,)
    [reason] = reasons(found)
    quoted = DIFFERENCE.fullmatch(reason)
    assert bool(quoted) != (rule.id in WITHOUT_WORDS), reason
    if quoted:
        assert_is_written(quoted["one"], rule.example[0])
        assert_is_written(quoted["other"], rule.example[1])


def assert_is_written(quoted: str, text: str) -> None:
    """Check that words of a reason stand in a text, in their order and as whole words."""
    between = r"\b.*\b"
    pattern = rf"\b{between.join(map(re.escape, quoted.split()))}\b"
    assert re.search(pattern, text), f"{quoted!r} is not in {text!r}"


@pytest.mark.parametrize(("a", "b", "reason"), OTHER_WORDS)
def test_a_phrase_that_a_word_stands_for_is_quoted(a: str, b: str, reason: str) -> None:
    assert compare(a, b).reasons[0] == reason


def test_each_difference_of_several_memories_is_given_once() -> None:
    found = finding(
        "The sales board is refreshed at 06:00.",
        "The sales board is refreshed at 08:00.",
        "The sales board is refreshed at 06:00 by the shop.",
    )
    assert len(found.fact_ids) == 3
    assert reasons(found) == ["time differs: 06:00 vs 08:00"]


def test_a_difference_that_two_rules_find_is_given_once() -> None:
    found = finding(
        "The public API allows 1,000 requests per minute.",
        "The public API allows 5,000 requests per minute.",
        "Up to 1,000 requests per minute are what the public API takes.",
    )
    assert len(found.rules) == 2
    assert len(reasons(found)) == 1


KEPT = "Call notes of the clinic are kept in the archive after discharge."
DELETES = "The clinic deletes call notes after discharge."


def test_the_gate_gives_each_difference_once(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": KEPT})
    answer = tenant.agent.post("memories", {"content": DELETES}).json()
    assert answer["gate"]["reasons"].count("kept against deletes") == 1


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("The lounge of the tower takes no co-workers.", "In the tower co-workers use the lounge.",
         "only one side denies co-workers"),
        ("Maps of the hall are stored in Artifactory.", "In Nexus we keep maps of the hall.",
         "where it is kept: Artifactory against Nexus"),
        ("Cart contents survive a logout.", "Logging out Empties the cart.",
         "kept or discarded: survive against Empties"),
    ],
)  # fmt: skip
def test_an_objection_quotes_the_texts(a: str, b: str, reason: str) -> None:
    assert objection(read(a), read(b)) == reason


def test_differences_are_equal_by_their_sides() -> None:
    one = Difference("time differs: 6:00 vs 8:00", "06:00", "08:00")
    same = Difference("other value: 8:00 against 6:00", "08:00", "06:00")
    other = Difference("time differs: 6:00 vs 9:00", "06:00", "09:00")
    assert distinct((one, "of another person", same, other, "of another person")) == (
        one, "of another person", other,
    )  # fmt: skip
