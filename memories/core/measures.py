"""Compare quantities, numbers with units: do they agree, or exclude each other?"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Literal

from memories.core.units import unit_of

Bound = Literal["exact", "most", "least", "about"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit.

    Attributes
    ----------
    value : float
        Finite, in the base unit (30000 ms has value 30.0 and unit "s").
    unit : str
        Base unit; "count" for a bare number, "…/s" for a rate.
    text : str
        As written.
    bound : {"exact", "most", "least", "about"}
        The bound given by the words before the number ("at most 5").
    noun : str
        For counts, the lower-case word that follows ("replicas"), else "".
    upper : float or None
        Upper end of a range ("3-5 days"), None for a single number.
    is_strict : bool
        True where the bound itself is excluded ("below 5", "more than 5").
    """

    value: float
    unit: str
    text: str
    bound: Bound = "exact"
    noun: str = ""
    upper: float | None = None
    is_strict: bool = False


# Base unit, names of units with more than one size, the largest relative difference of the sizes.
_LOOSE = (
    ("s", frozenset(["month", "quarter", "year", "yr", "decade"]), 0.04),
    ("kg", frozenset(["ton"]), 0.11),
)
# Units that people convert and round: "50 mph" is written as "80 km/h".
_CUSTOMARY = frozenset(
    ["mph", "mile", "miles", "foot", "feet", "ft", "inch", "inches", "yard", "yards", "lb", "lbs",
     "pound", "pounds", "oz", "ounce", "ounces", "gallon", "gallons", "psi"]
)  # fmt: skip
_ROUNDING = 0.01
_DIGITS = re.compile(r"\d[\d,]*+(?:\.\d++)?+")
_NAME = re.compile(r"[a-z]+")
# Larger counts are identifiers; floats would lose their last digits.
EXACT_FROM = 1e9


def agree(a: Quantity, b: Quantity) -> bool:
    """Return whether two quantities of one unit have the same value."""
    if (a.upper is None) != (b.upper is None):
        return False
    if a.upper is not None and b.upper is not None and not _close(a, b, a.upper, b.upper):
        return False
    return _close(a, b, a.value, b.value)


def bounds_agree(a: Quantity, b: Quantity) -> bool:
    """Return whether the bounds agree; "under" and "at most" do except for counts."""
    if a.bound != b.bound:
        return False
    return a.is_strict == b.is_strict or not (a.unit == "count" or a.value == 0)


def _close(a: Quantity, b: Quantity, x: float, y: float) -> bool:
    if a.unit == "count" and max(abs(x), abs(y)) >= EXACT_FROM:
        return a.text == b.text  # numbers of orders, builds, accounts: each digit counts
    return math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-12)


def is_near(a: Quantity, b: Quantity) -> bool:
    """Return whether two quantities may be equal in loose use of a unit, but not in exact use.

    "A month" and "30 days", "5 tons" and "5 tonnes", "1 TB" and "1 TiB", "50 mph" and "80 km/h".
    """
    if (a.upper is None) != (b.upper is None):
        return False
    is_upper_near = a.upper is None or b.upper is None or _may_be_one(a, b, a.upper, b.upper)
    return is_upper_near and _may_be_one(a, b, a.value, b.value)


def _may_be_one(a: Quantity, b: Quantity, x: float, y: float) -> bool:
    if a.unit.startswith("byte") and x and y:
        ratio = max(x, y) / min(x, y)
        return any(math.isclose(ratio, 1.024**power, rel_tol=1e-6) for power in (1, 2, 3, 4, 5))
    if _says(a, _CUSTOMARY) != _says(b, _CUSTOMARY) and _are_rounded(a, b, x, y):
        return True
    return any(
        a.unit == unit and _says(a, words) != _says(b, words) and math.isclose(x, y, rel_tol=most)
        for unit, words, most in _LOOSE
    )


def _are_rounded(a: Quantity, b: Quantity, x: float, y: float) -> bool:
    """Return whether two values differ by at most half the last digit of the more exact one."""
    finest = min(_last_digit(a), _last_digit(b))
    return math.isclose(x, y, rel_tol=_ROUNDING) and abs(x - y) <= finest / 2 * (1 + 1e-9)


def _last_digit(quantity: Quantity) -> float:
    """Return the value of the last significant digit in base units: 10 km/h for "80 km/h".

    Final zeros are significant only after a decimal point.
    """
    found = _DIGITS.search(quantity.text)
    digits = found[0].replace(",", "") if found else ""
    if not digits or not float(digits):
        return abs(quantity.value)
    whole, _, decimals = digits.partition(".")
    zeros = -len(decimals) if decimals else len(whole) - len(whole.rstrip("0"))
    return abs(quantity.value) / float(digits) * 10.0**zeros


def conflict(a: Quantity, b: Quantity) -> bool:
    """Return whether two quantities of one unit cannot both be true of one thing.

    "at least 5" and "7" can; "at most 5" and "7" cannot; a number inside a range can.
    """
    low_a, high_a = _span(a)
    low_b, high_b = _span(b)
    if agree(a, b):
        return {a.bound, b.bound} == {"most", "least"} or _leaves_out(a, b) or _leaves_out(b, a)
    if is_near(a, b):
        return False
    if a.upper is not None and b.upper is not None:
        return True
    if a.bound == b.bound and a.upper is None and b.upper is None:
        return a.bound != "about" or not math.isclose(a.value, b.value, rel_tol=0.1)
    return high_a < low_b or high_b < low_a


def denial(quantity: Quantity) -> Quantity | None:
    """Return what holds where a quantity is denied: not "more than 5" is "at most 5".

    None where the denial says nothing else, as of a plain amount.
    """
    if quantity.bound != "least" or quantity.upper is not None:
        return None
    return replace(quantity, bound="most", is_strict=not quantity.is_strict)


def _leaves_out(strict: Quantity, exact: Quantity) -> bool:
    """Return True for "below zero" beside "zero", "more than 5" beside "5"."""
    is_counted = strict.unit == "count" or strict.value == 0
    return strict.is_strict and exact.bound == "exact" and is_counted


def _span(quantity: Quantity) -> tuple[float, float]:
    """Return the lowest and highest value that a quantity allows."""
    value = quantity.value
    if quantity.upper is not None:
        return value, quantity.upper
    slack = abs(value) * 0.1
    return {
        "exact": (value, value),
        "about": (value - slack, value + slack),
        "most": (-math.inf, value),
        "least": (value, math.inf),
    }[quantity.bound]


def describe(quantity: Quantity) -> str:
    """Return a quantity with its bound, as text for a reason."""
    if quantity.bound == "exact":
        return quantity.text
    strict = {"most": "below", "least": "above"}
    words = {"most": "at most", "least": "at least", "about": "about"} | (
        strict if quantity.is_strict else {}
    )
    return f"{words[quantity.bound]} {quantity.text}"


def amount(quantity: Quantity) -> str:
    """Return a quantity without its bound, equal for equal amounts: "30 s"."""
    return key(replace(quantity, bound="exact", is_strict=False))


def share(quantity: Quantity) -> Quantity | None:
    """Return a bare number between 0 and 1 as a percentage (ratio 0.05 is 5 %), None for others."""
    if quantity.unit == "count" and 0 < quantity.value <= 1 and not quantity.noun:
        return Quantity(quantity.value * 100, "percent", quantity.text, quantity.bound)
    return None


def _says(quantity: Quantity, words: frozenset[str]) -> bool:
    names = _NAME.findall(quantity.text.lower())
    return any(name in words or name.removesuffix("s") in words for name in names)


def key(quantity: Quantity) -> str:
    """Return a key that is equal for equal quantities: "30 s", "86400 s"."""
    upper = "" if quantity.upper is None else f"..{quantity.upper:.12g}"
    bound = "" if quantity.bound == "exact" else f"{quantity.bound} "
    if quantity.is_strict and (quantity.unit == "count" or quantity.value == 0):
        bound = f"strictly {bound}"
    return f"{bound}{quantity.value:.12g}{upper} {quantity.unit}"


def rescale(quantity: Quantity, unit_name: str) -> Quantity:
    """Return a bare number with the unit of its setting's name (timeout_ms = 30000)."""
    unit, factor = unit_of(unit_name, attached=True) or (quantity.unit, 1.0)
    return replace(quantity, value=quantity.value * factor, unit=unit)
