"""Which member of a kind a text names."""

from __future__ import annotations

import pytest

from conflicts.core.members import members_of


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ("Logs of tenant Ostria are kept for 30 days.", "tenant", {"ostria"}),
        ("Tenant gorsk keeps its logs for 30 days.", "tenant", {"gorsk"}),
        ("The logs of tenant gorsk are kept.", "tenant", {"gorsk"}),
        ("Line 4 packs boxes, line 7 packs bags.", "line", {"4", "7"}),
        ("The door of 12 Kiln Road is red.", "kiln road", {"12"}),
    ],
)
def test_a_member_is_named_after_its_kind_or_before_its_street(
    text: str, kind: str, names: set[str]
) -> None:
    assert members_of(text)[kind] == names


@pytest.mark.parametrize(
    "text",
    [
        "The tenant pays on the first of the month.",
        "Every customer gets a number.",
        "Customer pays within a week.",
        "The client is in Remol.",
        "We ship 12 boxes a day.",
        "",
    ],
)
def test_other_words_after_a_kind_name_no_member(text: str) -> None:
    assert members_of(text) == {}
