"""Small sessions with something to learn, for the tests of the numeric core."""

from __future__ import annotations

import numpy as np

from predictor.core.features import log_effectiveness, signals
from predictor.core.types import Candidates, Context, LabelledSession


def unit(rows):
    """Bring rows to length one."""
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def candidates_of(rng, n, native=24, *, share_text=0.25, is_injected=True):
    """Draw n candidates; the texts of similar memories share words."""
    embeddings = unit(rng.standard_normal((n, native)))
    return Candidates(
        embeddings=embeddings,
        is_embedded=rng.random(n) >= share_text,
        token_buckets=[np.unique(rng.integers(0, 16_384, rng.integers(0, 9))) for _ in range(n)],
        signals=signals(
            age_days=rng.exponential(30, n),
            importance=rng.random(n),
            access_count=rng.integers(0, 9, n),
            hour=9.5,
            weekday=2.4,
            month=3.1,
            gap_hours=5.0,
            is_embedded=1.0,
            is_superseded=0.0,
        ),
        log_effectiveness=log_effectiveness(rng.random(n)),
        is_injected=rng.random(n) < 0.3 if is_injected else None,
    )


def context_of(rng, native=24, *, slot=3, is_embedded=True):
    """Draw a session's context."""
    return Context(
        embedding=unit(rng.standard_normal(native)) if is_embedded else None,
        project_slot=slot,
        hour=float(rng.uniform(0, 24)),
        weekday=float(rng.uniform(0, 7)),
        month=float(rng.uniform(0, 12)),
        gap_hours=float(rng.exponential(10)),
    )


def sessions_of(rng, count, *, n=12, native=24):
    """Draw judged sessions in which importance and closeness to the context pay."""
    out = []
    for number in range(count):
        slot = None if number % 3 == 2 else int(rng.integers(0, 4))
        context = context_of(rng, native, slot=slot, is_embedded=number % 5 != 4)
        candidates = candidates_of(rng, n, native)
        wish = candidates.signals[:, 1] - 0.5
        if context.embedding is not None:
            wish = wish + candidates.embeddings @ context.embedding
        out.append(LabelledSession(context, candidates, np.clip(wish, -1, 1), 0.8))
    return out
