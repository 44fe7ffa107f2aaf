"""Compare two texts claim by claim: same, refines, contradicts or different.

The only module that decides by rule whether two memories say the same; the gate at commit, the
drift check and the detective use it. `read` parses a text into claims, `compare` compares two
readings. The parts are in sibling modules: `spelling` and `symbols` (characters,
units), `tokeniser`, `clauses` (verbs), `numerals`, `quantities`, `dates` and `values` (numbers,
dates, versions), `terms` (words with their place), `transitions`, `modality`, `function_words`,
`calendar_words`, `number_words`, `spelled_phrases` and `vocabulary` (words by kind), `lexicon`,
`meanings` and `kinds` (meaning), `alignment` and `cases` (pairs of claims), `contradictions`,
`agreements` and `relations` (the rules), `exclusions` (opposite phrases, for texts of different
wording).

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
from memories.core.slots import slot_of
from memories.core.spelling import same_letters
from memories.core.text_contradictions import WAYS_OF_TEXTS, find_in_texts, nearest_claims
from memories.core.topics import announces_change, other_topic
from memories.core.word_order import difference_of_texts

__all__ = ["Claim", "ClaimComparison", "Contradiction", "Modality", "Quantity", "Reading",
           "Relation", "Term", "Transition", "compare",
           "find_missing_claims", "read", "relate",
           "why_too_long"]  # fmt: skip

_CANDIDATES = 3  # claims of the other text that one claim is compared with
# Words of one text times words of the other, over the pairs of claims that are compared. Two
# memories of 8,000 characters of prose come to some 20,000.
MAX_WORD_PAIRS = 150_000
TOO_LONG = "too long to compare by rules"
_SHORT = 7  # words and values of the usual statement
_LENGTH_DISCOUNT = 0.05  # for each one beyond


@dataclass(frozen=True, slots=True)
class ClaimComparison:
    """The relation of two texts, and the reasons for it.

    Attributes
    ----------
    relation : {"same", "refines", "contradicts", "different"}
    reasons : tuple of str
        Short sentences for people.
    confidence : float
        0..1, how sure the rules are.
    more_specific : {"a", "b"} or None
        For `refines`, the text that says more.
    pair : tuple of int or None
        Indices of the claims that decided the relation.
    likeness : float
        For `different`, the share of common words, reduced for long texts, which share words by
        chance; 1 otherwise. Texts that no rule can judge may still say the same in other words.
    contradiction : str or None
        For `contradicts`, the way that the first reason describes.
    is_announced : bool
        For `contradicts`, whether a text says that something else held before: then one replaces
        the other.
    """

    relation: Relation
    reasons: tuple[str, ...]
    confidence: float
    more_specific: Literal["a", "b"] | None
    pair: tuple[int, int] | None
    likeness: float = 1.0
    contradiction: Contradiction | None = None
    is_announced: bool = False


def compare(a: Reading | str, b: Reading | str) -> ClaimComparison:
    """Compare two texts, in the order stored, incoming.

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
        return ClaimComparison("same", ("the texts are equal",), 1.0, None, (0, 0))
    if reason := left.too_long or right.too_long:
        return skip_comparison(reason)
    if right.text < left.text:  # one order inside, so that the answer cannot depend on it
        return _flip(_compare(right, left), left, right)
    return _compare(left, right)


def find_missing_claims(kept: Reading | str, lost: Reading | str) -> tuple[str, ...]:
    """Return the claims of a text that another one does not make, in the words of the first.

    A claim that `kept` states more exactly is not missing; one that it states differently or less
    exactly is. When the texts are too long to compare, all claims are missing.
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


def _flip(found: ClaimComparison, left: Reading, right: Reading) -> ClaimComparison:
    """Turn the comparison of (right, left) into that of (left, right)."""
    specific: dict[str | None, Literal["a", "b"] | None] = {"a": "b", "b": "a"}
    pair = (found.pair[1], found.pair[0]) if found.pair else None
    reasons, contradiction = found.reasons, found.contradiction
    is_of_claims = found.relation == "contradicts" and contradiction not in WAYS_OF_TEXTS
    if pair and is_of_claims:  # "5 vs 9" names the stored side first
        again = relate(left.claims[pair[0]], right.claims[pair[1]])
        if again.relation == found.relation:
            reasons, contradiction = again.reasons, again.contradiction
    return ClaimComparison(
        found.relation,
        reasons,
        found.confidence,
        specific.get(found.more_specific),
        pair,
        found.likeness,
        contradiction,
        found.is_announced,
    )


def skip_comparison(reason: str) -> ClaimComparison:
    """Return `different` for texts that were not compared, so that they cannot merge."""
    return ClaimComparison("different", (f"{TOO_LONG}: {reason}",), 0.0, None, None, likeness=0.0)


def _compare(a: Reading, b: Reading) -> ClaimComparison:
    verdicts = _verdicts(a, b)
    if verdicts is None:
        return skip_comparison(f"more than {MAX_WORD_PAIRS:,} pairs of words")
    against = [
        (verdict.confidence, pair)
        for pair, verdict in verdicts.items()
        if verdict.relation == "contradicts"
    ]
    if against:
        _, pair = max(against, key=lambda item: (item[0], -item[1][0], -item[1][1]))
        return _in_context(a, b, _answer(verdicts[pair], pair))
    if verdicts and (whole := find_in_texts(a, b)):
        return _in_context(a, b, _answer(whole, nearest_claims(a, b, verdicts)))
    found = _agreement(a, b, verdicts)
    if found.relation != "different" and (reason := difference_of_texts(a.text, b.text)):
        found = ClaimComparison("different", (reason,), 0.4, None, found.pair)
    return replace(found, likeness=_likeness(a, b)) if found.relation == "different" else found


def _in_context(a: Reading, b: Reading, found: ClaimComparison) -> ClaimComparison:
    """Return a contradiction of two claims as one of their texts, or why these are different."""
    i, j = found.pair or (0, 0)
    are_slots = slot_of(a.claims[i].text) and slot_of(b.claims[j].text)  # which name their things
    if not are_slots and (reason := other_topic(a, b, found.contradiction)):
        return replace(found, relation="different", reasons=(reason,), confidence=0.7,
                       contradiction=None)  # fmt: skip
    return replace(found, is_announced=announces_change(a) or announces_change(b))


def _verdicts(a: Reading, b: Reading) -> dict[tuple[int, int], CaseReading] | None:
    """Return the readings of the compared pairs of claims; None when they are too many."""
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


def _answer(verdict: CaseReading, pair: tuple[int, int]) -> ClaimComparison:
    return ClaimComparison(
        verdict.relation,
        verdict.reasons,
        verdict.confidence,
        verdict.finer,
        pair,
        contradiction=verdict.contradiction,
    )


def _pairs(a: Reading, b: Reading) -> set[tuple[int, int]]:
    """Return pairs of each claim and the few claims of the other text that share most words."""
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
    """Return for each claim of a the claims of b that share most of its words."""
    places: dict[str, list[int]] = {}
    for index, claim in enumerate(b.claims):
        for key in claim.topics:
            places.setdefault(key, []).append(index)
    common = max(20, len(b.claims) // 4)  # a word of most claims distinguishes none
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
) -> ClaimComparison:  # fmt: skip
    """Return `same` or `refines` only when one text covers every claim of the other."""
    best: dict[tuple[str, int], CaseReading] = {}
    pairs: dict[tuple[str, int], tuple[int, int]] = {}
    rank = {"same": 2, "refines": 1, "different": 0, "contradicts": 0}
    for pair, verdict in verdicts.items():
        for place in (("a", pair[0]), ("b", pair[1])):
            if place not in best or rank[verdict.relation] > rank[best[place].relation]:
                best[place], pairs[place] = verdict, pair
    held_a = _coverage(best, "a", len(a.claims))
    held_b = _coverage(best, "b", len(b.claims))
    if held_a == "same" and held_b == "same":
        return ClaimComparison("same", ("every statement has its match",), 0.9, None, (0, 0))
    for side, own, other in (("b", held_a, held_b), ("a", held_b, held_a)):
        more, less = (b, a) if side == "b" else (a, b)
        is_further = any(not _is_matched(best.get((side, i))) for i in range(len(more.claims)))
        if is_further or contrasts(more.text, less.text):
            continue  # no rule knows how an additional statement changes the common claim
        if own in ("same", "refined") and other != "refined":
            verdict, pair = _decisive(best, pairs, verdicts)
            specific: Literal["a", "b"] = "b" if side == "b" else "a"
            return ClaimComparison("refines", verdict.reasons, 0.75, specific, pair)
    if len(verdicts) == 1:
        ((pair, verdict),) = verdicts.items()
        if verdict.relation == "different":
            return _answer(verdict, pair)
    reason = "no statement of one is held by the other" if not verdicts else "no rule decides"
    return ClaimComparison("different", (reason,), 0.4, None, None)


def _is_matched(verdict: CaseReading | None) -> bool:
    return verdict is not None and verdict.relation in ("same", "refines")


def _coverage(best: dict[tuple[str, int], CaseReading], side: str, count: int) -> str:
    """Return how the other text covers a side's claims: "same", "refined", "finer", else ""."""
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
