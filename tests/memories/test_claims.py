"""The face of claim comparison: what `read` finds and how `compare` judges pairs."""

from __future__ import annotations

import pytest

from memories.core.claims import compare, read


def relation(a: str, b: str) -> str:
    return compare(a, b).relation


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The lease ends on 30 June 2027.", "The lease ends on 2027-06-30."),
        ("Tokens live for 90 minutes.", "Tokens live for 1.5 hours."),
        ("The upload limit is 2 GiB.", "The upload limit is 2048 MiB."),
        ("request_timeout_ms = 45000", "The request timeout is 45 seconds."),
        ("The courier collects parcels at 4 pm.", "The courier collects parcels at 16:00."),
        ("The importer runs every 15 minutes.", "The importer runs four times an hour."),
        ("The rent is €1,200.", "The rent is 1200 euros."),
        ("Debug mode is not enabled.", "Debug mode is disabled."),
        ("Marta approves holiday requests.", "Holiday requests are approved by Marta."),
        ("The garden belongs to the neighbour.", "The neighbour owns the garden."),
        ("Never erase the ledger.", "Do not delete the ledger."),
        ("The docs repo is hosted on GitLab.", "The documentation repository runs on GitLab."),
        ("The job runs at 03:00 CET.", "The job runs at 02:00 UTC."),
        ("The API uses Postgres 16.", "The API uses PostgreSQL 16."),
    ],
)
def test_the_same_claim_in_other_words_is_same(a: str, b: str) -> None:
    assert relation(a, b) == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The lease ends on 30 June 2027.", "The lease ends on 30 July 2027."),
        ("Tokens live for 90 minutes.", "Tokens live for 90 seconds."),
        ("At most 5 guests fit.", "At most 8 guests fit."),
        ("The standup is on Monday.", "The standup is on Wednesday."),
        ("The worker runs Python 3.11.", "The worker runs Python 3.12."),
        ("The server listens on port 8080.", "The server listens on port 9090."),
        ("The flag is enabled.", "The flag is disabled."),
        ("Back up the disk before the upgrade.", "Back up the disk after the upgrade."),
        ("Visitors may park here.", "Visitors may not park here."),
        ("The site uses pnpm.", "The site uses npm."),
        ("The site uses yarn.", "Moved the site from yarn to npm."),
        ("Invoices are archived in S3.", "Invoices are archived in GCS, not in S3."),
        ("The billing service calls the ledger.", "The ledger calls the billing service."),
        ("Photos go from the phone to the laptop.", "Photos go from the laptop to the phone."),
        ("Rosa lives in Porto.", "Rosa lives in Lisbon."),
        ("EIP-3 has status Draft", "EIP-3 has status Deferred"),
        ("Ines owns the release calendar.", "Piet owns the release calendar."),
        ("We use Redis for sessions.", "We no longer use Redis for sessions."),
        ("The door is open.", "The door is closed."),
        ("Store the serum at 4 °C.", "Store the serum at -20 °C."),
    ],
)
def test_one_slot_that_excludes_the_other_contradicts(a: str, b: str) -> None:
    assert relation(a, b) == "contradicts"
    assert relation(b, a) == "contradicts"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The staging cluster has 3 nodes.", "The production cluster has 9 nodes."),
        ("The app supports Postgres.", "The app supports MySQL."),
        ("The parser is written in Rust.", "The parser is tested with pytest."),
        ("Connect timeout is 5 s.", "Read timeout is 20 s."),
        ("Should the flag be enabled?", "The flag is disabled."),
        ("We might move the blog to Hugo.", "The blog runs on Jekyll."),
        ("The blog used to run on Hugo.", "The blog runs on Jekyll."),
        ("In winter the pool opens at 10:00.", "In summer the pool opens at 07:00."),
        ("Tea helps against colds.", "The bridge is 40 m long."),
        ("Patient 4 takes 5 mg.", "Patient 9 takes 10 mg."),
    ],
)
def test_two_things_or_no_present_fact_is_different(a: str, b: str) -> None:
    assert relation(a, b) == "different"


@pytest.mark.parametrize(
    ("general", "specific"),
    [
        ("Parcels are insured.", "Parcels are insured by Helvetia."),
        ("The node runs Debian 12.", "The node runs Debian 12.5."),
        ("The review is in May 2026.", "The review is on 2026-05-14."),
        ("Reports are exported.", "Reports are exported as PDF via LibreOffice."),
    ],
)
def test_more_about_the_same_claim_refines(general: str, specific: str) -> None:
    found = compare(general, specific)
    assert (found.relation, found.more_specific) == ("refines", "b")
    flipped = compare(specific, general)
    assert (flipped.relation, flipped.more_specific) == ("refines", "a")


def test_two_statements_of_which_one_changed_contradict_and_name_the_pair() -> None:
    stored = read("The cache is Redis. The cache TTL is 5 minutes.")
    incoming = read("The cache TTL is 10 minutes.")
    found = compare(stored, incoming)
    assert (found.relation, found.pair) == ("contradicts", (1, 0))
    assert found.reasons == ("number differs: 5 minutes vs 10 minutes",)


def test_a_statement_more_may_take_back_the_other_and_is_left_to_people() -> None:
    for more in ("Rehearsals are on Tuesday.", "Exceptions apply.", "Ines made that up."):
        found = compare("Bea leads the choir.", f"Bea leads the choir. {more}")
        assert (found.relation, found.reasons) == ("different", ("no rule decides",))


def test_read_names_subject_values_and_polarity() -> None:
    (claim,) = read("The staging database does not run Postgres 14.2 since 3 May.").claims
    assert claim.subject == {"stage", "databas"}
    assert claim.versions == {"postgres 14.2"}
    assert claim.dates == {"--05-03"}
    assert claim.polarity is False
    assert claim.modality == "fact"


def test_read_tells_old_and_new_of_a_switch() -> None:
    (claim,) = read("We moved the shop from Magento to Saleor last week.").claims
    assert claim.transition is not None
    assert claim.transition.kind == "switch"
    assert (claim.transition.old, claim.transition.new) == ({"magento"}, {"saleor"})


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The old gateway was retired.", "end"),
        ("We no longer ship on Sundays.", "end"),
        ("Payments are back on Stripe.", "return"),
        ("The deploy was rolled back to 1.4.", "return"),
        ("Replaced cron with systemd timers.", "switch"),
        ("Since March the office is in Bern.", "start"),
    ],
)
def test_read_finds_words_of_change(text: str, kind: str) -> None:
    (claim,) = read(text).claims
    assert claim.transition is not None
    assert claim.transition.kind == kind


def test_habits_are_no_transition() -> None:
    (claim,) = read("The job moves files from S3 to the archive every night.").claims
    assert claim.transition is None


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("Is the flag on?", "question"),
        ("We should move to Kafka, maybe.", "proposal"),
        ("If we were rich we would buy it.", "hypothetical"),
        ("Ana says the bridge opens on Friday.", "quote"),
        ("The blog used to run on Hugo.", "history"),
        ("Last winter the office hour was on Tuesdays.", "history"),
        ("The office was in Oslo last year.", "history"),
        ("The limit was raised to 5 last week.", "fact"),
        ("We plan to move to Oslo.", "plan"),
        ("The flag is on.", "fact"),
    ],
)
def test_modality(text: str, modality: str) -> None:
    assert read(text).claims[0].modality == modality


def test_a_past_period_is_read_behind_a_bracket_or_quotation_mark() -> None:
    for opening in ("Last winter", "(Last winter)", '"Last winter"'):
        claims = read(f"{opening}, the office hour was on Tuesdays.").claims
        assert claims[-1].modality == "history"


def test_what_was_in_a_past_period_does_not_contradict_the_present() -> None:
    now = "Dr. Bauer's office hour is on Wednesdays."
    assert compare(now, "Last winter, Dr. Bauer's office hour was on Tuesdays.").relation == (
        "different"
    )
    assert compare(now, "Dr. Bauer's office hour is on Tuesdays.").relation == "contradicts"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Smoking is forbidden in the cabin.", "No smoking in the cabin."),
        ("It is forbidden to feed the gulls.", "Do not feed the gulls."),
        ("Food cannot be kept in the lab.", "It is forbidden to keep food in the lab."),
        ("Photography is prohibited in the vault.", "No photography in the vault."),
    ],
)
def test_a_ban_and_a_negation_do_not_exclude_each_other(a: str, b: str) -> None:
    assert compare(a, b).relation != "contradicts"
    assert compare(b, a).relation != "contradicts"
    allowed = a.replace("forbidden", "allowed").replace("prohibited", "allowed")
    assert compare(a, allowed).relation == ("contradicts" if a != allowed else "same")
