"""Read calendar dates, weekdays and clock times as partial ISO strings.

"31 March 2026" → "2026-03-31"; "March 2026" → "2026-03"; "3 May" → "--05-03"; "June" → "--06";
"the third of May", "May the third" → "--05-03";
"Q3 2025" → "2025-q3"; "Tuesdays" → "tuesday"; "8 am" → "08:00"; "02:00 CET" → "01:00z";
"half past six" → "06:30~" (in the morning or in the evening);
"last year" → "last-year" (relative to the time of writing: never compared with another date).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memories.core.calendar_words import MONTH_SPELLINGS, WEEKDAY_SPELLINGS
from memories.core.function_words import PREPOSITIONS
from memories.core.number_words import DAYS_IN_WORDS, NUMBER_WORDS
from memories.core.tokeniser import Token

_MONTHS = {
    name: number
    for number, spellings in enumerate(MONTH_SPELLINGS, 1)
    for name in spellings.split()
}
_AMBIGUOUS_MONTHS = frozenset(["may", "march", "mar", "jan", "dec", "sep", "oct"])
_WEEKDAYS = {
    name: spellings.split()[0]
    for spellings in (
        *WEEKDAY_SPELLINGS, "weekend weekends", "weekday weekdays workday workdays",
    )
    for name in spellings.split()
}  # fmt: skip
_AMBIGUOUS_WEEKDAYS = frozenset(["mon", "sat", "sun", "wed", "fri", "thu", "tue"])
# Hours to add to reach UTC.
_ZONES = {
    "utc": 0, "gmt": 0, "z": 0, "cet": -1, "cest": -2, "bst": -1, "eet": -2, "eest": -3,
    "est": 5, "edt": 4, "cst": 6, "cdt": 5, "mst": 7, "mdt": 6, "pst": 8, "pdt": 7, "jst": -9,
}  # fmt: skip
_DATE_PREPOSITIONS = frozenset(
    ["in", "on", "since", "by", "until", "till", "of", "from", "before", "after", "during", "every",
     "to", "each", "at", "next", "last", "this", "between", "and", "early", "late", "mid"]
)  # fmt: skip
_RELATIVE = {"last": "last", "previous": "last", "this": "this", "current": "this", "next": "next"}
_PERIODS = frozenset(["year", "month", "week", "quarter", "season", "sprint", "term", "semester"])
_HOURS = {word: int(value) for word, value in NUMBER_WORDS.items() if value in range(1, 13)}
_BEFORE = -15  # minutes
_MINUTES = {("half", "past"): 30, ("quarter", "past"): 15, ("quarter", "to"): _BEFORE}
_HALF_OF_DAY = {"morning": 0, "afternoon": 12, "evening": 12}
_CLOCK_PREPOSITIONS = frozenset(["at", "by", "until", "till", "from", "before", "after", "around"])
_DAY_SUFFIX = frozenset(["st", "nd", "rd", "th"])
_QUARTER = re.compile(r"q([1-4])$")
_DAY_OR_HOUR = re.compile(r"\d{1,2}")
_DOTTED_CLOCK = re.compile(r"\d{1,2}\.\d{2}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ORDINAL_DAY = re.compile(r"^(\d{1,2})(?:st|nd|rd|th)$")


_RECURRING = ("s", "weekend", "weekday")
OPEN = "~"  # ends a time of which the half of the day is not said
# All words that a date can start with.
OPENERS = {
    *_RELATIVE, *_WEEKDAYS, *_MONTHS, *_HOURS, *DAYS_IN_WORDS,
    "noon", "midday", "midnight", "half", "quarter", "q1", "q2", "q3", "q4",
}  # fmt: skip


def date_at(tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    """Read a date, weekday or clock time at a token; return the index after it, and its ISO."""
    token = tokens[index]
    if token.kind == "iso":
        return index + 1, token.text
    if token.kind == "clock":
        hours, minutes = (int(part) for part in token.text.split(":")[:2])
        return _clock(tokens, index + 1, hours, minutes)
    return _from_number(tokens, index) if token.kind == "number" else _from_word(tokens, index)


def _from_word(tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    lower = tokens[index].lower
    if lower in _RELATIVE:
        period = _lower(tokens, index + 1)
        return (index + 2, f"{_RELATIVE[lower]}-{period}") if period in _PERIODS else None
    if lower in ("noon", "midday", "midnight"):
        return _clock(tokens, index + 1, 0 if lower == "midnight" else 12, 0)
    if lower in _WEEKDAYS and _is_weekday(tokens, index):
        return index + 1, _WEEKDAYS[lower]
    if quarter := _QUARTER.match(lower):
        year = _year(tokens, index + 1)
        return (index + 2, f"{year}-q{quarter[1]}") if year else (index + 1, f"q{quarter[1]}")
    if lower in _MONTHS:
        return _from_month(tokens, index)
    day = _day_in_words(tokens, index)
    return _day_of_month(tokens, *day) if day else _spoken_clock(tokens, index)


def _lower(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].lower if 0 <= index < len(tokens) else ""


def _from_number(tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    text = tokens[index].text
    following = _lower(tokens, index + 1)
    if _DAY_OR_HOUR.fullmatch(text):
        if spoken := _spoken_clock(tokens, index):
            return spoken
        if following in ("am", "pm", "a.m", "p.m", "o'clock", "uhr"):
            return _clock(tokens, index + 1 + (following in ("o'clock", "uhr")), int(text), 0)
        if 1 <= int(text) <= 31 and (day := _day_of_month(tokens, index + 1, int(text))):
            return day
    if _DOTTED_CLOCK.fullmatch(text) and following in ("am", "pm"):
        hours, minutes = (int(part) for part in text.split("."))
        return _clock(tokens, index + 1, hours, minutes)
    if (year := _year(tokens, index)) and _lower(tokens, index - 1) in _DATE_PREPOSITIONS:
        return index + 1, year
    return None


def _day_in_words(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """Return the index after a day in words, and the day: "third", "twenty-first", "7th"."""
    lower, following = _lower(tokens, index), _lower(tokens, index + 1)
    if day := DAYS_IN_WORDS.get(f"{lower}-{following}"):
        return index + 2, day
    if ordinal := _ORDINAL_DAY.match(lower):
        return index + 1, int(ordinal[1])
    return (index + 1, DAYS_IN_WORDS[lower]) if lower in DAYS_IN_WORDS else None


def _day_of_month(tokens: Sequence[Token], at: int, day: int) -> tuple[int, str] | None:
    """Read the rest of "3 May", "20th of June", "31 March 2026" behind the number."""
    at += _lower(tokens, at) in _DAY_SUFFIX
    at += _lower(tokens, at) == "of"
    month = _MONTHS.get(_lower(tokens, at))
    if not month or (tokens[at].text == "may" and not _ends_phrase(tokens, at + 1)):
        return None  # "children from the age of 6 may take part"
    year = _year(tokens, at + 1)
    iso = f"{month:02d}-{day:02d}"
    return (at + 2, f"{year}-{iso}") if year else (at + 1, f"--{iso}")


def _from_month(tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    month = _MONTHS[tokens[index].lower]
    if found := _day_behind_month(tokens, index + 1):
        at, day = found
        year = _year(tokens, at + (_lower(tokens, at) == ","))
        if year:
            return at + 1 + (_lower(tokens, at) == ","), f"{year}-{month:02d}-{day:02d}"
        return at, f"--{month:02d}-{day:02d}"
    year = _year(tokens, index + 1)
    if year:
        return index + 2, f"{year}-{month:02d}"
    if tokens[index].lower in _AMBIGUOUS_MONTHS and not (
        tokens[index].text[0].isupper() and _lower(tokens, index - 1) in _DATE_PREPOSITIONS
    ):
        return None
    return index + 1, f"--{month:02d}"


def _day_behind_month(tokens: Sequence[Token], at: int) -> tuple[int, int] | None:
    """Return the index after "3", "3rd", "third" or "the third", and the day.

    "In May the first tourists come" names no day.
    """
    lower = _lower(tokens, at)
    if _DAY_OR_HOUR.fullmatch(lower) and 1 <= int(lower) <= 31:
        return at + 1 + (_lower(tokens, at + 1) in _DAY_SUFFIX), int(lower)
    if ordinal := _ORDINAL_DAY.match(lower):
        return at + 1, int(ordinal[1])
    found = _day_in_words(tokens, at + (lower == "the"))
    return found if found and _ends_phrase(tokens, found[0]) else None


def _ends_phrase(tokens: Sequence[Token], at: int) -> bool:
    """Return whether no noun follows: the end, a sign, a year or a preposition."""
    if at >= len(tokens) or tokens[at].kind == "symbol":
        return True
    return bool(_year(tokens, at)) or tokens[at].lower in PREPOSITIONS


def _year(tokens: Sequence[Token], index: int) -> str | None:
    if 0 <= index < len(tokens) and _YEAR.fullmatch(tokens[index].text):
        return tokens[index].text
    return None


def _is_weekday(tokens: Sequence[Token], index: int) -> bool:
    if tokens[index].lower not in _AMBIGUOUS_WEEKDAYS:
        return True
    return tokens[index].text[0].isupper() and (
        _lower(tokens, index - 1) in _DATE_PREPOSITIONS or _lower(tokens, index - 1) in ("", ",")
    )


def _clock(tokens: Sequence[Token], index: int, hours: int, minutes: int) -> tuple[int, str] | None:
    if hours > 24 or minutes > 59:
        return None
    if _lower(tokens, index) in ("am", "pm", "a.m", "p.m"):
        hours = hours % 12 + (12 if _lower(tokens, index)[0] == "p" else 0)
        index += 1
    zone = _ZONES.get(_lower(tokens, index))
    if zone is None:
        return index, f"{hours % 24:02d}:{minutes:02d}"
    return index + 1, f"{(hours + zone) % 24:02d}:{minutes:02d}z"


def _spoken_clock(tokens: Sequence[Token], index: int) -> tuple[int, str] | None:
    """Read "nine o'clock", "half past six in the evening", "at two in the afternoon".

    Without the half of the day the time is open.
    """
    minutes = _MINUTES.get((_lower(tokens, index), _lower(tokens, index + 1)))
    end = index + (1 if minutes is None else 3)
    hours = _hours(_lower(tokens, end - 1))
    is_at = _lower(tokens, index - 1) in _CLOCK_PREPOSITIONS
    is_clock = _lower(tokens, end) == "o'clock"
    is_time = is_clock or minutes is not None or (is_at and _half_of_day(tokens, end) is not None)
    end += is_clock
    if hours is None or not is_time or _lower(tokens, end) in ("%", "percent"):
        return None
    if minutes == _BEFORE:
        hours, minutes = (hours - 2) % 12 + 1, 60 + _BEFORE
    half = _half_of_day(tokens, end)
    if half is not None:
        return _clock(tokens, end + 3, hours % 12 + half, minutes or 0)
    if _lower(tokens, end) in ("am", "pm", "a.m", "p.m"):
        return _clock(tokens, end, hours, minutes or 0)
    return end, f"{hours:02d}:{minutes or 0:02d}{OPEN}"


def _half_of_day(tokens: Sequence[Token], index: int) -> int | None:
    """Return the hours that "in the evening" adds; None without such words."""
    if (_lower(tokens, index), _lower(tokens, index + 1)) != ("in", "the"):
        return None
    return _HALF_OF_DAY.get(_lower(tokens, index + 2))


def _hours(word: str) -> int | None:
    if word.isdecimal() and len(word) <= 2 and 1 <= int(word) <= 12:
        return int(word)
    return _HOURS.get(word)


def also_written(iso: str) -> tuple[str, ...]:
    """Return the other forms of a time: "09:00~" may be "09:00" or "21:00", and each may be it."""
    if dimension(iso) != "clock" or iso.endswith("z"):
        return ()
    hours, minutes = _face(iso)
    if iso.endswith(OPEN):
        return f"{hours:02d}:{minutes}", f"{hours + 12:02d}:{minutes}"
    return (f"{hours or 12:02d}:{minutes}{OPEN}",)


def _face(clock: str) -> tuple[int, str]:
    """Return a time as a clock with hands shows it."""
    hours, _, minutes = clock.rstrip(f"z{OPEN}").partition(":")
    return int(hours) % 12, minutes


def dimension(iso: str) -> str:
    """Return the dimension of a date string: "clock", "weekday", "quarter", "day" or "relative"."""
    if iso.partition("-")[0] in ("last", "this", "next"):
        return "relative"
    if ":" in iso:
        return "clock"
    if "q" in iso:
        return "quarter"
    return "weekday" if iso.isalpha() else "day"


def names_every_such_day(text: str) -> bool:
    """Return whether the words for a day mean every one of them: "Saturdays", "the weekend"."""
    return text.lower().endswith(_RECURRING)


def agree(a: str, b: str) -> bool:
    """Return whether one date may be the other in less detail ("2026-03", "--03-31")."""
    if a == b:
        return True
    if dimension(a) != dimension(b):
        return False
    if dimension(a) == "clock":
        if OPEN in (a[-1], b[-1]):
            return _face(a) == _face(b)
        return a.rstrip("z") == b.rstrip("z") and a.endswith("z") != b.endswith("z")
    if dimension(a) == "quarter":
        return a.endswith(b) or b.endswith(a)
    return all(
        x is None or y is None or x == y for x, y in zip(_fields(a), _fields(b), strict=True)
    )


def finer(a: str, b: str) -> bool:
    """Return whether `a` is more exact than `b`: it has a field that `b` leaves open."""
    if OPEN in (a[-1], b[-1]):
        return not a.endswith(OPEN)
    return len(a.strip("-")) > len(b.strip("-"))


def same_clock(a: str, b: str) -> bool:
    """Return whether two times agree, and the hour that an open one names is the other's."""
    ends = f"z{OPEN}"
    return dimension(a) == "clock" and agree(a, b) and a.rstrip(ends) == b.rstrip(ends)


def _fields(iso: str) -> tuple[str | None, str | None, str | None]:
    if iso.startswith("--"):
        month, _, day = iso[2:].partition("-")
        return None, month, day or None
    year, _, rest = iso.partition("-")
    month, _, day = rest.partition("-")
    return year, month or None, day or None


def overlap(a: str, b: str) -> bool:
    """Return whether two dates have a field in common ("2026-03" and "--03-31": the month)."""
    if dimension(a) != "day" or dimension(b) != "day":
        return dimension(a) == dimension(b)
    return any(x is not None and x == y for x, y in zip(_fields(a), _fields(b), strict=True))
