"""How much of the score is the linear ranking's, and how much of what is learned is added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from predictor.core import scoring
from predictor.core.metrics import ndcg
from predictor.core.types import LabelledSession
from predictor.core.weights import BASELINE_SCALE, Floats, Weights

FOLDS = 3
MOST_TRIED = 120  # sessions
TRUSTS = (0.0, 0.25, 0.5, 1.0)
# The linear ranking and the rest err differently, and their mean is mostly better than either; not
# where the rest has learned what no linear ranking can express (docs/tuning.md).
LINEAR_SHARES = (0.5, 0.25, 0.0)


@dataclass(frozen=True, slots=True)
class Shares:
    """ω of the linear ranking and τ of what is learned, each in [0, 1]."""

    linear: float
    trust: float


def choose_shares(
    sessions: Sequence[LabelledSession], learn: Callable[[list[LabelledSession]], Weights]
) -> Shares:
    """Return the shares that rank sessions best that were not learned from.

    The newest sessions are divided into `FOLDS` parts; each is ranked by what is learned from the
    others. ω is the one of the best rankings without a baseline. τ is the largest share that is
    better than the baseline by more than a standard error, and within one of the best; 1 where no
    session has the baseline's scores, 0 where too few have. Both are measured on the same sessions,
    so τ is a little too large.

    Parameters
    ----------
    sessions : useful ones, in the order of time.
    learn : trains weights on some of them.
    """
    tried = sessions[-MOST_TRIED:]
    has_baseline = np.array([one.candidates.baseline is not None for one in tried], dtype=bool)
    if len(tried) < 2 * FOLDS:
        return Shares(LINEAR_SHARES[0], 0.0 if has_baseline.any() else 1.0)
    qualities = np.empty((len(tried), len(LINEAR_SHARES), len(TRUSTS)))
    for fold in range(FOLDS):
        learned = learn([session for i, session in enumerate(tried) if i % FOLDS != fold])
        for i in range(fold, len(tried), FOLDS):
            qualities[i] = _qualities(learned, tried[i])
    linear = int(np.argmax(qualities[:, :, -1].mean(axis=0)))
    trust = _choose_trust(qualities[has_baseline, linear])
    return Shares(LINEAR_SHARES[linear], trust if has_baseline.any() else 1.0)


def _choose_trust(qualities: Floats) -> float:
    """Return τ from the qualities of sessions with a baseline, (sessions, `TRUSTS`)."""
    if len(qualities) < 2 * FOLDS:
        return 0.0
    gains = qualities - qualities[:, :1]
    mean, error = gains.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
    best = int(np.argmax(mean))
    is_good = (mean > error) & (mean >= mean[best] - error[best])
    return max((one for one, good in zip(TRUSTS, is_good, strict=True) if good), default=0.0)


def _qualities(learned: Weights, session: LabelledSession) -> Floats:
    """Return nDCG@10 by the labels for all shares, (`LINEAR_SHARES`, `TRUSTS`)."""
    worth = dict(enumerate(np.maximum(session.labels, 0).tolist()))
    found = np.zeros((len(LINEAR_SHARES), len(TRUSTS)))
    if not max(worth.values()) > 0:
        return found
    without, alone = _scores(learned, session)
    for i, linear in enumerate(LINEAR_SHARES):
        own = without + linear * (alone - without)
        start = own if (b := session.candidates.baseline) is None else BASELINE_SCALE * np.array(b)
        for j, trust in enumerate(TRUSTS):
            order = np.argsort(-(start + trust * (own - start)), kind="stable")
            found[i, j] = ndcg(order.tolist(), worth)
    return found


def _scores(learned: Weights, session: LabelledSession) -> tuple[Floats, Floats]:
    """Return the scores without the linear ranking, at whole trust, and those by it alone, (n,)."""
    weights = learned | {
        "linear_share": np.zeros(1, dtype=np.float32),
        "trust": np.ones(1, dtype=np.float32),
    }
    ready = scoring.prepare_candidates(weights, session.candidates)
    context = session.context
    return (
        scoring.scores(weights, context, ready),
        scoring.linear_scores(weights, context, ready),
    )
