"""An amount that grew or fell to another one is a change, for rules and for answers."""

from __future__ import annotations

import pytest

from conflicts.core.cues import Cue, cues
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "told",
    ["has grown to", "grew to", "rose to", "has risen to", "fell to", "has climbed to",
     "shrank to", "has reached", "went up to", "has dwindled to", "sank to", "swelled to"],
)  # fmt: skip
@pytest.mark.parametrize(
    "thing", ["The club's yearly fee is 20 euros.", "The index holds 20 files."]
)
def test_another_amount_is_announced(thing: str, told: str) -> None:
    subject, value = thing.rstrip(".").split(" is " if " is " in thing else " holds ")
    later = f"{subject} {told} {value.replace('20', '25')}."
    assert rules_of(thing, later, cosine=0.85) == []


@pytest.mark.parametrize(
    "text",
    [
        "The path rises to 900 metres.",
        "Requests grow to 5 MB at most.",
        "Wages are reduced by tax.",
    ],
)
def test_what_lasts_is_no_change(text: str) -> None:
    assert Cue.ADJUST not in cues(text)


def test_a_change_of_another_amount_settles_nothing() -> None:
    facts = ("The team has 6 developers.", "The team has 9 developers.")
    assert len(rules_of(*facts, cosine=0.85)) == 1
