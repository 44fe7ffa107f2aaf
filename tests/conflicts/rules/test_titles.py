"""Every rule has a title of its own in plain words, which pages show instead of its id."""

from __future__ import annotations

import re

from conflicts.core.muting import TIERS
from conflicts.core.rules.registry import RULES
from conflicts.core.titles import OTHERS, TITLES, title_of
from conflicts.models.card import ConflictKind
from conflicts.services.detection.quality import DETECTORS


def test_every_rule_has_a_title_and_no_two_have_the_same() -> None:
    assert set(TITLES) == {rule.id for rule in RULES} | {"unknown"}
    assert len(set(TITLES.values())) == len(TITLES)
    for title in TITLES.values():
        assert re.fullmatch(r"[A-Z][a-z,: ]+", title), title
        assert len(title) <= 48


def test_finders_tiers_and_kinds_have_titles() -> None:
    assert {*TIERS, *DETECTORS, *ConflictKind.values} <= set(OTHERS)


def test_an_id_that_left_the_list_is_shown_as_it_is() -> None:
    assert title_of("ambiguity.of-old") == "ambiguity.of-old"
