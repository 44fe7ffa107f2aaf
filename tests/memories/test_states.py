"""What short sentences say of unnamed things: where, by what, by whom, how long, in which zone."""

from __future__ import annotations

import pytest

from memories.core.claims import compare
from memories.core.reading import read
from memories.core.states import states_of

CONTRADICT = """
The spare pump is stored in Hall West. | The spare pump is kept in Hall East.
Terraform state lives in S3. | The Terraform state is stored in Terraform Cloud.
Scans are archived in the Frankfurt bucket. | Scans go to the Dublin bucket for archiving.
Search runs on Elasticsearch. | Search is powered by Meilisearch.
The mobile app is written in Kotlin. | The mobile app is implemented in Dart.
Payments go through Stripe. | Payments are processed by Adyen.
Feature flags are served by LaunchDarkly. | Feature flags come from Unleash.
Marta Silva is the safety officer of the plant. | The plant's safety officer is Henrik Dahl.
Owen handles the warehouse keys. | The warehouse keys are handled by Lucia.
Access logs are kept for 90 days. | Access logs are never deleted.
Sessions expire after 30 minutes. | Sessions never expire.
Draft orders are deleted after two weeks. | Draft orders are kept for ever.
Timestamps in the export are in UTC. | The export writes its timestamps in Berlin time.
The nightly job is scheduled in Pacific time. | The nightly job's schedule is in UTC.
"""

ARE_COMPATIBLE = """
The spare pump is stored in Hall West. | The spare anchor is kept in Hall East.
Orders are stored in Postgres. | Orders are stored in Lyon.
Scans go to Lucia. | Scans are kept in Dublin.
Search runs on Elasticsearch. | Search is written in Kotlin.
Search runs on Elasticsearch. | Search runs on Elasticsearch and Solr.
Payments go through Stripe. | Refunds are processed by Adyen.
Payments go through Stripe. | We consider moving payments to Adyen.
Marta Silva is the safety officer of the plant. | Marta is the safety officer of the plant.
Marta Silva is the safety officer. | Henrik Dahl is the deputy safety officer.
The next speaker of the series is Ana Kolb. | The next speaker of the series is Ben Roth.
Owen handles the warehouse keys. | The office keys are handled by Lucia.
Owen handles the warehouse keys. | Lucia handles warehouse keys, too.
Access logs are kept for 90 days. | Audit logs are never deleted.
Access logs are kept for 90 days. | Access logs are never shared.
Timestamps in the export are in UTC. | Timestamps in the report are in Berlin time.
Timestamps in the export are in UTC. | Timestamps in the export are in London time.
Timestamps in the export are in UTC. | Timestamps in the export are in GMT.
The canteen is closed on Mondays. | The canteen is closed on Fridays.
The canteen is closed on Mondays. | The canteen is closed on Fridays, too.
"""


def pairs(lines: str) -> list[tuple[str, str]]:
    found = [line.split(" | ") for line in lines.strip().splitlines()]
    return [(a, b) for a, b in found]


@pytest.mark.parametrize(("a", "b"), pairs(CONTRADICT))
def test_values_of_one_thing_exclude_each_other(a: str, b: str) -> None:
    for one, other in ((a, b), (b, a)):
        assert compare(read(one), read(other)).relation == "contradicts"


@pytest.mark.parametrize(("a", "b"), pairs(ARE_COMPATIBLE))
def test_other_things_and_values_that_may_both_hold_do_not(a: str, b: str) -> None:
    for one, other in ((a, b), (b, a)):
        assert compare(read(one), read(other)).relation != "contradicts"


@pytest.mark.parametrize(
    "text", ["", ".", "is in", "It is kept in Hall West.", "Keys are in " + "x" * 200]
)
def test_other_sentences_have_no_reading(text: str) -> None:
    assert states_of(text) == ()
