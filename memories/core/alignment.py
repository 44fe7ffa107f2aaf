"""Match the terms of one claim with those of another; list what is left on either side."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from memories.core import dates, measures
from memories.core.calendar_words import WORKDAYS
from memories.core.claim_types import VALUE_KINDS, Claim, Term
from memories.core.lexicon import KINDS, concept_of, opposites_of
from memories.core.reasons import Difference
from memories.core.tokeniser import stem

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_GLUED_VERSION = re.compile(r"-?v?(?<!\d)\d++$")
_MAX_KEPT = 64  # characters of a key whose kinds and parts are cached
_LOOK = 8  # repetitions of one word that are examined, so that cost stays linear
_OPEN_DAYS = {"weekend": {"saturday", "sunday"}, "weekday": set(WORKDAYS)}


@dataclass(frozen=True, slots=True)
class TermPair:
    """Two matched terms; `reason` says how they differ, if they do."""

    a: Term
    b: Term
    reason: str = ""


@dataclass(slots=True)
class Alignment:
    """The alignment of two claims.

    Attributes
    ----------
    same : list of TermPair
        Equal terms.
    finer : list of TermPair
        Values of which one says more than the other ("1.31" and "1.31.4").
    loose : list of TermPair
        Values of one dimension that neither agree nor exclude each other.
    opposed : list of TermPair
        Antonyms.
    clashes : list of TermPair
        Values or members of one kind that exclude each other.
    left_a, left_b : list of Term
        Unmatched terms.
    keys_a, keys_b : frozenset of str
        All keys of either claim: the context for counted nouns and versions.
    """

    same: list[TermPair] = field(default_factory=list)
    finer: list[TermPair] = field(default_factory=list)
    loose: list[TermPair] = field(default_factory=list)
    opposed: list[TermPair] = field(default_factory=list)
    clashes: list[TermPair] = field(default_factory=list)
    left_a: list[Term] = field(default_factory=list)
    left_b: list[Term] = field(default_factory=list)
    keys_a: frozenset[str] = frozenset()
    keys_b: frozenset[str] = frozenset()


_Test = Callable[[Term, Term, Alignment], str]
_WORDS = frozenset(["word", "name"])


def align(a: Claim, b: Claim) -> Alignment:
    """Align two claims: match equal terms first, then related ones."""
    found = Alignment(keys_a=a.keys, keys_b=b.keys)
    found.left_a, found.left_b = list(a.terms), list(b.terms)
    _match_equal(found, is_aside=False)
    if found.left_a and found.left_b:
        _match_parts(found)
        _match_values(found)
        _match_opposites(found)
        _match_kinds(found)
        _match_equal(found, is_aside=True)
    return found


def _match_equal(found: Alignment, *, is_aside: bool) -> None:
    """Match equal terms; terms in asides are matched only after those of the main clause."""
    shared = {term.key for term in found.left_a}.intersection(term.key for term in found.left_b)
    if not shared:
        return
    places: dict[str, list[Term]] = {key: [] for key in shared}
    for term in found.left_b:
        if term.key in shared:
            places[term.key].append(term)
    rest = []
    answered = set()
    for term in found.left_a:
        candidates = [
            other
            for other in places.get(term.key, ())[:_LOOK]
            if is_aside or (term.region == "aside") == (other.region == "aside")
        ]
        if not candidates:
            rest.append(term)
            continue
        best = candidates[0]
        if len(candidates) > 1:
            best = max(candidates, key=lambda other: _alike(term, other))
        places[term.key].remove(best)
        answered.add(id(best))
        found.same.append(TermPair(term, best))
    found.left_a = rest
    found.left_b = [term for term in found.left_b if id(term) not in answered]
    _drop_counted_nouns(found)


def _drop_counted_nouns(found: Alignment) -> None:
    """Drop counted nouns that the other's unit implies: "100 requests per second" is "100 rps"."""
    for pair in found.same:
        left, right = pair.a.quantity, pair.b.quantity
        if left is None or right is None or bool(left.noun) == bool(right.noun):
            continue
        if not left.unit.endswith("/s"):
            continue
        noun = concept_of(left.noun or right.noun)
        if left.noun:
            found.left_a = [term for term in found.left_a if term.key != noun]
        else:
            found.left_b = [term for term in found.left_b if term.key != noun]


def _alike(a: Term, b: Term) -> int:
    return 4 * (a.is_denied == b.is_denied) + 2 * (a.region == b.region) + (a.prep == b.prep)


def _match(
    found: Alignment, test: _Test, into: list[TermPair], terms: list[Term], others: list[Term]
) -> None:
    """Match unmatched terms by a test that returns the difference, same region first."""
    for term in tuple(terms):
        hits = [(other, reason) for other in others if (reason := test(term, other, found))]
        if hits:
            other, reason = max(hits, key=lambda hit: _alike(term, hit[0]))
            into.append(TermPair(term, other, reason))
            for rest, answered in (
                (terms, term), (others, other), (found.left_a, term), (found.left_b, other),
            ):  # fmt: skip
                rest.remove(answered)


def _match_opposites(found: Alignment) -> None:
    others = [term for term in found.left_b if term.kind == "word"]
    keys = {term.key for term in others}
    terms = [
        term
        for term in found.left_a
        if term.kind == "word" and not opposites_of(term.key).isdisjoint(keys)
    ]
    _match(found, _opposition, found.opposed, terms, others)


def _match_kinds(found: Alignment) -> None:
    if terms := [term for term in found.left_a if _has_kind(term)]:
        others = [term for term in found.left_b if _has_kind(term)]
        _match(found, _kind_clash, found.clashes, terms, others)


def _opposition(a: Term, b: Term, found: Alignment) -> str:
    if b.key not in opposites_of(a.key):
        return ""
    return against(a, b)


def _has_kind(term: Term) -> bool:
    """Return True for a term that `_kind_clash` can compare."""
    if term.kind not in _WORDS or term.is_verb:
        return False
    return bool(kinds_of(term.key)) or term.key.startswith("ordinal ")


def _kind_clash(a: Term, b: Term, found: Alignment) -> str:
    if a.region != b.region:
        return ""
    if a.key.startswith("ordinal ") and b.key.startswith("ordinal "):
        return against(a, b)
    shared = kinds_of(a.key) & kinds_of(b.key)
    return _difference(min(shared), a, b) if shared else ""


def against(a: Term, b: Term) -> Difference:
    """Return the reason that two terms exclude each other."""
    return Difference(f"{a.written} against {b.written}", a.key, b.key)


def _difference(what: str, a: Term, b: Term) -> Difference:
    return Difference(f"{what} differs: {a.written} vs {b.written}", a.key, b.key)


def kinds_of(key: str) -> frozenset[str]:
    """Return the kinds of a concept, without a version at its end ("uuidv7" is a uuid)."""
    return KINDS.get(key) or (_kinds_of(key) if len(key) <= _MAX_KEPT else _plain_kinds_of(key))


def _plain_kinds_of(key: str) -> frozenset[str]:
    return KINDS.get(_GLUED_VERSION.sub("", key), frozenset())


_kinds_of = lru_cache(maxsize=16384)(_plain_kinds_of)


def _match_parts(found: Alignment) -> None:
    """Match an identifier with the words it consists of: `gateway_timeout`, "gateway timeout"."""
    _match_parts_of(found.left_a, found.left_b, found, is_swapped=False)
    _match_parts_of(found.left_b, found.left_a, found, is_swapped=True)


def _match_parts_of(
    names: list[Term], words: list[Term], found: Alignment, *, is_swapped: bool
) -> None:
    for name in list(names):
        parts = name_parts(name) if name.kind == "name" else ()
        if len(parts) < 2:
            continue
        answers = [next((w for w in words if w.key == part), None) for part in parts]
        hits = [answer for answer in answers if answer is not None]
        if len(hits) < len(parts):
            continue
        names.remove(name)
        for hit in hits:
            if hit in words:
                words.remove(hit)
            found.same.append(TermPair(hit, name) if is_swapped else TermPair(name, hit))


def name_parts(term: Term) -> Sequence[str]:
    """Return the concepts of the words in an identifier: "gateway_timeout_ms", "maxUploadSize"."""
    text = term.text if term.key == term.text.lower() else term.key
    return _kept_parts_of(text) if len(text) <= _MAX_KEPT else _parts_of(text)


def _parts_of(text: str) -> tuple[str, ...]:
    return tuple(concept_of(part.lower()) for part in _PARTS.findall(text)[:8])


_kept_parts_of = lru_cache(maxsize=16384)(_parts_of)


def _match_values(found: Alignment) -> None:
    terms, others = _values(found.left_a), _values(found.left_b)
    if not terms or not others:
        return
    _match(found, _find_agreement, found.same, terms, others)
    _match(found, _subject_clash, found.clashes, terms, others)
    _match(found, _finer, found.finer, terms, others)
    _drop_counted_nouns(found)
    terms, others = _values(found.left_a), _values(found.left_b)
    _match(found, _value_clash, found.clashes, terms, others)
    _match(found, _loose, found.loose, terms, others)


def _values(terms: Sequence[Term]) -> list[Term]:
    return [term for term in terms if term.kind in VALUE_KINDS]


def _find_agreement(a: Term, b: Term, found: Alignment) -> str:
    if a.kind == b.kind == "date":
        return "same time" if dates.same_clock(a.key, b.key) else ""
    if a.prep and a.prep == b.prep and (_is_hour_of(a, b, 24) or _is_hour_of(b, a, 24)):
        return "same hour"
    pair = _quantities(a, b, found)
    if not pair or not measures.agree(*pair):
        return ""
    left, right = _apply_bound(pair[0], found.keys_a), _apply_bound(pair[1], found.keys_b)
    are_bounded_alike = measures.bounds_agree(*pair) or measures.bounds_agree(left, right)
    return "same amount" if are_bounded_alike else ""


def _quantities(
    a: Term, b: Term, found: Alignment
) -> tuple[measures.Quantity, measures.Quantity] | None:  # fmt: skip
    """Return the two quantities in one unit, None when they count different things."""
    left, right = a.quantity, b.quantity
    if left is None or right is None:
        return None
    if left.unit == "percent" and right.unit == "count":
        right = measures.share(right) or right
    elif right.unit == "percent" and left.unit == "count":
        left = measures.share(left) or left
    if left.unit != right.unit:
        return None
    return (left, right) if _count_the_same(left, right, found) else None


def _count_the_same(
    left: measures.Quantity, right: measures.Quantity, found: Alignment
) -> bool:  # fmt: skip
    """Return whether the counted nouns agree; one may stand elsewhere ("20 Insights projects")."""
    if not left.noun or not right.noun or stem(left.noun) == stem(right.noun):
        return True
    return concept_of(left.noun) in found.keys_b or concept_of(right.noun) in found.keys_a


def _finer(a: Term, b: Term, found: Alignment) -> str:
    if a.kind == b.kind == "date":
        return _finer_date(a.key, b.key)
    if a.prep and a.prep == b.prep and (_is_hour_of(a, b, 12) or _is_hour_of(b, a, 12)):
        return "b" if a.kind == "quantity" else "a"
    versions = _versions(a, b, found)
    if versions:
        left, right = versions
        if left == right or right.startswith(left + "."):
            return "b"
        if left.startswith(right + "."):
            return "a"
    return ""


def _finer_date(a: str, b: str) -> str:
    if dates.agree(a, b) and dates.overlap(a, b):
        return "b" if dates.finer(b, a) else "a"
    if b in _OPEN_DAYS.get(a, ()):
        return "b"
    return "a" if a in _OPEN_DAYS.get(b, ()) else ""


def _is_hour_of(bare: Term, clock: Term, hours: int) -> bool:
    """Return whether a number is the hour of a time, of 24 or of 12: "at 9", "9:00", "9 pm"."""
    amount = bare.quantity
    if amount is None or amount.upper is not None or clock.kind != "date":
        return False
    if (amount.unit, amount.noun, amount.bound) != ("count", "", "exact"):
        return False
    hour, _, minute = clock.key.rstrip(f"z{dates.OPEN}").partition(":")
    hours = 12 if clock.key.endswith(dates.OPEN) else hours
    return (
        minute == "00" and amount.value in range(25) and amount.value % hours == int(hour) % hours
    )


def _versions(a: Term, b: Term, found: Alignment) -> tuple[str, str] | None:
    """Return the version numbers of one product; a bare number needs the product's name in both."""
    owner_a, number_a = _version(a)
    owner_b, number_b = _version(b)
    if not number_a or not number_b or "version" not in (a.kind, b.kind):
        return None
    general = ("", "version")
    if a.kind != b.kind:
        owner = owner_b if a.kind == "quantity" else owner_a
        named = found.keys_a if a.kind == "quantity" else found.keys_b
        return (number_a, number_b) if owner in named else None
    if owner_a == owner_b or owner_a in general or owner_b in general:
        return number_a, number_b
    return None


def _version(term: Term) -> tuple[str, str]:
    if term.kind == "version":
        owner, _, number = term.key.rpartition(" ")
        return owner, number
    quantity = term.quantity
    if quantity is None or quantity.unit != "count" or quantity.upper is not None:
        return "", ""
    if quantity.bound != "exact" or quantity.value < 0:
        return "", ""
    return ("", f"{quantity.value:g}") if not quantity.noun else ("", "")


def _value_clash(a: Term, b: Term, found: Alignment) -> str:
    if a.kind == b.kind == "date":
        what = "time" if dates.dimension(a.key) == "clock" else "date"
        return _difference(what, a, b) if _dates_clash(a.key, b.key) else ""
    if a.kind == b.kind == "label" and a.key.split(" ")[0] == b.key.split(" ")[0]:
        return against(a, b)
    if _versions(a, b, found):
        return _difference("version", a, b)
    pair = _quantities(a, b, found)
    if pair and measures.conflict(
        _apply_bound(pair[0], found.keys_a), _apply_bound(pair[1], found.keys_b)
    ):
        left, right = map(measures.describe, pair)
        return Difference(f"number differs: {left} vs {right}", *map(measures.amount, pair))
    return ""


def _apply_bound(quantity: measures.Quantity, keys: frozenset[str]) -> measures.Quantity:
    """Return a plain number as a bound where its claim has a word for a limit or minimum."""
    if quantity.bound != "exact" or quantity.upper is not None:
        return quantity
    if keys & {"maximum", "limit", "quota", "allowanc"}:
        return replace(quantity, bound="most")
    return replace(quantity, bound="least") if keys & {"minimum", "floor"} else quantity


def _subject_clash(a: Term, b: Term, found: Alignment) -> str:
    """Return how dates distinguish the subjects: "the target for Q2", "the target for Q3"."""
    both_subject = a.region == b.region == "subject" and a.kind == b.kind == "date"
    return _value_clash(a, b, found) if both_subject else ""


def _dates_clash(a: str, b: str) -> bool:
    if dates.dimension(a) == "relative":
        return False
    if dates.dimension(a) != dates.dimension(b) or dates.agree(a, b):
        return False
    if dates.dimension(a) == "clock":
        return a.endswith("z") == b.endswith("z")
    if a in _OPEN_DAYS or b in _OPEN_DAYS:
        return {a, b} == set(_OPEN_DAYS) or (a not in _OPEN_DAYS) != (b not in _OPEN_DAYS)
    return True


def _loose(a: Term, b: Term, found: Alignment) -> str:
    return "same dimension" if _quantities(a, b, found) else ""


def weigh(terms: Sequence[Term]) -> float:
    """Return the sum of the terms' weights."""
    return sum(term.weight for term in terms)
