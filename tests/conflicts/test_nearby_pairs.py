"""Notes near the sentence forms of the rules: both may hold, or only one of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.function_words import words_of
from memories.core.slots import slot_of
from tests.conflicts.test_functional_relations import findings

BOTH_HOLD = [
    ("J. K. Brand wrote Salt.", "John Brand wrote Salt."),
    ("The Holm Museum was opened in May 1978.", "The Holm Museum was opened on 3 May 1978."),
    ("The fair takes place in Holm in 2024.", "The fair takes place in Remol in 2025."),
    ("The shop runs on Postgres 17.", "The Postgres 16 migration finished in 2023."),
    ("The shop runs on Postgres 16.", "The Postgres 17 migration finished on staging."),
    (
        "The ISO certification was completed in 2021.",
        "The ISO certification was completed in 2024.",
    ),
    ("The law was passed on 3 Mar 1904.", "The law was passed on 3 March 1904."),
    ("Nela Quist's date of birth is 03 March 1904.", "Nela Quist's date of birth is 3 March 1904."),
    ("The museum has the painting Dusk.", "The museum has the painting Dawn."),
    ("The service has the endpoint Alpha.", "The service has the endpoint Beta."),
    ("Ana Kolb has the dog Rex.", "Ana Kolb has the dog Bello."),
    (
        "The city of Utrecht has 360,000 inhabitants.",
        "The province of Utrecht has 1,390,000 inhabitants.",
    ),
    ("ledger-sync is owned by Kite.", "The ledger-sync queue is owned by Heron."),
    ("The market value of Tolka is 12 euros.", "The market of Tolka is 15 euros."),
    ("Ana Kolb plays for Gorsk FC.", "Ana Kolb plays for Ostria."),
    ("The budget was passed in 2020.", "The budget was passed in 2021."),
    ("The annual report was released in 2020.", "The annual report was released in 2021."),
    ("The festival was opened in 2020.", "The festival was opened in 2021."),
    ("The author of Salt is Ana K. Brand.", "The author of Salt is Ana Brand."),
    ("The mayor of Holm is J. K. Brand.", "The mayor of Holm is John K. Brand."),
    ("The CEO of Heron is A. Kolb.", "The CEO of Heron is Ana Kolb."),
    (
        "The men's course record of Holm is 2:11:40.",
        "The men's over-50 course record of Holm is 2:31:08.",
    ),
    ("The budget for the fair is 20,000 euros.", "The fair finally cost 23,500 euros."),
    ("The shop runs on Postgres 16.", "The Postgres 17 migration of the archive finished."),
    (
        "The shop runs on Postgres 16.",
        "The vote on the Postgres 17 migration took place on Monday.",
    ),
]
ONE_HOLDS = [
    ("Children from the age of 6 may take part.", "Children from the age of 10 may take part."),
    ("The Basic plan allows 5 users.", "The Basic plan actually allows 10 users."),
    ("The Pro plan costs 20 euros.", "The final price of the Pro plan is 30 euros."),
    (
        "Real Madrid's budget is 800 million euros.",
        "The budget of Real Madrid is 900 million euros.",
    ),
    ("The runner sets concurrency 4.", "The runner sets concurrency 8."),
    ("The app keeps buffer 20.", "The app keeps buffer 40."),
    ("The server uses disk 2.", "The server uses disk 4."),
    ("Traffic to the shop arrives on port 8080.", "Traffic to the shop arrives on port 9090."),
    ("Inbound deliveries arrive at dock 3.", "Inbound deliveries arrive at dock 5."),
    ("Only 20 chairs fit into the hall.", "Only 30 chairs fit into the hall."),
    ("Ana Kolb has written the novel Fraim.", "Bert Moser has written the novel Fraim."),
    ("Ana Kolb has founded Tolka Works.", "Bert Moser founded Tolka Works."),
    ("Lessons run from Monday to Friday at 9.", "Lessons run from Monday to Friday at 10."),
    ("Depot 4 closes at 18:00.", "Gorsk Depot 4 closes at 20:00."),
    ("The club of Nela Quist is Verein Gorsk 1904.", "The club of Nela Quist is Remol Rovers."),
    ("Route 7 from Holm to Remol is 40 km.", "Route 7 from Remol to Holm is 90 km."),
    ("The tax return uses form 12.", "The tax return uses form 14."),
    (
        "The final budget of the hall is 20,000 euros.",
        "The final budget of the hall is 25,000 euros.",
    ),
]
STALE = [
    ("Failed jobs are written to the dead letter queue.", "The dead letter queue was removed."),
    ("Reports are written to host orion.", "Host orion died last night."),
    ("Ana Kolb, our founder, approves all refunds.", "Ana Kolb died in May."),
]
# Later notes on the product that was left, which state no use of ours.
OTHER_USES = [
    "The payment provider offers REST only.",
    "The webhook of Heron is REST.",
    "REST is taught in the onboarding course.",
]
WORDS = sorted(
    words_of(
        "The Fraim has a an list of number length is was in by that which from to Remol 28 km six"
        " engines launched company produced, for its as head coach: record"
    )
)


@pytest.mark.parametrize("pair", BOTH_HOLD)
def test_two_notes_that_may_both_hold_open_no_card(pair: tuple[str, str]) -> None:
    assert findings(pair) == []


@pytest.mark.parametrize("pair", ONE_HOLDS)
def test_two_notes_of_which_one_holds_open_a_card(pair: tuple[str, str]) -> None:
    assert [card.kind for card in findings(pair)] == ["ambiguity"]


@pytest.mark.parametrize("pair", STALE)
def test_what_leans_on_something_gone_is_stale(pair: tuple[str, str]) -> None:
    assert [card.kind for card in findings(pair)] == ["stale"]


@pytest.mark.parametrize("other", OTHER_USES)
def test_another_use_of_a_product_is_no_return_to_it(other: str) -> None:
    assert findings(("We use REST.", "We switched to GraphQL.", other)) == []


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_every_order_of_words_is_read(words: list[str]) -> None:
    slot = slot_of(" ".join(words))
    assert slot is None or (slot.attribute and slot.thing and slot.value)
