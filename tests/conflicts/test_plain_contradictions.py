"""Plain contradictions that cues, attributions or wording kept from being seen."""

from __future__ import annotations

import pytest

from memories.core.claims import compare, read
from tests.conflicts.rules.stories import rules_of


@pytest.mark.parametrize(
    "statements",
    [
        ("Thanks to the new cache, search pages load in 2 s.", "Search pages load in 5 s."),
        ("Thanks to Olga, the bakery opens at 5:00.", "The bakery opens at 7:00."),
        ("Entry to the fair costs 6 euros.", "Thanks to sponsors, entry to the fair is 3 euros."),
        ("Rent is due on the 1st of each month.", "Rent is due on the 15th of each month."),
        ("Payroll runs on the 25th of every month.", "Payroll runs on the 28th of every month."),
        ("Children from 6 years may join.", "Children from 8 years may join."),
        ("Guests from 12 years may use the sauna.", "Guests from 16 years may use the sauna."),
        ("The filter is replaced every 6 months.", "The filter is never replaced."),
        ("The tyres are changed every spring.", "The tyres are never changed."),
        ("Terraform state is in S3.", "Terraform state is in Terraform Cloud."),
        ("The flag checkout_v2 is off in production.", "The flag checkout_v2 is on in production."),
        ("The beta banner is on for guests.", "The beta banner is off for guests."),
        ("The van is parked in Dublin Street 4.", "The van is parked in Quay Road 11."),
        ("The hut is heated to 18 degrees.", "The hut is heated to 14 degrees since oil is dear."),
        ("Guests may fish off the jetty.", "Guests may not fish off the jetty, says the warden."),
        ("The export includes deleted rows.", "The export excludes deleted rows."),
        ("The price list includes retired models.", "The price list excludes retired models."),
    ],
)
def test_a_plain_contradiction_is_an_ambiguity(statements: tuple[str, str]) -> None:
    (rules,) = rules_of(*statements, cosine=0.85)
    assert rules[0].startswith("ambiguity.")


@pytest.mark.parametrize(
    "statements",
    [
        ("Children from 6 years may join the circle.", "Children from 8 years may borrow films."),
        ("Terraform state is in S3.", "Terraform state is in Frankfurt."),
        ("The beta banner is on for guests.", "The beta banner is off for staff."),
        ("Rent is due on the 1st of each month.", "Wages are due on the 15th of each month."),
    ],
)
def test_what_is_of_another_thing_or_kind_is_not(statements: tuple[str, str]) -> None:
    assert rules_of(*statements, cosine=0.75) == []


def test_who_says_it_behind_it_makes_no_quotation() -> None:
    assert read("The pool is closed to guests, says the manager.").claims[0].modality == "fact"
    assert read("The manager says the pool is closed to guests.").claims[0].modality == "quote"
    assert read("The pool opens at 8:00, says the old leaflet.").claims[0].modality == "quote"


def test_what_is_done_again_and_again_is_no_change() -> None:
    assert read("The filter is replaced every 6 months.").claims[0].transition is None
    assert read("Redis is replaced by Valkey.").claims[0].transition is not None


def test_a_participle_before_its_noun_is_not_the_verb() -> None:
    assert read("The backup includes expired keys.").claims[0].verb == "includ"
    found = compare("The backup excludes expired keys.", "The backup includes expired keys.")
    assert found.contradiction == "opposites"
