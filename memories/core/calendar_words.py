"""Words of the calendar: months, weekdays, seasons, festivals; and those for parts of a day."""

from __future__ import annotations

from typing import Final

from memories.core.function_words import words_of

# In order, each with its other spellings behind it.
MONTH_SPELLINGS: Final = (
    "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
    "august aug", "september sep sept", "october oct", "november nov", "december dec",
)  # fmt: skip
WEEKDAY_SPELLINGS: Final = (
    "monday mondays mon", "tuesday tuesdays tue tues", "wednesday wednesdays wed weds",
    "thursday thursdays thu thur thurs", "friday fridays fri", "saturday saturdays sat",
    "sunday sundays sun",
)  # fmt: skip

MONTHS: Final = tuple(spellings.split()[0] for spellings in MONTH_SPELLINGS)
WEEKDAYS: Final = tuple(spellings.split()[0] for spellings in WEEKDAY_SPELLINGS)
WORKDAYS: Final = WEEKDAYS[:5]
DAYS_OF_WEEKS: Final = (*WEEKDAYS, *(f"{day}s" for day in WEEKDAYS))
SEASONS: Final = ("spring", "summer", "autumn", "winter")
FESTIVALS: Final = (
    "easter", "christmas", "advent", "lent", "pentecost", "whitsun", "ramadan", "eid", "diwali",
    "hanukkah", "passover", "purim", "carnival", "thanksgiving", "halloween", "midsummer",
)  # fmt: skip
# Also the days that are named from the present one.
TIMES_OF_DAY: Final = words_of(
    "morning mornings noon midday afternoon afternoons evening evenings night nights midnight"
    " daytime overnight am pm today tonight tomorrow yesterday weekday weekdays weekend"
    " weekends"
)

# As parts of patterns, to be read without regard to case.
MONTH_PATTERN: Final = rf"(?:{'|'.join(month[:3] for month in MONTHS)})[a-z]*\.?"
WEEKDAY_PATTERN: Final = rf"(?:{'|'.join(WEEKDAYS)})s?"
