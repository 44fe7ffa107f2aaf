"""Embed texts as unit vectors, by the local MiniLM or an OpenAI-compatible endpoint.

`settings.ENGRAM_EMBEDDING` names the provider: ``provider`` ("local" or "openai"), ``model``,
``base_url``, ``api_key``, ``timeout_seconds``, the local model's ``threads`` and, where an endpoint
can shorten its vectors, ``dimensions``. That is the model of a new workspace; each workspace stores
its model's name until `reembed` changes it, and every function here takes that name. Vectors of
different models are never compared: the name is stored with each vector.

A call to a model releases the database connection, except within a transaction, because more
requests may wait for the model than the pool has connections.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from django.conf import settings

from engram.kernel import minilm
from engram.kernel.embedding_providers import (
    REMOTE_WINDOW_CHARS,
    EmbeddingUnavailableError,
    Floats,
    LocalProvider,
    OpenAIProvider,
    Provider,
    UnknownTextError,
    name_of,
)
from engram.kernel.minilm import Tokens
from engram.kernel.tenancy import release_connection

__all__ = [
    "EmbeddingUnavailableError",
    "Floats",
    "PendingReading",
    "Provider",
    "QueryReading",
    "UnknownTextError",
    "Windows",
    "begin_reading",
    "embed",
    "embed_first_windows",
    "embed_query",
    "embed_windows",
    "has_token_states",
    "model_name",
    "read_query",
    "token_words",
    "use_processors",
    "windows",
]

logger = logging.getLogger(__name__)

QUERY_CACHE_SIZE = 512
QUERY_CHARS = REMOTE_WINDOW_CHARS  # of a query; the local model reads at most 256 tokens of them
# Windows that a caller waits for: some 2,000 characters of English. A text of 8,000 characters has
# nine in English, and 42 of punctuation or Chinese, where each character is a token: five seconds
# of work.
FIRST_WINDOWS = 2


class Windows(np.ndarray):
    """The unit vectors (n_windows, dim) of a text, with token states if the model has them.

    `tokens` are those of each window, from the same pass; slices of the array, and models without
    token states, have None. `unread` is the number of windows that were not embedded because the
    caller limited them.
    """

    tokens: Sequence[Tokens] | None = None
    unread: int = 0

    @classmethod
    def of(cls, vectors: Floats, tokens: Sequence[Tokens] | None, *, unread: int = 0) -> Self:
        """Return vectors with their token states."""
        windows = vectors.view(cls)
        windows.tokens = tokens
        windows.unread = unread
        return windows


@dataclass(frozen=True, slots=True)
class QueryReading:
    """A query's unit vector (dim,), read-only, and its token states if the model has them."""

    vector: Floats
    tokens: Tokens | None


def embed(texts: Sequence[str], model: str | None = None) -> Floats:
    """Return unit vectors (n, dim) of ``texts`` by ``model`` (default: `model_name()`), in order.

    A text longer than the model reads is cut; use `embed_windows` for whole texts.

    Raises ------ EmbeddingUnavailableError When the provider cannot be reached or loaded, or
    returns invalid vectors.
    """
    release_connection()
    provider = _provider(model)
    return _unit(provider.embed(list(texts)), len(texts), provider)


def embed_windows(
    texts: Sequence[str], model: str | None = None, *, limit: int | None = None
) -> list[Windows]:
    """Return for each text the unit vectors (n_windows, dim) of its overlapping windows.

    With a `limit` only the first `limit` windows of each text are embedded.
    """
    release_connection()
    provider = _provider(model)
    pieces = [provider.windows(text) for text in texts]
    wanted = [windows[:limit] for windows in pieces]
    flat = [window for windows in wanted for window in windows]
    found, tokens = provider.read(flat)
    vectors = _unit(found, len(flat), provider)
    answers, start = [], 0
    for windows, read in zip(pieces, wanted, strict=True):
        part = slice(start, start := start + len(read))
        known = None if tokens is None else tokens[part]
        answers.append(Windows.of(vectors[part], known, unread=len(windows) - len(read)))
    return answers


def embed_first_windows(texts: Sequence[str], model: str | None = None) -> list[Windows]:
    """Return what `embed_windows` returns for the beginnings of texts while a caller waits.

    FIRST_WINDOWS are shared by the texts, with at least one window each.
    `memories/services/index/pending.py` embeds the `unread` windows later.
    """
    return embed_windows(texts, model, limit=max(1, FIRST_WINDOWS // max(len(texts), 1)))


def read_query(text: str, model: str | None = None) -> QueryReading:
    """Return the embedding of a query; recent queries are cached.

    At most QUERY_CHARS are read, and of those as many tokens as the model takes. Raise
    `UnknownTextError` when the model knows none of them.
    """
    model = model or model_name()
    text = text[:QUERY_CHARS]
    if (known := _known_query(model, text)) is not None:
        return known
    release_connection()
    return _read_query(text, model)


class PendingReading:
    """The embedding of a query that is being made while the caller does something else."""

    def __init__(self, future: Future[QueryReading]) -> None:
        self._future = future

    def result(self) -> QueryReading:
        """Wait for the embedding, without a database connection, and return it.

        Raise what `read_query` raises.
        """
        if not self._future.done():
            release_connection()
        return self._future.result()


def begin_reading(text: str, model: str | None = None) -> PendingReading:
    """Begin `read_query` in a thread of its own, unless the query is cached.

    The local model computes without Python's lock, so the caller can read the database meanwhile.
    """
    model = model or model_name()
    text = text[:QUERY_CHARS]
    future: Future[QueryReading] = Future()
    if (known := _known_query(model, text)) is not None:
        future.set_result(known)
    else:
        thread = threading.Thread(target=_fulfil, args=(future, text, model), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the process may have no more threads
            future.set_exception(EmbeddingUnavailableError(f"{model} is not asked: {error}"))
    return PendingReading(future)


def _fulfil(future: Future[QueryReading], text: str, model: str) -> None:
    try:
        future.set_result(_read_query(text, model))
    except Exception as error:  # noqa: BLE001  raised where the result is wanted
        future.set_exception(error)


def _known_query(model: str, text: str) -> QueryReading | None:
    with _lock:
        if (known := _queries.get((model, text))) is not None:
            _queries.move_to_end((model, text))
        return known


def _read_query(text: str, model: str) -> QueryReading:
    provider = _provider(model)
    if not provider.knows(text):
        raise UnknownTextError(f"{model} knows no word of the text")
    vectors, tokens = provider.read([text])
    vector: Floats = _unit(vectors, 1, provider)[0]
    vector.flags.writeable = False
    reading = QueryReading(vector, tokens[0] if tokens else None)
    with _lock:
        _queries[model, text] = reading
        while len(_queries) > QUERY_CACHE_SIZE:
            _queries.popitem(last=False)
    return reading


def embed_query(text: str, model: str | None = None) -> Floats:
    """Return the unit vector (dim,) of a query, read-only; recent queries are cached."""
    return read_query(text, model).vector


def windows(text: str) -> list[str]:
    """Cut a text into overlapping pieces that the model reads whole."""
    return _provider().windows(text)


def token_words(text: str, model: str) -> tuple[str, ...]:
    """Return the word of each token of a text's first window; () if the model has no states."""
    return _provider(model).words(text) if has_token_states(model) else ()


def use_processors() -> None:
    """Embed by several threads in this process, unless the settings give a number.

    For commands that embed much and run alone; call it before the first text is embedded.
    """
    configured: dict[str, Any] = settings.ENGRAM_EMBEDDING
    configured["threads"] = configured.get("threads") or minilm.MOST_THREADS


def model_name() -> str:
    """Return the model name of a new workspace, without loading the model."""
    return name_of(settings.ENGRAM_EMBEDDING)


def has_token_states(model: str) -> bool:
    """Return whether `model` has token states, without loading it."""
    return bool(_options(model)["provider"] == "local")


_lock = threading.Lock()
_loading = threading.Lock()
_providers: dict[tuple[tuple[str, str], ...], Provider] = {}
_queries: OrderedDict[tuple[str, str], QueryReading] = OrderedDict()


def _provider(model: str | None = None) -> Provider:
    """Return the provider of a model, loaded once per process."""
    options = _options(model)
    key = tuple(sorted((name, repr(value)) for name, value in options.items()))
    if (provider := _providers.get(key)) is not None:
        return provider
    with _loading:
        if key not in _providers:
            _providers[key] = _load(options)
        return _providers[key]


def _options(model: str | None) -> dict[str, Any]:
    """Return the options of a model: configured, local, or at the configured endpoint."""
    configured: dict[str, Any] = settings.ENGRAM_EMBEDDING
    if model is None or model == name_of(configured):
        return configured
    if model in minilm.GRAPHS:
        return {"provider": "local", "model": model, "threads": configured.get("threads")}
    name, _, shortened = model.rpartition("@")
    if name and shortened.isascii() and shortened.isdigit():
        return configured | {"provider": "openai", "model": name, "dimensions": int(shortened)}
    return configured | {"provider": "openai", "model": model, "dimensions": None}


def _load(options: dict[str, Any]) -> Provider:
    kind = options["provider"]
    if kind == "local":
        return LocalProvider(options["model"], options.get("threads") or 1)
    if kind == "openai":
        return OpenAIProvider(options)
    raise EmbeddingUnavailableError(f"EMBEDDING_PROVIDER must be local or openai, not {kind!r}")


def _unit(vectors: Floats, n_texts: int, provider: Provider) -> Floats:
    """Scale rows to length one; raise if a row is zero or not finite."""
    if vectors.shape[0] != n_texts:
        raise EmbeddingUnavailableError(
            f"{provider.name} made {vectors.shape[0]} vectors of {n_texts} texts"
        )
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    is_bad = ~np.isfinite(lengths) | (lengths < 1e-12)
    if is_bad.any():
        logger.error("embedding.rejected model=%s rows=%d", provider.name, int(is_bad.sum()))
        raise EmbeddingUnavailableError(f"{provider.name} answered a vector that is NaN or zero")
    unit: Floats = (vectors / lengths).astype(np.float32)
    return unit
