"""Embed texts of which the provider may refuse some."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from engram.kernel.embedding import EmbeddingUnavailableError, embed

log = logging.getLogger(__name__)
PROBE_TEXT = "Is anybody there?"
Vectors = TypeVar("Vectors")


def embed_accepted(
    texts: Sequence[str], model: str, read: Callable[[Sequence[str], str], Iterable[Vectors]]
) -> list[Vectors | None]:
    """Return what `read` makes of each text; None for a text that the provider refuses.

    When a call fails, its halves are tried, to isolate the failing text. Raise
    `EmbeddingUnavailableError` when the provider is down.
    """
    try:
        return list(read(texts, model))
    except EmbeddingUnavailableError as error:
        embed([PROBE_TEXT], model)
        if len(texts) == 1:
            log.warning("a text of %d characters is not embedded: %s", len(texts[0]), error)
            return [None]
    middle = len(texts) // 2
    halves = (texts[:middle], texts[middle:])
    return [found for half in halves for found in embed_accepted(half, model, read)]
