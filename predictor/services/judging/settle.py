"""Settle a judged session once, in one transaction: labels, comparison, influence, due work.

1. Lock the memories, the session, the predictor's state and the judgement, in this order. 2. Store
the verdict and the labels. 3. Compare the two rankings and update the governor, whose influence
depends on drafted lists alone; fit what scores say of relevance. 4. Mark training and calibration
that became due. 5. Record the events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import CandidateSource, Memory, Session, SessionCandidate
from memories.services.locks import lock
from memories.services.sessions.end import note_judged
from memories.services.sessions.ranks import order_by_rank
from predictor.core import governance
from predictor.core.comparison import (
    ALIKE,
    FLAT,
    LOW_CONFIDENCE,
    NOT_DRAFTED,
    NOTHING_JUDGED,
    TOP,
    RankingComparison,
    compare,
)
from predictor.core.governance import Governor
from predictor.core.judging import MAX_TOPICS, TOPIC_CHARS, find_missing
from predictor.core.labels import MIN_CONFIDENCE, is_flat, label
from predictor.models import (
    Comparison,
    JudgeKind,
    Judgement,
    JudgeStatus,
    Label,
    PredictorState,
)
from predictor.services.calibration.calibrate import draw_when_due
from predictor.services.judging.agents_word import AgentsWord, judge_by_agent, read_word
from predictor.services.judging.contradicted import signal_contradicted
from predictor.services.judging.erase import strip_words
from predictor.services.judging.events import record_settlement
from predictor.services.judging.labelling import MemoryOutcome, Said, evidence, read_outcomes
from predictor.services.judging.relevance import note_relevance
from predictor.services.judging.verdict import JudgeVerdict
from predictor.services.state import governor_of, lock_state, store_governor
from predictor.services.training.due import due_reason, note_training_due


@dataclass(slots=True)
class _Case:
    """A session with the rows that are locked to settle it.

    `verdict` is the judge's, by which rankings are compared; `learned` is what labels and trainings
    take: the agent's word where the judge cannot tell.
    """

    workspace: Workspace
    session: Session
    judgement: Judgement
    state: PredictorState
    memories: Mapping[UUID, Memory]
    rows: Sequence[SessionCandidate]
    verdict: JudgeVerdict
    learned: JudgeVerdict
    word: AgentsWord
    is_erased: bool  # something that the judge read was erased while it was running
    now: datetime


def settle(
    workspace: Workspace, session_id: UUID, holder: UUID, verdict: JudgeVerdict, *, now: datetime
) -> Comparison | None:
    """Settle a session that `holder` judged and return its comparison.

    Return None, without writing, when it is settled already, when another worker holds it by now,
    or when the predictor was switched off meanwhile.
    """
    workspace = Workspace.objects.get(pk=workspace.pk)  # the settings of now
    if workspace.config.predictor_mode == "off":
        return None
    with in_workspace(workspace):
        case = _lock_case(workspace, session_id, holder, verdict, now)
        if case is None:
            return None
        _fill_judgement(case)
        reason = _store_judgement(case, _store_labels(case))
        _signal_contradicted(case)
        note_judged(case.session, now)
        is_trained = _is_trained(case)
        compared = _compare_rankings(case, is_trained=is_trained)
        drafted = _compare_drafted(case, is_trained=is_trained)
        window = workspace.config.drift_reset_window
        before = governor_of(case.state, drift_reset_window=window)
        weighed = governance.SessionOutcome(
            margin=compared.margin,
            void_reason=compared.void_reason,
            is_scored=not reason,
            is_trained=is_trained,
            is_out_of_sample=is_trained,  # trainings need labels, which are stored only now
            is_served=case.session.alpha < 1.0,
            is_drafted=drafted.margin is not None,
            drafted_margin=drafted.margin,
        )
        after = before.update(weighed)
        comparison = _store_comparison(case, compared, drafted, weighed, after)
        note_relevance(case.state)
        store_governor(case.state, after, now)
        _note_due(case, is_reset=after.is_reset)
        record_settlement(case.judgement, comparison, was=before.phase, now=now)
        return comparison


def _lock_case(
    workspace: Workspace, session_id: UUID, holder: UUID, verdict: JudgeVerdict, now: datetime
) -> _Case | None:
    """Lock the rows that settling reads or writes; None when there is nothing to settle."""
    candidates = SessionCandidate.objects.filter(session=session_id)
    memories = lock(list(candidates.order_by().values_list("memory_id", flat=True)))
    sessions = Session.objects.select_for_update(no_key=True).defer("transcript", "context")
    session = sessions.filter(pk=session_id).first()
    state = lock_state(now)
    judgement = (
        Judgement.objects.select_for_update(no_key=True)
        .filter(session=session_id, status=JudgeStatus.DUE, holder=holder)
        .first()
    )
    if session is None or judgement is None:
        return None
    known = {memory.id: memory for memory in memories}
    rows = [row for row in candidates if row.memory_id in known]
    # A judged session has a transcript: an empty one by now quoted what was erased. Read after the
    # session's lock, so that a running erasing transaction has ended.
    is_emptied = sessions.filter(pk=session_id, transcript="").exists()
    is_erased = is_emptied or any(memory_id not in known for memory_id in verdict.ids)
    word = read_word(session, rows)
    learned = _learned(verdict, word)
    return _Case(
        workspace, session, judgement, state, known, rows, verdict, learned, word, is_erased, now
    )


def _learned(verdict: JudgeVerdict, word: AgentsWord) -> JudgeVerdict:
    """Return the verdict to learn from: the agent's word where the judge is unsure or cannot tell.

    So a session of which the agent said something has its labels, whatever the judge can tell.
    """
    reason = _why_void(verdict)
    if not reason or not word:
        return verdict
    own = judge_by_agent(word, note=f"{verdict.kind} judge: {reason}")
    return replace(own, usage=verdict.usage, cost_usd=verdict.cost_usd)


def _fill_judgement(case: _Case) -> None:
    """Write the judge's answer into its row, which is saved after the labels."""
    judgement, verdict, scores = case.judgement, case.learned, case.learned.scores
    judgement.status = JudgeStatus.DONE
    judgement.kind, judgement.version, judgement.model = (
        verdict.kind,
        verdict.version,
        verdict.model,
    )
    judgement.memory_ids = list(verdict.ids)
    judgement.overall, judgement.confidence = scores.overall, scores.confidence
    topics = () if case.is_erased else scores.missing_topics[:MAX_TOPICS]
    judgement.missing_topics = [topic[:TOPIC_CHARS] for topic in topics]
    judgement.novel_context_count = scores.novel_context_count
    judgement.raw = _answer_of(case)
    is_agent = verdict.kind == JudgeKind.AGENT  # it speaks of what it was shown, not of the pool
    judgement.is_flat = not is_agent and is_flat(verdict.relevance.values())
    judgement.void_reason = _why_void(verdict)
    judgement.input_tokens += verdict.usage.input_tokens
    judgement.output_tokens += verdict.usage.output_tokens
    judgement.cost_usd += verdict.cost_usd
    judgement.error = verdict.note
    # `not_before` stays: the pause that the endpoint asked for holds for the next session.
    judgement.holder = judgement.heartbeat_at = None
    judgement.judged_at = case.now


def _store_judgement(case: _Case, trained: Sequence[float]) -> str:
    """Store the answer; return why nothing is learned from the session, "" when it is valid.

    `trained` are the labels that a training would read. Where they are alike, as of an agent that
    names only what it used, no ranking can be learned: they are kept, and the session is not
    counted among those that make a training due.
    """
    judgement = case.judgement
    if not judgement.void_reason and is_flat(trained):
        judgement.void_reason = ALIKE
    judgement.save()
    return judgement.void_reason


def _answer_of(case: _Case) -> dict[str, Any]:
    """Return the judge's whole answer as JSON, with the weight of the agent's word if it spoke.

    Of a judge whose answer is not learned from the figures are kept; of a model what it said to
    each order of the memories.
    """
    whole = asdict(case.learned.scores)
    raw = strip_words(whole) if case.is_erased else whole
    if case.word.used:
        raw["agent"] = case.word.as_json
    if case.learned is not case.verdict:
        unsure = strip_words(asdict(case.verdict.scores))
        named = {"kind": case.verdict.kind.value, "version": case.verdict.version}
        raw["unsure"] = unsure | named | {"memory_ids": [str(i) for i in case.verdict.ids]}
    if case.verdict.orders is not None:
        raw["orders"] = case.verdict.orders.as_json
    return raw


def _why_void(verdict: JudgeVerdict) -> str:
    scores = verdict.scores
    if not scores.relevance:
        return NOTHING_JUDGED
    if verdict.kind == JudgeKind.AGENT:
        return ""
    if not scores.confidence >= MIN_CONFIDENCE or not verdict.relevance:
        return LOW_CONFIDENCE
    return FLAT if is_flat(verdict.relevance.values()) else ""


def _store_labels(case: _Case) -> list[float]:
    """Store the label of every recorded memory; return those that a training would read."""
    relevance, read = case.learned.relevance, set(case.learned.ids)
    outcomes = read_outcomes(list(case.memories.values()))
    unseen = {
        row.memory_id: case.memories[row.memory_id].content
        for row in case.rows
        if row.memory_id not in read and not row.was_injected
    }
    topics = [*case.word.missing, *case.judgement.missing_topics]
    missing = find_missing(topics, unseen)
    labels = {
        row.memory_id: label(
            evidence(
                row,
                case.session,
                outcomes.get(row.memory_id, MemoryOutcome()),
                relevance=relevance.get(row.memory_id),
                is_named_missing=row.memory_id in missing,
                is_unsure=row.memory_id in read and row.memory_id not in relevance,
                is_contradicted=row.memory_id in case.verdict.contradicted,
                said=Said(
                    used=case.word.used.get(row.memory_id),
                    weight=case.word.record.weight,
                    is_judge=case.learned.kind == JudgeKind.AGENT,
                ),
            ),
            session_score=case.learned.scores.overall,
        )
        for row in case.rows
    }
    # Memories that only a prompt matched were never scored: they are not trained on.
    scored = {row.memory_id for row in case.rows if row.source != CandidateSource.FTS_ONLY}
    chances = case.learned.chances
    rows = Label.objects.bulk_create(
        Label(
            session=case.session,
            memory_id=memory_id,
            relevance=relevance.get(memory_id),
            raw=found.raw,
            final=found.final,
            reasons=list(found.reasons),
            chance=chances.get(memory_id, 1.0) if memory_id in relevance else None,
            is_sampled=memory_id in scored and found.final is not None,
            created_at=case.now,
        )
        for memory_id, found in labels.items()
    )
    return [row.final for row in rows if row.is_sampled and row.final is not None]


def _signal_contradicted(case: _Case) -> None:
    """Put what the transcript contradicts to people, unless something of it was erased."""
    places = {} if case.is_erased else case.verdict.contradicted
    if places:
        offered = {row.memory_id: row.revision for row in case.rows}
        unchanged = {i for i, one in case.memories.items() if one.revision == offered.get(i)}
        signal_contradicted(case.session, places, unchanged=unchanged, now=case.now)


def _is_trained(case: _Case) -> bool:
    """Return whether a model scored the session that no reset has dropped since."""
    session, state = case.session, case.state
    if not session.has_opinion or session.model_version is None or not state.served:
        return False
    return session.model_version > state.last_dropped


def _compare_rankings(case: _Case, *, is_trained: bool) -> RankingComparison:
    """Compare the rankings over all judged memories that they rank."""
    always = {row.memory_id for row in case.rows if row.is_always}
    judged = {i: worth for i, worth in case.verdict.relevance.items() if i not in always}
    return _compare_over(case, judged, is_trained=is_trained)


def _compare_drafted(case: _Case, *, is_trained: bool) -> RankingComparison:
    """Compare them over what could be drafted: of that neither side was shown more in the mean."""
    if not case.session.is_drafted:
        return RankingComparison("void", NOT_DRAFTED)
    could = {row.memory_id for row in case.rows if row.is_relevant and not row.is_always}
    judged = {i: worth for i, worth in case.verdict.relevance.items() if i in could}
    return _compare_over(case, judged, is_trained=is_trained)


def _compare_over(
    case: _Case, judged: Mapping[UUID, float], *, is_trained: bool
) -> RankingComparison:
    return compare(
        order_by_rank(case.rows, "baseline_rank"),
        order_by_rank(case.rows, "predictor_rank") if case.session.has_opinion else None,
        judged,
        confidence=case.verdict.scores.confidence,
        is_trained=is_trained,
        is_of_shown=case.verdict.kind == JudgeKind.AGENT,
    )


def _store_comparison(
    case: _Case,
    compared: RankingComparison,
    drafted: RankingComparison,
    weighed: governance.SessionOutcome,
    after: Governor,
) -> Comparison:
    given = [row for row in case.rows if row.was_injected]
    matched = sum(row.fts_hit_count > 0 for row in given)
    return Comparison.objects.create(
        session=case.session,
        outcome=compared.outcome,
        void_reason=compared.void_reason,
        predictor_ndcg=compared.predictor_ndcg,
        baseline_ndcg=compared.baseline_ndcg,
        margin=compared.margin,
        is_drafted=case.session.is_drafted,
        drafted_margin=weighed.evidence,
        drafted_void_reason="" if weighed.evidence is not None else drafted.void_reason,
        judge_confidence=case.verdict.scores.confidence,
        is_evidence=weighed.described is not None,
        is_out_of_sample=weighed.is_out_of_sample,
        model_version=case.session.model_version,
        alpha_served=case.session.alpha,
        alpha=after.alpha,
        phase=after.phase.value,
        success_rate=after.success_rate,
        literal_alpha=after.literal_alpha,
        is_drift_reset=after.is_reset,
        is_literal_reset=after.is_literal_reset,
        evidence=after.to_json(),
        predictor_top_ids=order_by_rank(case.rows, "predictor_rank")[:TOP],
        baseline_top_ids=order_by_rank(case.rows, "baseline_rank")[:TOP],
        relevance={str(memory_id): value for memory_id, value in case.verdict.relevance.items()},
        fts_overlap=matched / len(given) if given else None,
        created_at=case.now,
    )


def _note_due(case: _Case, *, is_reset: bool) -> None:
    """Mark training and calibration that the session made due; the state is locked."""
    config = case.workspace.config
    reason = due_reason(case.state, config, case.now, is_reset=is_reset)
    if reason:
        note_training_due(case.state, reason, case.now)
    draw_when_due(case.workspace, case.state, _rng(case, "calibration"), case.now)


def _rng(case: _Case, purpose: str) -> np.random.Generator:
    """Return a generator seeded by the session, so that settling is reproducible."""
    return np.random.default_rng([case.session.id.int, *purpose.encode()])
