"""Loss of a batch of sessions and its gradient by every trained parameter.

Loss: the mean over sessions of confidence · KL(softmax(y / T) ‖ softmax(s / T)). In both softmaxes
a candidate counts by its share (`LabelledSession.shares`), so that candidates drawn with a known
probability stand for others.
"""

from __future__ import annotations

import numpy as np

from predictor.core import forward
from predictor.core.assembly import Batch
from predictor.core.forward import Lifted, NormalisedRows
from predictor.core.weights import DIMENSION, Floats, Weights


def loss_of(scores: Floats, batch: Batch, temperature: float) -> tuple[float, Floats]:
    """Return the loss, and its derivative by the scores, (N,)."""
    counted = np.log(batch.shares)
    target = _log_softmax(batch.labels / temperature + counted, batch)
    model = _log_softmax(scores / temperature + counted, batch)
    truth = np.exp(target)
    weight = batch.confidence[batch.session] / len(batch.starts)
    loss = float(np.sum(weight * truth * (target - model)))
    return loss, np.asarray(weight * (np.exp(model) - truth) / temperature, dtype=scores.dtype)


def loss_and_gradient(weights: Weights, batch: Batch, temperature: float) -> tuple[float, Weights]:
    """Return the loss and the gradient by every trained array of ``weights``.

    Parameters
    ----------
    weights : as `weights.shapes` names them, and ``turn`` (directions, d): the change of W_e along
        the principal directions.
    """
    scored = ScoredBatch(weights, batch)
    loss, slope = loss_of(scored.scores, batch, temperature)
    return loss, scored.backward(slope)


class ScoredBatch:
    """Forward pass of a batch: scores (N,) and the intermediate values of the backward pass.

    `hidden` is h of the distinct memories (U, d), `attention` a of the candidates (N,),
    `value_score` w_v · m of the candidates (N,).
    """

    def __init__(self, w: Weights, b: Batch) -> None:
        self.w, self.b = w, b
        self.x = b.x + b.ahead @ w["turn"]
        self.norm: NormalisedRows = forward.normalise_rows(self.x)
        self.scale = np.where(b.is_text > 0, w["scale_text"], w["scale_embedded"])
        shift = np.where(b.is_text > 0, w["shift_text"], w["shift_embedded"])
        self.hidden = self.norm.rows * self.scale + shift
        self.context = b.context + b.context_ahead @ w["turn"]
        self.lifted: Lifted = forward.lift(w, self.context, b.has_context, b.projects, b.times)
        self.attention = (self.hidden @ self.lifted.keys.T)[b.memory, b.session]
        value = (self.hidden @ w["value"])[b.memory]
        value += self.lifted.values[b.session]
        self.value = np.tanh(value, out=value)
        self.gate = forward.sigmoid(self.attention)
        self.value_score = self.value @ w["value_head"]
        self.cosine = b.cosine
        if b.text_at.size:
            self.cosine = b.cosine.copy()
            rows, contexts = self.x[b.memory[b.text_at]], self.context[b.session[b.text_at]]
            self.cosine[b.text_at] += np.einsum("ij,ij->i", rows, contexts)
        self.near = forward.nearness_of(self.cosine)
        linear = b.signals @ w["signal_head"] + b.injected * w["injected"]
        linear += self.near @ w["similarity"] + b.prior @ w["prior"]
        self.scores = np.asarray(linear + self.attention + self.gate * self.value_score)

    def backward(self, slope: Floats) -> Weights:
        """Return the gradient from the loss's derivative by the scores, (N,)."""
        w, b, lifted = self.w, self.b, self.lifted
        to_value_score = slope * self.gate
        to_attention = slope * (1 + self.value_score * self.gate * (1 - self.gate))
        to_value = (1 - self.value * self.value) * (to_value_score[:, None] * w["value_head"])
        pairs = (len(self.x), len(b.starts))
        flat = np.bincount(b.memory * pairs[1] + b.session, to_attention, pairs[0] * pairs[1])
        to_pairs = flat.reshape(pairs).astype(slope.dtype)
        to_memory_value = np.add.reduceat(to_value[b.by_memory], b.memory_starts, axis=0)
        to_hidden = to_pairs @ lifted.keys + to_memory_value @ w["value"].T
        to_x = _through_norm(self.norm, to_hidden * self.scale)
        to_context, gradient = self._to_context(
            to_pairs.T @ self.hidden, np.add.reduceat(to_value, b.starts, axis=0)
        )
        if b.text_at.size:
            rows = self.x[b.memory[b.text_at]]
            steepness = forward.nearness_slope(self.cosine[b.text_at], w["similarity"])
            pull = (slope[b.text_at] * steepness)[:, None] * rows
            np.add.at(to_context, b.session[b.text_at], pull)
        through_scale = to_hidden * self.norm.rows
        text, embedded = b.is_text[:, 0], 1 - b.is_text[:, 0]
        return gradient | {
            "turn": b.ahead.T @ to_x + b.context_ahead.T @ to_context,
            "scale_embedded": embedded @ through_scale,
            "shift_embedded": embedded @ to_hidden,
            "scale_text": text @ through_scale,
            "shift_text": text @ to_hidden,
            "value": self.hidden.T @ to_memory_value,
            "value_head": to_value_score @ self.value,
            "signal_head": slope @ b.signals,
            "similarity": slope @ self.near,
            "prior": slope @ b.prior,
            "injected": np.array([slope @ b.injected]),
        }

    def _to_context(self, to_keys: Floats, to_values: Floats) -> tuple[Floats, Weights]:
        """Return the derivative by the projected contexts (S, d), and their weights' gradients."""
        w, b, lifted = self.w, self.b, self.lifted
        to_keys = to_keys * to_keys.dtype.type(1 / np.sqrt(DIMENSION))
        to_q = to_keys @ w["key"]
        to_z = to_q @ w["query"].T + to_values @ w["context_value"].T
        to_state = to_z + to_q
        return _through_norm(lifted.context, to_z * b.has_context), {
            "key": to_keys.T @ lifted.q,
            "query": lifted.z.T @ to_q,
            "context_value": lifted.z.T @ to_values,
            "projects": b.projects.T @ to_state,
            "times": b.times.T @ to_state,
        }


def _through_norm(norm: NormalisedRows, slope: Floats) -> Floats:
    """Return the derivative by the input of `forward.normalise_rows`."""
    along = np.einsum("ij,ij->i", slope, norm.rows)[:, None] / slope.shape[1]
    inward = slope - slope.mean(axis=1, keepdims=True) - norm.rows * along
    return np.asarray(inward / norm.deviation)


def _log_softmax(logits: Floats, batch: Batch) -> Floats:
    """Return the log of the softmax within each session, (N,)."""
    logits = logits - np.maximum.reduceat(logits, batch.starts)[batch.session]
    total = np.add.reduceat(np.exp(logits), batch.starts)
    return np.asarray(logits - np.log(total)[batch.session])
