"""Estimate whether two answers to one question may both be true, by meaning and form.

A logistic regression on the vectors of question and texts, and on what their words tell, fitted on
pairs of notes whose authors said whether both can be true (`benchmarks/answer_pairs.py`, which
measures it on authors left out). It knows the vectors of the built-in model only; for those of
another one the forms of `several.py` decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, get_args

import numpy as np

from conflicts.core.answers.several import (
    asks_of_past_events,
    has_several_answers,
    leaves_no_room,
)
from conflicts.core.answers.sorts import Sort, sort_of
from conflicts.core.weights import Floats, Weights
from memories.core.answer_values import is_yes_or_no

WEIGHTS_FILE: Final = Path(__file__).with_name("additions.npz")
LEAST: Final = 0.7  # the estimate from which on both answers may be true
HALF: Final = 0.5  # a word weighs half as much as a whole vector, so that few pairs suffice
_SORTS: Final[tuple[Sort, ...]] = get_args(Sort)
_PAST: Final = re.compile(r"\b(?:did|was|were)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """Two answers to one question: how each writer asked it, what they answered, their texts.

    `question_vectors` and `text_vectors` are unit vectors (2, dim).
    """

    questions: tuple[str, str]
    answers: tuple[str, str]
    texts: tuple[str, str]
    question_vectors: Floats
    text_vectors: Floats


def features_of(pair: AnswerPair) -> Floats:
    """Return the features (n,) of a pair, n = 2 dim + 18; alike for both orders."""
    asked, told = pair.question_vectors, pair.text_vectors
    forms = [
        _any(has_several_answers, pair.questions),
        _any(asks_of_past_events, pair.questions),
        *(HALF * sum(sort_of(q) == sort for q in pair.questions) / 2 for sort in _SORTS),
        float(told[0] @ told[1]),
        HALF * _any(leaves_no_room, (*pair.texts, *pair.answers)),
        HALF * _any(is_yes_or_no, pair.answers),
        HALF * bool(_PAST.search(" ".join(pair.questions))),
    ]
    return np.concatenate([asked.mean(axis=0), told.mean(axis=0), np.asarray(forms, dtype=float)])


def may_both_be_true(pair: AnswerPair) -> bool:
    """Return whether another answer probably adds to the one before and contradicts nothing."""
    return estimate(shipped_weights(), features_of(pair)) >= LEAST


def estimate(weights: Weights, features: Floats) -> float:
    """Return the estimated probability that both answers may be true, from features (n,)."""
    logit = np.clip(weights.scores(features), -30.0, 30.0)
    return 1.0 / (1.0 + float(np.exp(-logit)))


def is_fitted_to(model: str) -> bool:
    """Return whether the estimate knows the vectors of an embedding model."""
    return model == shipped_weights().model


def _any(holds: Callable[[str], bool], texts: Sequence[str]) -> float:
    return float(any(map(holds, texts)))


@cache
def shipped_weights() -> Weights:
    """Return the weights that come with the product."""
    return Weights.load(WEIGHTS_FILE)
