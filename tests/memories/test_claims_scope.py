"""Small words and places in the sentence that keep two alike claims from being the same."""

from __future__ import annotations

import pytest

from memories.core.claims import compare
from memories.core.gate import CLEARLY_DIFFERENT


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("If the card fails, retry the payment.", "Unless the card fails, retry the payment."),
        ("Ship the order when it is paid.", "Ship the order unless it is paid."),
        ("All users have MFA.", "Some users have MFA."),
        ("Half of the users opted in.", "All users opted in."),
        ("The cache is Redis.", "The cache is Redis or Memcached."),
        ("Alice or Bob approves.", "Alice and Bob approve."),
        ("Backups run every night.", "Backups ran every night."),
        ("The office was in Bern.", "The office is in Bern."),
        ("Preview envs: GitHub Actions deploys catalog.", "GitHub Actions deploys catalog."),
        (
            "Premium customers who ring reach the engineer.",
            "Customers who ring reach the engineer.",
        ),
        ("A man is sitting in a field.", "A man is running in a field."),
        ("Joanna encourages Nate.", "Nate encourages Joanna."),
        ("Caroline: Thanks, Melanie!", "Melanie: Thanks, Caroline!"),
        ("Joanna cheers Nate on in matches.", "Nate sent a gift for Joanna to cheer her on."),
        ("The crew is testing the pump.", "The test crew is pumping."),
        ("The bot is mailing the report.", "The mail bot is reporting."),
        ("A courier parks a harbour truck.", "A courier parks a truck towards the harbour."),
        ("Two kids are skating in a goat pasture.", "Two goats are skating in a pasture by a kid."),
        ("A child with a drum is playing outside.", "A drum is playing outside with a child."),
    ],
)
def test_small_words_and_exchanged_names_keep_claims_apart(a: str, b: str) -> None:
    assert compare(a, b).relation not in ("same", "refines")
    assert compare(b, a).relation not in ("same", "refines")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The team speaks German and English.", "The team speaks English and German."),
        ("In summer, breakfast is served at 8.", "During summer, breakfast is served at 8."),
        ("Decision: the API uses gRPC.", "The API uses gRPC."),
        ("Mira is vegan.", "Mira is plant-based throughout."),
        ("We deploy on Friday.", "Deployments happen on Friday."),
        ("Backups of billing are stored in Oslo.", "In Oslo backups of billing are stored."),
        ("Odile leads the choir.", "The choir is led by Odile."),
    ],
)
def test_order_of_a_list_and_headings_change_nothing(a: str, b: str) -> None:
    assert compare(a, b).relation in ("same", "refines")


def test_a_step_that_comes_before_is_left_to_people() -> None:
    found = compare(
        "Callers reach the engineer on duty.",
        "Callers reach the engineer on duty, after choosing English or German.",
    )
    assert found.relation == "different"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ruth picks up Tilda from school.", "Ruth picks up Tilda from violin lessons."),
        ("The lab keeps blood samples in the freezer.", "The lab keeps ice packs in the freezer."),
    ],
)
def test_one_frame_with_other_fillers_is_clearly_another_fact(a: str, b: str) -> None:
    found = compare(a, b)
    assert found.relation == "different"
    assert found.confidence >= CLEARLY_DIFFERENT


def test_likeness_is_the_share_of_words_that_both_have() -> None:
    near = compare("Leo rents the red barn in Jura.", "In Jura there is a red barn for Leo.")
    far = compare("Leo rents the red barn.", "The kiln is fired at noon.")
    assert near.relation == far.relation == "different"
    assert near.likeness > 0.8
    assert far.likeness == 0.0
    assert compare("The lock is 5 s.", "The lock is 5 s.").likeness == 1.0


def test_the_second_hour_is_the_other_hour() -> None:
    said, again = "The job runs every other hour.", "The job runs every second hour."
    assert compare(said, again).relation == "same"


@pytest.mark.parametrize(
    ("often", "less_often"),
    [
        ("Salaries are paid out every Monday.", "Salaries are paid out every second Monday."),
        ("Invoices are sent monthly.", "Invoices are sent twice monthly."),
        ("The team meets on Monday.", "The team meets on the first Monday."),
        ("The job runs every night.", "The job runs every third night."),
    ],
)
def test_how_often_is_never_more_of_the_same(often: str, less_often: str) -> None:
    for a, b in ((often, less_often), (less_often, often)):
        assert compare(a, b).relation in {"contradicts", "different"}
