"""Units of measure and number words, each with its base unit and factor."""

from __future__ import annotations

_TIME = {
    "s": 1.0, "sec": 1.0, "second": 1.0, "ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3,
    "us": 1e-6, "μs": 1e-6, "microsecond": 1e-6, "ns": 1e-9, "nanosecond": 1e-9,
    "min": 60.0, "minute": 60.0, "h": 3600.0, "hr": 3600.0, "hour": 3600.0,
    "d": 86400.0, "day": 86400.0, "night": 86400.0, "week": 604800.0, "wk": 604800.0,
    "fortnight": 1209600.0, "month": 2629746.0, "quarter": 7889238.0,
    "year": 31556952.0, "yr": 31556952.0, "decade": 315569520.0,
}  # fmt: skip
_BYTES = {
    "byte": 1.0, "b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "pb": 1e15,
    "kilobyte": 1e3, "megabyte": 1e6, "gigabyte": 1e9, "terabyte": 1e12, "gig": 1e9,
    "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30, "tib": 2.0**40,
    "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30, "ti": 2.0**40,
}  # fmt: skip
_BITS = {"bit": 0.125, "kbit": 125.0, "mbit": 125e3, "gbit": 125e6, "tbit": 125e9}
_LENGTH = {
    "m": 1.0, "meter": 1.0, "metre": 1.0, "cm": 0.01, "centimeter": 0.01, "centimetre": 0.01,
    "mm": 1e-3, "millimeter": 1e-3, "millimetre": 1e-3, "km": 1e3, "kilometer": 1e3,
    "kilometre": 1e3, "inch": 0.0254, "inche": 0.0254, "foot": 0.3048, "feet": 0.3048,
    "ft": 0.3048, "yard": 0.9144, "mile": 1609.344,
}  # fmt: skip
_WEIGHT = {
    "kg": 1.0, "kilo": 1.0, "kilogram": 1.0, "g": 1e-3, "gram": 1e-3, "mg": 1e-6,
    "milligram": 1e-6, "t": 1e3, "tonne": 1e3, "ton": 1e3, "lb": 0.45359237,
    "pound": 0.45359237, "oz": 0.028349523, "ounce": 0.028349523, "mcg": 1e-9, "μg": 1e-9,
}  # fmt: skip
_VOLUME = {
    "l": 1.0, "liter": 1.0, "litre": 1.0, "ml": 1e-3, "milliliter": 1e-3, "millilitre": 1e-3,
    "cl": 0.01, "dl": 0.1, "gallon": 3.785411784,
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
    "celsius": ("celsius", 1.0), "hz": ("hz", 1.0), "khz": ("hz", 1e3), "mhz": ("hz", 1e6),
    "ghz": ("hz", 1e9), "watt": ("watt", 1.0), "kw": ("watt", 1e3), "kilowatt": ("watt", 1e3),
    "mw": ("watt", 1e6), "wh": ("watt-hour", 1.0), "kwh": ("watt-hour", 1e3),
    "mwh": ("watt-hour", 1e6), "volt": ("volt", 1.0), "v": ("volt", 1.0), "kv": ("volt", 1e3),
    "amp": ("ampere", 1.0), "ampere": ("ampere", 1.0), "ma": ("ampere", 1e-3),
    "mah": ("ampere-hour", 1e-3), "px": ("pixel", 1.0), "pixel": ("pixel", 1.0),
    "db": ("decibel", 1.0), "bar": ("pascal", 1e5), "pa": ("pascal", 1.0),
    "hpa": ("pascal", 100.0), "kpa": ("pascal", 1e3), "psi": ("pascal", 6894.757),
    "kcal": ("kcal", 1.0), "m2": ("m2", 1.0), "m²": ("m2", 1.0), "sqm": ("m2", 1.0),
    "hectare": ("m2", 1e4), "ha": ("m2", 1e4), "kph": ("m/s", 1 / 3.6), "mph": ("m/s", 0.44704),
    "ppm": ("percent", 1e-4), "rps": ("count/s", 1.0), "qps": ("count/s", 1.0),
    "tps": ("count/s", 1.0), "iops": ("count/s", 1.0), "fps": ("count/s", 1.0),
    "rpm": ("count/s", 1 / 60), "kbps": ("byte/s", 125.0), "mbps": ("byte/s", 125e3),
    "gbps": ("byte/s", 125e6),
}  # fmt: skip

TIME_SECONDS = _TIME
CURRENCIES = _MONEY
UNITS: dict[str, tuple[str, float]] = {
    **{name: ("s", factor) for name, factor in _TIME.items()},
    **{name: ("byte", factor) for name, factor in _BYTES.items()},
    **{name: ("byte", factor) for name, factor in _BITS.items()},
    **{name: ("m", factor) for name, factor in _LENGTH.items()},
    **{name: ("kg", factor) for name, factor in _WEIGHT.items()},
    **{name: ("l", factor) for name, factor in _VOLUME.items()},
    **{name: (currency, 1.0) for name, currency in _MONEY.items()},
    **_OTHER,
}
# Units that mean themselves only when written onto the number ("14d", "30s", "5b").
ATTACHED_ONLY = frozenset(["d", "b", "v", "ma", "ha", "bar", "t", "db", "us", "mi", "ti", "pa"])
# What may follow a number inside a setting's name: gateway_timeout_ms = 30000.
NAME_SUFFIXES = {
    "ms": "ms", "millis": "ms", "secs": "s", "sec": "s", "seconds": "s", "s": "s",
    "mins": "min", "minutes": "min", "hours": "h", "days": "day", "weeks": "week",
    "bytes": "byte", "kb": "kb", "mb": "mb", "gb": "gb", "kib": "kib", "mib": "mib",
    "gib": "gib", "percent": "%", "pct": "%", "usd": "usd", "eur": "eur", "cm": "cm", "mm": "mm",
    "kg": "kg",
}  # fmt: skip
MAGNITUDES = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "bn": 1e9,
    "billion": 1e9, "hundred": 1e2, "dozen": 12.0, "trillion": 1e12,
}  # fmt: skip
NUMBER_WORDS: dict[str, float] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
    "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "half": 0.5,
}  # fmt: skip
FREQUENCIES: dict[str, float] = {
    "hourly": 1 / 3600, "daily": 1 / 86400, "nightly": 1 / 86400, "weekly": 1 / 604800,
    "fortnightly": 1 / 1209600, "biweekly": 1 / 1209600, "monthly": 1 / 2629746,
    "quarterly": 1 / 7889238, "yearly": 1 / 31556952, "annually": 1 / 31556952,
    "annual": 1 / 31556952,
}  # fmt: skip
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip

# Spellings that only their case tells from another unit: "Mb" is a megabit, "mW" a milliwatt.
_CASED: dict[str, tuple[str, float]] = {
    **{f"{prefix}b": ("byte", _BITS[f"{prefix.lower()}bit"]) for prefix in "KMGT"},
    **{f"{prefix}Bps": ("byte/s", _BYTES[f"{prefix.lower()}b"]) for prefix in "kKMGT"},
    "mW": ("watt", 1e-3), "mV": ("volt", 1e-3), "mHz": ("hz", 1e-3), "MV": ("volt", 1e6),
    "MA": ("ampere", 1e6), "mPa": ("pascal", 1e-3), "MPa": ("pascal", 1e6),
}  # fmt: skip


def unit_of(word: str, *, attached: bool = False) -> tuple[str, float] | None:
    """Base unit and factor of a unit's spelling, or None."""
    if word in _CASED:
        return _CASED[word]
    lower = word.lower()
    if lower in ATTACHED_ONLY and not attached and word not in {"V", "mA", "dB", "GB", "Mi", "Ti"}:
        return None
    found = UNITS.get(lower)
    if found is None and len(lower) > 3 and lower.endswith("s"):
        found = UNITS.get(lower[:-1])
    if found is None and lower in {"hrs", "yrs", "wks", "lbs"}:
        found = UNITS.get(lower[:-1])
    if word == "W":
        return ("watt", 1.0)
    if lower == "w" and attached:
        return ("s", 604800.0)
    return found
