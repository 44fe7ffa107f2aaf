"""Severity: how a person would rate the harm of acting on the wrong one of two claims.

The examples were written, and rated, before the rule; they are of many domains, so that no list of
words of one of them passes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from conflicts.core.facts import Fact
from conflicts.core.severity import severity_of

# People, money, data, the law, security or a machine that hurts: acting on the wrong one costs
# more than asking again.
HIGH = [
    ("Backups of the ledger are kept for 30 days.", "Backups of the ledger are kept for 90 days."),
    ("API keys expire after 90 days.", "API keys never expire."),
    ("Mrs Ito takes 5 mg of warfarin a day.", "Mrs Ito takes 10 mg of warfarin a day."),
    ("Noah is allergic to peanuts.", "Noah is not allergic to peanuts."),
    ("Invoices are due within 14 days.", "Invoices are due within 30 days."),
    ("Transfers of up to 10,000 euros need one signature.", "Transfers need two signatures."),
    ("The lease of the shop ends on 31 March.", "The lease of the shop ends on 30 June."),
    ("Production deploys need two approvals.", "Production deploys need one approval."),
    ("The kiln may be opened below 200 °C.", "The kiln may be opened below 100 °C only."),
    ("Pour the acid into the water.", "Pour the water into the acid."),
    ("Access to the vault needs a badge.", "Access to the vault needs a badge and a PIN."),
    ("Customer data is erased after two years.", "Customer data is erased after six years."),
    ("The fire exit is on the east side.", "The fire exit is on the west side."),
    ("VAT on books is 7 percent.", "VAT on books is 19 percent."),
    ("The grant application closes on 1 May.", "The deadline of the grant application is 15 May."),
    ("Infants get 2 ml of the syrup.", "Infants get 4 ml of the syrup per dose."),
]
# Somebody acts on it and would have to correct it: a meeting missed, a program that is throttled.
MEDIUM = [
    (
        "The public booking API allows 1,000 requests per minute per key.",
        "The public booking API allows 5,000 requests per minute per key.",
    ),
    ("The support hotline is open from 8:00 to 18:00.", "The hotline is open from 7:00 to 21:00."),
    ("Stand-up is at 9:30 on weekdays.", "Stand-up starts at 10:00 on weekdays."),
    ("The dashboard is refreshed at 06:00 UTC.", "The dashboard is refreshed at 07:00 UTC."),
    ("The library is closed on Sunday.", "The library is open on Sunday."),
    ("Lina owns the checkout service.", "Omar owns the checkout service."),
    ("The frontend is written in React.", "The frontend is written in Vue."),
    ("The exam takes place in room 204.", "The exam takes place in room 310."),
    ("The school bus leaves at 7:40.", "The school bus leaves at 7:55."),
    ("Bake the bread at 180 °C for 40 minutes.", "Bake the bread at 220 °C for 40 minutes."),
    ("Reports are sent by the server Petrel.", "The server Petrel was switched off."),
    ("Bookings are published to RabbitMQ.", "Bookings are published to Kafka."),
    ("The choir rehearses on Tuesday.", "The choir rehearses on Thursday."),
    ("Uploads may be 25 MB large.", "Uploads may be 50 MB large."),
    ("The ferry to Brac takes 50 minutes.", "The ferry to Brac takes 80 minutes."),
    ("Tests run on Python 3.11.", "Tests run on Python 3.12."),
]
# Taste, furnishing and small talk: the wrong one is a smile.
LOW = [
    ("The office plant is a ficus.", "The office plant is a monstera."),
    ("Tom's favourite colour is blue.", "Tom's favourite colour is green."),
    ("The mascot of the team is an otter.", "The mascot of the team is a fox."),
    ("The coffee machine is on the second floor.", "The coffee machine is on the third floor."),
    ("Mia uses the dark theme of her editor.", "Mia uses the light theme of her editor."),
    ("The header of the newsletter is teal.", "The header of the newsletter is navy."),
    ("Kai's cat is called Miso.", "Kai's cat is called Mochi."),
    ("The wallpaper of the lounge is grey.", "The wallpaper of the lounge is yellow."),
    ("The book club read Dune in May.", "The book club read Dune in June."),
    ("Tea is in the cupboard.", "Tea is on the shelf."),
    ("Ben's hobby is chess.", "Ben's hobby is archery."),
    ("The playlist of the party begins with jazz.", "The playlist begins with soul."),
]  # fmt: skip


def fact(text: str, *, provenance: str = "assistant_derived", kind: str = "semantic") -> Fact:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Fact(
        id=text, lineage=text, content=text, scope="", project="", agent="", session_key="",
        observed_at=at, provenance=provenance, kind=kind,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("severity", "texts"),
    [(name, pair) for name, pairs in
     (("high", HIGH), ("medium", MEDIUM), ("low", LOW)) for pair in pairs],
)  # fmt: skip
@pytest.mark.parametrize("provenance", ["user_stated", "assistant_derived"])
def test_severity_is_what_a_person_would_say(
    severity: str, texts: tuple[str, str], provenance: str
) -> None:
    facts = [fact(text, provenance=provenance) for text in texts]
    assert severity_of(facts) == severity
    assert severity_of(facts[::-1]) == severity


def test_the_looks_of_something_grave_are_not_grave() -> None:
    for thing in ("The logo on our invoices", "The background of the password form"):
        assert severity_of([fact(f"{thing} is {colour}.") for colour in ("blue", "red")]) != "high"
    assert severity_of([fact("The login page is blue."), fact("The login page is red.")]) != "high"
    assert severity_of([fact("Invoices are blue."), fact("Invoices have a logo.")]) == "high"


def test_a_constraint_is_always_grave() -> None:
    tea, shelf = (fact(text) for text in LOW[9])
    assert severity_of([tea, replace(shelf, kind="constraint")]) == "high"


def test_what_is_grave_about_a_small_matter_counts() -> None:
    assert severity_of([fact("The cat got 5 ml of the medicine."), fact("It got 2 ml.")]) == "high"
