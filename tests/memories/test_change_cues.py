"""The cues by which a text is estimated to report a change."""

from __future__ import annotations

import pytest

from memories.core.change_cues import change_cues
from memories.core.replaced import words_in_order


def cues(text: str) -> set[str]:
    return {name for name, has in change_cues(text, words_in_order(text))._asdict().items() if has}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Paolo Ferrand left on Saturday, so the say has passed to Anton.", {"moment", "verb"}),
        ("Since the accident in May, visitors wear helmets.", {"moment", "start"}),
        ("The old ceiling of 512 is gone.", {"verb", "before"}),
        ("Quay has extended its Saturday by two hours.", {"verb"}),
        ("The reply time used to be one working day.", {"before"}),
        ("In week 22 the primer was changed.", {"moment", "verb"}),
        ("Line 6 trams were moved on 3 June.", {"moment", "verb"}),
        ("From 30 June the shelves are full.", {"moment", "start"}),
        ("On Sept 3 the pump was broken.", {"moment", "verb"}),
        ("The bike was stolen.", {"verb"}),
        ("Larch was replaced by iroko.", {"verb"}),
        ("As of release 8, long queries pass.", {"start"}),
    ],
)
def test_what_reports_a_change_is_noticed(text: str, wanted: set[str]) -> None:
    assert cues(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The board meets on Mondays and opens at nine.",
        "Groups of 12 may visit, from 9 to 5.",
        "Staff may march past the gate in spring.",
        "Never close valve K7 before K9 is open.",
        "Parcels to Norway need a customs form in three copies.",
    ],
)
def test_standing_rules_have_no_cue(text: str) -> None:
    assert cues(text) == set()
