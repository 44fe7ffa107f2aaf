"""Have sessions of a file judged as the product does, and their memories in several orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

import numpy as np

from engram.console.evaluation.judge_bias import RatedSession, places_of
from engram.console.evaluation.lines import InputError
from engram.kernel import llm
from engram.kernel.llm import ModelError, Usage
from engram.kernel.models import Workspace
from predictor.core.judging import PROMPT_VERSION, JudgeScores, cut_note
from predictor.core.orders import average
from predictor.services.judging.ask_judge import ask_once
from predictor.services.judging.offline import judge_offline
from predictor.services.judging.pool import JudgingPool

NOW: Final = datetime(2025, 1, 1, tzinfo=UTC)

Orders = Sequence[Sequence[int]]
Read = tuple[JudgeScores, list[JudgeScores]]  # what the product would say, and by order


def rated_session(
    contents: Sequence[str],
    relevance: Sequence[float],
    orders: Orders,
    found: Sequence[JudgeScores],
) -> RatedSession:
    """Return the ratings in several orders, each by the place in its order, by memory."""
    ratings = np.empty((len(orders), len(contents)))
    for row, (order, scores) in enumerate(zip(orders, found, strict=True)):
        ratings[row, list(order)] = scores.relevance
    return RatedSession(
        places=places_of(orders),
        ratings=ratings,
        lengths=np.array([len(cut_note(content)) for content in contents], dtype=np.float64),
        relevance=np.array(relevance, dtype=np.float64),
    )


def read_offline(workspace: Workspace, pool: JudgingPool, orders: Orders) -> Read:
    """Judge without a model, as given and in each order."""
    found = [judge_offline(workspace, _ordered(pool, order)).scores for order in orders]
    return judge_offline(workspace, pool).scores, found


def _ordered(pool: JudgingPool, order: Sequence[int]) -> JudgingPool:
    return replace(
        pool,
        ids=[pool.ids[n] for n in order],
        contents=[pool.contents[n] for n in order],
    )


@dataclass(slots=True)
class ModelReader:
    """Reads by the configured language model, and accounts for what it took."""

    used: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    seconds: float = 0.0
    failed: list[str] = field(default_factory=list)

    def __call__(self, workspace: Workspace, pool: JudgingPool, orders: Orders) -> Read | None:
        """Judge in each order; the product's answer is the mean of the first two.

        None when the model had no usable answer to one of them.
        """
        found = []
        started = monotonic()
        try:
            for order in orders:
                contents = [pool.contents[n] for n in order]
                answer = ask_once(workspace, contents, pool.session.transcript, now=NOW)
                self._add(answer.reading.usage, answer.reading.cost_usd)
                found.append(answer.scores)
        except ModelError as error:
            self._add(error.usage, error.cost_usd)
            self.failed.append(str(error))
            return None
        finally:
            self.seconds += monotonic() - started
        return _restore(average(found[0], found[1]), orders[0]), found

    def _add(self, usage: Usage, cost_usd: float) -> None:
        self.used += usage
        self.cost_usd += cost_usd

    @property
    def details(self) -> dict[str, Any]:
        """Return what the model took."""
        return {
            "model": llm.model_name(),
            "prompt": PROMPT_VERSION,
            "sessions without an answer": len(self.failed),
            "model calls": self.used.calls,
            "model tokens": self.used.tokens,
            "model cost in US dollars": round(self.cost_usd, 4),
            "model seconds": round(self.seconds, 1),
        }


def _restore(scores: JudgeScores, order: Sequence[int]) -> JudgeScores:
    """Return scores by memory that were given in an order."""
    by_place = dict(zip(order, scores.relevance, strict=True))
    return replace(scores, relevance=tuple(by_place[n] for n in range(len(order))))


Reader = Callable[[Workspace, JudgingPool, Orders], Read | None]


def check_answered(reader: ModelReader, answered: int) -> None:
    """Raise `InputError` when a model answered nothing at all."""
    if not answered:
        raise InputError(f"the model judged no session: {reader.failed[-1]}")
