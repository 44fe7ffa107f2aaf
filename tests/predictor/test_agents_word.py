"""The agent's word on its session: a label of its own kind, weighed, below people, above judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.kernel.models import ApiKey
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, ReportItem, ReportKind, Session
from memories.services.lifecycle.forget import forget
from memories.services.lifecycle.states import hide
from memories.services.locks import lock
from memories.services.sessions.end import end_session
from memories.services.sessions.feedback import give_feedback
from memories.services.sessions.report import Report
from predictor.core.labels import JUDGED, UNKNOWN, USED
from predictor.core.recipe import is_useful
from predictor.core.trust import weigh
from predictor.models import (
    CalibrationItem,
    CalibrationSample,
    Comparison,
    JudgeKind,
    Judgement,
    Label,
)
from predictor.services.calibration.report import calibration_of
from predictor.services.judging.agents_word import read_record
from predictor.services.judging.drift import judge_drift
from predictor.services.status.unused import usage_of_sessions
from predictor.services.training.dataset import gather, usable_judgements
from predictor.services.training.due import training_lease
from tests.conftest import NOW, Tenant
from tests.predictor.judged_sessions import (
    PERSON,
    STORY,
    SYSTEM,
    begin,
    commit_story,
    fresh,
    judge_all,
    judgement_of,
    score,
    state_of,
)
from tests.predictor.serving import configure
from tests.predictor.test_settle import (
    RELEVANCE,
    hold_session,
    labels,
    make_verdict,
    plant,
    settled,
)

ENDED = NOW + timedelta(minutes=30)
UNTOLD = 6 / 8  # the weight of a key that nobody has checked


def report(
    tenant: Tenant,
    used: Mapping[UUID, float],
    key: str = "s1",
    *,
    missing: Sequence[str] = (),
    transcript: str = "",
    now: datetime = ENDED,
) -> Session:
    said = Report(used=used, missing=missing)
    return end_session(fresh(tenant), key, transcript, actor=SYSTEM, now=now, report=said)


def given_ids(tenant: Tenant, session: Session) -> list[UUID]:
    with in_workspace(tenant.workspace):
        rows = session.candidates.filter(was_injected=True).order_by("rank")
        return list(rows.values_list("memory_id", flat=True))


def say(tenant: Tenant, session: Session, used: Mapping[UUID, float]) -> None:
    """Store what an agent said of an ended session that a judge holds."""
    with in_workspace(tenant.workspace):
        ReportItem.objects.bulk_create(
            ReportItem(
                session=session, kind=ReportKind.USED, memory_id=memory_id, value=value,
                position=position, created_at=NOW,
            )
            for position, (memory_id, value) in enumerate(used.items())
        )  # fmt: skip


@given(st.integers(0, 500), st.integers(0, 500))
def test_a_weight_lies_between_what_is_assumed_and_what_was_found(agreed: int, more: int) -> None:
    checked = agreed + more
    found = weigh(agreed, checked)
    share = agreed / checked if checked else UNTOLD
    assert min(share, UNTOLD) - 1e-12 <= found <= max(share, UNTOLD) + 1e-12
    assert 0 < found < 1
    assert weigh(agreed + 1, checked + 1) > found > weigh(agreed, checked + 1)


def test_weights_of_records_that_cannot_be() -> None:
    assert weigh(0, 0) == UNTOLD
    for agreed, checked in ((1, 0), (-1, 3)):
        with pytest.raises(ValueError, match="cannot agree"):
            weigh(agreed, checked)


def test_a_session_without_a_transcript_is_judged_by_its_agent_and_trained_on(
    tenant: Tenant,
) -> None:
    commit_story(tenant)
    session = begin(tenant)
    first, second, third, fourth = given_ids(tenant, session)
    report(tenant, {first: 0.9, second: 0.0, third: 0.3}, missing=["the pump's model"])
    assert judge_all(tenant) == [session.pk]
    judgement = judgement_of(tenant)
    assert (judgement.kind, judgement.status, judgement.void_reason) == ("agent", "done", "")
    assert judgement.confidence == pytest.approx(UNTOLD)
    assert judgement.overall == pytest.approx(1.2 / 2.2)
    assert judgement.raw["agent"] == {"weight": UNTOLD, "agreed": 0, "checked": 0}
    found = labels(tenant, session)
    told = {i: (found[i].final, found[i].reasons) for i in (first, second, third, fourth)}
    assert told == {
        first: (0.9, [UNKNOWN, USED]),
        second: (0.0, [UNKNOWN, USED]),
        third: (0.3, [UNKNOWN, USED]),
        fourth: (None, [UNKNOWN]),  # it was given and not named: nothing is known
    }
    with in_workspace(tenant.workspace):
        assert usable_judgements().count() == 1
        [learned] = gather(fresh(tenant)).sessions
        assert learned.learned.confidence == pytest.approx(UNTOLD)
        comparison = Comparison.objects.get()
    state = state_of(tenant)
    assert state is not None
    assert state.scored_sessions == 1
    # The ranking that chose what was shown is not compared on its own choice.
    assert (comparison.outcome, comparison.is_evidence) == ("void", False)


def test_what_only_the_shown_say_is_no_evidence_about_rankings(tenant: Tenant) -> None:
    known = commit_story(tenant)
    session = begin(tenant)
    first, second, *_ = given_ids(tenant, session)
    score(tenant, session, list(known.values())[::-1])
    report(tenant, {first: 1.0, second: 0.0})
    judge_all(tenant)
    with in_workspace(tenant.workspace):
        comparison = Comparison.objects.get()
    assert comparison.void_reason == "only shown memories judged"
    assert comparison.predictor_ndcg is not None
    state = state_of(tenant)
    assert state is not None
    assert state.governor["out_of_sample"] == 0


def test_what_nobody_says_anything_about_is_not_judged(tenant: Tenant) -> None:
    commit_story(tenant)
    begin(tenant)
    report(tenant, {}, missing=["the pump's model"])
    assert judge_all(tenant) == []
    assert (judgement_of(tenant).status, judgement_of(tenant).void_reason) == (
        "skipped", "too short",
    )  # fmt: skip
    session = begin(tenant, "s2")
    end_session(fresh(tenant), "s2", "", actor=SYSTEM, now=ENDED)
    assert judgement_of(tenant, "s2").status == "skipped"
    # The agent may say it later: then it is judged after all.
    report(tenant, {given_ids(tenant, session)[0]: 1.0}, "s2")
    assert judge_all(tenant) == [session.pk]
    assert judgement_of(tenant, "s2").kind == "agent"


def test_beside_a_judge_that_can_tell_the_word_weighs_by_its_record(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=ids[::-1])
    relevance = dict(zip(ids, RELEVANCE, strict=True))
    say(tenant, session, {ids[0]: 1.0, ids[1]: 0.0})
    comparison = settled(tenant, session, make_verdict(relevance))
    found = labels(tenant, session)
    assert found[ids[0]].final == pytest.approx(UNTOLD * 1.0 + (1 - UNTOLD) * 0.1)
    assert found[ids[1]].final == pytest.approx(UNTOLD * 0.0 + (1 - UNTOLD) * 0.9)
    assert found[ids[0]].reasons == [JUDGED, USED]
    assert {i: found[i].final for i in ids[2:]} == {i: relevance[i] for i in ids[2:]}
    assert found[ids[0]].relevance == 0.1  # the judge's own, which people check
    assert judgement_of(tenant).kind == "model"
    # Rankings are compared by the judge alone: the agent saw what one of them had chosen.
    assert comparison is not None
    assert comparison.relevance == {str(i): value for i, value in relevance.items()}
    assert comparison.is_evidence


@pytest.mark.parametrize(
    ("relevance", "confidence", "reason"),
    [(RELEVANCE, 0.59, "low confidence"), ((0.5,) * 8, 0.9, "flat")],
)
def test_where_the_judge_cannot_tell_the_word_counts_and_nothing_else(
    tenant: Tenant, relevance: Sequence[float], confidence: float, reason: str
) -> None:
    ids = plant(tenant, 14)
    session = hold_session(tenant, ids)
    with in_workspace(tenant.workspace):
        rated = session.candidates.get(memory=ids[2])
        rated.feedback = -1.0
        rated.save()
    say(tenant, session, {ids[0]: 0.8, ids[2]: 0.9})
    verdict = make_verdict(dict(zip(ids, relevance, strict=False)), confidence=confidence)
    comparison = settled(tenant, session, verdict)
    assert comparison is not None
    assert (comparison.outcome, comparison.void_reason) == ("void", reason)
    judgement = judgement_of(tenant)
    assert (judgement.kind, judgement.void_reason, judgement.is_flat) == ("agent", "", False)
    assert judgement.error == f"model judge: {reason}"
    assert judgement.raw["unsure"]["confidence"] == confidence
    found = labels(tenant, session)
    assert (found[ids[0]].final, found[ids[0]].relevance) == (0.8, 0.8)
    assert found[ids[2]].final == -1.0  # feedback comes first
    assert {found[i].final for i in (*ids[1:2], *ids[3:10])} == {None}
    assert [found[i].reasons for i in ids[10:]] == [[UNKNOWN]] * 4
    with in_workspace(tenant.workspace):
        assert usable_judgements().count() == 1


def test_feedback_alone_keeps_a_session_from_being_void(tenant: Tenant) -> None:
    commit_story(tenant)
    session = begin(tenant)
    first, second, *_ = given_ids(tenant, session)
    for memory_id, value in ((first, 1.0), (second, -0.5)):
        give_feedback(fresh(tenant), "s1", memory_id, value, actor=SYSTEM, now=NOW)
    end_session(fresh(tenant), "s1", "", actor=SYSTEM, now=ENDED)
    assert judge_all(tenant) == [session.pk]
    judgement = judgement_of(tenant)
    assert (judgement.kind, judgement.void_reason) == ("agent", "")
    found = labels(tenant, session)
    assert (found[first].final, found[second].final) == (1.0, -0.5)
    assert (found[first].relevance, found[second].relevance) == (1.0, 0.0)


@pytest.mark.parametrize("used", [{0: 0.9, 1: 0.9}, {0: 0.9}, {0: 0.8, 1: 0.9}, {0: 0.0}])
def test_a_session_of_like_ratings_keeps_them_and_makes_no_training_due(
    tenant: Tenant, used: Mapping[int, float]
) -> None:
    configure(tenant.workspace, min_training_sessions=2)
    commit_story(tenant)
    other, session = begin(tenant, "s2"), begin(tenant)
    given = given_ids(tenant, session)
    for key in ("s2", "s1"):
        report(tenant, {given[n]: value for n, value in used.items()}, key)

    assert set(judge_all(tenant)) == {session.pk, other.pk}

    judgement = judgement_of(tenant)
    assert (judgement.kind, judgement.status) == ("agent", "done")
    assert judgement.void_reason == "all labels alike"
    found = labels(tenant, session)
    assert {n: found[given[n]].final for n in used} == dict(used)
    state = state_of(tenant)
    assert state is not None
    assert state.scored_sessions == 0
    with in_workspace(tenant.workspace):
        assert usable_judgements().count() == 0
        assert training_lease().due_at is None
        [reason] = usage_of_sessions().reasons
    assert (reason.reason, reason.sessions) == ("all labels alike", 2)
    assert "not needed (`used`: 0)" in reason.remedy
    status = tenant.reader.get("predictor/status").json()
    assert (status["scored_sessions"], status["label_count"]) == (0, 0)
    assert status["judged_by"] == [{"judge": "agent", "sessions": 2, "void": 2}]


def test_like_ratings_beside_a_memory_that_was_not_needed_are_learned_from(
    tenant: Tenant,
) -> None:
    configure(tenant.workspace, min_training_sessions=2)
    commit_story(tenant)
    other, session = begin(tenant, "s2"), begin(tenant)
    first, second, third, _ = given_ids(tenant, session)
    for key in ("s2", "s1"):
        report(tenant, {first: 0.9, second: 0.9, third: 0.0}, key)

    assert set(judge_all(tenant)) == {session.pk, other.pk}

    state = state_of(tenant)
    assert state is not None
    assert (judgement_of(tenant).void_reason, state.scored_sessions) == ("", 2)
    with in_workspace(tenant.workspace):
        read, _ = gather(fresh(tenant)).sessions
        assert training_lease().due_at is not None
    assert is_useful(read.learned)


def test_where_the_judge_cannot_tell_like_ratings_do_not_count_either(tenant: Tenant) -> None:
    ids = plant(tenant, 14)
    session = hold_session(tenant, ids)
    say(tenant, session, {ids[0]: 0.9, ids[1]: 0.9})
    verdict = make_verdict(dict(zip(ids, RELEVANCE, strict=False)), confidence=0.5)

    assert settled(tenant, session, verdict) is not None

    judgement = judgement_of(tenant)
    assert (judgement.kind, judgement.void_reason) == ("agent", "all labels alike")
    assert judgement.error == "model judge: low confidence"
    assert {labels(tenant, session)[i].final for i in ids[:2]} == {0.9}


def test_what_was_missing_names_a_memory_that_was_not_shown(tenant: Tenant) -> None:
    known = commit_story(tenant)
    session = begin(tenant, k=1)
    [shown] = given_ids(tenant, session)
    content, hidden = next((text, i) for text, i in known.items() if i != shown)
    report(tenant, {shown: 0.0}, missing=[content])
    judge_all(tenant)
    found = labels(tenant, session)[hidden]
    assert (found.final, found.reasons) == (0.7, [UNKNOWN, "named as missing"])


def supersede(tenant: Tenant, old: UUID, *, session_key: str, key: UUID | None = None) -> None:
    with in_workspace(tenant.workspace):
        [successor] = plant(tenant, 1)
        Memory.objects.filter(pk=successor).update(session_key=session_key, key=key)
        later = NOW + timedelta(minutes=20)
        new = Memory.objects.get(pk=successor)
        hide(lock([old]), "superseded_at", actor=PERSON, now=later, successor=new)


@pytest.mark.parametrize("is_late", [False, True])
def test_what_the_session_itself_replaced_keeps_its_label(tenant: Tenant, is_late: bool) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    relevance = dict(zip(ids, RELEVANCE, strict=True))
    say(tenant, session, {ids[1]: 1.0})
    with in_workspace(tenant.workspace):
        stranger = ApiKey.objects.earliest("created_at")

    def replaced() -> None:
        supersede(tenant, ids[1], session_key="s1")
        supersede(tenant, ids[3], session_key="s2")
        supersede(tenant, ids[4], session_key="s1", key=stranger.pk)

    if not is_late:
        replaced()
    settled(tenant, session, make_verdict(relevance))
    if is_late:
        replaced()
    found = labels(tenant, session)
    assert found[ids[1]].final == pytest.approx(UNTOLD + (1 - UNTOLD) * 0.9)
    assert found[ids[1]].reasons == [JUDGED, USED]
    assert found[ids[3]].final == -0.3  # in another session
    assert found[ids[4]].final == -0.3  # another key used the same session key


def test_a_label_is_the_same_when_it_is_computed_again(tenant: Tenant) -> None:
    commit_story(tenant)
    session = begin(tenant)
    first, second, *_ = given_ids(tenant, session)
    report(tenant, {first: 0.9, second: 0.0})
    judge_all(tenant)
    before = labels(tenant, session)
    forget(fresh(tenant), [first, second], actor=SYSTEM, now=ENDED + timedelta(hours=2))
    after = labels(tenant, session)
    for i in before:
        assert (after[i].raw, after[i].final, after[i].reasons) == (
            before[i].raw, before[i].final, before[i].reasons,
        )  # fmt: skip


def check(tenant: Tenant, session: Session, memory: UUID, label: float | None, **more: Any) -> None:
    """Let a person have labelled a memory of a session."""
    with in_workspace(tenant.workspace):
        drawn = CalibrationSample.objects.create(reason="asked", size=1, drawn_at=NOW)
        CalibrationItem.objects.create(
            sample=drawn, session=session, memory_id=memory, position=1, stratum="low, sure",
            judge_relevance=0.5, judge_kind="model", judge_version="v", label=label,
            labelled_at=NOW, **more,
        )  # fmt: skip


def test_the_record_of_a_key_is_what_people_found_of_its_own_word(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    sessions = [hold_session(tenant, ids, f"s{n}") for n in range(3)]
    with in_workspace(tenant.workspace):
        Session.objects.filter(session_key="s2").update(caller="key:other")
    for session in sessions:
        say(tenant, session, {ids[0]: 0.9, ids[1]: 0.2, ids[2]: 0.7})
    check(tenant, sessions[0], ids[0], 0.8)  # agreed
    check(tenant, sessions[0], ids[1], 0.9)  # not agreed
    check(tenant, sessions[0], ids[3], 0.9)  # it had said nothing of it
    check(tenant, sessions[1], ids[0], 0.0, is_relabelled=True)  # not blind
    check(tenant, sessions[1], ids[1], None, is_unsure=True)
    check(tenant, sessions[1], ids[2], 0.5)  # agreed
    check(tenant, sessions[2], ids[0], 0.0)  # another caller
    with in_workspace(tenant.workspace):
        own = read_record(Session.objects.get(session_key="s0"))
        other = read_record(Session.objects.get(session_key="s2"))
    assert (own.agreed, own.checked, own.weight) == (2, 3, pytest.approx(8 / 11))
    assert (other.agreed, other.checked) == (0, 1)


def test_calibration_reports_agents_beside_the_judge(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    say(tenant, session, {ids[0]: 0.9})
    check(tenant, session, ids[0], 0.8)
    check(tenant, session, ids[1], 0.5)
    with in_workspace(tenant.workspace):
        found = calibration_of(now=ENDED)
    assert found.report.n == 2  # people answered about the judge twice
    assert found.report.mae == pytest.approx(0.15)
    by_judge = {one.kind: one.report for one in found.judges}
    assert by_judge.keys() == {"model", "agent"}
    assert (by_judge["agent"].n, by_judge["agent"].mae) == (1, pytest.approx(0.1))


def test_a_bad_record_weighs_less_and_still_counts(tenant: Tenant) -> None:
    ids = plant(tenant, 30)
    past = hold_session(tenant, ids, "past")
    say(tenant, past, dict.fromkeys(ids, 1.0))
    for memory in ids:
        check(tenant, past, memory, 0.0)
    session = hold_session(tenant, ids[:8], "now")
    say(tenant, session, {ids[0]: 1.0, ids[2]: 0.0})
    settled(
        tenant, session, make_verdict(dict(zip(ids[:8], RELEVANCE, strict=True)), confidence=0.1)
    )
    judgement = judgement_of(tenant, "now")
    assert judgement.raw["agent"]["weight"] == pytest.approx(6 / 38)
    assert (judgement.confidence, judgement.void_reason) == (0.6, "")


def test_agents_do_not_move_the_figures_of_the_judge(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    for n in range(4):
        session = hold_session(tenant, ids, f"s{n}")
        say(tenant, session, dict.fromkeys(ids[:4], 1.0) | dict.fromkeys(ids[2:4], 0.0))
        settled(tenant, session, make_verdict(dict.fromkeys(ids, 0.5)))
    with in_workspace(tenant.workspace):
        assert set(Judgement.objects.values_list("kind", flat=True)) == {JudgeKind.AGENT}
        assert Label.objects.filter(relevance__isnull=False).count() == 16
        windows = judge_drift(NOW + timedelta(hours=2))
    assert sum(one.young_count + one.old_count for one in windows) == 0


def test_a_word_is_learned_as_it_was_said(tenant: Tenant) -> None:
    commit_story(tenant)
    session = begin(tenant)
    first, second, *_ = given_ids(tenant, session)
    report(tenant, {first: 0.9, second: 0.1}, transcript=STORY.transcript)
    assert judge_all(tenant) == [session.pk]
    with in_workspace(tenant.workspace):
        [learned] = gather(fresh(tenant)).sessions
    values = dict(zip(learned.memory_ids, learned.learned.labels, strict=True))
    found = labels(tenant, session)
    assert values[first] == pytest.approx(found[first].final)
    assert USED in found[first].reasons
    assert np.isfinite(learned.learned.labels).all()
