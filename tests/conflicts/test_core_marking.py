"""What is marked in the statements of a card: the values that clash, and nothing else."""

from __future__ import annotations

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


def test_only_the_clashing_value_is_marked_where_the_wording_differs_too() -> None:
    assert marks(
        ("The ferry to Lohme leaves at 7:40, from the east pier.", NO),
        ("In winter as in summer the ferry to Lohme departs at 8:15.", YES),
    ) == [
        "The ferry to Lohme leaves at [-7:40], from the east pier.",
        "In winter as in summer the ferry to Lohme departs at [+8:15].",
    ]


def test_the_two_ends_of_a_range_are_marked_each() -> None:
    assert marks(
        ("The library opens from 9:00 to 17:00.", NO),
        ("The library opens from 10:00 to 19:00.", YES),
    ) == [
        "The library opens from [-9:00] to [-17:00].",
        "The library opens from [+10:00] to [+19:00].",
    ]


def test_of_three_statements_every_value_is_marked_in_the_colour_of_its_side() -> None:
    assert marks(
        ("The vaccine is stored at 4 degrees.", YES),
        ("The vaccine is stored at 8 degrees.", NO),
        ("All of the vaccine is stored at 4 degrees.", YES),
    ) == [
        "The vaccine is stored at [+4] degrees.",
        "The vaccine is stored at [-8] degrees.",
        "All of the vaccine is stored at [+4] degrees.",
    ]


def test_a_value_that_a_change_leaves_is_marked_and_the_one_that_it_brings() -> None:
    assert marks(
        ("The bakery buys flour from Hansen Mills.", YES),
        ("The bakery changed its flour supplier from Hansen Mills to Elbe Grain last week.", NO),
        ("Flour for the bakery comes from Hansen Mills.", YES),
    ) == [
        "The bakery buys flour from [+Hansen Mills].",
        "The bakery changed its flour supplier from Hansen Mills to [-Elbe Grain] last week.",
        "Flour for the bakery comes from [+Hansen Mills].",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Invoices are printed on the laser printer Tern.", "The laser printer Tern was sold."),
        ("Goats graze on the north meadow.", "The quartet rehearses on Tuesdays."),
    ],
)
def test_statements_without_a_clashing_value_are_not_marked(one: str, other: str) -> None:
    assert marks((one, NO), (other, YES)) == [one, other]


def test_one_place_that_differs_is_marked_where_no_value_stands_out() -> None:
    assert marks(("The flag is on.", NO), ("The flag is not on.", YES)) == [
        "The flag is on.",
        "The flag is [+not ]on.",
    ]


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
