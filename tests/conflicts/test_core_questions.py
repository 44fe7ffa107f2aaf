"""Questions: one line, one question mark at the end, at most 300 characters, no raw ids."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.questions import (
    MAX_CHARS,
    ask_ambiguity,
    ask_reversal,
    ask_stale,
    ask_state,
    quote,
    quote_apart,
)

ANY_TEXT = st.text(max_size=600)


@given(ANY_TEXT, ANY_TEXT)
def test_pair_questions_are_one_short_line_that_asks(named: str, other: str) -> None:
    for ask in (ask_ambiguity, ask_reversal, ask_stale):
        question = ask(named, other)
        assert question.endswith("?")
        assert len(question) <= MAX_CHARS
        assert question.splitlines() == [question]


def test_a_quote_has_no_characters_that_change_what_stands_around_it() -> None:
    text = "The \u202elead\u2069 \x1b[1mapproves\x00\u2028 re\u200bfunds\ud800."
    assert quote(text, 100) == "“The lead [1mapproves refunds”"


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_state_questions_are_one_short_line_that_asks(
    subject: str, attribute: str, value: str, between: str
) -> None:
    question = ask_state(subject, attribute[:20].replace("\n", " "), value, between)
    assert question.endswith("?")
    assert len(question) <= MAX_CHARS


@given(st.uuids(), ANY_TEXT)
def test_raw_ids_are_not_shown(identifier: UUID, text: str) -> None:
    assert str(identifier) not in quote(f"{text} {identifier} {text}", 1500)


@pytest.mark.parametrize(
    ("texts", "quoted"),
    [
        (("The flag is on.", "The flag is not on."), ("“The flag is on”", "“The flag is not on”")),
        (
            (
                "Passengers may board by the bow ramp of the Swift.",
                "Passengers must not board by the bow ramp of the Swift.",
            ),
            ("“Passengers may board by the bow ramp…”", "“Passengers must not board by the bow…”"),
        ),
        (
            (
                "The Wi-Fi of the terminal needs a password.",
                "The Wi-Fi of the terminal does not need a password.",
            ),
            ("“… terminal needs a password”", "“… terminal does not need a password”"),
        ),
        (
            ("Ana holds the keys.", "Nobody has needed a key since the doors were changed."),
            ("“Ana holds the keys”", "“Nobody has needed a key since the…”"),
        ),
    ],
)
def test_two_quotes_show_where_they_differ(texts: tuple[str, str], quoted: tuple[str, str]) -> None:
    assert quote_apart(*texts, 40) == quoted


@given(ANY_TEXT, ANY_TEXT)
def test_two_quotes_are_short(one: str, other: str) -> None:
    assert all(len(quoted) <= 40 for quoted in quote_apart(one, other, 40))


def test_short_claims_are_quoted_whole() -> None:
    assert ask_ambiguity("The limit is 50 MB.", "The limit is 25 MB.") == (
        "Does “The limit is 50 MB” hold, rather than “The limit is 25 MB”?"
    )


def test_long_claims_are_cut_between_words() -> None:
    assert quote("alpha beta gamma delta epsilon", 20) == "“alpha beta gamma…”"
