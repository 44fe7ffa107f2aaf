"""The model's equations in torch, for embedded candidates: to compare speed, not quality."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from predictor.core.types import Candidates, Context, LabelledSession

DIMENSION, VALUES = 64, 32


class TorchScorer(nn.Module):
    """The same parameters as the model, but for the word vectors."""

    def __init__(self, native: int) -> None:
        super().__init__()
        self.project = nn.Linear(native, DIMENSION)
        self.norm = nn.LayerNorm(DIMENSION)
        self.context_norm = nn.LayerNorm(DIMENSION)
        self.query = nn.Linear(DIMENSION, DIMENSION, bias=False)
        self.key = nn.Linear(DIMENSION, DIMENSION, bias=False)
        self.value = nn.Linear(DIMENSION, VALUES, bias=False)
        self.context = nn.Linear(DIMENSION, VALUES, bias=False)
        self.gate = nn.Linear(VALUES, 1, bias=False)
        self.head = nn.Linear(14, 1)
        self.projects = nn.Embedding(33, DIMENSION)
        self.times = nn.Linear(7, DIMENSION, bias=False)

    def forward(
        self,
        context: torch.Tensor,
        project: torch.Tensor,
        time: torch.Tensor,
        memories: torch.Tensor,
        columns: torch.Tensor,
    ) -> torch.Tensor:
        """Return scores (sessions, n) of memories (sessions, n, native)."""
        hidden = self.norm(self.project(memories))
        session = self.projects(project) + self.times(time)
        z = self.context_norm(self.project(context)) + session
        keys = self.key(self.query(z) + session)
        a = (hidden @ keys[..., None])[..., 0] / 8
        m = torch.tanh(self.value(hidden) + self.context(z)[:, None])
        cosine = (memories @ context[..., None])[..., 0]
        every = torch.cat([columns, cosine[..., None]], dim=-1)
        return a + torch.sigmoid(a) * self.gate(m)[..., 0] + self.head(every)[..., 0]


def scoring(context: Context, candidates: Candidates) -> Callable[[], object]:
    """Return a call that scores candidates in one thread."""
    torch.set_num_threads(1)
    model = TorchScorer(candidates.embeddings.shape[1]).eval()
    inputs = _inputs([(context, candidates)])

    def call() -> object:
        with torch.inference_mode():
            return model(*inputs)

    return call


def train(sessions: Sequence[LabelledSession], *, epochs: int, batch: int) -> None:
    """Train as the recipe does: Adam on the divergence of two softmaxes."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = TorchScorer(sessions[0].candidates.embeddings.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    batches = []
    for start in range(0, len(sessions), batch):
        part = sessions[start : start + batch]
        wanted = torch.tensor(np.stack([s.labels for s in part]), dtype=torch.float32)
        batches.append((_inputs([(s.context, s.candidates) for s in part]), wanted))
    for _ in range(epochs):
        for inputs, wanted in batches:
            scores = functional.log_softmax(model(*inputs) / 0.5, dim=-1)
            loss = functional.kl_div(scores, (wanted / 0.5).softmax(-1), reduction="sum")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def _inputs(pairs: Sequence[tuple[Context, Candidates]]) -> tuple[torch.Tensor, ...]:
    contexts = np.stack([np.asarray(context.embedding) for context, _ in pairs])
    slots = [32 if context.project_slot is None else context.project_slot for context, _ in pairs]
    times = np.stack([candidates.signals[0, 3:10] for _, candidates in pairs])
    columns = [np.column_stack([c.signals, c.log_effectiveness]) for _, c in pairs]
    memories = np.stack([candidates.embeddings for _, candidates in pairs])
    return (
        torch.tensor(contexts, dtype=torch.float32),
        torch.tensor(slots),
        torch.tensor(times, dtype=torch.float32),
        torch.tensor(memories, dtype=torch.float32),
        torch.tensor(np.stack(columns), dtype=torch.float32),
    )
