"""Numbers by which a person is identified or pays, and numbers that only look like them."""

from __future__ import annotations

import pytest

from engram.kernel.credentials import credential_in, without_credentials

SOCIAL = "a social security number"
CARD = "a card number"
IDENTITY = "an identity number"


@pytest.mark.parametrize(
    ("text", "kind", "masked"),
    [
        ("SSN 531-08-2467, born in Ohio.", SOCIAL, "SSN [removed: {}], born in Ohio."),
        ("531-08-2467 is hers", SOCIAL, "[removed: {}] is hers"),
        ("my SSN's 531 08 2467 and more", IDENTITY, "my SSN's [removed: {}] and more"),
        ("Bill it to 4929 1063 7218 5541.", CARD, "Bill it to [removed: {}]."),
        ("Bill it to 4929-1063-7218-5541.", CARD, "Bill it to [removed: {}]."),
        ("my Amex is 3714 496353 98431", CARD, "my Amex is [removed: {}]"),
        ("the card number is 4929106372185541", CARD, "the card number is [removed: {}]"),
        ("My passport number is K7093F214.", IDENTITY, "My passport number is [removed: {}]."),
        ("passport: 530041227", IDENTITY, "passport: [removed: {}]"),
        (
            "the national insurance number of my wife is AB 12 34 57 C, she said",
            IDENTITY,
            "the national insurance number of my wife is [removed: {}], she said",
        ),
        ("Sozialversicherungsnummer: 12190367K006", IDENTITY,
         "Sozialversicherungsnummer: [removed: {}]"),
        ("s\u200bsn: 53108\u200b2467", IDENTITY, "s\u200bsn: [removed: {}]"),
    ],
)  # fmt: skip
def test_a_number_of_a_person_is_found_and_masked(text: str, kind: str, masked: str) -> None:
    assert credential_in(text) == kind
    assert without_credentials(text) == (masked.format(kind), 1)


@pytest.mark.parametrize(
    "text",
    [
        "Test with card 4242 4242 4242 4242 or 4111-1111-1111-1111.",  # published for tests
        "Order 4929 1063 7218 5542 was sent.",  # its last digit does not check
        "Tracking id 4929106372185541",  # no word says that it is a card
        "Social security numbers look like 123-45-6789.",
        "SSN: XXX-XX-2467",
        "666-08-2467, 000-08-2467, 931-08-2467 and 531-00-2467 were never issued.",
        "Call 531-208-2467 or +1 531-08-2467.",
        "/parts/531-08-2467/drawing",
        "My passport expires on 2031-08-14.",
        "The passport.js version is 0.7.0.",
        "The SSN column holds 11 characters.",
        "We keep passport scans for 400 days.",
        "national id: 000000",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    assert credential_in(text) is None
    assert without_credentials(text) == (text, 0)
