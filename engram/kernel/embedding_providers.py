"""The models that embed texts: the local MiniLM, and an endpoint with OpenAI's protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engram.kernel import minilm
from engram.kernel.minilm import Tokens
from engram.kernel.passes import TooManyWaitingError

Floats = NDArray[np.float32]
REQUEST_TEXTS = 128  # texts in one request to an endpoint
REMOTE_WINDOW_CHARS = 6_000  # below 8,191 tokens, the usual limit, in any script
REMOTE_OVERLAP_CHARS = 400


class EmbeddingUnavailableError(Exception):
    """The text could not be embedded; the caller continues without a vector and retries later."""


class UnknownTextError(EmbeddingUnavailableError):
    """The model knows no word of the text: its vector would be that of all such texts."""


def name_of(options: dict[str, Any]) -> str:
    """Return the name that is stored with the vectors of a model with these options."""
    shortened = options.get("dimensions")
    return f"{options['model']}@{shortened}" if shortened else str(options["model"])


class Provider(Protocol):
    """One provider of embeddings."""

    @property
    def name(self) -> str:
        """Return the model name that is stored with every vector."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return vectors (n, dim), not necessarily of length one."""

    def read(self, texts: Sequence[str]) -> tuple[Floats, list[Tokens] | None]:
        """Return what `embed` returns, and the token states of each text if the model has them."""

    def windows(self, text: str) -> list[str]:
        """Return overlapping pieces of a text, each short enough to be read whole."""

    def knows(self, text: str) -> bool:
        """Return whether the model knows at least one word of a text."""

    def words(self, text: str) -> tuple[str, ...]:
        """Return the word of each token that `read` has a state of; () without token states."""


class LocalProvider:
    """MiniLM in this process."""

    def __init__(self, model: str, threads: int = 1) -> None:
        if model not in minilm.GRAPHS:
            known = " and ".join(minilm.GRAPHS)
            raise EmbeddingUnavailableError(f"the local provider has {known}, not {model!r}")
        self.name = model
        try:
            self._model = minilm.MiniLM(name=model, threads=threads)
        except (OSError, ValueError) as error:
            raise EmbeddingUnavailableError(f"MiniLM cannot be loaded: {error}") from error
        self.windows, self.knows = self._model.windows, self._model.knows
        self.words = self._model.words

    def embed(self, texts: Sequence[str]) -> Floats:
        try:
            return self._model.embed(texts)
        except TooManyWaitingError as error:
            raise EmbeddingUnavailableError(f"{self.name} is busy: {error}") from error

    def read(self, texts: Sequence[str]) -> tuple[Floats, list[Tokens] | None]:
        try:
            return self._model.read(texts)
        except TooManyWaitingError as error:
            raise EmbeddingUnavailableError(f"{self.name} is busy: {error}") from error


class OpenAIProvider:
    """An endpoint that speaks OpenAI's embeddings protocol."""

    def __init__(self, options: dict[str, Any]) -> None:
        if not (options.get("base_url") or options.get("api_key")):
            raise EmbeddingUnavailableError(
                f"{name_of(options)} needs an endpoint: set OPENAI_BASE_URL or OPENAI_API_KEY"
            )
        from openai import OpenAI  # imported late: half a second and 50 MB

        self.name = name_of(options)
        self._model: str = options["model"]
        self._dimensions: int | None = options.get("dimensions")
        self._known_dimension: int | None = self._dimensions
        self._client = OpenAI(
            base_url=options.get("base_url"),
            api_key=options.get("api_key") or "none",  # local servers need no key
            timeout=options.get("timeout_seconds", 10.0),
            max_retries=1,
        )

    def embed(self, texts: Sequence[str]) -> Floats:
        parts = [
            self._request(texts[start : start + REQUEST_TEXTS])
            for start in range(0, len(texts), REQUEST_TEXTS)
        ]
        if not parts:
            return np.empty((0, self._known_dimension or 0), dtype=np.float32)
        return np.concatenate(parts)

    def read(self, texts: Sequence[str]) -> tuple[Floats, list[Tokens] | None]:
        return self.embed(texts), None

    def knows(self, text: str) -> bool:
        return True

    def words(self, text: str) -> tuple[str, ...]:
        return ()

    def windows(self, text: str) -> list[str]:
        return _character_windows(text, REMOTE_WINDOW_CHARS, REMOTE_OVERLAP_CHARS)

    def _request(self, texts: Sequence[str]) -> Floats:
        from openai import OpenAIError, omit

        try:
            answer = self._client.embeddings.create(
                model=self._model,
                input=[_sendable(text) for text in texts],
                encoding_format="float",
                dimensions=omit if self._dimensions is None else self._dimensions,
            )
        except (OpenAIError, ValueError) as error:
            # Error texts of a provider may quote a key or the input: use only the kind.
            raise EmbeddingUnavailableError(
                f"{self.name} did not answer: {type(error).__name__}"
            ) from error
        rows = sorted(answer.data or [], key=lambda row: row.index)
        if [row.index for row in rows] != list(range(len(texts))):
            raise EmbeddingUnavailableError(
                f"{self.name} answered {len(rows)} vectors for {len(texts)} texts"
            )
        try:
            with np.errstate(over="ignore"):  # overflows become infinite and are refused
                vectors = np.array([row.embedding for row in rows], dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise EmbeddingUnavailableError(f"{self.name} answered no numbers") from error
        return self._with_known_dimension(vectors)

    def _with_known_dimension(self, vectors: Floats) -> Floats:
        width = vectors.shape[1] if vectors.ndim == 2 else 0
        expected = self._known_dimension or width
        if width != expected or width == 0:
            raise EmbeddingUnavailableError(
                f"{self.name} answered vectors of {width} dimensions instead of {expected}"
            )
        self._known_dimension = width
        return vectors


def _sendable(text: str) -> str:
    """Return the text as the protocol accepts it: valid Unicode and not empty."""
    return text.encode("utf-8", "replace").decode("utf-8") or " "


def _character_windows(text: str, size: int, overlap: int) -> list[str]:
    """Cut a text into overlapping windows, at white space if the last fifth of a window has any."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > size:
        cut = max(text.rfind(space, start + size - size // 5, start + size) for space in " \n\t")
        end = cut if cut != -1 else start + size
        pieces.append(text[start:end])
        start = end - overlap
    return [*pieces, text[start:]]
