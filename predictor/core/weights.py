"""Names, shapes and initial values of the model's parameters.

Letters in comments are those of the equations: x = (e - μ) W_e or mean E[word], h = LayerNorm(x),
S = π P + t T, z = LayerNorm((c - μ) W_e) + S, q = z W_q + S, a = h · (W_k q) / 8,
m = tanh(h W_v + z W_c), r = a + σ(a) w_v · m + w_f · f + β · near + ρ · eff + ν injected,
l = λ · columns, s = r + ω (l - r).
Where the baseline's score b is given, candidates are ranked by κ b + τ (s - κ b).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from predictor.core.types import CANDIDATE_COLUMNS, PROJECT_SLOTS, SIGNALS, TOKEN_BUCKETS

Floats = NDArray[np.floating]
Weights = dict[str, Floats]  # by name, in the order of `shapes`; never changed in place once served

DIMENSION = 64  # d of the equations
VALUE = 32  # width of the value path
TIMES = 7  # sine and cosine of hour, weekday and month, and the gap

# Of the linear ranking: `CANDIDATE_COLUMNS`, the cosine, the logarithm of the effectiveness.
COSINE_COLUMN = len(CANDIDATE_COLUMNS)
LINEAR_COLUMNS = COSINE_COLUMN + 2

AGES_DAYS = (3.0, 20.0)  # time constants of the two freshness features

# Initial scores have the scale of labels, whose deviation within a session is about 0.25: a cosine
# near 1 to the context counts as much as a high baseline score.
QUERY_START = 0.01  # W_q = 0.01 I: a twelfth of a point a unit of cosine, beside β
SIMILARITY_START = (0.0, 1.0)  # β of the cosine, and of its exponential
PRIOR_START = (1.0, 0.0)  # ρ of the effectiveness, and of its logarithm
BASELINE_SCALE = 2.0  # κ of the baseline's score, whose deviation within a session is about 0.12
PRIOR_MEAN, PRIOR_DEVIATION = -1.2, 1.0  # of log effectiveness before the first training


def shapes(native: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every parameter for embeddings of width ``native``, in stored order."""
    d, v = DIMENSION, VALUE
    return {
        "mean": (native,),  # μ
        "projection": (native, d),  # W_e
        "words": (TOKEN_BUCKETS, d),  # E
        "scale_embedded": (d,),
        "shift_embedded": (d,),
        "scale_text": (d,),
        "shift_text": (d,),
        "projects": (PROJECT_SLOTS, d),  # P
        "times": (TIMES, d),  # T
        "query": (d, d),  # W_q
        "key": (d, d),  # W_k
        "value": (d, v),  # W_v
        "context_value": (d, v),  # W_c
        "value_head": (v,),  # w_v
        "signal_head": (len(CANDIDATE_COLUMNS) + len(AGES_DAYS),),  # w_f
        "similarity": (2,),  # β
        "prior": (2,),  # ρ
        "linear_mean": (LINEAR_COLUMNS,),
        "linear_scale": (LINEAR_COLUMNS,),  # as `signal_scale`
        "linear": (LINEAR_COLUMNS,),  # λ
        "linear_share": (1,),  # ω, how much of the score is the linear one's
        "trust": (1,),  # τ, how much of what was learned is added to the baseline's score
        "injected": (1,),  # ν, for training only
        "signal_mean": (len(SIGNALS),),
        "signal_scale": (len(SIGNALS),),  # one over the deviation; 0 for a constant column
        "prior_mean": (1,),
        "prior_scale": (1,),
        "project_logits": (TIMES + 1, PROJECT_SLOTS),  # of π for sessions without a project
    }


def count(native: int) -> int:
    """Return the number of parameters for embeddings of width ``native``."""
    return sum(int(np.prod(shape)) for shape in shapes(native).values())


def initial(native: int, *, mean: Floats, projection: Floats, rng: np.random.Generator) -> Weights:
    """Return initial weights, which rank by nearness and effectiveness: where training starts."""
    weights: Weights = {
        name: np.zeros(shape, dtype=np.float32) for name, shape in shapes(native).items()
    }
    identity = np.eye(DIMENSION, dtype=np.float32)
    spread = 1 / np.sqrt(DIMENSION)
    weights["mean"][:] = mean
    weights["projection"][:] = projection
    weights["query"][:] = QUERY_START * identity
    weights["key"][:] = identity
    weights["value"][:] = rng.standard_normal((DIMENSION, VALUE)) * spread
    weights["context_value"][:] = rng.standard_normal((DIMENSION, VALUE)) * spread
    for name in ("scale_embedded", "scale_text", "signal_scale"):
        weights[name][:] = 1
    weights["trust"][:] = 1
    weights["similarity"][:] = SIMILARITY_START
    weights["prior"][:] = PRIOR_START
    weights["prior_mean"][:] = PRIOR_MEAN
    weights["prior_scale"][:] = 1 / PRIOR_DEVIATION
    return weights
