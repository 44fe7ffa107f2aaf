"""Percentages are written in one way everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memories.core.shares import percent
from tests.homes import SOURCE

WORDED = re.compile(r":\.\d(%|f\}( |\\u00a0)?%)")


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0 %"), (0.0004, "0 %"), (0.0123, "1.2 %"), (0.05, "5 %"), (0.0994, "9.9 %"),
        (0.0999, "10 %"), (0.1, "10 %"), (0.675, "68 %"), (0.999, "100 %"), (1, "100 %"),
    ],
)  # fmt: skip
def test_a_share_is_written_whole_and_with_a_decimal_where_it_is_small(
    share: float, words: str
) -> None:
    assert percent(share) == words


def test_no_other_place_words_a_percentage() -> None:
    own = Path("memories/core/shares.py")
    for folder in ("engram", "memories", "conflicts", "predictor"):
        for path in sorted((SOURCE / folder).rglob("*.py")):
            where = path.relative_to(SOURCE)
            assert where == own or not WORDED.search(path.read_text()), where
