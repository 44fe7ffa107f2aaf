"""Score how much a pair of memories is worth a question to its writer, and say why it is asked.

The score is the logarithm of the odds that a careful writer would call the two a contradiction, by
the estimated relation of the pair (`memories/core/likelihood.py`), the rarity of the words that
both say, and the size of the workspace: the more memories, the more are near by chance. Few
neighbours of a statement are estimated: those with the highest `nearness`. Age has no part in
either: contradictions are as likely within a day as within a year. `benchmarks/asking.py` fits the
weights, and the threshold at which 0.25 questions a commit are asked in labelled stories;
`benchmarks/results/asking.json` has each story file with the weights of the others.

In a workspace of many statements on the same matters far more pairs than that reach the threshold,
and fewer of them contradict each other. So it rises with what a writer was asked lately.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Final

from memories.core.likelihood import Likelihood
from memories.core.text import tokens

INTERCEPT: Final = -1.48
OF_RARITY: Final = 0.33
OF_SIZE: Final = -0.23  # per power of ten memories
OF_LOG: Final = Likelihood(
    contradicts=1.14, same=0.23, refines=-0.27, different=-0.68, updates=0.31
)
FLOOR: Final = 0.01  # added to each probability before its logarithm
WORTH_ASKING: Final = -2.87
RATE: Final = 0.40  # questions a memory up to which the threshold is `WORTH_ASKING`
LATELY: Final = 200  # memories of a writer whose questions are counted; fewer count as so many
RESTRAINT: Final = 4.0  # by how much the threshold rises where e times as many are asked
RARE: Final = 0.08  # in `nearness`, where the cosine has weight 1
LEAST_RARITY: Final = 0.5
MOST_RARITY: Final = 8.0  # in `score`: notes of one template share many words
NAMED_MAX = 3  # shared words that the reason names
RARE_WORD: Final = 0.5  # rarity from which the reason calls a word rare
WORD_CHARS: Final = 64
# A workspace counts as this much larger than it is, so that no word of a small one is common.
PRIOR_MEMORIES: Final = 16.0
_WORD: Final = re.compile(r"\w+")


@lru_cache(maxsize=2048)
def words_of(text: str) -> frozenset[str]:
    """Return the terms of a text without numbers: two statements share those by chance."""
    return frozenset(term for term in tokens(text) if any(map(str.isalpha, term)))


def nearness(cosine: float, rare: float) -> float:
    """Return how near two statements are; `rare` is the summed rarity of the shared words.

    Statements of one pattern ("depot 12 keeps 36 crates") share words that many memories have:
    where they are common together, a pair is never asked about.
    """
    return cosine + RARE * rare if rare >= LEAST_RARITY else -math.inf


def score(chances: Likelihood, rare: float, memories: int) -> float:
    """Return the log-odds of a contradiction.

    `rare` is the summed rarity of the shared words, `memories` how many others the workspace has.
    """
    terms = (w * math.log(p + FLOOR) for w, p in zip(OF_LOG, chances, strict=True))
    of_words = OF_RARITY * min(rare, MOST_RARITY)
    return INTERCEPT + of_words + OF_SIZE * log_size(memories) + math.fsum(terms)


def threshold(lately: float) -> float:
    """Return the least score that is asked about, from `WORTH_ASKING` up.

    `lately` is how many questions a memory its writer was asked lately (0 and more).
    """
    return WORTH_ASKING + RESTRAINT * math.log(max(lately / RATE, 1.0))


def log_size(memories: int) -> float:
    """Return the decimal logarithm of a number of memories, 0 for none."""
    return math.log10(max(memories, 1))


def rarities(
    shared: Collection[str], frequencies: Mapping[str, int], memories: int
) -> dict[str, float]:
    """Return the rarity of each shared word, from about 0 (common) to 1 (rare).

    Inverse document frequency; `frequencies` do not count the new statement, so one is added.
    """
    total = memories + 1 + PRIOR_MEMORIES
    most = math.log(total / 2)
    return {w: math.log(total / max(frequencies.get(w, 0) + 1, 2)) / most for w in shared}


def explain(text: str, rare: Mapping[str, float], cosine: float) -> str:
    """Return in a sentence why a pair is asked about: the rarest shared words, and the nearness.

    `text` is the new statement, from which the words are quoted as they are written there.
    """
    named = _written(text, rare)[:NAMED_MAX]
    quoted = [f"\u201c{written}\u201d" for _, written in named]
    is_rare = all(rare[word] >= RARE_WORD for word, _ in named)
    near = f"close in meaning (cosine {cosine:.2f}), and no rule can tell how they relate."
    if not quoted:
        return f"The two are {near}"
    words = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    seldom = ", which few memories here say" if is_rare else ""
    return f"Both say {words}{seldom}; they are {near}"


def _written(text: str, rare: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return the terms with the first word of the text that each comes from, the rarest first."""
    first: dict[str, str] = {}
    for match in _WORD.finditer(text):
        for term in tokens(match[0]):
            first.setdefault(term, match[0][:WORD_CHARS])
    found = {first[term]: term for term in first if term in rare}
    return sorted(
        ((term, word) for word, term in found.items()), key=lambda row: -rare[row[0]]
    )  # stable: in the order of the text
