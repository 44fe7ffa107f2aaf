"""Stems of words, from several threads at once."""

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
import snowballstemmer

from memories.core.tokeniser import _stem, stem

STARTS = ["nation", "relat", "conclus", "operat", "vari", "comput", "gener", "sens", "format"]
ENDS = ["s", "al", "ally", "ative", "ization", "izations", "fulness", "ousli", "ement", "ingly"]
WORDS = [a + b + c for a, b, c in product(STARTS, ENDS, ["", "ness", "able"])]


@pytest.fixture
def hurried_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried_threads")
def test_threads_that_stem_at_the_same_time_get_the_stems_of_their_own_words():
    expected = snowballstemmer.stemmer("english").stemWords(WORDS)
    with ThreadPoolExecutor(4) as threads:
        for _ in range(5):
            _stem.cache_clear()
            # Each thread begins at another word, so that all of them compute.
            parts = [WORDS[n::4] + WORDS[:n] for n in range(4)]
            found = threads.map(lambda words: {word: stem(word) for word in words}, parts)
            stems = {word: one for part in found for word, one in part.items()}
            assert [stems[word] for word in WORDS] == expected
