"""BM25 against a plain reading of the formula."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core import bm25
from memories.core.text import terms

CORPUS = {
    "a": "postgres runs in us-east",
    "b": "postgres postgres and redis run in production",
    "c": "redis holds the queue",
    "d": "nothing of the kind",
}


def indexed(corpus):
    counts = {name: terms(text) for name, text in corpus.items()}
    frequencies = {}
    for count in counts.values():
        for term in count:
            frequencies[term] = frequencies.get(term, 0) + 1
    lengths = {name: count.total() for name, count in counts.items()}
    return {
        "postings": [(t, name, f) for name, count in counts.items() for t, f in count.items()],
        "document_frequencies": frequencies,
        "document_lengths": lengths,
        "n_documents": len(corpus),
        "average_length": sum(lengths.values()) / len(lengths),
    }


def by_hand(query, corpus, k1, b):
    counts = {name: terms(text) for name, text in corpus.items()}
    n = len(counts)
    average = sum(count.total() for count in counts.values()) / n
    scores = {}
    for name, count in counts.items():
        total = 0.0
        for term in set(query):
            holding = sum(1 for other in counts.values() if term in other)
            idf = math.log(1 + (n - holding + 0.5) / (holding + 0.5))
            f = count[term]
            if f == 0:
                continue
            total += idf * f * (k1 + 1) / (f + k1 * (1 - b + b * count.total() / average))
        if total > 0:
            scores[name] = total
    return scores


@pytest.mark.parametrize(("k1", "b"), [(bm25.K1, bm25.B), (1.2, 0.75), (0.0, 0.0)])
def test_score_is_the_formula(k1, b):
    query = ["postgr", "redi", "unknown"]

    scores = bm25.score(query, **indexed(CORPUS), k1=k1, b=b)

    assert scores == pytest.approx(by_hand(query, CORPUS, k1, b))
    assert set(scores) == {"a", "b", "c"}


def test_repeated_query_terms_count_once():
    index = indexed(CORPUS)

    assert bm25.score(["redi", "redi"], **index) == bm25.score(["redi"], **index)


def test_nothing_to_find_is_an_empty_answer():
    index = indexed(CORPUS)

    assert bm25.score([], **index) == {}
    assert bm25.score(["unknown"], **index) == {}


def test_idf_survives_counts_that_lag_behind():
    assert bm25.idf(7, 5) == bm25.idf(5, 5) > 0
    assert bm25.idf(-1, 5) == bm25.idf(0, 5)
    assert bm25.idf(0, -1) == bm25.idf(3, 0) > 0


def test_share_is_one_when_an_average_document_holds_every_term_once():
    corpus = {"a": "alpha beta", "b": "gamma delta"}
    index = indexed(corpus)
    query = ["alpha", "beta"]

    scores = bm25.score(query, **index)

    assert bm25.share(scores, query, index["document_frequencies"], 2) == {"a": 1.0}


def test_share_counts_terms_that_stand_nowhere():
    index = indexed({"a": "alpha beta", "b": "gamma delta"})
    query = ["alpha", "beta", "unknown"]

    shares = bm25.share(bm25.score(query, **index), query, index["document_frequencies"], 2)

    known, unknown = bm25.idf(1, 2), bm25.idf(0, 2)
    assert shares == {"a": pytest.approx(2 * known / (2 * known + unknown))}


words = st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon"])
corpora = st.lists(st.lists(words, min_size=1, max_size=8), min_size=1, max_size=6)


@given(corpora, st.sets(words, min_size=1))
def test_shares_keep_the_order_and_stay_in_range(documents, query):
    index = indexed({i: " ".join(document) for i, document in enumerate(documents)})
    query = [term for word in query for term in terms(word)]

    scores = bm25.score(query, **index)
    shares = bm25.share(scores, query, index["document_frequencies"], index["n_documents"])

    assert all(0 < share <= 1 for share in shares.values())
    ordered = sorted(scores, key=scores.__getitem__)
    assert [shares[i] for i in ordered] == sorted(shares.values())


@given(corpora, words)
def test_one_more_occurrence_never_lowers_a_document_of_equal_length(documents, word):
    term = next(iter(terms(word)))
    rows = {"document_frequencies": {term: 1}, "n_documents": 9, "average_length": 5.0}
    scores = [
        bm25.score([term], [(term, "d", f)], document_lengths={"d": 9}, **rows)["d"]
        for f in range(1, len(documents) + 2)
    ]

    assert scores == sorted(scores)
