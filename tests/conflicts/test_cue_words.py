"""Words that look like a cue and are none."""

from __future__ import annotations

import pytest

from conflicts.core.conditions import are_parted
from conflicts.core.cues import Cue, cues
from conflicts.core.statements import read
from tests.conflicts.test_core_detective import story


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("The cart stands in the corridor.", Cue.TEMPORARY),
        ("The mock-ups are ready.", Cue.UNREAL),
        ("Applicants hand in a writing exercise.", Cue.UNREAL),
        ("The samples came back clean.", Cue.RETURN),
        ("Boots sent back to us are sold at the outlet.", Cue.END),
        ("Auditors pulled a query out of the archive.", Cue.END),
        ("The radio lies in the drawer, switched off.", Cue.END),
        ("The radio lies in the drawer, switched off.", Cue.SWITCH),
        ("The clerk strikes out mistaken entries.", Cue.SETTLE),
        ("Draft orders are deleted after a week.", Cue.UNREAL),
        ("A draft that nobody sends stays in the box.", Cue.UNREAL),
        ("The lost property desk keeps umbrellas for 14 days.", Cue.EVENT),
        ("An abandoned to-do list is deleted after a year.", Cue.EVENT),
        ("Our lost property desk keeps umbrellas for 14 days.", Cue.EVENT),
        ("The exercise room opens at 6:30.", Cue.UNREAL),
        ("The flight simulator opens at nine.", Cue.UNREAL),
        ("The prototype workshop is in hall 3.", Cue.UNREAL),
        ("The proposal desk is on floor two.", Cue.UNREAL),
        ("The draft beer costs 4 euros.", Cue.UNREAL),
        ("The cost-effective canteen closes at two.", Cue.ADJUST),
        ("The effectiveness of the vaccine is 95 %.", Cue.ADJUST),
        ("Replacement parts are in room 4.", Cue.SWITCH),
        ("The converted barn seats 90 guests.", Cue.SWITCH),
    ],
)
def test_words_of_other_meanings_are_no_cue(text: str, cue: Cue) -> None:
    assert cue not in cues(text)


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("In the exercise the north gate is shut.", Cue.UNREAL),
        ("Simulated outage: the west region is down.", Cue.UNREAL),
        ("The prototype uses SQLite.", Cue.UNREAL),
        ("Effective June the fee is 5 euros.", Cue.ADJUST),
        ("The replacement of the pump is done.", Cue.SWITCH),
        ("We converted the barn to a hall.", Cue.SWITCH),
        ("Lena stands in for Tom.", Cue.TEMPORARY),
        ("A mock of the API answers.", Cue.UNREAL),
        ("In the fire exercise the east door is locked.", Cue.UNREAL),
        ("The old limit came back.", Cue.RETURN),
        ("The van was sent back to the dealer: gave back to them.", Cue.END),
        ("They pulled the rack out of hall two.", Cue.END),
        ("The radio was switched off in May.", Cue.END),
        ("We switched to the other radio.", Cue.SWITCH),
        ("The entry of Monday was a mistake.", Cue.SETTLE),
        ("Draft price list: full page 400 euros.", Cue.UNREAL),
        ("From 3 to 28 March no cars on the bridge.", Cue.TEMPORARY),
        ("From 3 April until 8 May the shop is shut.", Cue.TEMPORARY),
    ],
)
def test_the_cue_itself_is_read(text: str, cue: Cue) -> None:
    assert cue in cues(text)


@pytest.mark.parametrize(
    "text",
    [
        "If you are on PC you will only meet others on PC.",
        "One service writes to the table, the others read it, without exception.",
    ],
)
def test_a_consequence_or_no_exception_is_no_condition(text: str) -> None:
    one, other = (read(fact) for fact in story(text, "PC and console share their lobbies."))
    assert not are_parted(one, other)
