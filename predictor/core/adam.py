"""Adam (Kingma and Ba 2015) with cosine learning rate and weight decay towards the start."""

from __future__ import annotations

import numpy as np

from predictor.core.weights import Floats, Weights

_MEMORY, _SQUARES, _TINY = 0.9, 0.999, 1e-8

# name: (factor of the rate, factor of the decay); arrays that are not named are not trained.
PACE = {
    "turn": (0.3, 1.0),
    "scale_embedded": (1.0, 1.0),
    "shift_embedded": (1.0, 1.0),
    "scale_text": (1.0, 1.0),
    "shift_text": (1.0, 1.0),
    "projects": (1.0, 0.1),
    "times": (1.0, 0.1),
    "query": (1.0, 1.0),
    "key": (1.0, 1.0),
    "value": (1.0, 1.0),
    "context_value": (1.0, 1.0),
    "value_head": (3.0, 0.1),
    "signal_head": (3.0, 0.1),
    "similarity": (3.0, 0.1),
    "prior": (3.0, 0.1),
}


class Adam:
    """Optimise the arrays in `weights`, views of one vector, beginning at ``start``."""

    def __init__(self, start: Weights, *, rate: float, decay: float, steps: int) -> None:
        sizes = {name: start[name].size for name in PACE}
        total = sum(sizes.values())
        self._now = np.empty(total, dtype=np.float32)
        self._rates = np.empty_like(self._now)
        self._decays = np.empty_like(self._now)
        self._gradient = np.empty_like(self._now)
        self.weights: Weights = {}
        self._views: Weights = {}
        at = 0
        for name, size in sizes.items():
            part = slice(at, at + size)
            self._rates[part], self._decays[part] = PACE[name]
            self.weights[name] = self._now[part].reshape(start[name].shape)
            self.weights[name][...] = start[name]
            self._views[name] = self._gradient[part].reshape(start[name].shape)
            at += size
        self._start = self._now.copy()
        self._first: Floats = np.zeros_like(self._now)
        self._second: Floats = np.zeros_like(self._now)
        self._rate, self._decay, self._steps, self._step = rate, decay, steps, 0

    def step(self, gradient: Weights) -> None:
        """Update all weights once, in place."""
        for name, view in self._views.items():
            view[...] = gradient[name]
        self._step += 1
        rate = self._rate * 0.5 * (1 + np.cos(np.pi * (self._step - 1) / self._steps))
        self._first += np.float32(1 - _MEMORY) * (self._gradient - self._first)
        self._second += np.float32(1 - _SQUARES) * (self._gradient**2 - self._second)
        unbias = rate / (1 - _MEMORY**self._step)
        spread = np.sqrt(self._second / np.float32(1 - _SQUARES**self._step)) + np.float32(_TINY)
        pull = np.minimum(np.float32(rate * self._decay) * self._decays, np.float32(1))
        self._now -= pull * (self._now - self._start)
        self._now -= np.float32(unbias) * self._rates * self._first / spread
