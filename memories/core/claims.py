"""Claim comparison: what a text states, and how two texts stand to each other.

The one place that decides by rule whether two memories say the same: the gate at commit, the
drift check and the detective all ask here. `read` takes a text apart once, `compare` sets two
readings side by side. The parts live in sibling modules: `spelling` and `symbols` (characters,
units), `tokeniser`, `clauses` (verbs), `numerals`, `quantities`, `dates` and `values` (numbers,
dates, versions), `terms` (words with their place), `transitions`, `modality`, `function_words`,
`calendar_words`, `number_words` and `vocabulary` (words by kind), `lexicon`, `meanings` and `kinds`
(meaning), `alignment` and `cases` (two claims side by side), `contradictions`, `agreements` and
`relations` (the rules), `exclusions` (phrases that exclude each other, for texts of other wording).

Words in `Claim.words`, `Claim.subject` and `Transition` are concepts: stemmed, and synonyms
folded onto one key ("erased" and "deleted" are both "delet").
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

from memories.core.cases import Contradiction
from memories.core.claim_types import Claim, Modality, Reading, Term, Transition
from memories.core.details import contrasts
from memories.core.measures import Quantity
from memories.core.reading import read, read_cached, why_too_long
from memories.core.relations import CaseReading, Relation, relate
from memories.core.spelling import same_letters
from memories.core.word_order import difference_of_texts

__all__ = ["Claim", "Comparison", "Contradiction", "Modality", "Quantity", "Reading",
           "Relation", "Term", "Transition", "compare", "missing", "read", "relate",
           "why_too_long"]  # fmt: skip

_CANDIDATES = 3  # claims of the other text that one claim is compared with
# Words of one text beside words of the other, over the claims that are set side by side. Two
# memories of 8,000 characters of prose come to some 20,000.
MAX_WORD_PAIRS = 150_000
TOO_LONG = "too long to compare by rules"
_SHORT = 7  # words and values of the usual statement
_LENGTH_DISCOUNT = 0.05  # for each one beyond


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two texts stand to each other, and why.

    Attributes
    ----------
    relation : {"same", "refines", "contradicts", "different"}
    reasons : tuple of str
        Short sentences a person can read.
    confidence : float
        0..1, how sure the rules are.
    more_specific : {"a", "b"} or None
        For `refines`, which text says more.
    pair : tuple of int or None
        Indices of the claims that decided it.
    likeness : float
        For `different`, the share of their words that both have, less for long texts, which meet
        by chance; 1 otherwise. What no rule can tell may still be the same in other words.
    contradiction : str or None
        For `contradicts`, the way in which the first reason says that they do.
    """

    relation: Relation
    reasons: tuple[str, ...]
    confidence: float
    more_specific: Literal["a", "b"] | None
    pair: tuple[int, int] | None
    likeness: float = 1.0
    contradiction: Contradiction | None = None


def compare(a: Reading | str, b: Reading | str) -> Comparison:
    """Set two texts side by side, in the order stored, incoming.

    Parameters
    ----------
    a, b : Reading or str
        Any text. Read it once with `read` where it is compared often.

    Returns
    -------
    Comparison
        `contradicts` and `same` do not depend on the order of the texts; `refines` swaps
        `more_specific` with it. A text compared with itself is `same`.
    """
    left = read_cached(a) if isinstance(a, str) else a
    right = read_cached(b) if isinstance(b, str) else b
    if same_letters(left.text, right.text):
        return Comparison("same", ("the texts are equal",), 1.0, None, (0, 0))
    if reason := left.too_long or right.too_long:
        return leave_uncompared(reason)
    if right.text < left.text:  # one order inside, so that the answer cannot depend on it
        return _flip(_compare(right, left), left, right)
    return _compare(left, right)


def missing(kept: Reading | str, lost: Reading | str) -> tuple[str, ...]:
    """Return the claims of a text that another one does not make, in the words of the first.

    What `kept` says more exactly is not missing; what it says otherwise, or only vaguely, is. Of
    texts that are too long to compare all is missing.
    """
    left = read_cached(kept) if isinstance(kept, str) else kept
    right = read_cached(lost) if isinstance(lost, str) else lost
    if same_letters(left.text, right.text):
        return ()
    verdicts = None if left.too_long or right.too_long else _verdicts(left, right)
    if verdicts is None or not right.claims:
        return (right.text,)
    held = {
        pair[1]
        for pair, verdict in verdicts.items()
        if verdict.relation == "same" or (verdict.relation == "refines" and verdict.finer == "a")
    }
    return tuple(claim.text for i, claim in enumerate(right.claims) if i not in held)


def _flip(found: Comparison, left: Reading, right: Reading) -> Comparison:
    """The answer for (right, left) turned into that for (left, right)."""
    specific: dict[str | None, Literal["a", "b"] | None] = {"a": "b", "b": "a"}
    pair = (found.pair[1], found.pair[0]) if found.pair else None
    reasons, contradiction = found.reasons, found.contradiction
    if pair and found.relation == "contradicts":  # "5 vs 9" names the stored side first
        again = relate(left.claims[pair[0]], right.claims[pair[1]])
        if again.relation == found.relation:
            reasons, contradiction = again.reasons, again.contradiction
    return Comparison(
        found.relation,
        reasons,
        found.confidence,
        specific.get(found.more_specific),
        pair,
        found.likeness,
        contradiction,
    )


def leave_uncompared(reason: str) -> Comparison:
    """Answer for texts that nobody compared: never alike, so that nothing merges unread."""
    return Comparison("different", (f"{TOO_LONG}: {reason}",), 0.0, None, None, likeness=0.0)


def _compare(a: Reading, b: Reading) -> Comparison:
    verdicts = _verdicts(a, b)
    if verdicts is None:
        return leave_uncompared(f"more than {MAX_WORD_PAIRS:,} pairs of words")
    against = [
        (verdict.confidence, pair)
        for pair, verdict in verdicts.items()
        if verdict.relation == "contradicts"
    ]
    if against:
        _, pair = max(against, key=lambda item: (item[0], -item[1][0], -item[1][1]))
        return _answer(verdicts[pair], pair)
    found = _agreement(a, b, verdicts)
    if found.relation != "different" and (reason := difference_of_texts(a.text, b.text)):
        found = Comparison("different", (reason,), 0.4, None, found.pair)
    return replace(found, likeness=_likeness(a, b)) if found.relation == "different" else found


def _verdicts(a: Reading, b: Reading) -> dict[tuple[int, int], CaseReading] | None:
    """Verdicts of the claims that are set side by side; None when that is too much to compare."""
    pairs = _pairs(a, b)
    if sum(len(a.claims[i].terms) * len(b.claims[j].terms) for i, j in pairs) > MAX_WORD_PAIRS:
        return None
    return {(i, j): relate(a.claims[i], b.claims[j]) for i, j in sorted(pairs)}


def _likeness(a: Reading, b: Reading) -> float:
    shorter = min(len(a.keys), len(b.keys))
    if not shorter:
        return 0.0
    share = 2 * len(a.keys & b.keys) / (len(a.keys) + len(b.keys))
    return max(0.0, share - _LENGTH_DISCOUNT * max(0, shorter - _SHORT))


def _answer(verdict: CaseReading, pair: tuple[int, int]) -> Comparison:
    return Comparison(
        verdict.relation,
        verdict.reasons,
        verdict.confidence,
        verdict.finer,
        pair,
        contradiction=verdict.contradiction,
    )


def _pairs(a: Reading, b: Reading) -> set[tuple[int, int]]:
    """Each claim with the few of the other text that share most with it."""
    if len(a.claims) * len(b.claims) <= _CANDIDATES:
        return {(i, j) for i in range(len(a.claims)) for j in range(len(b.claims))}
    return _near_pairs(a, b)


def _near_pairs(a: Reading, b: Reading) -> set[tuple[int, int]]:
    if max(len(a.claims), len(b.claims)) <= _CANDIDATES:  # all that share a word are few enough
        return {
            (i, j)
            for i, claim in enumerate(a.claims)
            for j, other in enumerate(b.claims)
            if not claim.topics.isdisjoint(other.topics)
        }
    pairs = {(i, j) for i, near in enumerate(_nearest(a, b)) for j in near}
    return pairs | {(i, j) for j, near in enumerate(_nearest(b, a)) for i in near}


def _nearest(a: Reading, b: Reading) -> list[list[int]]:
    """For each claim of a, the claims of b that share most of its words."""
    places: dict[str, list[int]] = {}
    for index, claim in enumerate(b.claims):
        for key in claim.topics:
            places.setdefault(key, []).append(index)
    common = max(20, len(b.claims) // 4)  # a word of every claim tells nothing
    nearest = []
    for claim in a.claims:
        counts: Counter[int] = Counter()
        for key in claim.topics:
            hits = places.get(key, ())
            if len(hits) <= common:
                counts.update(hits)
        ranked = sorted(counts, key=lambda index: (-counts[index], index))
        nearest.append(ranked[:_CANDIDATES])
    return nearest


def _agreement(
    a: Reading, b: Reading, verdicts: dict[tuple[int, int], CaseReading]
) -> Comparison:  # fmt: skip
    """`same` or `refines` only when every claim of one text is held by the other."""
    best: dict[tuple[str, int], CaseReading] = {}
    pairs: dict[tuple[str, int], tuple[int, int]] = {}
    rank = {"same": 2, "refines": 1, "different": 0, "contradicts": 0}
    for pair, verdict in verdicts.items():
        for place in (("a", pair[0]), ("b", pair[1])):
            if place not in best or rank[verdict.relation] > rank[best[place].relation]:
                best[place], pairs[place] = verdict, pair
    held_a = _held(best, "a", len(a.claims))
    held_b = _held(best, "b", len(b.claims))
    if held_a == "same" and held_b == "same":
        return Comparison("same", ("every statement has its match",), 0.9, None, (0, 0))
    for side, own, other in (("b", held_a, held_b), ("a", held_b, held_a)):
        more, less = (b, a) if side == "b" else (a, b)
        is_further = any(not _is_matched(best.get((side, i))) for i in range(len(more.claims)))
        if is_further or contrasts(more.text, less.text):
            continue  # what a statement beside it does to the claim that both make, no rule knows
        if own in ("same", "refined") and other != "refined":
            verdict, pair = _decisive(best, pairs, verdicts)
            specific: Literal["a", "b"] = "b" if side == "b" else "a"
            return Comparison("refines", verdict.reasons, 0.75, specific, pair)
    if len(verdicts) == 1:
        ((pair, verdict),) = verdicts.items()
        if verdict.relation == "different":
            return _answer(verdict, pair)
    reason = "no statement of one is held by the other" if not verdicts else "no rule decides"
    return Comparison("different", (reason,), 0.4, None, None)


def _is_matched(verdict: CaseReading | None) -> bool:
    return verdict is not None and verdict.relation in ("same", "refines")


def _held(best: dict[tuple[str, int], CaseReading], side: str, count: int) -> str:
    """Whether every claim of a side is matched ("same") or at least refined by the other."""
    if not count:
        return ""
    states = set()
    for index in range(count):
        verdict = best.get((side, index))
        if verdict is None or verdict.relation == "different":
            return ""
        if verdict.relation == "refines" and verdict.finer == side:
            return "finer"
        states.add(verdict.relation)
    return "same" if states == {"same"} else "refined"


def _decisive(
    best: dict[tuple[str, int], CaseReading],
    pairs: dict[tuple[str, int], tuple[int, int]],
    verdicts: dict[tuple[int, int], CaseReading],
) -> tuple[CaseReading, tuple[int, int]]:
    for place in sorted(best):
        if best[place].relation == "refines":
            return best[place], pairs[place]
    place = min(best)
    return best[place], pairs[place]
