"""A day of a month is the same in words and in digits."""

from __future__ import annotations

import pytest

from memories.core.claims import compare, read


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("The regatta is on the third of May 2027.", "2027-05-03"),
        ("The audit starts on the twenty-first of June.", "--06-21"),
        ("The lease ends on the thirty-first of May.", "--05-31"),
        ("The concert is on May the fourth.", "--05-04"),
        ("The freeze starts on December the eighteenth, 2028.", "2028-12-18"),
        ("The parade is on the twenty third of June.", "--06-23"),
        ("School starts on September second.", "--09-02"),
        ("The visa expires on the 12th of August 2028.", "2028-08-12"),
        ("Elections are on the ninth of March.", "--03-09"),
    ],
)
def test_a_day_in_words_is_a_date(written: str, iso: str) -> None:
    assert read(written).claims[0].dates == {iso}


@pytest.mark.parametrize(
    "text",
    [
        "In May the first tourists come.",
        "The fair is on the second Saturday of June.",
        "The third of four pumps is broken.",
        "In June second shifts begin.",
    ],
)
def test_an_ordinal_beside_a_month_is_no_day_of_it(text: str) -> None:
    assert not any(date.count("-") > 2 for date in read(text).claims[0].dates)


def test_days_in_words_are_compared() -> None:
    assert compare("Harvest begins on the twentieth of September.",
                   "Harvest begins on September 20.").relation == "same"  # fmt: skip
    found = compare("The visa expires on the twelfth of August.", "The visa expires on 14 August.")
    assert found.contradiction == "date"
    words = "Harvest begins on the twentieth of May.", "Harvest begins on the twenty-second of May."
    assert compare(*words).contradiction == "date"
