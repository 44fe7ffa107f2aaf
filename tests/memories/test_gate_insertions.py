"""What changes a sentence when it is put into one copy of it keeps the two copies apart."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.claims import compare
from memories.core.content import content_hash
from memories.core.gate import decide
from tests.memories.insertions import BASES, INSERTIONS, changed, plain
from tests.memories.qualifiers import QUALIFIERS, qualified

LOUD = re.compile(r"(?<!\d )\b[a-z]+", re.IGNORECASE)  # words behind no number
BEFORE = st.sampled_from(["", "Rehearsals are on Tuesday. ", "The kiln stands in the shed. "])


def outcome(a: str, b: str) -> str:
    return decide(
        compare(a, b),
        1.0,
        threshold=0.6,
        policy="merge",
        provenance_stored="assistant_derived",
        provenance_incoming="assistant_derived",
    ).outcome


def assert_apart(a: str, b: str) -> None:
    for x, y in ((a, b), (b, a)):
        assert compare(x, y).relation in ("contradicts", "different"), (x, y)
        assert outcome(x, y) != "merged", (x, y)
    assert content_hash(a) != content_hash(b)


def test_every_insertion_finds_its_place() -> None:
    assert len(BASES) >= 60
    assert all(any(changed(base, name) for base in BASES) for name in INSERTIONS)


@given(st.sampled_from(BASES), st.sampled_from(sorted(INSERTIONS)), BEFORE, st.data())
def test_an_insertion_that_changes_a_sentence_keeps_it_apart(
    base: str, name: str, before: str, data: st.DataObject
) -> None:
    copies = changed(base, name)
    if copies:
        assert_apart(before + plain(base), before + data.draw(st.sampled_from(copies)))


@given(st.sampled_from(BASES), BEFORE)
def test_a_sentence_without_insertion_is_the_same(base: str, before: str) -> None:
    text = before + plain(base)
    loud = LOUD.sub(lambda word: word[0].upper(), text)  # an upper-cased unit may be another one
    for copy in (text.removesuffix("."), loud, f"  {text} ".replace(" ", "  ")):
        assert compare(text, copy).relation == "same"
        assert content_hash(text) == content_hash(copy)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The serum is stored at 20 degrees.", "The serum is stored at minus 20 degrees."),
        ("The sample stays below zero.", "The sample stays at zero."),
        ("The pool has more than 5 nodes.", "The pool has 5 nodes."),
        ("Uploads stop at 5 MB.", "Uploads stop at 5 Mb."),
        ("The laser emits 5 mW.", "The laser emits 5 MW."),
        ("The link carries 40 MB/s.", "The link carries 40 Mb/s."),
    ],
)
def test_signs_bounds_and_units_that_exclude_each_other_contradict(a: str, b: str) -> None:
    assert_apart(a, b)
    assert compare(a, b).relation == compare(b, a).relation == "contradicts"


def test_the_reason_of_two_bounds_names_them() -> None:
    found = compare("The sample stays below zero.", "The sample stays at zero.")
    assert found.reasons == ("number differs: below zero vs zero",)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The link carries 5 MB/s.", "The link carries 40 Mbps."),
        ("At most 5 guests fit.", "No more than 5 guests fit."),
        ("Tokens live for at most 90 minutes.", "Tokens live for no more than 1.5 hours."),
        ("Store the serum at -20 °C.", "Store the serum at minus 20 °C."),
        ("Retries stay <= 5.", "Retries stay \u2264 5."),
    ],
)
def test_other_spellings_of_signs_bounds_and_units_are_the_same(a: str, b: str) -> None:
    assert compare(a, b).relation == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("My keys are in the drawer.", "Your keys are in the drawer."),
        ("He lives in Porto.", "She lives in Porto."),
        ("Matches sort by ping first and by rank second.",
         "Matches sort by rank first and by ping second."),
        ("The crate is lifted from the truck.", "The crate is lifted onto the truck."),
        ("The kitchen serves everybody soup.", "The kitchen serves soup."),
        ("Guests may bring dogs.", "Guests may bring dogs with a leash."),
        ("Guests may bring dogs.", "Guests may bring dogs, but children pay extra."),
        ("Support answers the phone.", "Support answers the phone in Spanish."),
    ],
)  # fmt: skip
def test_other_persons_places_and_limits_keep_claims_apart(a: str, b: str) -> None:
    assert_apart(a, b)


@pytest.mark.parametrize(
    ("general", "specific"),
    [
        ("Payloads are signed.", "Payloads are signed with HMAC-SHA256."),
        ("The deploy is announced.", "The deploy is announced at 14:00 by Ines."),
        ("Reports are written.", "Reports are written as PDF via LibreOffice."),
        ("Images are built.", "Images are built through GitHub Actions."),
        ("Metrics are written.", "Metrics are written into ts_metrics via Kafka."),
        ("Webhooks are retried.", "Webhooks are retried six times."),
        ("The crane lifts crates.", "The crane lifts crates 4 m."),
        ("The search runs on PostgreSQL.", "Reminder: the search runs on PostgreSQL 17."),
    ],
)
def test_only_what_is_known_to_be_harmless_refines(general: str, specific: str) -> None:
    found = compare(general, specific)
    assert (found.relation, found.more_specific) == ("refines", "b")
    assert outcome(general, specific) == "merged"


@pytest.mark.parametrize(
    ("general", "specific"),
    [
        ("Visitors are accepted.", "Visitors are accepted within 3 days."),
        ("Fees are refunded.", "Fees are refunded 50 %."),
        ("Vaccines are kept.", "Vaccines are kept 3 days."),
        ("Parcels are insured.", "Parcels are insured up to 500 euros."),
        ("Guests are served.", "Guests are served 2 exceptions."),
        ("Guests leave.", "Guests leave by 14:00."),
        ("The ferry sails at 8:00.", "The ferry sails at 8:00 at 9:00."),
        ("Users can export reports.", "Users can export reports as PDF."),
        ("The job imports files.", "The job imports files from S3."),
        ("The clinic admits patients.", "The clinic admits patients with COVID-19."),
        ("Parcels are shipped.", "Parcels are shipped by Easter."),
        ("Parcels are shipped.", "PARCELS ARE SHIPPED BY APPOINTMENT."),
        ("Parcels are shipped.", "Parcels are shipped with John."),
        ("Parcels are shipped.", "Parcels are shipped (in use)."),
        ("The sampler is on.", "The optional sampler is on."),
        ("The roof is dry.", "The roof is kind of dry."),
        ("The roof is dry.", "The roof is fairly dry."),
        ("Parking is free.", "Parking is free today."),
        ("Dogs are allowed.", "Dogs are allowed here."),
        ("The roof is not insulated.", "The roof is not fully insulated."),
        ("Dogs are not welcome.", "Dogs are not always welcome."),
    ],
)
def test_values_names_and_small_words_that_limit_keep_claims_apart(
    general: str, specific: str
) -> None:
    assert_apart(general, specific)


def test_a_text_that_adds_a_statement_is_offered_to_people() -> None:
    general, specific = "The mast is in Bern.", "The mast is in Bern. Ines owns the workshop."
    assert compare(general, specific).relation == "different"
    assert outcome(general, specific) == "suggested"


def test_deploys_on_and_through_one_tool_are_the_same() -> None:
    a, b = "Deploys run on GitHub Actions.", "Deploys run through GitHub Actions."
    assert compare(a, b).relation == "same"


@pytest.mark.parametrize("qualifier", QUALIFIERS)
def test_a_qualifier_in_any_sentence_keeps_it_apart(qualifier: str) -> None:
    for base in BASES:
        a, b = plain(base), qualified(base, qualifier)
        for x, y in ((a, b), (b, a)):
            found = compare(x, y)
            assert found.relation in ("contradicts", "different"), (x, y, found)
            assert outcome(x, y) != "merged", (x, y)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ines paints the fence.", "Ines has the fence painted."),
        ("Ines painted the fence.", "Ines had the fence painted."),
        ("Ines is painting the fence.", "Ines is having the fence painted."),
        ("Ines repairs the roof.", "Ines gets the roof repaired."),
        ("The board must audit the books.", "The board must have the books audited."),
        ("Ines paints the fence.", "Ines has painted the fence red."),
    ],
)
def test_who_has_a_thing_done_does_not_do_it(a: str, b: str) -> None:
    assert_apart(a, b)


def test_a_perfect_is_no_thing_done_by_another() -> None:
    assert compare("Ines has painted the fence.", "Ines painted the fence.").relation == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Parking is free of charge.", "Parking is free."),
        ("Parking is available free of charge.", "Parking is available for free."),
        ("Breakfast is served free of charge.", "Breakfast is served at no charge."),
        ("Delivery is charge free.", "Delivery is free."),
        ("Guests travel free.", "Guests travel for free."),
    ],
)
def test_what_costs_nothing_denies_nothing(a: str, b: str) -> None:
    assert compare(a, b).relation == compare(b, a).relation == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Parking is free of charge.", "Parking is charged."),
        ("Parking is not free of charge.", "Parking is free."),
        ("The cake is gluten free.", "The cake contains gluten."),
    ],
)
def test_what_is_free_still_excludes_its_opposite(a: str, b: str) -> None:
    assert compare(a, b).relation == compare(b, a).relation == "contradicts"
