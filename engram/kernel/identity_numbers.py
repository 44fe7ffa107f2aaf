"""Find numbers by which a person is identified or pays: they are treated as credentials are.

A US social security number and the number of a payment card are known by their form; other numbers
by the words before them. Numbers of examples, and those that issuers publish for tests, are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_ALONE: Final = r"(?<![\w./+-])(?<!\+\d )"  # no part of a path, a version or a phone number
_SOCIAL_SECURITY: Final = re.compile(
    rf"{_ALONE}(?!000|666|9)\d{{3}}-(?!00)\d{{2}}-(?!0000)\d{{4}}(?![\w-]|\.\d)"
)
_EXAMPLES: Final = frozenset(["123-45-6789", "078-05-1120", "219-09-9999"])  # never issued
_CARD_IN_GROUPS: Final = re.compile(
    rf"{_ALONE}(?:[2-6]\d{{3}}(?P<gap>[ -])\d{{4}}(?P=gap)\d{{4}}(?P=gap)\d{{4}}"
    r"|3[47]\d{2}(?P<short>[ -])\d{6}(?P=short)\d{5})(?![\w-])"
)
_CARD_BY_NAME: Final = re.compile(
    r"\b(?:card|visa|master ?card|amex|american express|maestro)\b[^\w\n]{0,3}"
    r"(?:(?:card|credit|debit|number|no|is|was|ending)\b[^\w\n]{0,3}){0,3}"
    r"(?P<value>[2-6]\d{12,18})(?![\w-])",
    re.IGNORECASE,
)
_DISTINCT_DIGITS: Final = 4  # of a card at least: 4242 4242 4242 4242 is for tests
_DOCUMENTS: Final = (
    r"social security|ssn|national insurance|ni(?= (?:number|no))|passport|(?:driver['\u2019]?s?"
    r"|driving) licen[cs]e|identity card|id card(?= (?:number|no))|national id(?:entity)?|aadhaar"
    r"|sozialversicherungsnummer|(?:reisepass|personalausweis)(?:nummer)?|burgerservicenummer|bsn"
    r"|codice fiscale|cpf|dni"
)
_BY_NAME: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:{_DOCUMENTS})(?:\s(?:number|no\b\.?|nr\b\.?|id|nummer))?"
    r"(?:\s(?:of|for|on)(?:\s[\w'\u2019-]{1,20}){1,3}?)?"
    r"(?:['\u2019]s\b|\s{0,2}(?:[:=#]|\b(?:is|was|ist|lautet)\b)){0,2}\s{0,2}[\"'`]?"
    r"(?P<value>(?-i:[A-Z0-9](?:[ .-]?[A-Z0-9]){5,19}))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_FEWEST_DIGITS: Final = 6  # "passport 2031" is none
_DISTINCT_OF_DOCUMENT: Final = 3  # 000-00-0000


def find_identity_numbers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and kind of each number; linear in the length of the text."""
    for match in _SOCIAL_SECURITY.finditer(text):
        if match[0] not in _EXAMPLES:
            yield *match.span(), "a social security number"
    for match in _CARD_IN_GROUPS.finditer(text):
        if _is_card(match[0]):
            yield *match.span(), "a card number"
    for match in _CARD_BY_NAME.finditer(text):
        if _is_card(match["value"]):
            yield *match.span("value"), "a card number"
    for match in _BY_NAME.finditer(text):
        digits = _digits(match["value"])
        is_number = len(digits) >= _FEWEST_DIGITS and len(set(digits)) >= _DISTINCT_OF_DOCUMENT
        if is_number and match["value"] not in _EXAMPLES:
            yield *match.span("value"), "an identity number"


def _digits(text: str) -> list[int]:
    return [int(character) for character in text if character.isdecimal()]


def _is_card(text: str) -> bool:
    """Return whether the last digit checks the others, and the number is none for tests."""
    digits = _digits(text)
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    is_checked = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    return is_checked and len(set(digits)) >= _DISTINCT_DIGITS
