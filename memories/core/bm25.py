"""Score documents by Okapi BM25 with Lucene's inverse document frequency.

For a query with the distinct terms q and a document d of length |d| (all its index terms):

    idf(t)  = ln(1 + (N - n_t + 0.5) / (n_t + 0.5))
    bm25(d) = Σ_t idf(t) · f·(k1 + 1) / (f + k1·(1 - b + b·|d| / average length))

N documents, n_t of them with t, f the frequency of t in d. Robertson & Zaragoza 2009, with the idf
of Lucene, which is never negative. `share` normalises it by the query: bm25 / Σ idf, cut at 1.
A document of average length that has each term of the query once has share 1, whatever else the
corpus has, so scores of different queries can be compared, and combined with a cosine.

`K1` and `B` were chosen on LoCoMo (memories of one to three sentences, 760 questions): recall@10
/ nDCG@10 .637 / .510 at k1 0.6-0.9 and b 0.3, .624 / .486 at the customary 1.2 and 0.75.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np

K1 = 0.9
B = 0.4

Document = TypeVar("Document", bound=Hashable)


def idf(document_frequency: int, n_documents: int) -> float:
    """Return the weight of a term in ``document_frequency`` of ``n_documents``, above 0."""
    n_documents = max(n_documents, 0)  # counts may lag behind a deletion
    n_with_term = min(max(document_frequency, 0), n_documents)
    return math.log(1 + (n_documents - n_with_term + 0.5) / (n_with_term + 0.5))


def score(
    query_terms: Collection[str],
    postings: Iterable[tuple[str, Document, int]],
    *,
    document_frequencies: Mapping[str, int],
    document_lengths: Mapping[Document, int],
    n_documents: int,
    average_length: float,
    k1: float = K1,
    b: float = B,
) -> dict[Document, float]:
    """Return the BM25 score of each document with a term of the query.

    Parameters
    ----------
    query_terms : terms of the query; each counts once.
    postings : (term, document, frequency ≥ 1) rows; rows of other terms are ignored.
    document_frequencies : the number of documents with each term; 0 for a missing term.
    document_lengths : number of index terms of each document in ``postings``.
    n_documents, average_length : of the whole corpus that is searched.

    Returns
    -------
    dict from document to a score above 0; documents without a term of the query are missing.
    """
    weights = {t: idf(document_frequencies.get(t, 0), n_documents) for t in set(query_terms)}
    rows = [(document, f, weights[t]) for t, document, f in postings if t in weights]
    if not rows:
        return {}
    positions: dict[Document, int] = {}
    index = np.array([positions.setdefault(row[0], len(positions)) for row in rows])
    frequency = np.array([row[1] for row in rows], dtype=np.float64)
    weight = np.array([row[2] for row in rows])
    length = np.array([document_lengths[document] for document in positions], dtype=np.float64)
    norm = k1 * (1 - b + b * length / max(average_length, 1.0))
    gains = weight * frequency * (k1 + 1) / (frequency + norm[index])
    totals = np.bincount(index, weights=gains, minlength=len(positions))
    return dict(zip(positions, totals.tolist(), strict=True))


def share(
    scores: Mapping[Document, float],
    query_terms: Collection[str],
    document_frequencies: Mapping[str, int],
    n_documents: int,
) -> dict[Document, float]:
    """Return BM25 scores divided by the query's Σ idf, cut at 1; in [0, 1]."""
    largest = largest_score(query_terms, document_frequencies, n_documents)
    return {document: min(1.0, value / largest) for document, value in scores.items()}


def largest_score(
    query_terms: Collection[str], document_frequencies: Mapping[str, int], n_documents: int
) -> float:
    """Return the query's Σ idf, the score whose share is 1."""
    # Sorted, because the sum of floats depends on the order and that of a set changes.
    return math.fsum(
        idf(document_frequencies.get(t, 0), n_documents) for t in sorted(set(query_terms))
    )
