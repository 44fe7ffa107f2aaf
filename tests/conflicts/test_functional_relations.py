"""Second values of functional relations open cards; strangers and look-alikes do not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from conflicts.core.detective import detect
from conflicts.core.facts import Fact, Finding
from engram.kernel.embedding import embed
from tests.conflicts.relation_sets import (
    RELATIONS,
    Relation,
    functional_statements,
    look_alikes,
)

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def findings(texts: Sequence[str]) -> list[Finding]:
    """Return what the detective finds among texts of one workspace, each of its own session."""
    facts = [
        Fact(str(i), str(i), text, "", "", f"a{i % 7}", f"s{i}", NOW + timedelta(hours=i),
             "assistant_derived")
        for i, text in enumerate(texts)
    ]  # fmt: skip
    return detect(facts, embed(list(texts)), now=NOW + timedelta(days=90))


# Every other relation was left out when the reading of slots was written.
@pytest.mark.parametrize("relations", [RELATIONS[::2], RELATIONS[1::2], RELATIONS])
def test_most_second_values_are_carded_without_strangers(relations: tuple[Relation, ...]) -> None:
    statements = functional_statements(random.Random(11), relations)
    cards = [[statements[int(i)].matter for i in f.fact_ids] for f in
             findings([statement.text for statement in statements])]  # fmt: skip
    wanted = {statement.matter for statement in statements if statement.is_second}
    found = {matter for card in cards for matter in card if card.count(matter) > 1}
    strange = [card for card in cards if len(set(card)) > 1]
    assert len(wanted & found) >= 0.8 * len(wanted)
    assert len(strange) <= 0.05 * len(cards)


def test_look_alikes_open_no_card() -> None:
    for _, one, other in look_alikes(random.Random(12), 10):
        assert findings([one, other]) == [], (one, other)


def test_look_alikes_of_one_workspace_open_no_card_of_two_things() -> None:
    """Two hundred pairs at once: at most one in a hundred texts is taken for another's."""
    pairs = list(look_alikes(random.Random(13), 10))
    texts = [text for _, *both in pairs for text in both]
    assert len(findings(texts)) <= len(pairs) // 50
