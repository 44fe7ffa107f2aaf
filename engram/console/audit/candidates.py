"""Choose the statements that are compared, and pairs that may be about one thing; pure.

Documents state much that only their context explains: headings, lists, tables. To compare all pairs
would report differences between two parameters as contradictions, and take hours. So only whole
sentences are compared, and of these only pairs that share most of their words.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engram.console.audit.documents import Statement
from memories.core.spelling import letters
from memories.core.topic_words import stems

LEAST_WORDS: Final = 4
MOST_CHARS: Final = 300  # of a compared statement
LEAST_SHARE: Final = 0.5  # of the weight of a statement's words that the other one has, too
LEAST_COMMON: Final = 2  # words
PARTNERS: Final = 30  # pairs of one statement, those with the most common words
_COMMON_STATEMENTS: Final = 30  # a word of more statements, or of a larger share, finds no pairs
_COMMON_SHARE: Final = 0.02
_PRIOR: Final = 16  # statements without a word that are added to its frequency
# Files that record what held at some time, or that projects take over from others.
_RECORDS: Final = re.compile(
    r"(?:^|[-_.])(?:change[-_]?logs?|changes|history|news|releases?|release[-_]?notes|licen[cs]e|"
    r"copying|notice|third[-_]?party\w*|upgrad\w+|migrat\w+|code[-_]of[-_]conduct|contributors|"
    r"authors|(?:issue|pull[-_]request)[-_]template)(?:$|[-_.])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Group:
    """Statements in the same words, in the order of files and lines."""

    key: str
    statements: tuple[Statement, ...]

    @property
    def text(self) -> str:
        """Return the words of the first."""
        return self.statements[0].text


def is_record(path: str) -> bool:
    """Return whether a file, or its folder, is a changelog, a licence or the like."""
    folder, _, name = path.rpartition("/")
    names = (name.rpartition(".")[0] or name, folder.rpartition("/")[2])
    return any(_RECORDS.search(one) is not None for one in names)


def is_compared(statement: Statement) -> bool:
    """Return whether a statement says enough by itself to be compared with others."""
    text = statement.text
    return (
        len(text) <= MOST_CHARS
        and len(text.split()) >= LEAST_WORDS
        and not text.startswith(("Copyright", "(c)", "©"))
        and not text.endswith((":", "?", "…", "..."))
        and not (statement.kind == "row" and statement.cells != 2)
    )


def group_statements(statements: Iterable[Statement]) -> list[Group]:
    """Group statements in the same words, in the order of their first place."""
    groups: dict[str, list[Statement]] = defaultdict(list)
    for statement in statements:
        groups[letters(statement.text)].append(statement)
    return [Group(key, tuple(members)) for key, members in groups.items()]


def near_pairs(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of positions (i < j) of texts that share most of their words, ascending.

    Rare words count more (inverse document frequency). The cost grows with the rare words that
    texts share, not with all pairs.
    """
    words = [frozenset(stems(text)) for text in texts]
    counts = Counter(word for found in words for word in found)
    weights = {
        word: math.log((len(texts) + _PRIOR) / max(count, 2)) for word, count in counts.items()
    }
    most = max(_COMMON_STATEMENTS, int(_COMMON_SHARE * len(texts)))
    places: dict[str, list[int]] = defaultdict(list)
    totals = [sum(weights[word] for word in sorted(found)) for found in words]
    pairs: list[tuple[int, int]] = []
    for j, found in enumerate(words):
        shared: dict[int, float] = defaultdict(float)
        for word in sorted(found):
            if 1 < counts[word] <= most:
                for i in places[word]:
                    shared[i] += weights[word]
                places[word].append(j)
        for i in sorted(shared, key=lambda i: (-shared[i], i))[:PARTNERS]:
            common = words[i] & found
            weight = sum(weights[word] for word in sorted(common))
            if len(common) >= LEAST_COMMON and weight >= LEAST_SHARE * (totals[i] + totals[j]) / 2:
                pairs.append((i, j))
    return sorted(pairs)
