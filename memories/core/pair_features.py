"""Properties of two texts from which `memories/core/likelihood.py` estimates how they relate.

Only the structure counts: shares of common words, names, values, negations, and which rules apply;
no word of any text is a feature. `a` is the stored text, `b` the incoming one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memories.core import dates, measures
from memories.core.bound_cues import lifts_bound, sets_limit
from memories.core.change_cues import change_cues
from memories.core.claim_types import Claim, Reading, Term
from memories.core.claims import ClaimComparison
from memories.core.contradictions.order import other_order
from memories.core.exclusions import find_exclusion
from memories.core.frames import other_filler, other_name
from memories.core.lexicon import opposites_of
from memories.core.objections import denies_other, shares_frame
from memories.core.replaced import common_ends, is_exchanged, is_replaced, words_in_order
from memories.core.spelling import collapse
from memories.core.topics import alone, announces_change, leads_of, names_of

_SHORT, _USUAL = 8, 12  # words of a statement
_MOST: Final = 8  # words that are counted
_NEGATIVE: Final = re.compile(
    r"\b(?:not?|never|nobody|nothing|none|neither|nor|without|cannot|instead|rather)\b|n't\b", re.I
)
_QUANTIFIED: Final = re.compile(
    r"\b(?:only|all|every|each|any|always|no|sole|solely|just|alone|both|either)\b", re.I
)
_PAST: Final = re.compile(r"\b(?:was|were|had|did|last|ago|yesterday)\b|\b\w{3,40}ed\b", re.I)
_UNSURE: Final = re.compile(
    r"\?|\b(?:would|could|should|might|maybe|perhaps|suggest\w{0,6}|propos\w{1,6}|idea|whether|"
    r"asked|if)\b",
    re.I,
)
_ORDERED: Final = re.compile(
    r"\b(?:first|then|before|after|until|afterwards|last|once|when)\b", re.I
)
_DIGITS: Final = re.compile(r"\d[\d.,:]{0,30}")
_VALUES: Final = frozenset(["quantity", "date", "version"])
_DIMENSIONS: Final = ("weekday", "day", "clock", "month")
_PART: Final = 4  # letters that forms of one word share

Features = dict[str, float]


def features_of(a: Reading, b: Reading, found: ClaimComparison, cosine: float) -> Features:
    """Return the features of two texts that were compared with this result."""
    return {
        "cosine": cosine,
        "high cosine": max(0.0, cosine - 0.7),
        "likeness": found.likeness,
        "by rule: contradicts": found.relation == "contradicts",
        "by rule: same": found.relation in ("same", "refines"),
        "by rule: surely different": found.relation == "different" and found.confidence >= 0.5,
        **_of_words(a, b),
        **_of_length(a, b, cosine),
        **_of_topics(a, b),
        **_of_values(a, b),
        **_of_exclusions(a, b),
        **_of_phrases(a.text, b.text),
        **_of_changes(b.text),
        **_of_bounds(a.text, b.text),
    }


def _of_words(a: Reading, b: Reading) -> Features:
    mine, theirs = _content(a), _content(b)
    left, right = words_in_order(a.text), words_in_order(b.text)
    start, end = common_ends(left, right)
    own, others = (_parts(words) for words in (mine - theirs, theirs - mine))
    both = len(mine & theirs)
    return {
        "share of the shorter": both / max(1, min(len(mine), len(theirs))),
        "common words": min(both, _MOST) / _MOST,
        "own words of a": min(len(mine - theirs), _MOST) / _MOST,
        "own words of b": min(len(theirs - mine), _MOST) / _MOST,
        "common opening": min(start, _MOST) / _MOST,
        "share of all words": len(set(left) & set(right)) / max(1, len(set(left) | set(right))),
        "share of the ends": 2 * (start + end) / max(1, len(left) + len(right)),
        "other forms": len(own & others) / min(len(own), len(others)) if own and others else 0.0,
        "one place replaced": is_replaced(left, right),
        "words exchanged": is_exchanged(left, right),
        "a common verb": bool(_verbs(a) & _verbs(b)),
        "b is no fact": any(claim.modality != "fact" for claim in b.claims),
        "claims of b": min(len(b.claims), _MOST) / _MOST,
    }


def _of_length(a: Reading, b: Reading, cosine: float) -> Features:
    """Return what tells short statements, whose words and vectors say more than those of notes."""
    mine, theirs = len(words_in_order(a.text)), len(words_in_order(b.text))
    return {
        "a is short": mine <= _SHORT,
        "b is short": theirs <= _SHORT,
        "near to a short one": max(0, _USUAL - mine) / _USUAL * cosine,
    }


def _of_topics(a: Reading, b: Reading) -> Features:
    leads_a, leads_b = leads_of(a), leads_of(b)
    alone_a, alone_b = alone(leads_a, b), alone(leads_b, a)
    names_a, names_b = names_of(a), names_of(b)
    only_a, only_b = alone(names_a, b), alone(names_b, a)
    keys_a, keys_b = _keys(names_a), _keys(names_b)
    lead_b, content_a = _keys(leads_b), _content(a)
    return {
        "both lead alone": bool(alone_a and alone_b),
        "one leads alone": bool(alone_a) != bool(alone_b),
        "common lead": bool(_keys(leads_a) & _keys(leads_b)),
        "lead of a in b": bool(leads_a) and _keys(leads_a) <= _content(b),
        "lead of b in a": bool(lead_b) and lead_b <= content_a,
        "share of the lead of b in a": len(lead_b & content_a) / max(1, len(lead_b)),
        "both have names alone": bool(only_a and only_b),
        "names of a alone": bool(only_a),
        "names of b alone": bool(only_b),
        "equal names": bool(keys_a) and keys_a == keys_b,
        "common names": min(3, len(names_a) - len(only_a)) / 3,
        "a announces a change": announces_change(a),
        "b announces a change": announces_change(b),
        "b has a change": any(claim.transition for claim in b.claims),
    }


def _of_values(a: Reading, b: Reading) -> Features:
    mine, theirs = _values(a), _values(b)
    left, right = set(_DIGITS.findall(a.text)), set(_DIGITS.findall(b.text))
    return {
        "both have values alone": bool(mine - theirs and theirs - mine),
        "a common value": bool(mine & theirs),
        "equal values": bool(mine) and mine == theirs,
        "values of a alone": bool(mine - theirs),
        "values of b alone": bool(theirs - mine),
        "both have digits alone": bool(left - right and right - left),
        "equal digits": bool(left) and left == right,
        "digits of a alone": bool(left - right) and left >= right,
        "digits of b alone": bool(right - left) and right >= left,
        "another amount": _amounts_differ(a, b),
        "another date": _dates_differ(a, b),
    }


def _of_exclusions(a: Reading, b: Reading) -> Features:
    mine, theirs = _content(a), _content(b)
    denied = _denied(a.claims, b.claims)
    return {
        "denied words": min(denied, 5) / 5,
        "a claim denied": denied >= 2,
        "opposite words": any(opposites_of(w) & (theirs - mine) for w in mine - theirs),
        "phrases that exclude": bool(find_exclusion(a.text, b.text)),
        "other filler": bool(other_filler(a.text, b.text) or other_name(a.text, b.text)),
        "frame continued otherwise": bool(shares_frame(a.text, b.text)),
        "one denies the other": bool(denies_other(a.text, b.text)),
    }


def _of_phrases(a: str, b: str) -> Features:
    one, other = collapse(a), collapse(b)

    def has(pattern: re.Pattern[str]) -> tuple[bool, bool]:
        return bool(pattern.search(one)), bool(pattern.search(other))

    negative, quantified, ordered = has(_NEGATIVE), has(_QUANTIFIED), has(_ORDERED)
    return {
        "one is negative": negative[0] != negative[1],
        "both are negative": all(negative),
        "b is negative": negative[1],
        "a is quantified": quantified[0],
        "b is quantified": quantified[1],
        "one is quantified": quantified[0] != quantified[1],
        "b tells an order": ordered[1],
        "one tells an order": ordered[0] != ordered[1],
        "b tells of the past": has(_PAST)[1],
        "b is unsure": has(_UNSURE)[1],
    }


def _of_changes(b: str) -> Features:
    cues = change_cues(b, words_in_order(b))
    return {
        "b names a moment": cues.moment,
        "b tells a start": cues.start,
        "b has a verb of change": cues.verb,
        "b tells what was before": cues.before,
        "cues of change in b": sum(cues),
    }


def _of_bounds(a: str, b: str) -> Features:
    one, other = collapse(a), collapse(b)
    return {
        "b sets a limit": sets_limit(one, other),
        "a sets a limit": sets_limit(other, one),
        "b lifts a bound": lifts_bound(one, other),
        "opposite orders": bool(other_order(a, b)),
    }


def _content(reading: Reading) -> frozenset[str]:
    return frozenset(
        term.key
        for claim in reading.claims
        for term in claim.terms
        if term.weight == 1 and term.kind in ("word", "name", "label")
    )


def _values(reading: Reading) -> frozenset[str]:
    return frozenset(
        term.key for claim in reading.claims for term in claim.terms if term.kind in _VALUES
    )


def _keys(terms: Sequence[Term]) -> frozenset[str]:
    return frozenset(term.key for term in terms)


def _verbs(reading: Reading) -> frozenset[str]:
    return frozenset(claim.verb for claim in reading.claims if claim.verb)


def _parts(words: frozenset[str]) -> frozenset[str]:
    return frozenset(w[i : i + _PART] for w in words for i in range(max(1, len(w) - _PART + 1)))


def _denied(mine: Sequence[Claim], theirs: Sequence[Claim]) -> int:
    """Return how many words one text affirms and the other denies."""
    left, right = ({w: c.polarity for c in claims for w in c.words} for claims in (mine, theirs))
    return sum(left[word] != right[word] for word in left.keys() & right.keys())


def _amounts_differ(a: Reading, b: Reading) -> bool:
    """Return whether each text gives one amount of a unit, and they exclude each other."""
    mine, theirs = ([q for claim in r.claims for q in claim.quantities] for r in (a, b))
    for unit in {q.unit for q in mine} & {q.unit for q in theirs}:
        left, right = ([q for q in some if q.unit == unit] for some in (mine, theirs))
        if len(left) != 1 or len(right) != 1 or not measures.conflict(left[0], right[0]):
            continue
        if unit != "count" or (left[0].noun and left[0].noun == right[0].noun):
            return True
    return False


def _dates_differ(a: Reading, b: Reading) -> bool:
    """Return whether each text names one date of a kind, and they do not agree."""
    for kind in _DIMENSIONS:
        left, right = (
            [d for claim in r.claims for d in claim.dates if dates.dimension(d) == kind]
            for r in (a, b)
        )
        if len(left) == len(right) == 1 and not dates.agree(left[0], right[0]):
            return True
    return False
