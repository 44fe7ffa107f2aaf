"""The local model against vectors that torch made in double precision."""

import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.kernel.minilm import (
    DIMENSION,
    GRAPHS,
    MAX_TOKENS,
    MOST_THREADS,
    NAME,
    PROCESSORS,
    QUANTISED_NAME,
    MiniLM,
    model_directory,
)
from tests.kernel.minilm_graph import build

pytestmark = pytest.mark.usefixtures("every_pass_runs")

# minilm_reference.npy: (26, 384) float32, BertModel of transformers 5.23 on torch 2.13, eager
# attention, float64, one text at a time, truncated to 256 tokens, mean of the last hidden states,
# scaled to length one, in the order of these texts.
REFERENCE_TEXTS = [
    "",
    " ",
    "a",
    "The primary database runs in us-east-1.",
    "Release tags are created on the main branch.",
    "Gateway upstream timeout in production is 30 s for every route.",
    "\U0001f680\U0001f525 deploy went out \U0001f389",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd, \u05de\u05d4 "
    "\u05e9\u05dc\u05d5\u05de\u05da \u05d4\u05d9\u05d5\u05dd?",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645",
    "\u6771\u4eac\u306e\u5929\u6c17\u306f\u6674\u308c\u3067\u3059\u3002",
    "na\u00efve caf\u00e9 \u2014 r\u00e9sum\u00e9 \u00c5ngstr\u00f6m \u1e9e stra\u00dfe",
    "nul \x00 in \x00 the middle",
    "tabs\tand\nnew\r\nlines\u2028and\u00a0spaces",
    "def score(query, k1=1.2, b=0.75):\n    return {t: idf(t) * tf(t) for t in query}",
    "SELECT id FROM memory WHERE workspace_id = %s ORDER BY embedding <=> %s LIMIT 10;",
    "https://example.org/a/b?c=d&e=f#g and 10.0.0.17:5432 or /etc/postgresql/14/main.conf",
    "3.14159 1,000,000 42% $9.99 2025-03-17T12:00:00Z v1.2.3-rc.4",
    "!!! ??? ... --- ((( [[wiki-link]] {{mustache}} <b>html</b>",
    "x" * 150,
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "NO NEVER NOT none nothing nobody didn't won't can't",
    "word " * 300,
    " ".join(
        f"sentence {i} says that service s{i % 7} listens on port {8000 + i}." for i in range(60)
    ),
    "\u200b\u200d zero width \ufeff bom \u0301 combining",
    "[CLS] [SEP] [MASK] [UNK] special tokens in text",
    "I went to a support group yesterday and it was so powerful. "
    "[shares image: a photo of a group of people]",
]
REFERENCE = np.load(Path(__file__).parent / "minilm_reference.npy")


@pytest.fixture(scope="module")
def model():
    return MiniLM()


@pytest.fixture(scope="module")
def quantised():
    return MiniLM(name=QUANTISED_NAME)


def memory_kilobytes(kind):
    """Return the memory of this process of a kind that `/proc/self/smaps_rollup` names."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))


def cosines(a, b):
    return np.einsum("nd,nd->n", a.astype(np.float64), b.astype(np.float64))


def test_embed_agrees_with_torch_in_one_batch(model):
    vectors = model.embed(REFERENCE_TEXTS)

    assert vectors.dtype == np.float32
    assert vectors.shape == (26, DIMENSION)
    assert cosines(vectors, REFERENCE).min() > 0.999999
    assert np.abs(vectors - REFERENCE).max() < 1e-5


def test_embed_agrees_with_torch_one_by_one(model):
    vectors = np.concatenate([model.embed([text]) for text in REFERENCE_TEXTS])

    assert cosines(vectors, REFERENCE).min() > 0.999999


def test_embed_keeps_the_order_of_texts_of_mixed_length(model):
    texts = ["short", "a much longer text " * 20, "middling length of text here", "short"]

    vectors = model.embed(texts)

    alone = np.concatenate([model.embed([text]) for text in texts])
    assert np.abs(vectors - alone).max() < 1e-5


def token_count(model, text):
    """Return how many tokens a text has for the model, [CLS] and [SEP] included."""
    return len(model._encode(text).ids) + 2


def test_embed_of_nothing_has_no_rows(model):
    assert model.embed([]).shape == (0, DIMENSION)


def test_embed_reads_no_more_than_256_tokens(model):
    text = "word " * 254
    assert token_count(model, text) == MAX_TOKENS

    assert np.array_equal(model.embed([text]), model.embed([text + "tail that is not read"]))


def test_embed_replaces_lone_surrogates(model):
    assert np.array_equal(model.embed(["a \ud800 b"]), model.embed(["a ? b"]))


@pytest.mark.parametrize("name", [NAME, QUANTISED_NAME])
def test_graph_is_what_its_script_writes(name):
    weights = model_directory() / "model.safetensors"

    assert build(weights, is_quantised=name == QUANTISED_NAME) == GRAPHS[name].read_bytes()


def test_quantised_vectors_are_near_those_of_torch(quantised):
    vectors = quantised.embed(REFERENCE_TEXTS)

    similar = cosines(vectors, REFERENCE)
    assert similar.min() > 0.96
    assert similar.mean() > 0.985
    assert np.abs(vectors - REFERENCE).max() > 0.001  # the other model


def test_quantised_vector_does_not_depend_on_other_texts(quantised):
    alone = np.concatenate([quantised.embed([text]) for text in REFERENCE_TEXTS])

    assert np.array_equal(quantised.embed(REFERENCE_TEXTS), alone)
    assert quantised._passes._shared_tokens == 0


def test_vectors_do_not_depend_on_threads(model, quantised):
    for one in (model, quantised):
        name = QUANTISED_NAME if one is quantised else NAME
        single, double = (MiniLM(name=name, threads=n).embed(REFERENCE_TEXTS) for n in (1, 2))
        assert np.array_equal(single, double)


def test_passes_at_a_time_leave_no_processor_twice(model):
    several = MiniLM(threads=MOST_THREADS)

    assert model._passes._free_slots == PROCESSORS
    assert several._passes._free_slots == max(1, PROCESSORS // MOST_THREADS)


def test_links_to_the_weights_are_followed(model, tmp_path):
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).symlink_to(model_directory() / name)

    assert np.array_equal(MiniLM(tmp_path).embed(["text"]), model.embed(["text"]))


def test_other_weights_are_refused(tmp_path):
    shutil.copy(model_directory() / "tokenizer.json", tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"other")

    with pytest.raises(ValueError, match="is not the file that"):
        MiniLM(tmp_path)


def test_tables_of_words_are_not_copied(model):
    """The map of the weights is the only place of the 47 MB that belong to words."""
    model.embed(["warm"])
    in_memory = memory_kilobytes("Anonymous")
    other = MiniLM()
    other.embed(["warm"])

    assert memory_kilobytes("Anonymous") - in_memory < 60_000


def test_windows_of_a_short_text_are_the_text_itself(model):
    assert model.windows("  one line \n") == ["  one line \n"]
    assert model.windows("") == [""]


def test_windows_of_a_long_text_overlap_and_lose_nothing(model):
    words = [f"token{i}" for i in range(400)]
    text = " ".join(words)

    windows = model.windows(text)

    assert len(windows) > 1
    assert max(token_count(model, window) for window in windows) <= MAX_TOKENS
    for before, after in pairwise(windows):
        shared = [word for word in before.split() if word in set(after.split())]
        assert 10 <= len(shared) <= 64
    seen = dict.fromkeys(word for window in windows for word in window.split())
    assert list(seen) == words


@given(st.lists(st.text(max_size=40), max_size=120).map(" ".join))
def test_windows_cover_every_text_in_order(model, text):
    spans = model.window_spans(text)

    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    assert max(token_count(model, text[start:end]) for start, end in spans) <= MAX_TOKENS
    for (_, end), (start, _) in pairwise(spans):
        # Only characters that make no token may lie between two windows.
        assert start <= end or token_count(model, text[end:start]) == 2
