"""The simulated lives of the exposure benchmark: their mean margin is that of their ranking."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import exposure
from benchmarks.exposure import Bank, quantiles, sample_life


@pytest.mark.parametrize("stream", ["plain", "correlated"])
def test_every_session_of_a_bank_is_drawn_equally_often(
    stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exposure, "BANK", 1_000)
    margins = np.random.default_rng(0).normal(0, 0.25, 1_000)
    measured = dict.fromkeys(("drafted", "baseline", "predictor"), margins)
    bank = Bank(margins, margins, margins, margins, measured)
    for seed in range(4):
        drawn = sample_life(bank, (1_000, 200), stream, seed).drafted
        often = np.bincount(np.searchsorted(np.sort(margins), drawn.ravel()), minlength=1_000)
        assert often.min() > 100  # 200 each, in the mean
        assert drawn.mean() == pytest.approx(margins.mean(), abs=0.0025)


def test_quantiles_cut_into_equal_parts() -> None:
    assert quantiles(4) == pytest.approx([-0.6745, 0, 0.6745], abs=1e-4)
