"""Serializers of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.fields import Flag, Id, Number, Path, Text, Whole
from engram.kernel.paths import SESSION_KEY_MAX_CHARS
from memories.core.briefing import AT_END, EXCERPT_MAX_CHARS
from memories.models import CandidateSource, DraftSide, Session, SessionCandidate, State
from memories.models.session import TRANSCRIPT_MAX_CHARS, SessionState
from memories.serializers.extraction import Transcript
from memories.serializers.report import AgentReportSerializer, ReportSerializer, present_report
from memories.services.disputes import Dispute
from memories.services.sessions.candidates import CONSTRAINTS_READ
from memories.services.sessions.offer import StartedSession
from memories.services.sessions.prompts import PromptResult

PROMPT_MAX_CHARS = 20_000
K_MAX = 100
BUDGET_MAX_CHARS = 200_000
# The last path segments of a session's sub-resources: no session key may end with one.
RESERVED_ENDINGS = ("/prompts", "/feedback", "/end")


class SessionKeyField(Text):
    """A session key that can be part of a URL path."""

    def __init__(self, **kwargs: Any):
        super().__init__(max_length=SESSION_KEY_MAX_CHARS, **kwargs)

    def to_internal_value(self, value: Any) -> str:
        """Return the session key, validated."""
        text = super().to_internal_value(value)
        if text.endswith(RESERVED_ENDINGS):
            raise serializers.ValidationError(
                f"Must not end with {' or '.join(RESERVED_ENDINGS)}: addresses use these."
            )
        if {".", ".."} & set(text.split("/")):
            raise serializers.ValidationError("Must have no part “.” or “..” between slashes.")
        return text


class SessionWantedSerializer(serializers.Serializer[Any]):
    """The body that starts a session."""

    session_key = SessionKeyField()
    project = Text(max_length=200, allow_blank=True, default="")
    scope = Path(max_length=300, allow_blank=True, default="")
    agent = Text(max_length=200, allow_blank=True, default="")
    context = Text(  # type: ignore[assignment]
        max_length=PROMPT_MAX_CHARS,
        allow_blank=True,
        default="",
        help_text="What the session is about, as text.",
    )
    k = Whole(min_value=1, max_value=K_MAX, default=10)
    budget_chars = Whole(
        min_value=0,
        max_value=BUDGET_MAX_CHARS,
        default=6000,
        help_text="Characters that the memories may have together, with what is quoted of the "
        "other side of a dispute; constraints within half of k come in any case.",
    )


class OppositeSerializer(serializers.Serializer[Any]):
    """A memory that contradicts another in an open conflict."""

    id = serializers.UUIDField()
    content = serializers.CharField(
        help_text=f"What it says; cut after {EXCERPT_MAX_CHARS} characters, then ending in “…”."
    )


class DisputableSerializer(serializers.Serializer[Any]):
    """A memory shown to a session, with its open conflicts."""

    id = serializers.UUIDField()
    content = serializers.CharField()
    disputed = serializers.BooleanField(help_text="Whether it is in an open conflict.")
    conflicts = serializers.ListField(
        child=serializers.UUIDField(), help_text="The ids of its open conflicts."
    )
    contradicted_by = OppositeSerializer(
        allow_null=True,
        help_text="The newest recallable memory that contradicts it, if there is one.",
    )


class OfferedSerializer(DisputableSerializer):
    """One memory injected into a session."""

    kind = serializers.CharField()
    rank = serializers.IntegerField()
    score = serializers.FloatField()
    relevance = serializers.FloatField(
        allow_null=True,
        help_text="Calibrated probability that it is of use for the context; null without one.",
    )
    source = serializers.ChoiceField(CandidateSource.choices)  # type: ignore[assignment]
    always = serializers.BooleanField(
        help_text="Injected as a constraint or a pin that applies here."
    )


class DecidedSerializer(serializers.Serializer[Any]):
    """One conflict that people decided since the caller's last session."""

    conflict = serializers.UUIDField(help_text="The id of the decided conflict.")
    question = serializers.CharField(help_text="The question that was answered.")
    verdict = serializers.CharField(help_text="The verdict, as a code.")
    outcome = serializers.CharField(
        help_text="The result in words: the statement that was kept, or the answer given."
    )


class StartedSerializer(serializers.Serializer[Any]):
    """The response to a session start."""

    session_key = serializers.CharField()
    memories = OfferedSerializer(many=True)
    constraints_left_out = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Constraints that hold here and are not given; of the first "
        f"{CONSTRAINTS_READ} that hold, most trusted and important first.",
    )
    status_line = serializers.CharField()
    is_drafted = serializers.BooleanField(
        help_text="Whether the baseline and the learned ranking chose the memories in turn, by "
        "coin, so that they can be compared."
    )
    reason = serializers.CharField(
        allow_blank=True,
        help_text="Why no memory was chosen for the context; constraints and pins are given in "
        "any case.",
    )
    decided_since = DecidedSerializer(many=True)
    at_end = serializers.CharField(help_text="What to send when the session ends, in one line.")
    text = serializers.CharField(
        help_text="The whole response as text to paste into a prompt; memories are quoted."
    )
    took_ms = serializers.FloatField()


class PromptSerializer(serializers.Serializer[Any]):
    """The body of a prompt."""

    prompt = Text(max_length=PROMPT_MAX_CHARS)


class HitSerializer(DisputableSerializer):
    """One memory that a prompt matched."""

    score = serializers.FloatField()
    relevance = serializers.FloatField(
        help_text="Calibrated probability, from words alone, that it is of use for the prompt."
    )
    source = serializers.ChoiceField(  # type: ignore[assignment]
        CandidateSource.choices, allow_null=True, help_text="Null: the session has no record of it."
    )
    injected = serializers.BooleanField()
    hits = serializers.IntegerField(help_text="Prompts of this session that matched it.")


class PromptedSerializer(serializers.Serializer[Any]):
    """The response to a prompt."""

    session_key = serializers.CharField()
    memories = HitSerializer(many=True)
    counted = serializers.BooleanField(help_text="False if the same prompt was counted before.")
    prompts = serializers.IntegerField()


class FeedbackSerializer(serializers.Serializer[Any]):
    """The body of feedback on a memory."""

    memory_id = Id()
    value = Number(min_value=-1, max_value=1, help_text="-1: it misled; 0: of no use; 1: it helped")


class FeedbackGivenSerializer(serializers.Serializer[Any]):
    """The stored feedback."""

    session_key = serializers.CharField()
    memory_id = serializers.UUIDField()
    value = serializers.FloatField()


class EndSerializer(ReportSerializer):
    """The body that ends a session.

    `used`, `wrong` and `missing` are the agent's report. A session takes one, from the key that
    started it, until it is judged.
    """

    transcript = Transcript(
        max_length=TRANSCRIPT_MAX_CHARS,
        allow_blank=True,
        default="",
        help_text="May be sent later by a second call, once, if the first had none.",
    )
    extract = Flag(
        default=False,
        help_text="Whether to turn the transcript into memories, as `POST /memories/extract` does.",
    )


class EndedSerializer(serializers.Serializer[Any]):
    """An ended session; it is judged in the background."""

    session_key = serializers.CharField()
    ended_at = serializers.DateTimeField()
    job = serializers.UUIDField(
        allow_null=True, help_text="The job that extracts memories; null: not asked for."
    )


class SessionSerializer(serializers.Serializer[Session]):
    """A session in a list, with the counts of its records."""

    session_key = serializers.CharField()
    project = serializers.CharField()
    scope = serializers.CharField()
    agent = serializers.CharField()
    state = serializers.ChoiceField(SessionState.choices)
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    judged_at = serializers.DateTimeField(allow_null=True)
    prompts = serializers.IntegerField(source="prompt_count")
    candidates = serializers.IntegerField(source="candidate_count")
    injected = serializers.IntegerField(source="injected_count")
    matched = serializers.IntegerField(source="matched_count")
    transcript_chars = serializers.IntegerField()
    status_line = serializers.CharField()


class RankedSerializer(serializers.Serializer[Any]):
    """The scores and ranks of one memory in a session; null where it was not ranked."""

    rank = serializers.IntegerField(allow_null=True)
    baseline_rank = serializers.IntegerField(allow_null=True)
    baseline_score = serializers.FloatField(allow_null=True)
    recall_score = serializers.FloatField(allow_null=True)
    effectiveness = serializers.FloatField(allow_null=True)
    predictor_rank = serializers.IntegerField(allow_null=True)
    predictor_score = serializers.FloatField(allow_null=True)
    linear_score = serializers.FloatField(allow_null=True)
    cosine = serializers.FloatField(allow_null=True)
    fused_score = serializers.FloatField(allow_null=True)
    feedback = serializers.FloatField(allow_null=True)


class CandidateSerializer(RankedSerializer):
    """One record of a session; without the text of a memory that is hidden now."""

    memory_id = serializers.UUIDField()
    content = serializers.SerializerMethodField()
    hidden = serializers.SerializerMethodField()
    revision = serializers.IntegerField(help_text="The revision that was injected.")
    relevance = serializers.FloatField(
        allow_null=True, help_text="Calibrated probability that it is of use for the context."
    )
    source = serializers.ChoiceField(CandidateSource.choices)  # type: ignore[assignment]
    diversity = serializers.FloatField()
    final_score = serializers.FloatField()
    injected = serializers.BooleanField(source="was_injected")
    always = serializers.BooleanField(source="is_always")
    drafted_by = serializers.ChoiceField(
        DraftSide.choices,
        allow_blank=True,
        help_text="The ranking that chose it for its place in a drafted list.",
    )
    propensity = serializers.FloatField(
        allow_null=True, help_text="Probability with which this place was that ranking's."
    )
    hits = serializers.IntegerField(source="fts_hit_count")

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_content(self, row: SessionCandidate) -> str | None:
        """Return the memory's present content, unless it is hidden."""
        return None if self.get_hidden(row) else row.memory.content

    def get_hidden(self, row: SessionCandidate) -> bool:
        """Return whether the memory can no longer be recalled."""
        now: datetime = self.context["now"]
        return row.memory.state(now) != State.ACTIVE


class SessionDetailSerializer(SessionSerializer):
    """A session with all its records."""

    context = serializers.CharField()  # type: ignore[assignment]
    k = serializers.IntegerField()
    budget_chars = serializers.IntegerField()
    gap_hours = serializers.FloatField(allow_null=True)
    alpha = serializers.FloatField()
    phase = serializers.CharField()
    model_version = serializers.IntegerField(allow_null=True)
    no_opinion_reason = serializers.CharField()
    is_drafted = serializers.BooleanField()
    draft_share = serializers.FloatField(
        help_text="Probability with which both rankings draft the list."
    )
    report = AgentReportSerializer(
        source="reported",
        allow_null=True,
        help_text="What its agent said at the end; null: nothing.",
    )
    records = CandidateSerializer(many=True)


def present_started(started: StartedSession) -> dict[str, Any]:
    """Return the JSON of a session start, without the duration."""
    return {
        "session_key": started.session.session_key,
        "memories": [
            {
                "id": one.memory_id,
                "content": one.content,
                "kind": one.kind,
                "rank": rank,
                "score": one.score,
                "relevance": one.relevance,
                "source": one.source,
                "always": one.is_always,
                **_present_dispute(one.dispute),
            }
            for rank, one in enumerate(started.offered, start=1)
        ],
        "constraints_left_out": list(started.left_out),
        "status_line": started.session.status_line,
        "is_drafted": started.session.is_drafted,
        "reason": started.session.reason,
        "decided_since": [asdict(one) for one in started.decided],
        "at_end": AT_END,
        "text": started.text,
    }


def present_prompted(prompted: PromptResult) -> dict[str, Any]:
    """Return the JSON of the hits of a prompt."""
    return {
        "session_key": prompted.session.session_key,
        "memories": [
            {
                "id": hit.memory.id,
                "content": hit.memory.content,
                "score": hit.memory.score,
                "relevance": hit.memory.relevance,
                "source": hit.candidate.source if hit.candidate else None,
                "injected": bool(hit.candidate and hit.candidate.was_injected),
                "hits": hit.candidate.fts_hit_count if hit.candidate else 0,
                **_present_dispute(hit.dispute),
            }
            for hit in prompted.hits
        ],
        "counted": prompted.is_counted,
        "prompts": prompted.session.prompt_count,
    }


def _present_dispute(dispute: Dispute) -> dict[str, Any]:
    other = dispute.contradicted_by
    return {
        "disputed": bool(dispute.conflicts),
        "conflicts": list(dispute.conflicts),
        "contradicted_by": other and {"id": other.id, "content": other.content},
    }


def present_detail(
    session: Session, rows: Sequence[SessionCandidate], *, now: datetime
) -> dict[str, Any]:
    """Return the JSON of a session with its records."""
    session.records = rows  # type: ignore[attr-defined]
    session.reported = present_report(session)  # type: ignore[attr-defined]
    shown: dict[str, Any] = SessionDetailSerializer(session, context={"now": now}).data
    return shown
