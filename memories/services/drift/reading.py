"""Embed statements of notes beside memories, as `memories/core/drift` compares them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engram.kernel.embedding import embed, embed_windows
from memories.core.claims import compare, read
from memories.core.drift.parts import words_of
from memories.core.drift.passages import Statement, without_links
from memories.core.drift.support import Scored, Support, covered, with_cosines
from memories.core.likelihood import MAX_ESTIMATED, UNKNOWN, Likelihood, likelihood_of
from memories.services.index.tokens import incoming_states

# Of a long note those that share most words with the memories are embedded: two seconds of work.
MAX_EMBEDDED = 400
UNREAD = 0.0  # cosine of a statement that was not embedded


def score_statements(
    contents: Sequence[str], statements: Sequence[Statement], model: str
) -> list[list[Scored]]:
    """Return for each memory all statements of a note with their cosines, in the note's order."""
    chosen = _most_alike(contents, statements)
    cosines = np.full((len(contents), len(statements)), UNREAD, dtype=np.float32)
    if chosen and contents:
        texts = [without_links(content) or content for content in contents]
        vectors = embed([*texts, *(statements[i].in_context for i in chosen)], model)
        cosines[:, chosen] = vectors[: len(texts)] @ vectors[len(texts) :].T
    return [
        [
            Scored(statement, float(cosine))
            for statement, cosine in zip(statements, row, strict=True)
        ]
        for row in cosines
    ]


def score_anew(supports: Sequence[tuple[str, Support]], model: str) -> list[Support]:
    """Return supports of memories (their texts come with them) with the cosines of a model.

    Their sentences are embedded all at once; no note is read.
    """
    said = [one.statement.in_context for _, support in supports for one in support.sentences]
    if not said:
        return [support for _, support in supports]
    texts = [without_links(content) or content for content, _ in supports]
    vectors = embed([*texts, *said], model)
    found, place = [], len(texts)
    for own, (_, support) in zip(vectors, supports, strict=False):
        end = place + len(support.sentences)
        found.append(with_cosines(support, [float(own @ one) for one in vectors[place:end]]))
        place = end
    return found


class Estimator:
    """What a model tells of two wordings; each pair is read once."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._known: dict[tuple[str, str], Likelihood] = {}
        self._near: dict[tuple[str, str], float] = {}

    def __call__(self, before: str, after: str) -> Likelihood:
        """Return how likely two statements say the same."""
        if (found := self._known.get((before, after))) is None:
            found = self._known[before, after] = _estimate(before, after, self._model)
        return found

    def nearness(self, one: str, other: str) -> float:
        """Return the cosine of two phrases."""
        if (found := self._near.get((one, other))) is None:
            left, right = embed([one, other], self._model)
            found = self._near[one, other] = float(left @ right)
        return found


def _estimate(before: str, after: str, model: str) -> Likelihood:
    if max(len(before), len(after)) > MAX_ESTIMATED:
        return UNKNOWN
    windows = embed_windows([before, after], model)
    readings = read(before), read(after)
    states = [
        incoming_states(text, part).get(text)
        for text, part in zip((before, after), windows, strict=True)
    ]
    return likelihood_of(
        *readings,
        compare(*readings),
        float(windows[0][0] @ windows[1][0]),
        states_a=states[0],
        states_b=states[1],
    )


def _most_alike(contents: Sequence[str], statements: Sequence[Statement]) -> list[int]:
    """Return the places of the statements to embed, ascending."""
    if len(statements) <= MAX_EMBEDDED:
        return list(range(len(statements)))
    wanted = {key for content in contents for key in words_of(without_links(content))}
    common = [len(wanted & covered(statement).keys()) for statement in statements]
    ranked = sorted(range(len(statements)), key=lambda i: (-common[i], i))
    return sorted(ranked[:MAX_EMBEDDED])
