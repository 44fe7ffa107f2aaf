"""Sentences that are equal but for their value clash, whatever cue words they share."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conflicts.core.detective import detect
from tests.conflicts.test_core_detective import NOW, similar, story, summary
from tests.conflicts.test_core_mechanisms import kinds


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Draft contracts are kept for 30 days.", "Draft contracts are kept for 60 days."),
        ("The recommended limit for photos is 20 MB.",
         "The recommended limit for photos is 50 MB."),
        ("Deleted tickets are kept for 30 days.", "Deleted tickets are kept for 90 days."),
        ("Thanks to the index, the search takes at most 2 seconds.",
         "Thanks to the index, the search takes at most 5 seconds."),
        ("Receipts are archived in the Frankfurt bucket.",
         "Receipts are archived in the Dublin bucket."),
        ("Ansible state is kept in S3.", "Ansible state is kept in Terraform Cloud."),
    ],
)  # fmt: skip
def test_a_shared_cue_does_not_hide_two_values(older: str, newer: str) -> None:
    assert kinds(older, newer, cosine=0.8) == ["ambiguity"]


def test_two_closing_days_make_no_claim_stale() -> None:
    assert "stale" not in kinds("The shop is closed on Mondays.", "The shop is closed on Fridays.")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Dr. Weller operates on Mondays.", "Dr. Weller holds clinic on Thursdays."),
        ("The mill bakes 84 rolls every Saturday.", "The mill bakes 11 loaves every Thursday."),
        ("Ana trains on Mondays.", "Bert trains on Fridays."),
        ("Orders of the shop are stored in Postgres.",
         "Order events of the shop are stored in Kafka."),
        ("Ana Kolb lives in Remol.", "Bert Moser died in Remol."),
        ("Ana Kolb lives in Remol.", "Bert Moser moved to Remol."),
    ],
)  # fmt: skip
def test_other_activities_people_and_parts_are_no_conflict(older: str, newer: str) -> None:
    assert kinds(older, newer, cosine=0.8) == []


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (("We use REST", "We switched to GraphQL", "The API is REST-based"), "reversal"),
        (("We use REST.", "We switched from REST to GraphQL.", "We use REST."), "reversal"),
        (("The API is REST.", "Moved the API from REST to GraphQL.", "The API is REST-based."),
         "reversal"),
        (("We use npm.", "We switched to pnpm.", "Run npm install to set up."), "reversal"),
        (("We run Postgres 14.", "The migration to Postgres 17 is complete."), "stale"),
        (("Postgres 14 is our database version", "The Postgres 17 migration finished last week."),
         "stale"),
        (("Our database is Postgres 14.", "During the Postgres 17 migration two tables went."),
         "stale"),
    ],
)  # fmt: skip
def test_the_examples_of_the_sources_are_found(texts: tuple[str, ...], kind: str) -> None:
    assert kinds(*texts, cosine=0.5) == [kind]


@pytest.mark.parametrize(
    "texts",
    [
        ("We use REST.", "We switched to GraphQL.", "GraphQL replaced REST in the API."),
        ("We use REST.", "We switched to GraphQL.", "We went back to REST."),
        ("We use REST.", "We switched to pnpm.", "The API is REST-based."),
        ("We use Postgres 14.", "We finished migrating to Postgres 17."),
        ("We use Postgres 14.", "The Postgres 17 migration is planned for May."),
    ],
)
def test_an_announced_choice_settles_and_another_kind_is_no_change(texts: tuple[str, ...]) -> None:
    assert kinds(*texts, cosine=0.5) == []


def test_limits_of_one_matter_in_two_scopes_are_found() -> None:
    limits = story("The rate limit is 1,000 req/s.", "Auth allows 5,000 req/s per IP.")
    facts = [replace(limits[0], scope="auth"), replace(limits[1], scope="infra")]
    found = summary(detect(facts, similar(facts, 0.48), now=NOW))
    assert [kind for kind, _ in found] == ["ambiguity"]
