"""The first word of a subject inside a question: names keep their capital, other words do not."""

from __future__ import annotations

import pytest

from conflicts.core.states import state_of
from memories.core.sentence_case import in_mid_sentence

COMMON = (
    """
Travel requests|Spare disks|Application logs|Sectional rehearsals|Sealed valuables|Winter tyres
Annual leave for interns|Production schema changes|Year-end reports|Unpaid bills|Two keys
Nightly backups|Maintenance windows|Late arrivals|Password resets|Old paint|State in the web client
Registration forms|The depot|Our van|Every invoice|Most orders|A VPN key|Spare VPN keys
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
NAMES = (
    """
Immingham gates|Postgres backups|Paris office|Kubernetes nodes|DNS zones|Stripe payouts|Mira|Ledger
Orchard Clinic doors|Slack channels|iOS builds|Texas depot|Redis|Redis keys|Jenkins jobs|Mark|Chase
Grant|Docker images|Kestrel Bay|Terraform state|Halle depot|E-17|EIP-3|Ana's team|Billing|AS|Harbour
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@pytest.mark.parametrize("subject", COMMON)
def test_a_word_that_is_no_name_is_written_small(subject: str) -> None:
    assert in_mid_sentence(subject) == subject[0].lower() + subject[1:]


@pytest.mark.parametrize("subject", NAMES)
def test_what_may_be_a_name_keeps_its_capital(subject: str) -> None:
    assert in_mid_sentence(subject) == subject


def test_a_plural_that_is_the_subject_of_are_is_written_small() -> None:
    assert in_mid_sentence("Croissants", is_plural=True) == "croissants"
    assert in_mid_sentence("Ferries to Sylt", is_plural=True) == "ferries to Sylt"
    assert in_mid_sentence("Siemens") == "Siemens"


@pytest.mark.parametrize(
    ("statement", "subject"),
    [
        ("Travel request 17 has status Draft", "travel request 17"),
        ("The travel request 17 has status Draft", "travel request 17"),
        ("EIP-3 has status Draft", "EIP-3"),
        ("Status of Travel 17: Draft", "Travel 17"),
    ],
)
def test_a_state_is_asked_about_in_the_middle_of_a_sentence(statement: str, subject: str) -> None:
    state = state_of(statement)
    assert state is not None
    assert state.subject == subject
