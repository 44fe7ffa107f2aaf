"""Letters that patterns take for ASCII ones, and digits that are no numbers, raise no error.

A pattern that ignores case takes "ſ" for "s", "ı" for "i" and the sign of Kelvin for "k"; the
lower-case form of a word has them still, so that tables of words do not know it.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.numbered_things import labels_of
from memories.core import claims
from memories.core.answer_values import compare_values

SWAPPED = {"s": "ſ", "i": "ı", "k": "\u212a", "2": "²", "3": "٣", "1": "\uff11", "5": "½"}
TEXTS = [
    "The second lesson is in week six at 3:15 pm.",
    "In year six, a third of the kiosks close at 12:30 on the first Sunday in December.",
    "Retention is at least 52 weeks since June 2021, with interest of 3.5 % in six months.",
    "The extension of Ana Kolb is 22; Kirsten's is 35.",
    "It takes two and a half minutes, i.e. 150 seconds, for 13 km or 5 miles.",
    "Backups run twice a week, on Mondays and Fridays, from the sixth to the twelfth.",
]


@given(st.sampled_from(TEXTS), st.sampled_from(TEXTS), st.data())
def test_texts_with_such_letters_are_compared(one: str, other: str, data: st.DataObject) -> None:
    places = [at for at, letter in enumerate(one) if letter in SWAPPED]
    chosen = data.draw(st.sets(st.sampled_from(places)))
    text = "".join(SWAPPED[c] if at in chosen else c for at, c in enumerate(one))
    claims.compare(text, other)
    compare_values(text, other)
    labels_of(text, other)


def test_a_superscript_is_part_of_another_code() -> None:
    claims.compare("The extension of Ana Kolb is 2²", "The extension of Ana Kolb is 14")


@pytest.mark.parametrize("text", ["The ſecond lesson is late", "We are in year ſix."])
def test_a_word_with_such_a_letter_numbers_nothing(text: str) -> None:
    assert labels_of(text, "") == {}


def test_a_share_with_such_a_letter_is_no_fraction() -> None:
    assert compare_values("a th\u0131rd", "33 %") != "same"
    assert compare_values("a third", "33 %") == "same"
