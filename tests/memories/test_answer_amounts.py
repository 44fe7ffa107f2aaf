"""Amounts that cannot both be the answer, and values that are spelled in two ways."""

from __future__ import annotations

import pytest

from memories.core.answer_spelling import spell_alike
from memories.core.answer_values import compare_values

OTHER = [
    ("-5 °C", "5 °C"),
    ("+2", "-2"),
    ("under 18", "over 18"),
    ("people under 18", "people 18 and over"),
    ("people under 18", "18 and over"),
    ("over 50 EUR", "under 50 EUR"),
    ("up to 50 EUR", "from 50 EUR"),
    ("€10", "$10"),
    ("minus 3", "3"),
    ("-18 degrees", "18 degrees"),
    ("+5 %", "-5 %"),
    ("children under 6", "children over 6"),
    ("up to 30 kg", "over 30 kg"),
    ("at most 12 guests", "at least 12 guests"),
    ("members under 65", "65 and older"),
    ("until 2020", "from 2020"),
    ("no more than 4 people", "4 people or more"),
    ("up to 10 people", "no less than 20 people"),
    ("$25", "25 euros"),
    ("¥500", "$500"),
    ("90 minutes", "1 h 40 min"),
    ("Monday to Thursday", "on weekdays"),
    ("Dr Weiss", "Hanna Wolf"),
    ("Mr Lund", "Mrs Berg"),
]
SAME = [
    ("90 minutes", "1 h 30 min"),
    ("25%", "one quarter"),
    ("1.000 €", "1000 euros"),
    ("Monday to Friday", "on weekdays"),
    ("weekends", "Saturday and Sunday"),
    ("St. Mary's", "Saint Mary's"),
    ("Dr Weiss", "Hanna Weiss"),
    ("1h30", "90 min"),
    ("1 hour 20 minutes", "80 minutes"),
    ("75 %", "three quarters"),
    ("50 percent", "half"),
    ("12.000 €", "€12,000"),
    ("Mon-Fri", "weekdays"),
    ("Sat and Sun", "the weekend"),
    ("St Peter", "Saint Peter"),
    ("Mrs Lund", "Karin Lund"),
    ("Prof. Adler", "Simon Adler"),
    ("-5 °C", "minus 5 °C"),
    ("3.12", "3.12.4"),
    ("14", "14 or newer"),
    ("18 and over", "from 18"),
    ("€10", "10 euros"),
]


@pytest.mark.parametrize(("a", "b"), OTHER)
def test_another_sign_currency_or_side_of_a_bound_is_another_answer(a: str, b: str) -> None:
    assert compare_values(a, b) == compare_values(b, a) == "other"


@pytest.mark.parametrize(("a", "b"), SAME)
def test_one_value_in_two_spellings_is_one_answer(a: str, b: str) -> None:
    assert compare_values(a, b) == compare_values(b, a) == "same"


@pytest.mark.parametrize(
    "text",
    ["1.759 €/l", "1.759 € per litre", "a quarter", "Dr. Weiss", "3.100", "Monday to Sunday"],
)
def test_what_is_no_other_spelling_stays(text: str) -> None:
    assert spell_alike(text, "Dr. Kern")[0] == text
