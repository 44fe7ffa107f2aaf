"""Numbers and durations as pages show them."""

from __future__ import annotations

import pytest

from engram.kernel.labels import duration_words, figure


@pytest.mark.parametrize(
    ("value", "shape", "words"),
    [(-0.05, "+.3f", "−0.050"), (0.05, "+.3f", "+0.050"), (1234, ",d", "1,234")],
)
def test_a_figure_has_a_minus_sign(value: float, shape: str, words: str) -> None:
    assert figure(value, shape) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0 ms"), (0.25, "250 ms"), (1.26, "1.3 s"), (150, "2 min"), (7300, "2 h")],
)
def test_a_duration_has_a_unit_of_its_size(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words.replace(" ", "\u00a0")
