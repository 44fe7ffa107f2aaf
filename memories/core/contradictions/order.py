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
from memories.core.text_parts import (
    DASHES,
    Words,
    content_of,
    split_at,
    tokens_of,
)
from memories.core.tokeniser import Token

_MAX_PAIRS: Final = 8  # of steps of a text
_MIN_SHARE: Final = 0.5  # of the words of each step that both texts have
_STOPS: Final = frozenset(".;:?!")
_BREAKS: Final = _STOPS | DASHES | {","}
_FIRST: Final = frozenset(["first", "firstly", "beforehand"])
_THEN: Final = frozenset(
    ["then", "afterwards", "afterward", "second", "secondly", "last", "lastly", "finally", "next",
     "later", "thereafter", "subsequently"]
)  # fmt: skip
_MARKS: Final = (
    _FIRST | _THEN | NUMBER_WORDS.keys()
    | {"hour", "hours", "minute", "minutes", "day", "days", "week", "weeks", "month", "months",
       "year", "years", "time", "before", "after", "only", "once", "go", "goes", "come", "comes",
       "follow", "follows", "step", "happens", "happen", "takes", "place", "done", "end", "ends",
       "start", "starts", "begins"}
)  # fmt: skip
# Before "before" and "after" at the head of a sentence: "Only after …".
_HEADS: Final = frozenset(["only", "always", "never", "immediately", "shortly", "right", "even"])
_POINTERS: Final = frozenset(["that", "this", "which", "it"])
_BOUNDING: Final = frozenset(["later", "earlier", "more", "less", "longer", "sooner"])
_BEHIND_ADVERBS: Final = (
    (PREPOSITIONS - {"of"}) | DETERMINERS | PRONOUNS | AUXILIARIES | {"and", "but", "then", "comes",
    "come", "goes", "go"}
)  # fmt: skip


class _Steps(NamedTuple):
    earlier: Words
    later: Words


def find(a: Reading, b: Reading) -> CaseReading | None:
    """Find two steps that the texts order differently, where both texts have most of their words.

    By "before", "after", "first … then" and the like.
    """
    for one, other in product(_steps(a.text), _steps(b.text)):
        are_like = _is_told_again(one, other) and _is_told_again(other, one)
        if are_like and (found := _turned(one, other)):
            return contradicts("order", found, confidence=0.65)
    return None


def other_order(a: str, b: str) -> str:
    """Return words of two steps that two texts order differently, "" when they do not."""
    found = (_turned(one, other) for one, other in product(_steps(a), _steps(b)))
    return next(filter(None, found), "")


def _turned(one: _Steps, other: _Steps) -> str:
    """Return a word of each step that stands in the opposite step of the other text."""
    ahead, behind = _alone(one.earlier, one.later), _alone(one.later, one.earlier)
    first = ahead & _alone(other.later, other.earlier)
    second = behind & _alone(other.earlier, other.later)
    if not first or not second:
        return ""
    left, right = one.earlier[min(first)], one.later[min(second)]
    return f"opposite orders of {left} and {right}"


def _is_told_again(steps: _Steps, other: _Steps) -> bool:
    """Return whether the other text has half of the words of each step."""
    words = other.earlier.keys() | other.later.keys()
    return all(len(step.keys() & words) >= _MIN_SHARE * len(step) for step in steps)


def _alone(step: Words, other: Words) -> set[str]:
    return step.keys() - other.keys()


@lru_cache(maxsize=2048)
def _steps(text: str) -> tuple[_Steps, ...]:
    """Return the pairs of an earlier and a later step that a text names."""
    pairs = (
        pair
        for sentence in split_at(tokens_of(text), _STOPS)
        for pair in chain(_around_conjunctions(sentence), _around_adverbs(sentence))
    )
    found = [
        _Steps(content_of(one, _MARKS), content_of(two, _MARKS))
        for one, two in islice(pairs, _MAX_PAIRS)
    ]
    return tuple(steps for steps in found if steps.earlier and steps.later)


_Pair = tuple[Sequence[Token], Sequence[Token]]


def _around_conjunctions(sentence: Sequence[Token]) -> Iterator[_Pair]:
    """Yield the steps around each "before" and "after".

    "Never X before Y" and "X only before Y": where X is denied before Y, Y comes first.
    """
    for at, token in enumerate(sentence):
        if token.lower not in ("before", "after"):
            continue
        end = _find(sentence, at + 1, _BREAKS)
        is_head = at == 0 or (at == 1 and sentence[0].lower in _HEADS)
        near = sentence[at + 1 : end]
        if near and near[0].lower in _POINTERS:  # "…, and only after that …"
            yield sentence[:at], sentence[at + 2 :]
            continue
        far = sentence[end + 1 :] if is_head else sentence[:at]
        is_denied = _is_denied(far) or (is_head and sentence[0].lower == "never")
        if is_denied and token.lower == "after":
            continue  # "never after Y" says nothing of before
        is_turned = (token.lower == "after") != is_denied
        yield (near, far) if is_turned else (far, near)


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
            is_bare = not content_of(part, _MARKS)  # "first the cones, and afterwards, …"
            yield earlier, [*part, *following] if is_bare else part
        if _has_adverb(part, _FIRST):
            begins = number


def _has_adverb(part: Sequence[Token], adverbs: frozenset[str]) -> bool:
    """Return whether an adverb stands in a part, and no adjective: "the first floor"."""
    for at, token in enumerate(part):
        following = part[at + 1].lower if at + 1 < len(part) else ""
        is_led = at > 0 and part[at - 1].lower in DETERMINERS | {"at"}
        is_followed = not following or following in _BEHIND_ADVERBS
        is_behind_verb = at > 0 and part[at - 1].lower in AUXILIARIES
        if token.lower in adverbs and not is_led and (is_followed or is_behind_verb):
            return True
    return False


def _is_denied(tokens: Sequence[Token]) -> bool:
    """Return whether there is a negation, other than of a bound: "no later than"."""
    return any(
        token.lower in NEGATORS | {"cannot"}
        and not (at + 1 < len(tokens) and tokens[at + 1].lower in _BOUNDING)
        for at, token in enumerate(tokens)
    )


def _find(tokens: Sequence[Token], start: int, marks: frozenset[str]) -> int:
    """Return the place of the first mark from `start` on, the length where there is none."""
    return next((at for at in range(start, len(tokens)) if tokens[at].lower in marks), len(tokens))
