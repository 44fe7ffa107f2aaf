"""Answer shapes of a session's records: judgement, labels, comparison, trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from engram.kernel.labels import figure
from memories.models import CandidateSource, DraftSide, State
from memories.serializers.session import RankedSerializer
from predictor.core.comparison import NOT_DRAFTED
from predictor.models import Comparison, JudgeKind, Judgement, JudgeStatus
from predictor.serializers.comparison import ComparisonSerializer
from predictor.serializers.training import TrainingSerializer
from predictor.services.status.records import InspectedMemory, SessionRecord

JUDGED = (
    "status",
    "kind",
    "version",
    "model",
    "overall",
    "confidence",
    "is_flat",
    "void_reason",
    "novel_context_count",
    "judged_at",
    "error",
)
WITHHELD = ("", "erased", "forgotten", "calibration")
RANKED = tuple(RankedSerializer().fields)
FIGURES = ("mean_margin", "z", "n_eff", "wealth", "drift_sum")  # of the stored evidence


class InspectedSerializer(RankedSerializer):
    """One memory of a session with its ranks, judgement and label.

    `content` is null when the memory may not be recalled now. `is_blind` is true while the judge's
    relevance is withheld, because a person is asked to label it. `raw` and `final` are the label
    before and after behaviour; `reasons` name the rules.
    """

    id = serializers.UUIDField()
    content = serializers.CharField(allow_null=True)
    state = serializers.ChoiceField(State.choices)
    source = serializers.ChoiceField(CandidateSource.choices, allow_null=True)  # type: ignore[assignment]
    diversity = serializers.FloatField(allow_null=True)
    final_score = serializers.FloatField(allow_null=True)
    was_injected = serializers.BooleanField()
    is_always = serializers.BooleanField(help_text="A constraint or a pin, never displaced.")
    is_relevant = serializers.BooleanField(help_text="Relevant enough to the context to be given.")
    drafted_by = serializers.ChoiceField(DraftSide.choices, allow_blank=True)
    propensity = serializers.FloatField(
        allow_null=True, help_text="Probability with which its place in the list was that side's."
    )
    fts_hit_count = serializers.IntegerField()
    signals = serializers.ListField(child=serializers.FloatField())
    relevance = serializers.FloatField(allow_null=True, help_text="By the judge.")
    raw = serializers.FloatField(allow_null=True)
    final = serializers.FloatField(allow_null=True)
    reasons = serializers.ListField(child=serializers.CharField())
    chance = serializers.FloatField(
        allow_null=True,
        help_text="The probability with which it was chosen to be judged; null: not judged.",
    )
    is_sampled = serializers.BooleanField(help_text="Whether a training reads the label.")
    is_blind = serializers.BooleanField()


class AgentsWeightSerializer(serializers.Serializer[Any]):
    """How much the word of the session's agent weighs, by its key's record with people."""

    weight = serializers.FloatField(help_text="Against the judge's, 0 to 1.")
    agreed = serializers.IntegerField(help_text="Statements on which people agreed with the key.")
    checked = serializers.IntegerField(help_text="Statements that people have checked.")


class JudgedOrdersSerializer(serializers.Serializer[Any]):
    """In how many orders a language model was shown the memories; its mean counts."""

    read = serializers.IntegerField(help_text="Orders that it answered to.")
    left_out = serializers.CharField(
        allow_blank=True, help_text="Why there is no second one where there should be."
    )


class JudgementSerializer(serializers.Serializer[Any]):
    """The judge's answer for the session.

    Topics and reasoning may quote memories: they are deleted when one of the session's memories was
    erased, and withheld when one was forgotten or a person is asked to label one.
    """

    status = serializers.ChoiceField(JudgeStatus.choices)
    kind = serializers.ChoiceField(JudgeKind.choices, allow_blank=True)
    version = serializers.CharField(allow_blank=True)
    model = serializers.CharField(allow_blank=True)
    overall = serializers.FloatField(allow_null=True)
    confidence = serializers.FloatField(allow_null=True)
    is_flat = serializers.BooleanField()
    void_reason = serializers.CharField(allow_blank=True)
    missing_topics = serializers.ListField(child=serializers.CharField())
    novel_context_count = serializers.IntegerField()
    reasoning = serializers.CharField(allow_blank=True)
    agent = AgentsWeightSerializer(
        allow_null=True, help_text="Null: the agent did not say what it used."
    )
    orders = JudgedOrdersSerializer(
        allow_null=True, help_text="Null: not judged by a language model."
    )
    withheld = serializers.ChoiceField(WITHHELD)
    judged_at = serializers.DateTimeField(allow_null=True)
    due_since = serializers.DateTimeField()
    error = serializers.CharField(allow_blank=True)


class StateOfEvidenceSerializer(serializers.Serializer[Any]):
    """The governor's state after a comparison."""

    phase = serializers.CharField()
    alpha = serializers.FloatField()
    mean_margin = serializers.FloatField(allow_null=True)
    z = serializers.FloatField(allow_null=True)
    n_eff = serializers.FloatField(allow_null=True)
    wealth = serializers.FloatField(allow_null=True)
    drift_sum = serializers.FloatField(allow_null=True)
    success_rate = serializers.FloatField()
    literal_alpha = serializers.FloatField()


class InspectedComparisonSerializer(ComparisonSerializer):
    """A comparison with the records it was computed from.

    `baseline` and `predictor` are the judged top lists, best first; `others` are the other judged
    memories. `moved` is a sentence on whether the comparison changed the evidence, and why.
    """

    moved = serializers.CharField()
    baseline = InspectedSerializer(many=True)
    predictor = InspectedSerializer(many=True)
    others = InspectedSerializer(many=True)
    judgement = JudgementSerializer(allow_null=True)
    evidence_before = StateOfEvidenceSerializer(
        allow_null=True, help_text="Null for the first comparison."
    )
    evidence_after = StateOfEvidenceSerializer()

    class Meta(ComparisonSerializer.Meta):
        fields = [
            *ComparisonSerializer.Meta.fields,
            "moved",
            "baseline",
            "predictor",
            "others",
            "judgement",
            "evidence_before",
            "evidence_after",
        ]
        read_only_fields = fields


class AuditSessionSerializer(serializers.Serializer[Any]):
    """The session."""

    id = serializers.UUIDField()
    session_key = serializers.CharField()
    project = serializers.CharField(allow_blank=True)
    scope = serializers.CharField(allow_blank=True)
    embedding_model = serializers.CharField(allow_blank=True)
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    gap_hours = serializers.FloatField(allow_null=True)
    prompt_count = serializers.IntegerField()
    alpha = serializers.FloatField()
    phase = serializers.CharField(allow_blank=True)
    model_version = serializers.IntegerField(allow_null=True)
    has_opinion = serializers.BooleanField()
    no_opinion_reason = serializers.CharField(allow_blank=True)
    is_drafted = serializers.BooleanField(help_text="Whether both rankings drafted its list.")
    draft_share = serializers.FloatField(help_text="The probability with which they did.")
    status_line = serializers.CharField(allow_blank=True)


class AuditSerializer(serializers.Serializer[Any]):
    """All records of a session.

    `memories` are its candidates and all judged memories.
    """

    session = AuditSessionSerializer()
    memories = InspectedSerializer(many=True)
    judgement = JudgementSerializer(allow_null=True)
    comparison = ComparisonSerializer(allow_null=True)
    moved = serializers.CharField(allow_blank=True)
    trainings = TrainingSerializer(many=True)
    is_canary = serializers.BooleanField(
        help_text="Whether the session is held out of training, to measure trainings."
    )


def present_inspected(record: SessionRecord, comparison: Comparison) -> dict[str, Any]:
    """Return a comparison with the records it was computed from."""
    lists = comparison.baseline_top_ids, comparison.predictor_top_ids
    judged = record.judgement.memory_ids if record.judgement is not None else []
    others = [i for i in judged if i not in {*lists[0], *lists[1]}]
    return {
        **ComparisonSerializer(comparison).data,
        "moved": describe_effect(comparison),
        "baseline": present_memories(record.of(lists[0])),
        "predictor": present_memories(record.of(lists[1])),
        "others": present_memories(record.of(others)),
        "judgement": present_judgement(record),
        "evidence_before": None if record.before is None else present_evidence(record.before),
        "evidence_after": present_evidence(comparison),
    }


def present_audit(record: SessionRecord) -> dict[str, Any]:
    """Return a session's records as `AuditSerializer` shows them."""
    comparison = record.comparison
    return {
        "session": dict(AuditSessionSerializer(record.session).data),
        "memories": present_memories(list(record.memories.values())),
        "judgement": present_judgement(record),
        "comparison": None if comparison is None else ComparisonSerializer(comparison).data,
        "moved": "" if comparison is None else describe_effect(comparison),
        "trainings": TrainingSerializer(record.trainings, many=True).data,
        "is_canary": record.is_canary,
    }


def present_memories(found: Sequence[InspectedMemory]) -> Any:
    """Return memories of a session as `InspectedSerializer` shows them."""
    return InspectedSerializer([_flat(one) for one in found], many=True).data


def present_judgement(record: SessionRecord) -> Any:
    """Return the judge's answer without the texts that are withheld; None without a judgement."""
    judgement: Judgement | None = record.judgement
    if judgement is None:
        return None
    shown: dict[str, Any] = {name: getattr(judgement, name) for name in JUDGED}
    shown["due_since"] = judgement.due_at
    is_shown = not record.withheld
    raw = judgement.raw if isinstance(judgement.raw, dict) else {}
    shown["missing_topics"] = judgement.missing_topics if is_shown else []
    shown["reasoning"] = str(raw.get("reasoning", "")) if is_shown else ""
    shown["agent"], shown["orders"] = raw.get("agent"), _orders_of(raw)
    shown["withheld"] = record.withheld
    return JudgementSerializer(shown).data


def _orders_of(raw: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return in how many orders a model read; None where that is not stored as `settle` does."""
    match raw.get("orders"):
        case {"read": int(read), "left_out": str(left_out)}:
            return {"read": read, "left_out": left_out}
    return None


def present_evidence(comparison: Comparison) -> Any:
    """Return the governor's state after a comparison."""
    stored = comparison.evidence if isinstance(comparison.evidence, dict) else {}
    shown = {
        "phase": comparison.phase,
        "alpha": comparison.alpha,
        "success_rate": comparison.success_rate,
        "literal_alpha": comparison.literal_alpha,
        **{name: stored.get(name) for name in FIGURES},
    }
    return StateOfEvidenceSerializer(shown).data


def describe_effect(comparison: Comparison) -> str:
    """Return a sentence on whether a comparison counts as evidence, and why."""
    if not comparison.is_evidence:
        return f"It counts for nothing: {comparison.void_reason or 'void'}."
    if comparison.drafted_margin is None:
        why = comparison.drafted_void_reason or NOT_DRAFTED
        return f"It counts for the success rate, and for no influence: {why}."
    margin = comparison.drafted_margin
    worth = (
        f"{figure(abs(margin), '.3f')} {'more' if margin > 0 else 'less'} than"
        if margin
        else "as much as"
    )
    known = "" if comparison.is_out_of_sample else ", in a session that it had learned from"
    reset = " It was a drift reset: influence is lost." if comparison.is_drift_reset else ""
    return (
        "It counts as evidence. Of this list both chose in turn, and what the learned ranking chose"
        f" was worth {worth} what the baseline chose{known}.{reset}"
    )


def _flat(one: InspectedMemory) -> dict[str, Any]:
    memory, row, label = one.memory, one.candidate, one.label
    return {
        "id": memory.pk,
        "content": one.content,
        "state": str(memory.state()),
        **{name: row and getattr(row, name) for name in RANKED},
        "source": row and row.source,
        "diversity": row and row.diversity,
        "final_score": row and row.final_score,
        "was_injected": row is not None and row.was_injected,
        "is_always": row is not None and row.is_always,
        "is_relevant": row is None or row.is_relevant,
        "drafted_by": row.drafted_by if row else "",
        "propensity": row and row.propensity,
        "fts_hit_count": row.fts_hit_count if row else 0,
        "signals": row.signals if row else [],
        "relevance": one.relevance,
        "raw": label and label.raw,
        "final": label and label.final,
        "reasons": label.reasons if label else [],
        "chance": label and label.chance,
        "is_sampled": label is not None and label.is_sampled,
        "is_blind": one.is_blind,
    }
