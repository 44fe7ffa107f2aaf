"""Texts to unit vectors through whichever provider the settings name."""

import threading

import numpy as np
import pytest

from engram.kernel import embedding, minilm
from engram.kernel.embedding import (
    EmbeddingUnavailableError,
    UnknownTextError,
    begin_reading,
    embed,
    embed_query,
    embed_windows,
    model_name,
    read_query,
    windows,
)
from tests.homes import PATIENCE_SECONDS
from tests.model_server import Answer, ModelServer

LOCAL = {"provider": "local", "model": "all-MiniLM-L6-v2"}


@pytest.fixture
def local(settings):
    settings.ENGRAM_EMBEDDING = LOCAL


@pytest.fixture
def server(settings):
    with ModelServer() as server:
        settings.ENGRAM_EMBEDDING = {
            "provider": "openai",
            "model": "tiny",
            "base_url": server.base_url,
            "api_key": "sk-test-secret",
            "timeout_seconds": PATIENCE_SECONDS,
        }
        yield server


def one_hot(texts):
    return [[3.0 if i == len(text) % 4 else 0.0 for i in range(4)] for text in texts]


def test_local_vectors_have_length_one(local):
    vectors = embed(["one", "two words", ""])

    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-6
    assert model_name() == "all-MiniLM-L6-v2"


def test_local_similar_texts_are_nearer_than_others(local):
    near, far, query = embed(["The cat sleeps.", "Postgres 14 is the database.", "A cat naps."])

    assert query @ near > 0.6
    assert query @ far < 0.2


def test_embedding_nothing_gives_nothing(local):
    assert embed([]).shape == (0, 384)
    assert embed_windows([]) == []


def test_embed_windows_reads_the_end_of_a_long_text(local):
    filler = "The meeting about gardens went on and nobody said anything new. " * 40
    short, long = embed_windows(["one", filler + "The vault code word is heliotrope."])

    assert short.shape == (1, 384)
    assert len(long) == len(windows(filler + "The vault code word is heliotrope.")) > 1
    question = embed_query("What is the code word of the vault?")
    assert (long @ question).argmax() == len(long) - 1


def test_embed_query_remembers_and_cannot_be_changed(local):
    first = embed_query("the same question")

    assert embed_query("the same question") is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1


def test_a_query_can_be_embedded_ahead(server):
    server.answer_embeddings(one_hot)
    pending = begin_reading("asked ahead")
    first = pending.result()

    assert pending.result() is first
    assert read_query("asked ahead") is begin_reading("asked ahead").result() is first
    assert [r.body["input"] for r in server.requests] == [["asked ahead"]]


def test_a_query_embedded_ahead_fails_where_it_is_wanted(settings, local):
    with pytest.raises(UnknownTextError):
        begin_reading("\ufffd").result()
    with ModelServer() as server:
        address = server.base_url
    settings.ENGRAM_EMBEDDING = {"provider": "openai", "model": "gone", "base_url": address}
    pending = begin_reading("asked in vain")

    with pytest.raises(EmbeddingUnavailableError, match="gone did not answer"):
        pending.result()


def test_a_query_is_not_embedded_ahead_where_no_thread_can_start(server, monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(embedding.threading.Thread, "start", refuse)
    pending = begin_reading("asked without a thread")

    with pytest.raises(EmbeddingUnavailableError, match="can't start new thread"):
        pending.result()


def test_query_cache_forgets_the_oldest(server, monkeypatch):
    monkeypatch.setattr(embedding, "QUERY_CACHE_SIZE", 2)
    server.answer_embeddings(one_hot)
    for text in ["forgotten a", "b", "c", "forgotten a"]:
        embed_query(text)

    assert [r.body["input"] for r in server.requests] == [
        ["forgotten a"],
        ["b"],
        ["c"],
        ["forgotten a"],
    ]


def test_threads_load_one_provider(settings):
    settings.ENGRAM_EMBEDDING = LOCAL | {"timeout_seconds": 77.0}  # not loaded by another test
    seen = []
    start = threading.Barrier(8)

    def load():
        start.wait()
        seen.append(embedding._provider())

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 8
    assert len({id(provider) for provider in seen}) == 1


def test_openai_vectors_are_scaled_and_the_protocol_is_kept(server):
    server.answer_embeddings(one_hot)

    vectors = embed(["a", "bb", ""])

    assert vectors.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]]
    assert server.requests[0].path == "/v1/embeddings"
    assert server.requests[0].headers["authorization"] == "Bearer sk-test-secret"
    assert server.requests[0].body == {
        "input": ["a", "bb", " "],
        "model": "tiny",
        "encoding_format": "float",
    }
    assert model_name() == "tiny"


def test_openai_dimensions_are_sent_and_named(server, settings):
    server.answer_embeddings(one_hot)
    settings.ENGRAM_EMBEDDING = settings.ENGRAM_EMBEDDING | {"dimensions": 4}

    embed(["a"])

    assert server.requests[0].body["dimensions"] == 4
    assert model_name() == "tiny@4"


def test_openai_large_batches_are_split_and_keep_their_order(server):
    server.answer_embeddings(one_hot)
    texts = ["x" * (i % 9) for i in range(300)]

    vectors = embed(texts)

    assert [len(r.body["input"]) for r in server.requests] == [128, 128, 44]
    assert vectors.argmax(axis=1).tolist() == [len(text or " ") % 4 for text in texts]


def test_openai_answers_out_of_order_are_sorted(server):
    rows = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    server.answer("/embeddings", lambda request: Answer({"data": rows, "object": "list"}))

    assert embed(["a", "b"]).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([0.0, 0.0], "tiny answered a vector that is NaN or zero"),
        ([float("nan"), 1.0], "tiny answered a vector that is NaN or zero"),
        ([1e300, 1.0], "tiny answered a vector that is NaN or zero"),
        ([], "tiny answered vectors of 0 dimensions instead of 0"),
        (["one", "two"], "tiny answered no numbers"),
        ([None, 1.0], "tiny answered a vector that is NaN or zero"),
    ],
)
def test_openai_vectors_without_direction_are_refused(server, vector, message):
    server.answer_embeddings(lambda texts: [vector])

    with pytest.raises(EmbeddingUnavailableError) as refused:
        embed(["a"])

    assert str(refused.value) == message


def test_openai_change_of_dimension_is_refused(server):
    server.answer_embeddings(lambda texts: [[1.0] * len(texts[0])])
    embed(["four"])

    with pytest.raises(EmbeddingUnavailableError) as refused:
        embed(["fives"])

    assert str(refused.value) == "tiny answered vectors of 5 dimensions instead of 4"


def test_openai_vectors_of_mixed_width_are_refused(server):
    server.answer_embeddings(lambda texts: [[1.0], [1.0, 2.0]])

    with pytest.raises(EmbeddingUnavailableError, match="tiny answered no numbers"):
        embed(["a", "b"])


def test_openai_missing_vectors_are_refused(server):
    server.answer_embeddings(lambda texts: [[1.0, 0.0]])

    with pytest.raises(EmbeddingUnavailableError) as refused:
        embed(["a", "b"])

    assert str(refused.value) == "tiny answered 1 vectors for 2 texts"


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"error": {"message": "bad key sk-test-secret"}}, 401),
        Answer("not json", 200),
        Answer({"unexpected": True}, 200),
        Answer({"error": "overloaded"}, 500, {"Retry-After": "0"}),
    ],
)
def test_openai_failures_are_one_error_without_the_key(server, answer):
    server.answer("/embeddings", lambda request: answer)

    with pytest.raises(EmbeddingUnavailableError) as refused:
        embed(["a"])

    assert "sk-test-secret" not in str(refused.value)


def test_openai_retries_once_after_a_server_error(server):
    answers = [Answer({}, 503, {"Retry-After": "0"})]

    def respond(request):
        rows = [{"index": 0, "embedding": [1.0, 0.0]}]
        return answers.pop() if answers else Answer({"data": rows, "object": "list"})

    server.answer("/embeddings", respond)

    assert embed(["a"]).tolist() == [[1, 0]]
    assert len(server.requests) == 2


def test_openai_unreachable_is_unavailable(settings):
    with ModelServer() as server:
        address = server.base_url
    settings.ENGRAM_EMBEDDING = {"provider": "openai", "model": "gone", "base_url": address}

    with pytest.raises(EmbeddingUnavailableError, match="gone did not answer: APIConnectionError"):
        embed(["a"])


def test_openai_long_texts_are_cut_at_white_space_with_overlap(server):
    text = "word " * 2_500

    pieces = windows(text)

    assert [len(piece) for piece in pieces] == [5999, 5995, 1306]
    assert pieces[0] + pieces[1][400:] + pieces[2][400:] == text


def test_openai_text_without_white_space_is_cut_all_the_same(server):
    assert [len(piece) for piece in windows("x" * 10_000)] == [6000, 4400]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"provider": "abacus", "model": "m"}, "must be local or openai, not 'abacus'"),
        ({"provider": "local", "model": "other"}, "and all-MiniLM-L6-v2-int8, not 'other'"),
    ],
)
def test_unknown_providers_and_models_are_named(settings, options, message):
    settings.ENGRAM_EMBEDDING = options

    with pytest.raises(EmbeddingUnavailableError, match=message):
        embed(["a"])


@pytest.mark.parametrize(
    ("configured", "expected"), [(None, minilm.MOST_THREADS), (3, 3)], ids=["none", "three"]
)
def test_commands_embed_by_several_threads_unless_configured(settings, configured, expected):
    settings.ENGRAM_EMBEDDING = LOCAL | {"threads": configured}

    embedding.use_processors()

    assert settings.ENGRAM_EMBEDDING["threads"] == expected


def test_threads_are_those_of_the_settings(settings):
    settings.ENGRAM_EMBEDDING = LOCAL | {"threads": 1, "timeout_seconds": 76.0}

    assert embedding._provider()._model._passes._free_slots == minilm.PROCESSORS


def test_quantised_model_is_local(settings):
    settings.ENGRAM_EMBEDDING = LOCAL | {"threads": 1}
    name = minilm.QUANTISED_NAME

    assert embedding.has_token_states(name)
    vector = embedding.embed_query("the deploy key expires in June", name)
    other = embedding.embed_query("the deploy key expires in June")
    assert 0.96 < float(vector @ other) < 0.9999
