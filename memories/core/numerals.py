"""Read numbers in digits and words: "1,200.5", "250k", "two hundred", "two and a half"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memories.core.number_words import MAGNITUDES, NUMBER_WORDS
from memories.core.tokeniser import Token
from memories.core.units import CURRENCIES, TIME_SECONDS, magnitude_of

# "$300 K" are no kelvin, "5m EUR" no minutes.
_OF_MONEY = {"K": "k", "m": "M"}
_DECIMAL_COMMA = re.compile(r"\d{1,3},\d{1,2}")


def has_half(tokens: Sequence[Token], index: int) -> bool:
    """Return True for "and a half" at a token."""
    return [token.lower for token in tokens[index : index + 3]] == ["and", "a", "half"]


def number_at(tokens: Sequence[Token], index: int) -> tuple[int, float] | None:
    """Read a number at a token; return the index after it, and its value."""
    if index >= len(tokens):
        return None
    token = tokens[index]
    if token.kind == "number":
        is_decimal_comma = _DECIMAL_COMMA.fullmatch(token.text)
        digits = token.text.replace(",", "." if is_decimal_comma else "")
        if digits.count(".") > 1:
            return None
        value, index = float(digits), index + 1
        times = magnitude_at(tokens, index)
        return (index, value) if times is None else (index + 1, value * times)
    return _spelled_number(tokens, index)


def magnitude_at(tokens: Sequence[Token], index: int) -> float | None:
    """Return the factor that a token after a number stands for ("k", "million"), else None."""
    if index >= len(tokens):
        return None
    text = tokens[index].text
    if text in _OF_MONEY and _is_money(tokens, index):
        text = _OF_MONEY[text]
    return magnitude_of(text, attached=tokens[index].start == tokens[index - 1].end)


def _is_money(tokens: Sequence[Token], index: int) -> bool:
    beside = (*tokens[max(0, index - 2) : index - 1], *tokens[index + 1 : index + 2])
    return any(token.lower in CURRENCIES for token in beside)


def _spelled_number(tokens: Sequence[Token], index: int) -> tuple[int, float] | None:
    """Read "two hundred", "twenty five", "half an hour", "a dozen"."""
    lower = tokens[index].lower
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    if quarters := _quarters(tokens, index):
        return quarters
    if lower in ("a", "an"):
        return (index + 2, MAGNITUDES[following]) if following in ("dozen", "hundred") else None
    if lower not in NUMBER_WORDS:
        return None
    value = float(NUMBER_WORDS[lower])
    index += 1
    if lower == "half":
        is_time = index + 1 < len(tokens) and tokens[index + 1].lower in TIME_SECONDS
        return (index + 1, 0.5) if following in ("a", "an") and is_time else None
    if value >= 20 and following in NUMBER_WORDS and 0 < NUMBER_WORDS[following] < 10:
        value, index = value + NUMBER_WORDS[following], index + 1
    while index < len(tokens) and tokens[index].lower in ("hundred", "thousand", "million"):
        value, index = value * MAGNITUDES[tokens[index].lower], index + 1
    if has_half(tokens, index):  # "two and a half hours"
        value, index = value + 0.5, index + 3
    return index, value


def _quarters(tokens: Sequence[Token], index: int) -> tuple[int, float] | None:
    """Read "three quarters of a year"; return the index of the unit, and the number."""
    counts = {"quarter": 1, "a": 1, "one": 1, "three": 3}
    lowers = [token.lower for token in tokens[index : index + 5]]
    number = counts.get(lowers[0])
    if lowers[0] != "quarter":
        lowers, index = lowers[1:], index + 1
    is_part = lowers[:1] in (["quarter"], ["quarters"]) and lowers[1:2] == ["of"]
    if number is None or not is_part or lowers[2:3] not in (["a"], ["an"], ["the"]):
        return None
    is_time = index + 3 < len(tokens) and tokens[index + 3].lower in TIME_SECONDS
    return (index + 3, number / 4) if is_time else None
