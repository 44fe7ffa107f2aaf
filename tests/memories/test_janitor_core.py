"""The janitor's rules: who loses weight, how much, and who never does."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.janitor import ActionKind, JanitorRules, Reason, Subject, judge
from tests.conftest import NOW

RULES = JanitorRules(
    assistant_days=90, summary_days=120, may_cull=False, logging_since=NOW - timedelta(days=900)
)
OLD = Subject(
    provenance="assistant_derived",
    since=NOW - timedelta(days=400),
    uses=0,
    is_pinned=False,
    is_constraint=False,
    is_disputed=False,
    weight_factor=1.0,
    confidence_factor=1.0,
    demotion_count=0,
    demoted_at=None,
)


def test_one_demotion_takes_a_tenth_of_the_weight_and_a_fifth_of_the_confidence() -> None:
    found = judge(OLD, RULES, NOW)
    assert found is not None
    assert (found.action, found.reason) == (ActionKind.DEMOTE, Reason.UNUSED)
    assert (found.weight_factor, found.confidence_factor) == (0.9, 0.8)


@pytest.mark.parametrize(
    ("provenance", "days"), [("assistant_derived", 90), ("episode_summary", 120)]
)
def test_age_counts_by_class(provenance: str, days: int) -> None:
    subject = replace(OLD, provenance=provenance, since=NOW - timedelta(days=days))
    assert judge(subject, RULES, NOW) is not None
    younger = replace(subject, since=subject.since + timedelta(seconds=1))
    assert judge(younger, RULES, NOW) is None


def test_age_counts_from_when_recalls_were_logged() -> None:
    rules = replace(RULES, logging_since=NOW - timedelta(days=89))
    assert judge(OLD, rules, NOW) is None
    assert judge(OLD, rules, NOW + timedelta(days=1)) is not None


def test_one_use_is_enough_to_be_left_alone() -> None:
    assert judge(replace(OLD, uses=1), RULES, NOW) is None
    demoted = replace(OLD, uses=1, demotion_count=2, demoted_at=NOW - timedelta(days=30))
    assert judge(demoted, replace(RULES, may_cull=True), NOW) is None


def test_a_demotion_is_followed_by_a_week_of_rest() -> None:
    rested = replace(OLD, demoted_at=NOW - timedelta(days=7), demotion_count=1)
    assert judge(rested, RULES, NOW) is not None
    tired = replace(rested, demoted_at=NOW - timedelta(days=7) + timedelta(seconds=1))
    assert judge(tired, RULES, NOW) is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"provenance": "user_stated"}, Reason.USER_STATED),
        ({"is_pinned": True}, Reason.PINNED),
        ({"is_constraint": True}, Reason.CONSTRAINT),
    ],
)
def test_some_are_reported_and_never_touched(changes: dict[str, object], reason: Reason) -> None:
    often = replace(OLD, demotion_count=9, **changes)  # type: ignore[arg-type]
    found = judge(often, replace(RULES, may_cull=True), NOW)
    assert found is not None
    assert (found.action, found.reason) == (ActionKind.REPORT, reason)
    assert (found.weight_factor, found.confidence_factor) == (1.0, 1.0)


def test_culling_needs_the_flag_and_three_demotions() -> None:
    thrice = replace(OLD, demotion_count=3, demoted_at=NOW - timedelta(days=7))
    allowed = replace(RULES, may_cull=True)

    def action_of(subject: Subject, rules: JanitorRules) -> ActionKind | None:
        found = judge(subject, rules, NOW)
        return None if found is None else found.action

    assert action_of(thrice, RULES) == ActionKind.DEMOTE
    assert action_of(thrice, allowed) == ActionKind.CULL
    assert action_of(replace(thrice, demotion_count=2), allowed) == ActionKind.DEMOTE
    assert action_of(replace(thrice, demoted_at=NOW), allowed) is None
    assert action_of(replace(thrice, is_disputed=True), allowed) == ActionKind.REPORT


def test_factors_end_at_the_floor_and_are_then_reported() -> None:
    subject, at, demotions = OLD, NOW, 0
    while (found := judge(subject, RULES, at)) is not None and found.action == ActionKind.DEMOTE:
        demotions += 1
        subject = replace(
            subject,
            weight_factor=found.weight_factor,
            confidence_factor=found.confidence_factor,
            demotion_count=demotions,
            demoted_at=at,
        )
        at += timedelta(days=7)
    assert (subject.weight_factor, subject.confidence_factor, demotions) == (0.2, 0.2, 16)
    assert found is not None
    assert found.reason == Reason.AT_FLOOR


SUBJECTS = st.builds(
    Subject,
    provenance=st.sampled_from(["user_stated", "episode_summary", "assistant_derived", "unheard"]),
    since=st.integers(0, 2000).map(lambda days: NOW - timedelta(days=days)),
    uses=st.integers(0, 3),
    is_pinned=st.booleans(),
    is_constraint=st.booleans(),
    is_disputed=st.booleans(),
    weight_factor=st.floats(0.0001, 1.0),
    confidence_factor=st.floats(0.0001, 1.0),
    demotion_count=st.integers(0, 100),
    demoted_at=st.none(),
)


@given(subject=SUBJECTS, may_cull=st.booleans())
def test_no_verdict_raises_a_factor_or_touches_the_spared(subject: Subject, may_cull: bool) -> None:
    found = judge(subject, replace(RULES, may_cull=may_cull), NOW)
    if found is None:
        assert subject.uses or NOW - subject.since < timedelta(days=120)
        return
    before = (subject.weight_factor, subject.confidence_factor)
    after = (found.weight_factor, found.confidence_factor)
    assert subject.uses == 0
    assert after[0] <= before[0]
    assert after[1] <= before[1]
    if subject.is_pinned or subject.is_constraint or subject.provenance == "user_stated":
        assert found.action == ActionKind.REPORT
    if found.action == ActionKind.DEMOTE:
        assert min(after) >= min(0.2, *before)
    else:
        assert after == before
