"""What is marked in the statements of a card: the values that clash, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.marking import Said, mark_statements

YES, NO = True, False


def marks(*said: tuple[str, bool]) -> list[str]:
    """Return the statements with what is marked between brackets: - gone, + new."""
    return [
        "".join(
            span.text
            if span.change == "same"
            else f"[{'-' if span.change == 'gone' else '+'}{span.text}]"
            for span in spans
        )
        for spans in mark_statements([Said(*one) for one in said])
    ]


@pytest.mark.parametrize(
    "marked",
    [
        # the value alone, where the wording differs too
        ["The ferry to Lohme leaves at [-7:40], from the east pier.",
         "In winter as in summer the ferry to Lohme departs at [+8:15]."],
        # each end of a range
        ["The library opens from [-9:00] to [-17:00].",
         "The library opens from [+10:00] to [+19:00]."],
        # of three, each in the colour of its side
        ["The vaccine is stored at [+4] degrees.",
         "The vaccine is stored at [-8] degrees.",
         "All of the vaccine is stored at [+4] degrees."],
        # what a change leaves, and what it brings
        ["The bakery buys flour from [+Hansen Mills].",
         "The bakery changed its flour supplier from Hansen Mills to [-Elbe Grain] last week.",
         "Flour for the bakery comes from [+Hansen Mills]."],
        # one place that differs, where no value stands out
        ["The flag is on.", "The flag is [+not ]on."],
    ],
)  # fmt: skip
def test_only_values_that_clash_are_marked(marked: list[str]) -> None:
    says_yes = [place % 2 == (len(marked) - 1) % 2 for place in range(len(marked))]
    plain = [re.sub(r"\[[-+]([^\]]*)\]", r"\1", text) for text in marked]
    assert marks(*zip(plain, says_yes, strict=True)) == marked


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Invoices are printed on the laser printer Tern.", "The laser printer Tern was sold."),
        ("Goats graze on the north meadow.", "The quartet rehearses on Tuesdays."),
    ],
)
def test_statements_without_a_clashing_value_are_not_marked(one: str, other: str) -> None:
    assert marks((one, NO), (other, YES)) == [one, other]


def test_statements_of_one_side_are_compared_with_the_newest_other_one() -> None:
    assert marks(("The rent is 900 euros.", NO), ("The rent is 950 euros.", NO)) == [
        "The rent is [-900] euros.",
        "The rent is [+950] euros.",
    ]
    assert marks(("The rent is 900 euros.", NO)) == ["The rent is 900 euros."]
    assert marks() == []


TEXT = st.one_of(
    st.text(max_size=60),
    st.sampled_from(["Moved from  Oslo to", "from a to b", "It is 5  mg.", "It is 9 mg."]),
)


@given(st.lists(st.tuples(TEXT, st.booleans()), max_size=5))
def test_any_spans_spell_their_statements(said: list[tuple[str, bool]]) -> None:
    found = mark_statements([Said(*one) for one in said])
    assert ["".join(span.text for span in spans) for spans in found] == [text for text, _ in said]
