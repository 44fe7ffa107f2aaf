"""Look up units of measure: base unit and factor."""

from __future__ import annotations

from memories.core.number_words import MAGNITUDES
from memories.core.symbols import POWERS, PREFIXES, SYMBOLS, symbol_of

_TIME = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3,
    "us": 1e-6, "μs": 1e-6, "microsecond": 1e-6, "ns": 1e-9, "nanosecond": 1e-9,
    "min": 60.0, "minute": 60.0, "h": 3600.0, "hr": 3600.0, "hour": 3600.0,
    "d": 86400.0, "day": 86400.0, "night": 86400.0, "week": 604800.0, "wk": 604800.0,
    "fortnight": 1209600.0, "month": 2629746.0, "quarter": 7889238.0,
    "year": 31556952.0, "yr": 31556952.0, "decade": 315569520.0,
}  # fmt: skip
# Names and symbols of units with prefixes; those that are ordinary words need a prefix.
_PREFIX_NAMES = {
    "femto": "f", "pico": "p", "nano": "n", "micro": "μ", "milli": "m", "centi": "c", "deci": "d",
    "": ".", "hecto": "h", "kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P",
}  # fmt: skip
_METRIC_NAMES = {
    "second": "s", "meter": "m", "metre": "m", "gram": "g", "gramme": "g", "tonne": "t",
    "liter": "l", "litre": "l", "byte": "B", "bit": "b", "hertz": "Hz", "watt": "W", "volt": "V",
    "amp": "A", "ampere": "A", "joule": "J", "newton": "N", "pascal": "Pa", "ohm": "Ω",
    "farad": "F", "sievert": "Sv", "becquerel": "Bq", "kelvin": "K", "electronvolt": "eV",
    "mole": "mol", "gray": "Gy", "tesla": "T", "henry": "H", "siemens": "S", "calorie": "cal",
    "bar": "bar",
}  # fmt: skip
_ORDINARY_WORDS = frozenset(["mole", "gray", "tesla", "henry", "siemens", "calorie", "bar"])
_BINARY_NAMES = {"kibi": 2.0**10, "mebi": 2.0**20, "gibi": 2.0**30, "tebi": 2.0**40}
# "ton" may be short, long or metric: see `measures.is_near`.
SHORT_TON = 907.18474
_LENGTH = {
    "inch": 0.0254, "inche": 0.0254, "foot": 0.3048, "feet": 0.3048, "ft": 0.3048, "yard": 0.9144,
    "mile": 1609.344, "nmi": 1852.0,
}  # fmt: skip
_WEIGHT = {
    "kilo": 1.0, "ton": SHORT_TON, "lb": 0.45359237, "pound": 0.45359237, "oz": 0.028349523,
    "ounce": 0.028349523, "mcg": 1e-9,
}  # fmt: skip
_MONEY = {
    "$": "usd", "usd": "usd", "dollar": "usd", "buck": "usd", "€": "eur", "eur": "eur",
    "euro": "eur", "£": "gbp", "gbp": "gbp", "quid": "gbp", "¥": "jpy", "jpy": "jpy",
    "yen": "jpy", "chf": "chf", "franc": "chf", "inr": "inr", "sek": "sek", "nok": "nok",
    "dkk": "dkk", "cad": "cad", "aud": "aud", "cny": "cny", "pln": "pln", "₹": "inr",
}  # fmt: skip
_OTHER: dict[str, tuple[str, float]] = {
    "%": ("percent", 1.0), "percent": ("percent", 1.0), "pct": ("percent", 1.0),
    "percentage": ("percent", 1.0), "permille": ("percent", 0.1), "‰": ("percent", 0.1),
    "ppm": ("percent", 1e-4), "celsius": ("celsius", 1.0), "gig": ("byte", 1e9),
    "gallon": ("l", 3.785411784), "px": ("pixel", 1.0), "pixel": ("pixel", 1.0),
    "psi": ("pascal", 6894.757), "horsepower": ("watt", 745.7),
    "bar": ("pascal", 1e5), "m2": ("m2", 1.0), "m²": ("m2", 1.0), "m3": ("l", 1e3),
    "m³": ("l", 1e3), "sqm": ("m2", 1.0), "hectare": ("m2", 1e4), "ha": ("m2", 1e4),
    "kph": ("m/s", 1 / 3.6), "mph": ("m/s", 0.44704), "knot": ("m/s", 0.514444),
    "rps": ("count/s", 1.0), "qps": ("count/s", 1.0), "tps": ("count/s", 1.0),
    "iops": ("count/s", 1.0), "fps": ("count/s", 1.0), "rpm": ("count/s", 1 / 60),
}  # fmt: skip


def _metric_names() -> dict[str, tuple[str, float]]:
    named = {}
    for name, symbol in _METRIC_NAMES.items():
        alone = _alone(symbol)
        for lead, prefix in _PREFIX_NAMES.items():
            if lead or name not in _ORDINARY_WORDS:
                named[lead + name] = (alone[0], alone[1] * PREFIXES[prefix])
    for lead, size in _BINARY_NAMES.items():
        named |= {f"{lead}byte": ("byte", size), f"{lead}bit": ("byte", size / 8)}
    return named


def _alone(symbol: str) -> tuple[str, float]:
    """Return base unit and factor of a symbol without a prefix, which the table may lack."""
    if symbol in SYMBOLS:
        return SYMBOLS[symbol].unit, SYMBOLS[symbol].factor
    milli = SYMBOLS[f"m{symbol}"]
    return milli.unit, milli.factor / PREFIXES["m"]


TIME_SECONDS = _TIME
CURRENCIES = _MONEY
# By name, in lower case; symbols are in `symbols.SYMBOLS`, by their case.
UNITS: dict[str, tuple[str, float]] = {
    **_metric_names(),
    **{name: ("s", factor) for name, factor in _TIME.items()},
    **{name: ("m", factor) for name, factor in _LENGTH.items()},
    **{name: ("kg", factor) for name, factor in _WEIGHT.items()},
    **{name: (currency, 1.0) for name, currency in _MONEY.items()},
    **_OTHER,
}
# Ordinary words, which are units only when attached to the number ("14d"), or with capitals.
ATTACHED_ONLY = frozenset(["d", "v", "w", "ma", "ha", "bar", "db", "us", "gi", "ti", "pa"])
# Units at the end of a setting's name: gateway_timeout_ms = 30000.
NAME_SUFFIXES = {
    "ms": "ms", "millis": "ms", "secs": "s", "sec": "s", "seconds": "s", "s": "s",
    "mins": "min", "minutes": "min", "hours": "h", "days": "day", "weeks": "week",
    "bytes": "byte", "kb": "kB", "mb": "MB", "gb": "GB", "kib": "KiB", "mib": "MiB",
    "gib": "GiB", "percent": "%", "pct": "%", "usd": "usd", "eur": "eur", "cm": "cm", "mm": "mm",
    "kg": "kg",
}  # fmt: skip


def unit_of(word: str, *, attached: bool = False) -> tuple[str, float] | None:
    """Return base unit and factor of a unit after a number, None when the word is not one.

    `attached`: it is written without a space after the number.
    """
    lower = word.lower()
    if not attached and lower in ATTACHED_ONLY and (word == lower or word not in SYMBOLS):
        return None
    if attached and word == "b":
        return None  # "a 7b model"
    symbol = symbol_of(word, attached=attached)
    if symbol is not None and (word in SYMBOLS or symbol.is_usual):
        return (symbol.unit, symbol.factor) if symbol.unit else None
    found = UNITS.get(lower)
    if found is None and len(lower) > 3 and lower.endswith("s"):
        found = UNITS.get(lower[:-1])
    if found is None and lower in {"hrs", "yrs", "wks", "lbs"}:
        found = UNITS.get(lower[:-1])
    return found or _quotient(word) or _power(word)


def magnitude_of(word: str, *, attached: bool = False) -> float | None:
    """Return the factor of a magnitude after a number ("k", "million"), None for other words."""
    symbol = symbol_of(word, attached=attached)
    if symbol is not None and not symbol.unit:
        return symbol.factor
    return MAGNITUDES.get(word.lower())


def _quotient(word: str) -> tuple[str, float] | None:
    """Read "mg/dl", "kJ/mol", "m³/h"."""
    upper, _, below = word.partition("/")
    over = unit_of(upper) if below and "/" not in below else None
    under = unit_of(below, attached=True) if over else None
    if over is None or under is None:
        return None
    return f"{over[0]}/{under[0]}", over[1] / under[1]


def _power(word: str) -> tuple[str, float] | None:
    """Read "mm²", "m3", in square metres and litres."""
    symbol = SYMBOLS.get(word[:-1])
    if symbol is None or symbol.unit != "m" or word[-1] not in POWERS:
        return None
    return ("m2", symbol.factor**2) if word[-1] in "2²" else ("l", 1e3 * symbol.factor**3)
