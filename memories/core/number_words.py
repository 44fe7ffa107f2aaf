"""List words for numbers, ordinals and frequencies, with their values."""

from __future__ import annotations

from memories.core.function_words import words_of

MAGNITUDES = {
    "thousand": 1e3, "mio": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9, "hundred": 1e2,
    "dozen": 12.0, "trillion": 1e12,
}  # fmt: skip
NUMBER_WORDS: dict[str, float] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
    "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "half": 0.5,
}  # fmt: skip
# Times a second.
FREQUENCIES: dict[str, float] = {
    "hourly": 1 / 3600, "daily": 1 / 86400, "nightly": 1 / 86400, "weekly": 1 / 604800,
    "fortnightly": 1 / 1209600, "biweekly": 1 / 1209600, "monthly": 1 / 2629746,
    "quarterly": 1 / 7889238, "yearly": 1 / 31556952, "annually": 1 / 31556952,
    "annual": 1 / 31556952,
}  # fmt: skip
# Without a value, or with one that depends on what they stand before.
FREQUENCY_WORDS = words_of(
    "every always never often sometimes usually rarely seldom occasionally frequently regularly"
    " continuously biannually semiannually biennially biennial biannual semiannual bimonthly"
    " semimonthly semiweekly everyday twice thrice"
)
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7,
    "eighth": 8, "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
# Days of a month in words.
DAYS_IN_WORDS = (
    ORDINALS
    | {
        "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17,
        "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30, "thirty-first": 31,
    }
    | {f"twenty-{word}": 20 + day for word, day in ORDINALS.items() if day < 10}
)  # fmt: skip
