"""What an update of a memory in doubt offers, and how sure the finding is, in words."""

from __future__ import annotations

import pytest

from engram.console.inbox.drift_words import offer, say_reason, sure_words

OFFERED = [
    ("Kept for six weeks ([[desk]]).", "Finds are kept for six weeks.",
     "Finds are kept for three months.", "Kept for three months ([[desk]])."),
    ("Six weeks it stays at the desk.", "It stays there six weeks.", "It stays there two months.",
     "Two months it stays at the desk."),
    ("Ana leads the harbour office.", "", "Bob leads the harbour office.",
     "Bob leads the harbour office."),
]  # fmt: skip
NOT_OFFERED = [
    ("Kept for a month.", "Finds are kept for six weeks.", "Finds are kept for three months."),
    ("Six weeks here, six weeks there.", "It stays six weeks there.", "It stays two days there."),
    ("See [[six weeks]].", "It stays there six weeks.", "It stays there two months."),
    ("It is kept for sixteen days.", "It is kept for six days.", "It is kept for nine days."),
]


@pytest.mark.parametrize(("content", "before", "after", "text"), OFFERED)
def test_one_phrase_is_put_in_the_place_of_another(
    content: str, before: str, after: str, text: str
) -> None:
    told = {"before": {"text": before} if before else None, "passage": {"text": after}}
    found = offer(content, told)
    assert found is not None
    assert found.text == text
    assert found.new in text
    assert found.old in content


@pytest.mark.parametrize(("content", "before", "after"), NOT_OFFERED)
def test_what_the_memory_does_not_say_once_is_not_replaced(
    content: str, before: str, after: str
) -> None:
    assert offer(content, {"before": {"text": before}, "passage": {"text": after}}) is None


def test_nothing_is_offered_without_a_passage_that_says_something_else() -> None:
    assert offer("Kept for six weeks.", {}) is None
    gone = {"text": "Kept for two weeks.", "withdrawn": "Out of date"}
    assert offer("Kept for six weeks.", {"passage": gone}) is None


def test_values_that_stand_against_each_other_are_told_as_a_change() -> None:
    assert say_reason("six weeks vs three months") == "“six weeks” became “three months”"
    assert say_reason("time differs: 9:30 vs 10:00") == "time differs: “9:30” became “10:00”"
    for reason in ("the note says so since the memory links it", "a vs b vs c"):
        assert say_reason(reason) == reason


def test_how_sure_a_finding_is_has_words() -> None:
    assert [sure_words(sure) for sure in (0.95, 0.8, 0.5, 0.2)] == [
        "very likely", "likely", "more likely than not", "a faint sign",
    ]  # fmt: skip
