"""What two statements say differently, in their own words; nothing where no value stands out."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.contrast import MAX_HEADING_CHARS, MAX_VALUE_CHARS, contrast_of, head_of
from memories.core.quoting import legible

NAMED = [
    (
        "Stand-up is at 9:30 on weekdays, on the video bridge.",
        "Stand-up starts at 10:00 on weekdays.",
        ("9:30", "10:00"),
        "Stand-up starts at 9:30 or 10:00 on weekdays?",
    ),
    (
        "The public booking API allows 1,000 requests per minute.",
        "The public booking API allows 5,000 requests per minute.",
        ("1,000 requests per minute", "5,000 requests per minute"),
        "The public booking API allows 1,000 or 5,000 requests per minute?",
    ),
    (
        "The support hotline is open from 8:00 to 18:00.",
        "The support hotline is open from 7:00 to 21:00.",
        ("8:00 to 18:00", "7:00 to 21:00"),
        "The support hotline is open from 8:00 to 18:00 or 7:00 to 21:00?",
    ),
    (
        "The largest upload to the archive is 25 MB.",
        "The archive takes uploads up to 50 MB.",
        ("25 MB", "50 MB"),
        "The archive takes uploads up to 25 or 50 MB?",
    ),
    (
        "Partners may send 1,000 requests per minute to the public booking API.",
        "The public booking API allows 5,000 requests per minute.",
        ("1,000 requests per minute", "5,000 requests per minute"),
        "The public booking API allows 1,000 or 5,000 requests per minute?",
    ),
    (
        "Invoices are due after 28 days.",
        "Customers pay their invoices within 30 days.",
        ("28 days", "30 days"),
        "Customers pay their invoices within 28 or 30 days?",
    ),
    (
        "The retry waits for 1 second.",
        "Before a retry the worker sleeps 30 seconds.",
        ("1 second", "30 seconds"),
        "Before a retry the worker sleeps 1 second or 30 seconds?",
    ),
    (
        "The audit begins on 3 March.",
        "The audit begins on 17 March.",
        ("3 March", "17 March"),
        "The audit begins on 3 or 17 March?",
    ),
    (
        "Ana leads the platform team.",
        "Bob leads the platform team.",
        ("Ana", "Bob"),
        "Ana or Bob leads the platform team?",
    ),
    (  # what was left for something else, and stated again
        "Switched booking events from RabbitMQ to Kafka because consumers need replay.",
        "Harbour publishes booking events to RabbitMQ.",
        ("Kafka", "RabbitMQ"),
        "Harbour publishes booking events to Kafka or RabbitMQ?",
    ),
    (
        "The broker behind the notifier is SQS, so alerts watch its queue.",
        "We replaced SQS with Redis Streams to have priorities.",
        ("SQS", "Redis Streams"),
        "The broker behind the notifier is SQS or Redis Streams, so alerts watch its queue?",
    ),
]
UNNAMED = [
    ("The flag is on.", "The flag is not on."),
    ("API keys expire after 90 days.", "API keys never expire."),
    ("The billing service calls the mail service.", "The mail service calls the billing service."),
    ("Ana lives in Madrid.", "Ana moved to Lisbon."),
    ("The demo is on Thursday.", "The demo is on Thursday."),
    ("Nightly reports are sent by the server Petrel.", "The server Petrel was switched off."),
    ("Moved the order log from Postgres to S3.", "The order log is kept in DynamoDB for good."),
    ("Moved the order log from Postgres to S3.", "Postgres fills S3 with the order log at night."),
]


@pytest.mark.parametrize(("older", "newer", "names", "heading"), NAMED)
def test_values_are_named_as_they_are_written(
    older: str, newer: str, names: tuple[str, str], heading: str
) -> None:
    found = contrast_of(older, newer)
    assert found is not None
    assert (found.older_name, found.newer_name) == names
    assert head_of(older, newer) == heading


@pytest.mark.parametrize(("older", "newer"), UNNAMED)
def test_where_no_value_stands_out_nothing_is_named(older: str, newer: str) -> None:
    assert contrast_of(older, newer) is None
    assert head_of(older, newer) == ""


@pytest.mark.parametrize(
    ("older", "newer", "names"),
    [
        ("The hall has 6 benches.", "The hall has 8 benches.", ("6 benches", "8 benches")),
        ("There are 6 benches here.", "There are 8 long oak benches here.",
         ("6 benches", "8 long oak benches")),
        ("Six people staff the desk.", "Two people staff the desk.", ("Six people", "Two people")),
        ("It is checked every 6 months.", "It is checked every 9 months.",
         ("6 months", "9 months")),
        ("The limit is 6 in summer.", "The limit is 8 in summer.", ("6", "8")),
        ("The limit of the hall is 6.", "The limit of the hall is 8.", ("6", "8")),
    ],
)  # fmt: skip
def test_a_count_is_named_with_what_it_counts(
    older: str, newer: str, names: tuple[str, str]
) -> None:
    found = contrast_of(older, newer)
    assert found is not None
    assert (found.older_name, found.newer_name) == names


def test_a_long_sentence_ends_behind_what_differs() -> None:
    tail = "and it is announced in the channel of the harbour team a day before, as always"
    heading = head_of(f"Drills are on Monday, {tail}.", f"Drills are on Friday, {tail}.")
    assert heading == "Drills are on Monday or Friday?"


@given(st.text(max_size=450), st.text(max_size=450))
def test_any_two_texts_give_short_words_of_their_own(older: str, newer: str) -> None:
    found = contrast_of(older, newer)
    assert len(head_of(older, newer)) <= MAX_HEADING_CHARS
    if found is not None:
        assert max(len(found.older_name), len(found.newer_name)) <= MAX_VALUE_CHARS
        assert found.newer in " ".join(legible(newer).split())


def test_long_texts_cost_nothing() -> None:
    begun = time.process_time()
    assert contrast_of("word " * 2000, "other " * 2000) is None
    assert time.process_time() - begun < 0.5
