"""What is too long or too odd to be read by rules: left unread, said so, and never merged."""

from __future__ import annotations

import pytest

from memories.core.claims import MAX_WORD_PAIRS, compare, read
from memories.core.gate import decide
from memories.core.reading import MAX_PIECES, why_too_long
from memories.core.spelling import collapse, normalise

WORDS = "limit 30 , " * 700
PROSE = (
    "The billing service of the northern region writes its journal to the archive at 2 am, and the "
    "platform team checks on Monday that nothing of it is missing. "
)


def test_runs_are_shortened_before_anything_is_read() -> None:
    assert collapse("a  \t b\n \n c\td....... e??!") == "a b\nc d... e??!"
    assert collapse("plain text\nof two lines") == "plain text\nof two lines"
    for spaced in ("It  takes \t 30\u00a0\u00a0 s.", "It takes 30 s......."):
        assert compare(spaced, "It takes 40 s.").relation == "contradicts"
        assert compare(spaced, "It takes 30 s").relation == "same"


def test_a_text_of_too_many_words_and_signs_is_left_unread() -> None:
    reading = read(WORDS)
    assert reading.too_long == "a text of more than 2,000 words and signs"
    assert why_too_long(WORDS) == reading.too_long
    assert (reading.claims, reading.words, reading.keys) == ((), frozenset(), frozenset())


@pytest.mark.parametrize(
    "text", ["a" * 8000, "." * 8000, " " * 8000, (PROSE * 60)[:8000], "世" * 8000]
)
def test_the_longest_prose_and_runs_of_one_sign_are_read(text: str) -> None:
    assert why_too_long(text) == read(text).too_long == ""


def test_the_bound_is_of_words_and_signs_not_of_characters() -> None:
    assert why_too_long("word " * MAX_PIECES) == ""
    assert why_too_long("word " * (MAX_PIECES + 1)) != ""
    assert len(normalise(WORDS)) < 8000


def test_unread_texts_are_different_and_say_why_unless_they_are_equal() -> None:
    for a, b in ((WORDS, WORDS + "40"), (WORDS, "The limit is 30."), ("The limit is 30.", WORDS)):
        found = compare(a, b)
        assert (found.relation, found.confidence, found.likeness) == ("different", 0.0, 0.0)
        assert found.reasons == (
            "too long to compare by rules: a text of more than 2,000 words and signs",
        )
    assert compare(WORDS, f" {WORDS.upper()}\n").relation == "same"


def test_two_texts_of_too_many_pairs_of_words_are_not_compared() -> None:
    words = " ".join(f"word{number * 7 % 400}" for number in range(1900))
    one, other = f"The list holds {words}", f"The list held {words}"
    assert read(one).too_long == read(other).too_long == ""
    found = compare(one, other)
    assert found.relation == "different"
    assert found.reasons == (
        f"too long to compare by rules: more than {MAX_WORD_PAIRS:,} pairs of words",
    )


def test_the_longest_prose_is_compared() -> None:
    one = (PROSE * 60)[:7900]
    found = compare(f"{one} The lease ends in May.", f"{one} The lease ends in June.")
    assert not found.reasons[0].startswith("too long"), found.reasons


@pytest.mark.parametrize("policy", ["merge", "suggest"])
def test_the_gate_neither_merges_nor_suggests_what_was_not_read(policy: str) -> None:
    decision = decide(
        compare(WORDS, WORDS + "40"), 1.0, threshold=0.6, policy=policy,
        provenance_stored="user_stated", provenance_incoming="user_stated",
    )  # fmt: skip
    assert decision.outcome == "created"
    assert decision.reasons[0].startswith("too long to compare by rules")
