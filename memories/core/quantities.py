"""Read numbers with units: "30 s", "two weeks", "250k EUR", "100 requests per minute".

`quantity_at` reads one quantity from a token list. Values are in the base unit of their
dimension (s, byte, m, kg, l, percent, celsius, count, a currency); rates carry "/s".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from memories.core.function_words import DETERMINERS, PREPOSITIONS, PRONOUNS
from memories.core.measures import Bound, Quantity
from memories.core.number_words import FREQUENCIES, NUMBER_WORDS
from memories.core.numerals import has_half, magnitude_at, number_at
from memories.core.tokeniser import Token
from memories.core.units import CURRENCIES, TIME_SECONDS, unit_of

# Adjectives of size and age: "larger than 10 MB" is a bound as "more than 10 MB" is. Those of speed
# are not: what is faster than a second takes less, what is faster than 80 km/h runs at more.
_GREATER = (
    "larger|bigger|greater|higher|longer|taller|wider|deeper|thicker|heavier|older|warmer|hotter"
)
_SMALLER = "smaller|lower|shorter|narrower|thinner|lighter|younger|cooler|colder|cheaper"


def _than(comparatives: str, before: str = "") -> str:
    """Return the phrases "larger than", or with "no " before "no larger than"."""
    return "|".join(f"{before}{word} than" for word in comparatives.split("|"))


_STRICT_PHRASES: dict[Bound, str] = {
    "most": f"less than|fewer than|under|below|<|{_than(_SMALLER)}",
    "least": f"more than|over|above|>|{_than(_GREATER)}",
}
_BOUND_PHRASES: dict[Bound, str] = {
    "most": "at most|up to|no more than|not more than|within|within the last|within the past"
    "|within the next|at maximum|a maximum of|maximum of|not over|not exceed|capped at|limited to"
    f"|max|maximum|<=|\u2264|{_than(_GREATER, 'no ')}|{_than(_GREATER, 'not ')}"
    f"|{_than(_GREATER, 'not be ')}|not be more than"
    f"|{_STRICT_PHRASES['most']}",
    "least": "at least|no less than|no fewer than|not less than|a minimum of|minimum of|at minimum"
    f"|no earlier than|min|minimum|>=|\u2265|{_than(_SMALLER, 'no ')}|{_than(_SMALLER, 'not ')}"
    f"|{_than(_SMALLER, 'not be ')}|not be less than|not be fewer than"
    f"|{_STRICT_PHRASES['least']}",
    "about": "about|around|approximately|approx|roughly|circa|ca|nearly|almost|some|~",
}
_AFTERWARDS: dict[str, Bound] = {
    **dict.fromkeys(("more", "older", "above", "over", "up", "longer", "higher"), "least"),
    **dict.fromkeys(("less", "fewer", "younger", "below", "under", "shorter", "lower"), "most"),
}
_BOUNDS = {
    tuple(phrase.split()): bound
    for bound, phrases in _BOUND_PHRASES.items()
    for phrase in phrases.split("|")
}
# Bounds that exclude the number itself.
_STRICT = frozenset(
    tuple(phrase.split()) for phrases in _STRICT_PHRASES.values() for phrase in phrases.split("|")
)
_SIGNS = frozenset(["minus", "negative"])
_BOUND_HEADS = frozenset(phrase[0] for phrase in _BOUNDS)
_RISES = frozenset(["went", "goes", "go", "gone", "rose", "moved", "came", "bumped", "scaled"])
_TURNS = {"other": 2.0, "second": 2.0, "third": 3.0, "fourth": 4.0, "fifth": 5.0}
_PER = frozenset(["per", "a", "an", "each", "every", "/"])


# All words that an amount can start with.
OPENERS = (
    _BOUND_HEADS
    | NUMBER_WORDS.keys()
    | FREQUENCIES.keys()
    | CURRENCIES.keys()
    | _SIGNS
    | {"a", "an", "quarter", "between", "half", "every", "each", "once", "twice", "thrice"}
)


def range_at(tokens: Sequence[Token], index: int) -> tuple[int, Quantity] | None:
    """Read "3-5 days", "3 to 5 days" or "between 3 and 5 days" that starts at a token."""
    start = index + (tokens[index].lower == "between")
    links = ("and",) if start > index else ("-", "\u2013", "to")
    low = _signed_at(tokens, start)
    if low is None:
        return None
    first = quantity_at(tokens, start)
    link = low[0] if first is None or first[1].unit == "count" else first[0]
    if link >= len(tokens) or tokens[link].lower not in links:
        return None
    high = _signed_at(tokens, link + 1)
    last = quantity_at(tokens, link + 1) if high else None
    if first is None or high is None or last is None or not high[1]:
        return None
    end, upper = last
    factor = upper.value / high[1] if first[1].unit == "count" else first[1].value / (low[1] or 1)
    value = low[1] * factor
    if value >= upper.value or first[1].unit not in ("count", upper.unit):
        return None
    text = between(tokens, start, end)
    return end, Quantity(value, upper.unit, text, "exact", upper.noun, upper.value)


def has_unit(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the token after a number is a unit or magnitude."""
    if index < 1 or index >= len(tokens):
        return False
    return magnitude_at(tokens, index) is not None or _unit(tokens, index) is not None


def bound_at(tokens: Sequence[Token], index: int) -> tuple[int, Bound, bool] | None:
    """Return length and meaning of a bounding phrase ("at most") right before a number.

    The last item is True when the number itself is excluded ("more than").
    """
    if tokens[index].lower not in _BOUND_HEADS:
        return None
    for length in (4, 3, 2, 1):
        words = tuple(token.lower for token in tokens[index : index + length])
        bound = _BOUNDS.get(words)
        risen = words == ("up", "to") and index and tokens[index - 1].lower in _RISES
        if bound and not risen and _starts_number(tokens, index + length):
            return length, bound, words in _STRICT
    return None


def bound_before_name(tokens: Sequence[Token], index: int) -> int:
    """Return the length of a bounding phrase before a named number ("at least Postgres 14")."""
    if tokens[index].lower not in _BOUND_HEADS:
        return 0
    for length in (3, 2):
        words = tuple(token.lower for token in tokens[index : index + length])
        following = tokens[index + length : index + length + 2]
        if words in _BOUNDS and [token.kind for token in following] == ["word", "number"]:
            return length
    return 0


def _starts_number(tokens: Sequence[Token], index: int) -> bool:
    if index < len(tokens) and tokens[index].lower in CURRENCIES:
        index += 1
    if index >= len(tokens):
        return False
    token = tokens[index]
    if token.kind == "number" or _sign(tokens, index):
        return True
    if token.lower in ("a", "an", "one") and index + 1 < len(tokens):
        return tokens[index + 1].lower in TIME_SECONDS
    return token.lower in NUMBER_WORDS


def quantity_at(
    tokens: Sequence[Token], index: int, bound: Bound = "exact"
) -> tuple[int, Quantity] | None:
    """Read a quantity that starts at a token.

    Parameters
    ----------
    tokens : sequence of Token
        The tokens of one clause.
    index : int
        Index of the number, number word, currency sign or frequency word.
    bound : str
        The bound given by the words before.

    Returns
    -------
    tuple of int and Quantity, or None
        The index after the quantity, and the quantity.
    """
    first = tokens[index]
    if worded := _read_worded(tokens, index):
        return _and_a_half(tokens, *worded, number=1.0)
    sign = -1.0 if _sign(tokens, index) else 1.0
    start = index + 1 if sign < 0 else index
    currency = CURRENCIES.get(tokens[start].lower) if tokens[start].kind != "number" else None
    number = number_at(tokens, start + 1 if currency else start)
    if number is None:
        return None if currency or sign < 0 else _adverb(tokens, index)
    end, value = number[0], sign * number[1]
    unit, factor, noun = "count", 1.0, ""
    if currency:
        unit = currency
    elif found := _unit(tokens, end):
        end, unit, factor = found
    else:
        noun = _noun(tokens, end)
        has_rate = end < len(tokens) and tokens[end].lower == "per"
        if first.lower == "one" and noun in ("", "way", "side", "hand") and not has_rate:
            return None  # "the one who", "one of them": a pronoun, not an amount
    value *= factor
    if not math.isfinite(value):
        return None
    if rate := _rate(tokens, end, skip_noun=bool(noun)) or _money_rate(tokens, end, unit):
        rate_end, seconds, adjacent = rate
        unit, value = f"{unit}/s", value / seconds
        text = between(tokens, index, rate_end)
        end = rate_end if adjacent or noun in ("time", "times") else end
    else:
        text = between(tokens, index, end)
    quantity = Quantity(value, unit, text, bound, noun)
    return _bound_after(tokens, end, quantity) or _and_a_half(
        tokens, end, quantity, number=number[1]
    )


def _bound_after(
    tokens: Sequence[Token], end: int, quantity: Quantity
) -> tuple[int, Quantity] | None:
    """Read a bound behind an amount: "18 or older", "10 kg and more"."""
    words = [token.lower for token in tokens[end : end + 2]]
    bound = _AFTERWARDS.get(words[1]) if len(words) == 2 and words[0] in ("or", "and") else None
    if bound is None or quantity.bound != "exact":
        return None
    noun = _noun(tokens, end + 2) if quantity.unit == "count" else ""
    return end + 2, replace(quantity, bound=bound, noun=noun)


def _and_a_half(
    tokens: Sequence[Token], end: int, quantity: Quantity, *, number: float
) -> tuple[int, Quantity]:
    """Add a half after the unit: "a minute and a half", "two hours and a half"."""
    if not has_half(tokens, end) or quantity.unit == "count" or not number:
        return end, quantity
    value = quantity.value * (number + 0.5) / number
    return end + 3, replace(quantity, value=value, text=f"{quantity.text} and a half")


def _read_worded(tokens: Sequence[Token], index: int) -> tuple[int, Quantity] | None:
    """Read amounts without a number: "weekly", "every 5 minutes", "half of"."""
    first = tokens[index]
    if first.lower in FREQUENCIES:
        return index + 1, Quantity(FREQUENCIES[first.lower], "count/s", first.text)
    if first.lower == "half" and index + 1 < len(tokens) and tokens[index + 1].lower == "of":
        return index + 1, Quantity(50.0, "percent", first.text)
    if first.lower in ("a", "an") and has_half(tokens, index + 2):
        seconds = TIME_SECONDS.get(tokens[index + 1].lower)  # "a minute and a half"
        text = between(tokens, index, index + 2)
        return (index + 2, Quantity(seconds, "s", text)) if seconds else None
    return _every(tokens, index) if first.lower in ("every", "each") else None


def _signed_at(tokens: Sequence[Token], index: int) -> tuple[int, float] | None:
    """Return the end and value of a number, which may have a sign, that starts at a token."""
    has_sign = index < len(tokens) and _sign(tokens, index)
    start = index + has_sign
    number = number_at(tokens, start) if start < len(tokens) else None
    return number and (number[0], -number[1] if has_sign else number[1])


def _sign(tokens: Sequence[Token], index: int) -> bool:
    """Return whether "minus", "negative" or an attached minus sign is before a number."""
    token, following = tokens[index], tokens[index + 1 : index + 2]
    if not following:
        return False
    is_money = following[0].lower in CURRENCIES and index + 2 < len(tokens)
    number = tokens[index + 2] if is_money else following[0]
    is_number = number.kind == "number" or number.lower in NUMBER_WORDS
    if token.lower in _SIGNS:
        return is_number
    is_apart = index == 0 or tokens[index - 1].end < token.start or tokens[index - 1].text in "<>"
    is_glued = following[0].start == token.end
    return token.text in ("-", "\u2013") and is_number and is_glued and is_apart


def between(tokens: Sequence[Token], start: int, end: int) -> str:
    """Return the text of some tokens, with blanks where the text has them."""
    words: list[str] = []
    for token, following in zip(tokens[start:end], [*tokens[start + 1 : end], None], strict=True):
        glued = following is not None and following.start == token.end
        words.append(token.text if glued or following is None else token.text + " ")
    return "".join(words)


def _unit(tokens: Sequence[Token], index: int) -> tuple[int, str, float] | None:
    """Read the unit after a number; return the index after it, base unit and factor."""
    if index >= len(tokens):
        return None
    if tokens[index].text == "-" and tokens[index].start == tokens[index - 1].end:
        index += 1  # "30-second timeout"
        if index >= len(tokens):
            return None
    return _unit_of_words(tokens, index) or _unit_of_symbol(tokens, index)


def _unit_of_words(tokens: Sequence[Token], index: int) -> tuple[int, str, float] | None:
    """Read units of two tokens: "°C", "degrees Celsius", "working days", "per cent", "km/h"."""
    lower = tokens[index].lower
    following = tokens[index + 1].lower if index + 1 < len(tokens) else ""
    if lower in ("°", "degree", "degrees"):
        # Fahrenheit needs an offset: kept as its own unit rather than converted wrongly.
        scale = "fahrenheit" if following in ("f", "fahrenheit") else "celsius"
        is_named = following in ("c", "f", "celsius", "fahrenheit")
        return index + 1 + is_named, scale, 1.0
    if lower in ("work", "working", "business") and following in ("day", "days"):
        return index + 2, "working day", 1.0
    if lower == "per" and following == "cent":
        return index + 2, "percent", 1.0
    if lower in ("km", "m") and _is_speed(tokens, index):
        return index + 3, "m/s", 1 / 3.6 if lower == "km" else 1.0
    return None


def _unit_of_symbol(tokens: Sequence[Token], index: int) -> tuple[int, str, float] | None:
    token = tokens[index]
    attached = token.start == tokens[index - 1].end
    found = unit_of(token.text, attached=attached)
    if found is None:
        return None
    if attached and token.text == "m":
        return index + 1, "s", 60.0  # "5m" is minutes; metres are written apart
    return index + 1, found[0], found[1]


def _is_speed(tokens: Sequence[Token], index: int) -> bool:
    return (
        index + 2 < len(tokens)
        and tokens[index + 1].text == "/"
        and tokens[index + 2].lower in ("h", "s")
    )


def _noun(tokens: Sequence[Token], index: int) -> str:
    if index >= len(tokens) or tokens[index].kind != "word":
        return ""
    lower = tokens[index].lower
    if lower in PREPOSITIONS or lower in DETERMINERS or lower in PRONOUNS or not lower.isalpha():
        return ""
    return lower


def _rate(
    tokens: Sequence[Token], index: int, *, skip_noun: bool
) -> tuple[int, float, bool] | None:
    """Read "per second", "/s", "a day" after a number (and after the counted noun)."""
    for offset in (0, 1) if skip_noun else (0,):
        at = index + offset
        if at + 1 < len(tokens) and tokens[at].lower in _PER:
            name = tokens[at + 1].lower
            seconds = TIME_SECONDS.get(name)
            if seconds and name not in ("ms", "d", "us"):
                return at + 2, seconds, offset == 0
    return None


def _money_rate(tokens: Sequence[Token], index: int, unit: str) -> tuple[int, float, bool] | None:
    """Read the adverb after a sum of money: "600 euros monthly"."""
    often = FREQUENCIES.get(tokens[index].lower) if index < len(tokens) else None
    return (index + 1, 1 / often, True) if often and unit in CURRENCIES.values() else None


def _every(tokens: Sequence[Token], index: int) -> tuple[int, Quantity] | None:
    """Read a frequency: "every 5 minutes", "every other week", "each night"."""
    if index + 1 >= len(tokens):
        return None
    turn = _TURNS.get(tokens[index + 1].lower)
    is_turn = turn and index + 2 < len(tokens) and tokens[index + 2].lower in TIME_SECONDS
    if tokens[index + 1].lower in TIME_SECONDS and not is_turn:  # "every second hour" is a turn
        seconds = TIME_SECONDS[tokens[index + 1].lower]
        return index + 2, Quantity(1 / seconds, "count/s", between(tokens, index, index + 2))
    if tokens[index + 1].lower == "half" and index + 2 < len(tokens):  # "every half hour"
        seconds = TIME_SECONDS.get(tokens[index + 2].lower, 0.0)
        text = between(tokens, index, index + 3)
        return (index + 3, Quantity(2 / seconds, "count/s", text)) if seconds else None
    number = number_at(tokens, index + 1)
    if turn and (is_turn or number is None):
        number = (index + 2, turn)
    if number is None:
        return None
    unit = _unit(tokens, number[0])
    if unit is None or unit[1] != "s" or not number[1]:
        return None
    rate = 1 / (number[1] * unit[2])
    return unit[0], Quantity(rate, "count/s", between(tokens, index, unit[0]))


def _adverb(tokens: Sequence[Token], index: int) -> tuple[int, Quantity] | None:
    """Read "once a day", "twice", and "an hour" as one hour after a preposition."""
    lower = tokens[index].lower
    times = {"once": 1.0, "twice": 2.0, "thrice": 3.0}.get(lower)
    if times:
        if rate := _rate(tokens, index + 1, skip_noun=False):
            end, seconds, _ = rate
            return end, Quantity(times / seconds, "count/s", between(tokens, index, end))
        return (
            (index + 1, Quantity(times, "count", tokens[index].text, noun="times"))
            if (lower != "once")
            else None
        )
    if (
        lower in ("a", "an")
        and 0 < index < len(tokens) - 1
        and tokens[index + 1].lower in TIME_SECONDS
        and len(tokens[index + 1].lower) > 2
        and tokens[index - 1].lower in ("after", "for", "within", "in", "every", "last", "until")
    ):
        seconds = TIME_SECONDS[tokens[index + 1].lower]
        return index + 2, Quantity(seconds, "s", between(tokens, index, index + 2))
    return None
