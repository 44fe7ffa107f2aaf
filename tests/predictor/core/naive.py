"""The equations once more, one candidate at a time in plain Python: what the model is held to."""

from __future__ import annotations

import math

import numpy as np


def _norm(row):
    mean = sum(row) / len(row)
    centred = [value - mean for value in row]
    variance = sum(value * value for value in centred) / len(row)
    return [value / math.sqrt(variance + 1e-5) for value in centred]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def _times(row, matrix):
    """Row vector times matrix."""
    return [_dot(row, column) for column in zip(*matrix, strict=True)]


def _minus(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


def _plus(a, b):
    return [x + y for x, y in zip(a, b, strict=True)]


def score(weights, context, candidates, i, *, injected=0.0, is_training=False):
    """Score candidate ``i`` of ``candidates`` in ``context``, as the equations have it."""
    w = {name: array.astype(float).tolist() for name, array in weights.items() if name != "words"}
    clock = ((context.hour, 24), (context.weekday, 7), (context.month, 12))
    times = [
        f(2 * math.pi * value / period) for value, period in clock for f in (math.sin, math.cos)
    ]
    times.append((math.log1p(context.gap_hours) - w["signal_mean"][9]) * w["signal_scale"][9])
    if context.project_slot is None:
        logits = _plus(_times(times, w["project_logits"][:7]), w["project_logits"][7])
        powers = [math.exp(logit - max(logits)) for logit in logits]
        projects = [power / sum(powers) for power in powers]
    else:
        projects = [float(slot == context.project_slot) for slot in range(32)]
    state = _plus(_times(projects, w["projects"]), _times(times, w["times"]))
    z, asked = state, [0.0] * 64
    if context.embedding is not None:
        c = context.embedding.astype(float).tolist()
        asked = _times(_minus(c, w["mean"]), w["projection"])
        z = _plus(_norm(asked), state)
    q = _plus(_times(z, w["query"]), state)
    if candidates.is_embedded[i]:
        e = candidates.embeddings[i].astype(float).tolist()
        x = _times(_minus(e, w["mean"]), w["projection"])
        path = "embedded"
        cosine = _dot(c, e) if context.embedding is not None else 0.0
    else:
        rows = [
            weights["words"][bucket].astype(float).tolist()
            for bucket in candidates.token_buckets[i]
        ]
        x = [sum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else [0.0] * 64
        path = "text"
        cosine = _dot(x, asked) + _dot(c, w["mean"]) if context.embedding is not None else 0.0
    h = _plus(
        [n * s for n, s in zip(_norm(x), w[f"scale_{path}"], strict=True)], w[f"shift_{path}"]
    )
    attention = _dot(h, [_dot(row, q) for row in w["key"]]) / 8
    m = [math.tanh(v) for v in _plus(_times(h, w["value"]), _times(z, w["context_value"]))]
    signals = [
        min(max((value - mean) * scale, -2.5), 2.5)
        for value, mean, scale in zip(
            candidates.signals[i].tolist(), w["signal_mean"], w["signal_scale"], strict=True
        )
    ]
    signals = [*signals[:3], *signals[10:]]  # those that differ between candidates
    prior = (float(candidates.log_effectiveness[i]) - w["prior_mean"][0]) * w["prior_scale"][0]
    prior = prior if prior > 0 else math.expm1(prior)
    told = float(candidates.log_effectiveness[i])
    effectiveness = 1 + told if told > 0 else math.exp(told)
    age_days = math.exp(float(candidates.signals[i][0]))
    signals += [math.exp(-age_days / days) for days in (3, 20)]
    steep = (math.exp(4 * min(max(cosine, -1.0), 1.0)) - 1) / 50
    said = (
        w["similarity"][0] * cosine
        + w["similarity"][1] * steep
        + w["prior"][0] * effectiveness
        + w["prior"][1] * prior
    )
    score = (
        attention
        + _dot(w["value_head"], m) / (1 + math.exp(-attention))
        + _dot(w["signal_head"], signals)
        + said
        + w["injected"][0] * injected
    )
    if is_training:
        return score
    score += w["linear_share"][0] * (_linear(w, context, candidates, i) - score)
    if candidates.baseline is None:
        return score
    start = 2.0 * float(candidates.baseline[i])
    return start + w["trust"][0] * (score - start)


def _linear(w, context, candidates, i):
    cosine = 0.0
    if context.embedding is not None and candidates.is_embedded[i]:
        cosine = _dot(candidates.embeddings[i].tolist(), context.embedding.tolist())
    signals = candidates.signals[i].tolist()
    told = [*signals[:3], *signals[10:], cosine, float(candidates.log_effectiveness[i])]
    away = zip(_minus(told, w["linear_mean"]), w["linear_scale"], strict=True)
    return _dot([min(max(value * scale, -2.5), 2.5) for value, scale in away], w["linear"])


def loss(weights, sessions, temperature):
    """Mean over sessions of confidence times KL(softmax(labels) ‖ softmax(scores)), weighted."""
    total = 0.0
    for session in sessions:
        n = len(session.candidates)
        injected = session.candidates.is_injected
        scores = [
            score(
                weights,
                session.context,
                session.candidates,
                i,
                injected=0.0 if injected is None else float(injected[i]),
                is_training=True,
            )
            for i in range(n)
        ]
        counts = [1.0] * n if session.weights is None else np.sqrt(session.weights).tolist()
        truth = _softmax(session.labels.tolist(), temperature, counts)
        model = _softmax(scores, temperature, counts)
        total += session.confidence * sum(
            p * math.log(p / q) for p, q in zip(truth, model, strict=True)
        )
    return total / len(sessions)


def _softmax(values, temperature, counts):
    powers = [
        count * math.exp((value - max(values)) / temperature)
        for value, count in zip(values, counts, strict=True)
    ]
    return [power / sum(powers) for power in powers]
