"""Contradictions in how two texts arrange the same words: crosswise, or in opposite order."""

from __future__ import annotations

import pytest

from memories.core.claims import compare
from memories.core.contradictions.order import other_order

CROSSED = [
    (
        "Blue bags contain treated seed, white bags untreated.",
        "White bags are for treated seed and blue ones for untreated.",
    ),
    (
        "The cellar is painted grey, whereas the loft is painted ochre.",
        "The loft is painted grey, whereas the cellar is painted ochre.",
    ),
]
NOT_CROSSED = [
    (
        "The cellar is painted grey, and the loft is painted ochre.",
        "Ochre is what the loft is painted, and the cellar is painted grey.",
    ),
    ("Ana and Bert sign the cheques and the bills.", "Bert and Ana sign cheques and bills."),
    (
        "The week of 3\u201310 August can be cancelled free until 20 July.",
        "Free until July 20, the week from August 3 to 10 can be cancelled.",
    ),
    (
        "In hall A grey bags hold oats, red bags barley.",
        "In hall B grey bags hold barley, red bags oats.",
    ),
]
TURNED = [
    ("The fee is paid before the placement test.", "Placement test first, then the fee."),
    (
        "Table tops are glued before planing.",
        "Table tops are planed first and glued up afterwards.",
    ),
    ("Close valve K7 before opening K9.", "Open K9 first, and only then close valve K7."),
    ("After the audit, the vault is sealed.", "The vault is sealed before the audit."),
    (
        "The shutters are lowered, and only after that is the power cut.",
        "The power is cut before the shutters are lowered.",
    ),
]
NOT_TURNED = [
    (
        "The fee is paid before the placement test.",
        "First the fee is paid, then the placement test.",
    ),
    ("The audit comes after the sealing of the vault.", "Seal the vault before the audit."),
    ("Tickets are free before nine.", "Tickets are not free after nine."),
    (
        "Fast for eight hours before the blood draw.",
        "Before blood is drawn, do not eat for 8 hours.",
    ),
    ("The first floor is cleaned, then the cellar.", "The cellar is cleaned on the first of May."),
    (
        "Drafts are due before the deadline.",
        "Drafts are due no later than a day before the deadline.",
    ),
]


# Other cases, conditions, denials, told changes, one more occasion, other things and predicates.
HARMLESS = [
    ("Tea is served hot, juice cold.", "Juice is never hot, tea never cold."),
    ("Ana owns billing; Ben owns search.", "Ben reviews billing; Ana reviews search."),
    ("Ann writes the minutes and Bob checks them.", "Bob writes the agenda and Ann checks it."),
    (
        "At Rowan House every dose is checked and signed by two nurses, then given.",
        "Two nurses check and sign each dose at Rowan House, then give it.",
    ),
    (
        "Ana works on Mondays, Ben on Fridays.",
        "In even weeks Ana works on Fridays, Ben on Mondays.",
    ),
    ("Doors are green and frames white.", "Up to 2019 doors were white and frames green."),
    ("The invoice cannot be paid before it is approved.", "The invoice is approved, then paid."),
    ("The pump is primed before it is started.", "The pump is started after it is primed."),
    ("The vault is sealed, and before that audited.", "The audit is done before the sealing."),
    ("Wear gloves before touching the plates.", "After touching the plates, take off the gloves."),
    ("Guests eat before staff, staff before the band.", "The band eats after staff and guests."),
    ("Backups are taken before the deploy.", "Backups are also taken after the deploy."),
    ("Merging before the review is forbidden.", "Review first, then merge."),
    ("The truck is weighed before and after loading.", "The truck is weighed after loading."),
    (
        "Sow the oats first, then the rye, in spring.",
        "In autumn, sow the rye first, then the oats.",
    ),
    (
        "Objects are photographed before cleaning.",
        "We reversed the order: cleaned, then photographed.",
    ),
    ("Send the agenda before the meeting.", "Send the minutes after the meeting."),
    ("Look after the plants before leaving.", "Before leaving, look after the plants."),
    ("Take the pills after breakfast.", "Take the drops before breakfast."),
]


@pytest.mark.parametrize(("a", "b"), HARMLESS)
def test_what_is_of_another_case_or_thing_does_not_contradict(a: str, b: str) -> None:
    ways = {compare(a, b).contradiction, compare(b, a).contradiction}
    assert not ways & {"order", "pairing"}


@pytest.mark.parametrize(("a", "b"), CROSSED + TURNED)
def test_the_order_of_the_texts_does_not_matter(a: str, b: str) -> None:
    there, back = compare(a, b), compare(b, a)
    assert (there.relation, there.contradiction) == (back.relation, back.contradiction)


@pytest.mark.parametrize(("a", "b"), CROSSED)
def test_the_same_things_paired_otherwise_contradict(a: str, b: str) -> None:
    assert {compare(a, b).contradiction, compare(b, a).contradiction} == {"pairing"}


@pytest.mark.parametrize(("a", "b"), NOT_CROSSED)
def test_the_same_pairs_in_another_order_do_not(a: str, b: str) -> None:
    assert compare(a, b).relation != "contradicts"


@pytest.mark.parametrize(("a", "b"), TURNED)
def test_opposite_orders_of_two_steps_contradict(a: str, b: str) -> None:
    assert {compare(a, b).relation, compare(b, a).relation} == {"contradicts"}
    assert other_order(a, b)


@pytest.mark.parametrize(("a", "b"), NOT_TURNED)
def test_the_same_order_in_other_words_does_not(a: str, b: str) -> None:
    assert compare(a, b).contradiction != "order"
    assert not other_order(a, b)


@pytest.mark.parametrize(
    "text",
    [
        "Could the fee be paid before the placement test?",
        "Perhaps the fee should be paid before the placement test.",
    ],
)
def test_what_claims_nothing_contradicts_no_order(text: str) -> None:
    assert compare("Placement test first, then the fee.", text).relation != "contradicts"


def test_long_texts_are_not_compared_this_way() -> None:
    one = "The fee is paid before the placement test. "
    other = "Placement test first, then the fee. "
    beside = "The garden has apples, pears, plums and quinces. " * 25
    assert compare(one, other).contradiction == "order"
    assert compare(one + beside, other + beside).relation != "contradicts"
