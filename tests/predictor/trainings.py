"""Run each training once a process, for tests of what follows from a training.

What is given for one that ran before is what came of it then: the same weights, sessions, recipe
and random numbers make the same bytes, which tests/predictor/core shows with every training run.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from predictor.core import scorer
from predictor.core.recipe import Recipe, TrainingReport, train_weights
from predictor.core.types import LabelledSession
from predictor.core.weights import Weights

MOST = 20  # of some 2 MB each
_done: OrderedDict[str, tuple[Weights, TrainingReport, list[float], Any]] = OrderedDict()


def run_once(patch: pytest.MonkeyPatch) -> None:
    """Have each training of this process run once."""
    patch.setattr(scorer, "train_weights", _once)


def _once(
    state: Weights,
    sessions: Sequence[LabelledSession],
    recipe: Recipe,
    *,
    is_first: bool,
    rng: np.random.Generator,
    progress: Callable[[float], object] | None,
) -> tuple[Weights, TrainingReport]:
    said = progress or (lambda _: None)
    asked = (state, list(sessions), recipe, is_first, rng.bit_generator.state)
    key = hashlib.sha256(pickle.dumps(asked)).hexdigest()
    if key in _done:
        _done.move_to_end(key)
        weights, report, shares, numbers = deepcopy(_done[key])
        for share in shares:
            said(share)
        rng.bit_generator.state = numbers
        return weights, report
    told: list[float] = []

    def tell(share: float) -> None:
        told.append(share)
        said(share)

    weights, report = train_weights(
        state, sessions, recipe, is_first=is_first, rng=rng, progress=tell
    )
    _done[key] = deepcopy((weights, report, told, rng.bit_generator.state))
    if len(_done) > MOST:
        _done.popitem(last=False)
    return weights, report
