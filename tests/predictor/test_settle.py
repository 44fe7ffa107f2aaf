"""What becomes of a verdict: labels, a comparison, influence, what is due; once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.models import Event, Role
from engram.kernel.tenancy import in_workspace
from memories.core.content import content_hash
from memories.models import CandidateSource, Memory, Merge, Session, SessionCandidate
from memories.services.lifecycle.forget import forget, restore
from memories.services.lifecycle.states import hide, restore_fields
from memories.services.locks import lock
from predictor.core.betting import Betting
from predictor.core.comparison import NOT_DRAFTED
from predictor.core.governance import Governor, Phase
from predictor.core.judging import JudgeScores
from predictor.core.learned_relevance import LearnedRelevance
from predictor.core.margins import Margins
from predictor.core.metrics import ndcg
from predictor.models import (
    Comparison,
    JudgeKind,
    Judgement,
    Label,
    PredictorState,
)
from predictor.services.judging.settle import JudgeVerdict, settle
from predictor.services.models.reset import reset
from predictor.services.state import lock_state, store_governor
from tests.conftest import NOW, Tenant
from tests.predictor.judged import lease_in
from tests.predictor.judged_sessions import PERSON, fresh

HOLDER = UUID(int=7)
ENDED = NOW + timedelta(minutes=30)
JUDGED = NOW + timedelta(hours=1)
OLD = "The moat is three metres deep."
NEW = "The moat is five metres deep."
AGENT = Actor(kind="key", id=str(UUID(int=1)), label="bot", role=Role.AGENT)
# By the baseline's rank: the first four are injected.
RELEVANCE = (0.1, 0.9, 0.0, 0.4, 0.7, 0.0, 0.2, 0.0)


def plant(tenant: Tenant, count: int, provenance: str = "assistant_derived") -> list[UUID]:
    """Store memories that say nothing in particular."""
    with in_workspace(tenant.workspace):
        rows = [
            Memory(
                content=f"Memory {uuid4()}",
                content_hash=content_hash(str(uuid4())),
                provenance=provenance,
                observed_at=NOW,
                created_at=NOW,
                updated_at=NOW,
            )
            for _ in range(count)
        ]
        return [memory.pk for memory in Memory.objects.bulk_create(rows)]


def hold_session(
    tenant: Tenant,
    ids: Sequence[UUID],
    key: str = "s1",
    *,
    predictor: Sequence[UUID] | None = None,
    version: int | None = 1,
    started: datetime = NOW,
    is_drafted: bool = True,
) -> Session:
    """Store an ended session of candidates in the baseline's order, held by a judge."""
    with in_workspace(tenant.workspace):
        session = Session.objects.create(
            session_key=key,
            k=4,
            budget_chars=6000,
            started_at=started,
            ended_at=started + timedelta(minutes=30),
            transcript="x" * 600,
            alpha=0.8,
            is_drafted=is_drafted,
            draft_share=1.0,
            has_opinion=predictor is not None,
            model_version=version if predictor is not None else None,
        )
        SessionCandidate.objects.bulk_create(
            SessionCandidate(
                session=session,
                memory_id=memory_id,
                source=CandidateSource.EFFECTIVE,
                baseline_rank=rank,
                baseline_score=1 / rank,
                rank=rank,
                predictor_rank=predictor.index(memory_id) + 1 if predictor else None,
                was_injected=rank <= 4,
                created_at=started,
            )
            for rank, memory_id in enumerate(ids, start=1)
        )
        Judgement.objects.create(session=session, due_at=ENDED, holder=HOLDER)
        if predictor is not None:
            state = lock_state(started)
            state.served = state.served or version
            state.save()
        return session


def make_verdict(
    relevance: Mapping[UUID, float], *, confidence: float = 0.9, overall: float = 0.7, **more: Any
) -> JudgeVerdict:
    return JudgeVerdict(
        scores=JudgeScores(overall, confidence, tuple(relevance.values()), **more),
        ids=list(relevance),
        kind=JudgeKind.MODEL,
        version="test",
    )


def settled(
    tenant: Tenant, session: Session, verdict: JudgeVerdict, now: datetime = JUDGED
) -> Comparison | None:
    return settle(fresh(tenant), session.pk, HOLDER, verdict, now=now)


def labels(tenant: Tenant, session: Session) -> dict[UUID, Label]:
    with in_workspace(tenant.workspace):
        return {label.memory_id: label for label in Label.objects.filter(session=session)}


def events(tenant: Tenant, kind: str) -> list[Event]:
    with in_workspace(tenant.workspace):
        return list(Event.objects.filter(type=kind).order_by("seq"))


def state_of(tenant: Tenant) -> PredictorState:
    with in_workspace(tenant.workspace):
        return PredictorState.objects.get()


def govern(tenant: Tenant, **changes: Any) -> None:
    """Put the governor where a test needs it."""
    with in_workspace(tenant.workspace):
        state = lock_state(NOW)
        store_governor(state, dataclasses.replace(Governor.initial(), **changes), NOW)


def test_what_every_session_is_given_counts_for_neither_ranking(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=[*ids[2:], *ids[:2]])
    with in_workspace(tenant.workspace):
        # Two constraints lead the baseline's list: it is not the baseline that chose them.
        session.candidates.filter(memory__in=ids[:2]).update(is_always=True)
    relevance = dict(zip(ids, (0.0, 0.0, 0.9, 0.6, 0.3, 0.0, 0.0, 0.0), strict=True))
    comparison = settled(tenant, session, make_verdict(relevance))
    assert comparison is not None
    assert (comparison.outcome, comparison.margin) == ("tie", 0.0)
    assert comparison.baseline_top_ids == comparison.predictor_top_ids == ids[2:]
    assert labels(tenant, session).keys() == set(ids)


def test_a_verdict_becomes_labels_a_comparison_and_evidence(
    tenant: Tenant, neighbour: Tenant
) -> None:
    ids = plant(tenant, 8)
    better = [ids[1], ids[4], ids[3], *(i for i in ids if i not in {ids[1], ids[4], ids[3]})]
    session = hold_session(tenant, ids, predictor=better)
    relevance = dict(zip(ids, RELEVANCE, strict=True))
    comparison = settled(tenant, session, make_verdict(relevance))
    assert comparison is not None
    baseline, predictor = ndcg(ids, relevance), ndcg(better, relevance)
    assert (comparison.outcome, comparison.void_reason) == ("win", "")
    assert comparison.baseline_ndcg == pytest.approx(baseline)
    assert comparison.predictor_ndcg == pytest.approx(predictor)
    assert comparison.margin == pytest.approx(predictor - baseline)
    assert comparison.predictor_top_ids == better
    assert comparison.baseline_top_ids == ids
    assert comparison.relevance == {str(i): r for i, r in relevance.items()}
    assert (comparison.is_evidence, comparison.is_out_of_sample) == (True, True)
    assert (comparison.is_drafted, comparison.drafted_void_reason) == (True, "")
    assert comparison.drafted_margin == comparison.margin
    assert comparison.evidence["out_of_sample"] == 1
    assert (comparison.alpha_served, comparison.alpha, comparison.model_version) == (0.8, 1.0, 1)
    assert (comparison.phase, comparison.fts_overlap) == ("warming", 0.0)
    state = state_of(tenant)
    assert (state.scored_sessions, state.phase) == (1, "warming")
    assert state.success_rate == comparison.success_rate == pytest.approx(0.55)
    assert {i: label.final for i, label in labels(tenant, session).items()} == relevance
    with in_workspace(neighbour.workspace):
        assert (Comparison.objects.count(), PredictorState.objects.count()) == (0, 0)


def test_a_list_that_one_ranking_chose_is_described_and_moves_no_influence(
    tenant: Tenant,
) -> None:
    """What is shown is judged better: such margins favour whoever chose the list."""
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=ids[::-1], is_drafted=False)
    comparison = settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
    assert comparison is not None
    assert comparison.margin is not None
    assert (comparison.is_evidence, comparison.drafted_margin) == (True, None)
    assert comparison.drafted_void_reason == NOT_DRAFTED
    governor = Governor.from_json(state_of(tenant).governor)
    assert governor.shown.last == pytest.approx(comparison.margin)
    assert (governor.margins, governor.betting, governor.out_of_sample) == (
        Margins(),
        Betting(),
        0,
    )
    assert governor.success_rate != 0.5


def test_the_margin_that_counts_is_over_what_could_be_drafted(tenant: Tenant) -> None:
    """What is not relevant enough is shown by neither side, and is judged without being shown."""
    ids = plant(tenant, 8)
    predictor = [ids[4], *ids[:4], *ids[5:]]
    session = hold_session(tenant, ids, predictor=predictor)
    with in_workspace(tenant.workspace):
        session.candidates.filter(memory=ids[4]).update(is_relevant=False)
    relevance = dict(zip(ids, RELEVANCE, strict=True))
    comparison = settled(tenant, session, make_verdict(relevance))
    assert comparison is not None
    assert (comparison.outcome, comparison.margin is not None and comparison.margin > 0) == (
        "win",
        True,
    )
    assert comparison.drafted_margin == 0.0
    governor = Governor.from_json(state_of(tenant).governor)
    assert (governor.margins.mean, governor.out_of_sample) == (0.0, 1)
    assert governor.shown.mean == pytest.approx(comparison.margin)


def test_a_draft_of_which_nothing_could_be_told_is_no_evidence(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=ids[::-1])
    with in_workspace(tenant.workspace):
        session.candidates.exclude(memory__in=ids[5:]).update(is_relevant=False)
    relevance = dict(zip(ids, (0.9, 0.1, 0.0, 0.4, 0.7, 0.0, 0.0, 0.0), strict=True))
    comparison = settled(tenant, session, make_verdict(relevance))
    assert comparison is not None
    assert (comparison.is_evidence, comparison.drafted_margin) == (True, None)
    assert comparison.drafted_void_reason == "no positive"
    assert Governor.from_json(state_of(tenant).governor).out_of_sample == 0


def test_what_scores_say_of_relevance_is_learned_from_judged_sessions(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    relevance = dict(zip(ids, RELEVANCE, strict=True))

    def settle_one(key: str) -> LearnedRelevance | None:
        session = hold_session(tenant, ids, key, predictor=ids)
        with in_workspace(tenant.workspace):
            for memory_id, judged in relevance.items():
                row = session.candidates.filter(memory=memory_id)
                row.update(predictor_score=judged + 5.0, is_always=memory_id == ids[0])
        settled(tenant, session, make_verdict(relevance))
        return LearnedRelevance.from_json(state_of(tenant).relevance)

    assert [settle_one(f"s{n}") for n in range(9)] == [None] * 9
    learned = settle_one("s9")
    assert learned is not None
    assert learned.sessions == 10
    told = dict(zip(ids, learned.of([judged + 7.0 for judged in RELEVANCE]), strict=True))
    assert told[ids[1]] > 0.5 > told[ids[6]]
    reset(tenant.workspace, actor=SYSTEM, now=JUDGED)
    assert state_of(tenant).relevance == {}
    # What the dropped model said of them is not used again.
    assert settle_one("after") is None


def test_settling_twice_changes_nothing(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=ids[::-1])
    verdict = make_verdict(dict(zip(ids, RELEVANCE, strict=True)))
    assert settled(tenant, session, verdict) is not None
    before = state_of(tenant).governor, labels(tenant, session).keys()
    assert settled(tenant, session, verdict) is None
    assert (state_of(tenant).governor, labels(tenant, session).keys()) == before
    for kind in ("session.judged", "comparison.recorded"):
        assert len(events(tenant, kind)) == 1
    with in_workspace(tenant.workspace):
        assert Comparison.objects.count() == 1


def test_who_no_longer_holds_a_judgement_settles_nothing(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    verdict = make_verdict(dict(zip(ids, RELEVANCE, strict=True)))
    assert settle(fresh(tenant), session.pk, uuid4(), verdict, now=JUDGED) is None
    assert labels(tenant, session) == {}
    with in_workspace(tenant.workspace):
        assert Judgement.objects.get().status == "due"


def test_what_was_switched_off_while_the_judge_thought_leaves_nothing(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    tenant.admin.patch("workspace/settings", {"predictor_mode": "off"})
    assert settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True)))) is None
    with in_workspace(tenant.workspace):
        found = [Comparison, Label, PredictorState]
        assert [model.objects.count() for model in found] == [0, 0, 0]


def test_void_when_no_predictor_scores_pitfall_32(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    comparison = settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
    assert comparison is not None
    assert (comparison.outcome, comparison.void_reason) == ("void", "no scores")
    assert (comparison.margin, comparison.is_evidence) == (None, False)
    assert comparison.success_rate == 0.5
    # It was judged all the same, and can be learned from.
    assert state_of(tenant).scored_sessions == 1
    assert len(labels(tenant, session)) == 8


@pytest.mark.parametrize(
    ("relevance", "confidence", "reason", "is_flat"),
    [
        (RELEVANCE, 0.59, "low confidence", False),
        ((0.5, 0.55, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5), 0.9, "flat", True),
    ],
)
def test_doubted_and_flat_verdicts_are_stored_and_count_for_nothing_pitfall_32(
    tenant: Tenant, relevance: Sequence[float], confidence: float, reason: str, is_flat: bool
) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=ids[::-1])
    verdict = make_verdict(dict(zip(ids, relevance, strict=True)), confidence=confidence)
    comparison = settled(tenant, session, verdict)
    assert comparison is not None
    assert (comparison.outcome, comparison.void_reason, comparison.is_evidence) == (
        "void",
        reason,
        False,
    )
    assert comparison.success_rate == 0.5
    state = state_of(tenant)
    assert (state.scored_sessions, lease_in(tenant).due_at) == (0, None)
    found = labels(tenant, session)
    assert [found[memory_id].relevance for memory_id in ids] == list(relevance)
    with in_workspace(tenant.workspace):
        judgement = Judgement.objects.get()
    assert (judgement.void_reason, judgement.is_flat, judgement.status) == (reason, is_flat, "done")


def test_scores_of_a_model_that_a_reset_dropped_are_no_evidence(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=ids[::-1])
    with in_workspace(tenant.workspace):
        PredictorState.objects.update(served=None)
    comparison = settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
    assert comparison is not None
    assert (comparison.void_reason, comparison.phase) == ("not trained", "collecting")


@pytest.mark.parametrize(("version", "is_evidence"), [(3, False), (4, True)])
def test_scores_of_a_dropped_model_are_no_evidence_for_the_next(
    tenant: Tenant, neighbour: Tenant, version: int, is_evidence: bool
) -> None:
    ids, theirs = plant(tenant, 8), plant(neighbour, 8)
    session = hold_session(tenant, ids, predictor=ids[::-1], version=version)
    other = hold_session(neighbour, theirs, predictor=theirs[::-1], version=version)
    with in_workspace(tenant.workspace):
        PredictorState.objects.update(served=3, last_version=3)
    reset(fresh(tenant), actor=PERSON, now=NOW + timedelta(minutes=1))
    with in_workspace(tenant.workspace):
        PredictorState.objects.update(served=4, last_version=4)  # trained since
    comparison = settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
    assert comparison is not None
    assert (comparison.is_evidence, comparison.is_out_of_sample) == (is_evidence, is_evidence)
    assert comparison.void_reason == ("" if is_evidence else "not trained")
    untouched = settled(neighbour, other, make_verdict(dict(zip(theirs, RELEVANCE, strict=True))))
    assert untouched is not None
    assert untouched.is_evidence


def test_the_tenth_scored_session_makes_a_training_due(tenant: Tenant) -> None:
    govern(tenant, scored_sessions=8)
    for n, due in ((1, None), (2, "first")):
        ids = plant(tenant, 8)
        session = hold_session(tenant, ids, f"s{n}")
        settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
        lease = lease_in(tenant)
        assert (lease.reason or None) == due
        assert (lease.due_at is not None) == (due is not None)


def test_a_drift_reset_is_cold_start_and_a_retraining(tenant: Tenant) -> None:
    govern(tenant, phase=Phase.ACTIVE, scored_sessions=40, drift_sum=7.9, active_sessions=25)
    before = state_of(tenant).alpha
    assert before < 1.0
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=[*ids[::-1]])
    # The baseline is right, the predictor has it backwards.
    right = dict(zip(ids, (1.0, 0.8, 0.6, 0.4, 0.2, 0.0, 0.0, 0.0), strict=True))
    comparison = settled(tenant, session, make_verdict(right))
    assert comparison is not None
    assert (comparison.outcome, comparison.is_drift_reset) == ("loss", True)
    state = state_of(tenant)
    assert (state.phase, state.alpha, state.drift_resets) == ("retraining", 1.0, 1)
    assert lease_in(tenant).reason == "drift"
    assert [event.data["comparison"] for event in events(tenant, "predictor.drift_reset")] == [
        str(comparison.pk)
    ]
    assert events(tenant, "predictor.cold_start_exit") == []


def test_leaving_cold_start_is_told(tenant: Tenant) -> None:
    margins, betting = Margins(), Betting()
    for margin in (0.2, 0.3) * 16:
        margins, betting = margins.add(margin), betting.add(margin)
    earned = {"margins": margins, "betting": betting}
    govern(tenant, phase=Phase.WARMING, scored_sessions=20, out_of_sample=14, **earned)
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids, predictor=ids[::-1])
    backwards = dict(zip(ids, (0.0, 0.0, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0), strict=True))
    comparison = settled(tenant, session, make_verdict(backwards))
    assert comparison is not None
    assert (comparison.phase, state_of(tenant).phase) == ("ramp", "ramp")
    assert comparison.alpha == 0.8  # the ramp's floor
    [event] = events(tenant, "predictor.cold_start_exit")
    assert event.data == {"comparison": str(comparison.pk), "alpha": 0.8}


def test_events_hold_ids_and_numbers_only(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    verdict = make_verdict(
        dict(zip(ids, RELEVANCE, strict=True)),
        missing_topics=("CANARY topic",),
        reasoning="CANARY reasoning",
    )
    settled(tenant, session, verdict)
    told = [*events(tenant, "session.judged"), *events(tenant, "comparison.recorded")]
    assert [event.session_key for event in told] == ["s1", "s1"]
    assert "CANARY" not in str([event.data for event in told])


# Labels: what S4 says, from rows.


def final(tenant: Tenant, session: Session, memory_id: UUID) -> tuple[float | None, list[str]]:
    label = labels(tenant, session)[memory_id]
    return label.final, label.reasons


def test_hits_feedback_and_missing_topics_reach_the_labels(tenant: Tenant) -> None:
    ids = plant(tenant, 14)
    session = hold_session(tenant, ids)
    with in_workspace(tenant.workspace):
        rows = {row.memory_id: row for row in session.candidates.all()}
        rows[ids[0]].fts_hit_count = 50  # injected
        rows[ids[4]].fts_hit_count = 1
        rows[ids[5]].fts_hit_count = 50
        rows[ids[1]].feedback = -1.0
        rows[ids[8]].cosine = 0.7
        for row in rows.values():
            row.save()
        Memory.objects.filter(pk=ids[9]).update(content="The valve pressure is four bar.")
        extra = plant(tenant, 1)[0]
        SessionCandidate.objects.create(
            session=session,
            memory_id=extra,
            source=CandidateSource.FTS_ONLY,
            fts_hit_count=1,
            created_at=NOW,
        )
    relevance = dict(zip(ids[:8], RELEVANCE, strict=True))
    comparison = settled(
        tenant,
        session,
        make_verdict(relevance, overall=0.2, missing_topics=("pressure of the valve",)),
    )
    assert comparison is not None
    assert comparison.fts_overlap == 0.25
    assert final(tenant, session, ids[0])[0] == pytest.approx(0.1 + 0.1)
    assert final(tenant, session, ids[1]) == (-1.0, ["judged", "agent feedback"])
    assert final(tenant, session, ids[2])[0] == pytest.approx(-0.1)  # weak session, never matched
    assert final(tenant, session, ids[4])[0] == 0.7  # what the judge gave is more
    assert final(tenant, session, ids[5])[0] == 0.6  # however many prompts it matched
    assert final(tenant, session, ids[8]) == (None, ["not known"])
    assert final(tenant, session, ids[9])[0] == 0.7
    assert final(tenant, session, ids[10])[0] is None
    assert final(tenant, session, extra)[0] == 0.3
    found = labels(tenant, session)
    assert found[ids[1]].raw == 0.9  # as judged, beside what the agent said
    unjudged = {memory_id for memory_id, label in found.items() if label.relevance is None}
    assert unjudged == {*ids[8:], extra}


def test_what_nobody_judged_is_unknown_and_never_zero(tenant: Tenant) -> None:
    ids = plant(tenant, 40)
    session = hold_session(tenant, ids)
    with in_workspace(tenant.workspace):
        session.candidates.filter(memory=ids[20]).update(cosine=0.95)
        session.candidates.filter(memory=ids[30]).update(fts_hit_count=2)
    verdict = make_verdict({ids[0]: 0.9, ids[1]: 0.0, ids[39]: 0.4})
    settled(tenant, session, dataclasses.replace(verdict, chances={ids[39]: 0.25}))
    found = labels(tenant, session)
    assert len(found) == 40
    known = {
        i: (one.final, one.chance, one.is_sampled)
        for i, one in found.items()
        if one.final is not None
    }
    assert known == {
        ids[0]: (0.9, 1.0, True),
        ids[1]: (0.0, 1.0, True),
        ids[39]: (0.4, 0.25, True),
        ids[30]: (0.6, None, True),  # by the words of prompts
    }
    others = [one for i, one in found.items() if i not in known]
    assert {(one.raw, tuple(one.reasons), one.is_sampled) for one in others} == {
        (None, ("not known",), False)
    }


def test_what_only_a_prompt_matched_is_learned_from_never(tenant: Tenant) -> None:
    """Not after something became of it, either: nothing ever scored it."""
    ids, [matched] = plant(tenant, 8), plant(tenant, 1)
    session = hold_session(tenant, ids)
    with in_workspace(tenant.workspace):
        SessionCandidate.objects.create(
            session=session,
            memory_id=matched,
            source=CandidateSource.FTS_ONLY,
            fts_hit_count=1,
            created_at=NOW,
        )
    settled(tenant, session, make_verdict({ids[0]: 0.9, ids[1]: 0.0}))
    for memory_id in (ids[7], matched):
        supersede(tenant, memory_id, actor=PERSON, provenance="user_stated", now=JUDGED)
    found = labels(tenant, session)
    assert [(found[i].final, found[i].is_sampled) for i in (ids[7], matched)] == [
        (-0.3, True),
        (-0.3, False),
    ]


def supersede(
    tenant: Tenant, memory_id: UUID, *, actor: Actor, provenance: str, now: datetime
) -> None:
    [successor] = plant(tenant, 1, provenance)
    with in_workspace(tenant.workspace):
        [memory] = lock([memory_id])
        new = Memory.objects.get(pk=successor)
        hide([memory], "superseded_at", actor=actor, now=now, successor=new)


@pytest.mark.parametrize("when", ["before it is judged", "after it was judged"])
@pytest.mark.parametrize(
    ("actor", "own", "successor", "expected"),
    [
        (AGENT, "assistant_derived", "assistant_derived", -0.3),
        (AGENT, "assistant_derived", "user_stated", -0.3),
        (AGENT, "user_stated", "assistant_derived", 0.9),
        (AGENT, "episode_summary", "assistant_derived", 0.9),
        (PERSON, "user_stated", "assistant_derived", -0.3),
    ],
)
def test_poisoned_supersedes_of_a_lower_class_lower_no_label(
    tenant: Tenant, *, when: str, actor: Actor, own: str, successor: str, expected: float
) -> None:
    ids = plant(tenant, 8, own)
    session = hold_session(tenant, ids)
    verdict = make_verdict(dict(zip(ids, RELEVANCE, strict=True)))
    moment = NOW + timedelta(minutes=10)
    if when.startswith("after"):
        moment = JUDGED + timedelta(hours=1)
        settled(tenant, session, verdict)
    supersede(tenant, ids[1], actor=actor, provenance=successor, now=moment)
    if when.startswith("before"):
        settled(tenant, session, verdict)
    label = labels(tenant, session)[ids[1]]
    assert (label.raw, label.final) == (0.9, expected)
    assert labels(tenant, session)[ids[4]].final == 0.7


@pytest.mark.parametrize("when", ["before it is judged", "after it was judged"])
def test_what_a_person_agrees_to_replace_is_superseded_by_a_person(
    tenant: Tenant,
    member: Callable[[str], Client],
    django_capture_on_commit_callbacks: Any,
    when: str,
) -> None:
    own = tenant.reviewer.post("memories", {"content": OLD, "provenance": "user_stated"}).json()
    ids = [UUID(own["memory"]["id"]), *plant(tenant, 5)]
    session = hold_session(tenant, ids, started=timezone.now())
    verdict = make_verdict(dict(zip(ids, (0.9, 0.0, 0.1, 0.2, 0.3, 0.0), strict=True)))
    if when.startswith("after"):
        settled(tenant, session, verdict, now=timezone.now())
    asked = tenant.agent.post("memories", {"content": NEW, "supersedes": own["memory"]["id"]})
    assert asked.status_code == 202
    with django_capture_on_commit_callbacks(execute=True):
        path = f"/api/v1/reviews/{asked.json()['review']}/accept"
        agreed = member("reviewer").post(path, {}, content_type="application/json")
    assert agreed.status_code == 200, agreed.json()
    if when.startswith("before"):
        settled(tenant, session, verdict, now=timezone.now())
    assert final(tenant, session, ids[0]) == (-0.3, ["judged", "superseded"])


def test_what_was_superseded_before_the_session_began_is_nothing_new(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    supersede(
        tenant, ids[1], actor=PERSON, provenance="user_stated", now=NOW - timedelta(minutes=1)
    )
    session = hold_session(tenant, ids)
    settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
    assert final(tenant, session, ids[1])[0] == 0.9


def test_labels_are_final_a_week_after_the_session(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
    late = ENDED + timedelta(days=7, seconds=1)
    supersede(tenant, ids[1], actor=PERSON, provenance="user_stated", now=late)
    assert final(tenant, session, ids[1])[0] == 0.9


@pytest.mark.parametrize(
    ("actor", "after", "position", "expected"),
    [
        (PERSON, timedelta(hours=23, minutes=59), 1, -0.5),
        (PERSON, timedelta(hours=24, minutes=1), 1, 0.9),
        (AGENT, timedelta(hours=2), 1, 0.9),
        (PERSON, timedelta(hours=2), 4, 0.7),  # it was not injected
    ],
)
def test_forgotten_by_a_person_within_a_day_of_being_injected(
    tenant: Tenant, actor: Actor, after: timedelta, position: int, expected: float
) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
    forget(tenant.workspace, [ids[position]], actor=actor, now=NOW + after)
    assert final(tenant, session, ids[position])[0] == expected
    restore(tenant.workspace, [ids[position]], actor=PERSON, now=NOW + after)
    assert final(tenant, session, ids[position])[0] == RELEVANCE[position]


def test_merged_and_culled_memories_carry_no_label(tenant: Tenant) -> None:
    ids = plant(tenant, 8)
    session = hold_session(tenant, ids)
    settled(tenant, session, make_verdict(dict(zip(ids, RELEVANCE, strict=True))))
    with in_workspace(tenant.workspace):
        culled, merged, survivor = (lock([i])[0] for i in (ids[1], ids[3], ids[4]))
        hide([culled], "culled_at", actor=SYSTEM, now=JUDGED)
        Merge.objects.create(
            memory=survivor, absorbed=merged, relation="same", created_at=JUDGED, actor_label="x"
        )
        hide([merged], "superseded_at", actor=SYSTEM, now=JUDGED, successor=survivor)
    for memory_id in (ids[1], ids[3]):
        label = labels(tenant, session)[memory_id]
        assert (label.raw, label.final, label.reasons) == (None, None, ["withdrawn"])
        assert label.relevance is not None  # what the judge said stays for the audit
    with in_workspace(tenant.workspace):
        restore_fields(lock([ids[1]])[0], {"culled_at": None}, actor=PERSON, now=JUDGED)
    assert final(tenant, session, ids[1])[0] == 0.9
    assert final(tenant, session, ids[4])[0] == 0.7


def test_as_many_queries_for_few_and_many_candidates(tenant: Tenant) -> None:
    counts = []
    for n, count in enumerate((8, 100)):
        ids = plant(tenant, count)
        session = hold_session(tenant, ids, f"s{n}", predictor=ids[::-1])
        verdict = make_verdict(dict(zip(ids[:8], RELEVANCE, strict=True)))
        workspace = fresh(tenant)
        with CaptureQueriesContext(connection) as captured:
            assert settle(workspace, session.pk, HOLDER, verdict, now=JUDGED) is not None
        counts.append(len(captured))
    assert counts[0] == counts[1]
