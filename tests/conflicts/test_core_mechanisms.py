"""Mechanisms of the deterministic detective, each told in words of its own."""

from __future__ import annotations

import pytest

from conflicts.core.cues import Cue, cues
from conflicts.core.detective import detect
from memories.core import claims
from memories.core.exclusions import find_exclusion
from tests.conflicts.test_core_detective import NOW, similar, story, summary


def kinds(*contents: str, cosine: float = 0.7) -> list[str]:
    facts = story(*contents)
    return [kind for kind, _ in summary(detect(facts, similar(facts, cosine), now=NOW))]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("The pager answers after a quarter of an hour.", 900.0),
        ("The pager answers within three quarters of an hour.", 2700.0),
        ("The report is due within a quarter.", 7889238.0),
    ],
)
def test_quarters_of_a_unit_are_read_as_parts(text: str, seconds: float) -> None:
    assert [q.value for q in claims.read(text).claims[0].quantities] == [seconds]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The pager answers within 15 minutes.", "The pager answers within a quarter of an hour."),
        ("Carts are kept for 24 hours.", "A cart is kept for a day."),
        ("Ledger-api deploys on weekday evenings.",
         "It is not true that ledger-api never deploys on weekday evenings."),
        ("For the tenant Aster certificates are issued after every course.",
         "For the tenant Birch no certificate is issued after a course."),
    ],
)  # fmt: skip
def test_equal_values_and_other_members_are_no_conflict(older: str, newer: str) -> None:
    assert kinds(older, newer) == []


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The sales board is refreshed at 06:00 UTC.",
         "The sales board is refreshed at 07:00 UTC."),
        ("Retro is at 9:30 on Fridays, in the blue room.", "Retro starts at 10:00 on Fridays."),
        ("The public API allows 1,000 requests per minute.",
         "The public API allows 5,000 requests per minute."),
    ],
)  # fmt: skip
def test_other_hours_and_limits_are_an_ambiguity(older: str, newer: str) -> None:
    assert kinds(older, newer, cosine=0.8) == ["ambiguity"]


def test_a_shared_unit_of_time_settles_nothing() -> None:
    facts = (
        "The public API allows 1,000 requests per minute.",
        "The public API allows 5,000 requests per minute.",
        "The depot now loads its events every 30 minutes instead of every hour.",
    )
    assert kinds(*facts, cosine=0.5) == ["ambiguity"]


def test_a_change_elsewhere_that_shares_one_word_makes_no_reversal() -> None:
    facts = story(
        "Names and mail addresses of guests must never reach the depot.",
        "Addresses that bounce three times are not written to any more.",
        "Log lines must not contain mail addresses or names of guests.",
    )
    facts = [
        type(fact)(**{**{n: getattr(fact, n) for n in fact.__dataclass_fields__}, "scope": scope})
        for fact, scope in zip(facts, ("privacy", "mail", "logs"), strict=True)
    ]
    assert detect(facts, similar(facts, 0.48), now=NOW) == []


def test_another_of_a_kind_in_between_is_a_reversal() -> None:
    assert kinds(
        "shop-web installs with yarn, the lock file is in git.",
        "Moved shop-web to pnpm, the image kept failing.",
        "Run yarn install with the frozen lock file before the tests.",
        cosine=0.45,
    ) == ["reversal"]


@pytest.mark.parametrize(
    ("leaning", "end"),
    [
        ("Guests reach house 9 with the free tram from the station.",
         "The city took the tram out of service, too few riders."),
        ("If Pavo acts up set PAVO_BYPASS=1 and orders go by letter.",
         "Ripped the letter route out of the shop together with PAVO_BYPASS."),
        ("The spare key is with the Lindqvists next door.",
         "The Lindqvists moved to Malmö last month."),
    ],
)  # fmt: skip
def test_what_has_gone_leaves_a_claim_stale(leaning: str, end: str) -> None:
    assert kinds(leaning, end, cosine=0.5) == ["stale"]


@pytest.mark.parametrize(
    "announced",
    [
        "Version /v1 of the booking API is switched off at the end of next year.",
        "Version /v1 of the booking API will be retired in spring.",
    ],
)
def test_what_goes_later_is_not_gone_yet(announced: str) -> None:
    assert kinds("Partners call version /v1 of the booking API.", announced) == []


def test_a_noun_that_looks_like_a_report_is_a_fact() -> None:
    told = "claims is backed up by Barman into the cold bucket."
    assert [claim.modality for claim in claims.read(told).claims] == ["fact"]
    said = "Ana claims the deadline is on Friday."
    assert [claim.modality for claim in claims.read(said).claims] == ["quote"]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Overtime on the night line is approved by the plant supervisor.",
         "A yes from the payroll accountant is what overtime on the night line takes."),
        ("Firmware images of the meter are kept in Artifactory.",
         "Meter firmware images are stored in Nexus."),
        ("Rent reminders of the annex are sent by the treasurer.",
         "The secretary sends the rent reminders of the annex."),
    ],
)  # fmt: skip
def test_one_slot_with_two_fillers_is_an_ambiguity(older: str, newer: str) -> None:
    assert kinds(older, newer) == ["ambiguity"]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Overtime on the night line is approved by the plant supervisor.",
         "The supervisor signs off overtime on the night line before noon."),
        ("Meter firmware images are stored in Nexus.",
         "Meter firmware images in Nexus are kept under the releases folder in Cologne."),
        ("Overtime on the night line is approved by the plant supervisor.",
         "Overtime on the night line is not approved by the accountant."),
    ],
)  # fmt: skip
def test_one_slot_with_one_filler_is_none(older: str, newer: str) -> None:
    assert kinds(older, newer) == []


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Repairs of rented ladders are free of charge for members.",
         "Members pay: for repairs of rented ladders we have fees."),
        ("Timesheets of the harbour crew are reported by phone, crew by crew.",
         "The harbour crew reports timesheets online, crew by crew."),
        ("Glue samples of hut two are kept after the test.",
         "After the test the glue samples of hut two are binned."),
    ],
)  # fmt: skip
def test_ways_that_exclude_each_other_are_an_ambiguity(older: str, newer: str) -> None:
    assert kinds(older, newer) == ["ambiguity"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The parcel is sent again by the depot.", frozenset()),
        ("The pods never read the file again.", frozenset()),
        ("Money back to a guest is executed by finance.", frozenset()),
        ("The pump runs again.", frozenset({Cue.AGAIN})),
        ("We are back on diesel.", frozenset({Cue.RETURN})),
    ],
)
def test_again_and_back_are_returns_only_of_a_state(text: str, wanted: frozenset[Cue]) -> None:
    assert cues(text) & {Cue.AGAIN, Cue.RETURN, Cue.SETTLE} == wanted


def test_two_sources_that_each_win_are_an_ambiguity() -> None:
    older = (
        "If opening hours differ, the register is the master and the map is overwritten from it."
    )
    newer = "Opening hours: what the shop typed in the map wins and is pushed into the register."
    assert kinds(older, newer) == ["ambiguity"]
    agreed = "Opening hours: the register prevails, whatever the map had is overwritten."
    assert kinds(older, agreed) == []


def test_what_both_texts_say_is_no_side_of_theirs() -> None:
    assert find_exclusion("Deleting a shelf wipes it.", "After deleting a shelf we restore it.")
    assert find_exclusion("Deleting a shelf wipes it.", "Deleting a shelf destroys it.") == ""
    kept, gone = "Call notes are retained for 14 days.", "Call notes are deleted after 14 days."
    assert kinds(kept, gone) == []


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Fuel bills are sent on the first of the month.",
         "Fuel bills go out on the 15th of each month."),
    ],
)  # fmt: skip
def test_days_in_other_words_are_an_ambiguity(older: str, newer: str) -> None:
    assert kinds(older, newer) == ["ambiguity"]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Fuel bills are sent on the first of the month.",
         "Reminders for fuel bills are sent on the 15th of each month."),
        ("The robot's cache is stored in Redis.", "Artefacts of the robot are stored in MinIO."),
        ("Keys of lockers are valid for 90 days.",
         "Keys of lockers are renewed five days before they end."),
    ],
)  # fmt: skip
def test_what_is_about_another_thing_is_no_conflict(older: str, newer: str) -> None:
    assert kinds(older, newer) == []
