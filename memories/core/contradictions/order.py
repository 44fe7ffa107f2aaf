"""Both sides put the same two steps in opposite order: "the fee before the test"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, product
from typing import Final, NamedTuple

from memories.core.cases import CaseReading, contradicts
from memories.core.claim_types import Reading
from memories.core.function_words import AUXILIARIES, DETERMINERS, NEGATORS, PREPOSITIONS, PRONOUNS
from memories.core.number_words import NUMBER_WORDS
from memories.core.text_parts import DASHES, MAX_CHARS, content_of, split_at, tokens_of
from memories.core.tokeniser import Token

OPPOSITE: Final = "the same steps in opposite order"
_MAX_PAIRS: Final = 6  # of steps of a text
_STOPS: Final = frozenset(".;:?!")
_BREAKS: Final = _STOPS | DASHES | {","}
ORDERING: Final = frozenset(["before", "after"])
_FIRST: Final = frozenset(["first", "firstly", "beforehand"])
_THEN: Final = frozenset(
    ["then", "afterwards", "afterward", "second", "secondly", "last", "lastly", "finally", "next",
     "later", "thereafter", "subsequently"]
)  # fmt: skip
# Left out of the words of a step, like the units behind numbers: they mark the order.
_MARKS: Final = (
    _FIRST | _THEN | NUMBER_WORDS.keys()
    | {"before", "after", "only", "once", "go", "goes", "come", "comes", "follow", "follows",
       "step", "happens", "happen", "takes", "place", "done", "end", "ends", "start", "starts",
       "begins"}
)  # fmt: skip
# Before "before" and "after" at the head of a sentence: "Only after \u2026".
_HEADS: Final = frozenset(["only", "always", "immediately", "shortly", "right", "even"])
_POINTERS: Final = frozenset(["that", "this", "which"])
_BEFORE_POINTERS: Final = frozenset(["and", "only", ","])
_DENIALS: Final = NEGATORS | {"cannot"}
_BOUNDING: Final = frozenset(["later", "earlier", "more", "less", "longer", "sooner"])
_LED: Final = DETERMINERS | {"at"}
_BEHIND_ADVERBS: Final = (
    (PREPOSITIONS - {"of"}) | DETERMINERS | PRONOUNS | AUXILIARIES
    | {"and", "but", "then", "comes", "come", "goes", "go"}
)  # fmt: skip


class _Steps(NamedTuple):
    """The content words of two steps."""

    earlier: frozenset[str]
    later: frozenset[str]


def find(a: Reading, b: Reading) -> CaseReading | None:
    """Find two steps that the texts order differently: by "before", "after", "first … then".

    Of each step of one text and the opposite one of the other, one has all words of the other.
    """
    for one, other in product(_steps(a.text), _steps(b.text)):
        are_like = _holds(one.earlier, other.later) and _holds(one.later, other.earlier)
        if are_like and _are_turned(one, other):
            return contradicts("order", OPPOSITE, confidence=0.65)
    return None


def other_order(a: str, b: str) -> str:
    """Return `OPPOSITE` when two texts order words of two steps differently, else "".

    They need not be the same steps, so this is no contradiction yet.
    """
    pairs = product(_steps(a), _steps(b))
    return OPPOSITE if any(_are_turned(one, other) for one, other in pairs) else ""


def _are_turned(one: _Steps, other: _Steps) -> bool:
    """Return whether a word of each step stands in the opposite step of the other text alone."""
    ahead, behind = one.earlier - one.later, one.later - one.earlier
    return not (
        ahead.isdisjoint(other.later - other.earlier)
        or behind.isdisjoint(other.earlier - other.later)
    )


def _holds(one: frozenset[str], other: frozenset[str]) -> bool:
    return one <= other or other <= one


def _steps(text: str) -> tuple[_Steps, ...]:
    """Return the pairs of an earlier and a later step that a text of `MAX_CHARS` names."""
    return _read_steps(text) if len(text) <= MAX_CHARS else ()


@lru_cache(maxsize=1024)
def _read_steps(text: str) -> tuple[_Steps, ...]:
    pairs = (
        pair
        for sentence in split_at(tokens_of(text), _STOPS)
        for pair in chain(_around_conjunctions(sentence), _around_adverbs(sentence))
    )
    found = [_Steps(_words(one), _words(two)) for one, two in islice(pairs, _MAX_PAIRS)]
    return tuple(steps for steps in found if steps.earlier and steps.later)


def _words(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the content words of a step, without units: "ten minutes before"."""
    words = (
        token
        for at, token in enumerate(tokens)
        if not (at and (tokens[at - 1].kind == "number" or tokens[at - 1].lower in NUMBER_WORDS))
    )
    return content_of(words, _MARKS)


_Pair = tuple[Sequence[Token], Sequence[Token]]


def _around_conjunctions(sentence: Sequence[Token]) -> Iterator[_Pair]:
    """Yield the steps around each "before" and "after" of a sentence.

    "Never X before Y": where X is denied before Y, Y comes first.
    """
    for at, token in enumerate(sentence):
        if token.lower not in ORDERING:
            continue
        is_after = token.lower == "after"
        end = _find(sentence, at + 1, _BREAKS)
        near = sentence[at + 1 : end]
        if near and near[0].lower in _POINTERS:
            if is_after and at and sentence[at - 1].lower in _BEFORE_POINTERS:
                yield sentence[:at], sentence[at + 2 :]  # "…, and only after that …"
            continue
        is_head = at == 0 or (at == 1 and sentence[0].lower in _HEADS)
        far = sentence[end + 1 :] if is_head else sentence[_find_last(sentence, at, _BREAKS) : at]
        is_denied = _is_denied(far)
        if not (is_denied and is_after):  # "never after Y" says nothing of before
            yield (near, far) if is_after or is_denied else (far, near)


def _around_adverbs(sentence: Sequence[Token]) -> Iterator[_Pair]:
    """Yield the steps of "X first, then Y", "X, then Y" and "X first and Y afterwards"."""
    parts = list(split_at(sentence, _BREAKS | {"and", "but"}))
    begins = -1  # the last part with "first"
    for number, part in enumerate(parts):
        is_then = any(token.lower == "then" for token in part[:3])
        if number and (is_then or (begins >= 0 and _has_adverb(part, _THEN))):
            start = begins if begins >= 0 else number - 1
            earlier = [token for one in parts[start:number] for token in one]
            following = parts[number + 1] if number + 1 < len(parts) else []
            is_bare = not _words(part)  # "first the cones, and afterwards, \u2026"
            yield earlier, [*part, *following] if is_bare else part
        if _has_adverb(part, _FIRST):
            begins = number


def _has_adverb(part: Sequence[Token], adverbs: frozenset[str]) -> bool:
    """Return whether an adverb stands in a part, and no adjective: "the first floor"."""
    for at, token in enumerate(part):
        if token.lower not in adverbs:
            continue
        before = part[at - 1].lower if at else ""
        following = part[at + 1].lower if at + 1 < len(part) else ""
        is_adverb = not following or following in _BEHIND_ADVERBS or before in AUXILIARIES
        if is_adverb and before not in _LED:
            return True
    return False


def _is_denied(tokens: Sequence[Token]) -> bool:
    """Return whether there is a negation, other than of a bound: "no later than"."""
    following = (*(token.lower for token in tokens[1:]), "")
    return any(
        token.lower in _DENIALS and after not in _BOUNDING
        for token, after in zip(tokens, following, strict=False)
    )


def _find(tokens: Sequence[Token], start: int, marks: frozenset[str]) -> int:
    """Return the place of the first mark from `start` on, the length where there is none."""
    return next((at for at in range(start, len(tokens)) if tokens[at].lower in marks), len(tokens))


def _find_last(tokens: Sequence[Token], end: int, marks: frozenset[str]) -> int:
    """Return the place behind the last mark before `end`, 0 where there is none."""
    return next((at + 1 for at in range(end - 1, -1, -1) if tokens[at].lower in marks), 0)
