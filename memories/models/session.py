"""Models of agent sessions and their candidate records."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Length
from pgvector.django import VectorField

from engram.kernel.models import ApiKey, Workspace
from engram.kernel.tenancy import WorkspaceManager, WorkspaceModel, WorkspaceQuerySet
from memories.models.memory import Memory

TRANSCRIPT_MAX_CHARS = 400_000


class CandidateSource(models.TextChoices):
    """The reason why a memory is in a session's records."""

    EFFECTIVE = "effective", "The baseline ranks it among its best"
    PREDICTOR = "predictor", "The learned ranker ranks it among its best"
    BOTH = "both", "Both rank it among their best"
    EXPLORATION = "exploration", "Injected because the two disagree on it most"
    FTS_ONLY = "fts_only", "A prompt matched it; it was no candidate"


class DraftSide(models.TextChoices):
    """The ranking that chose a memory for a drafted list."""

    BASELINE = "baseline", "The baseline"
    PREDICTOR = "predictor", "The learned ranker"


class SessionState(models.TextChoices):
    """The state of a session."""

    OPEN = "open", "Open"
    ENDED = "ended", "Ended"
    ABANDONED = "abandoned", "Closed as idle"


class SessionQuerySet(WorkspaceQuerySet["Session"]):
    """Queries over the sessions of the current workspace."""

    def in_state(self, state: str) -> SessionQuerySet:
        """Return the sessions of a state."""
        if state == SessionState.OPEN:
            return self.filter(ended_at=None)
        return self.filter(is_abandoned=state == SessionState.ABANDONED).exclude(ended_at=None)

    def with_counts(self) -> SessionQuerySet:
        """Return sessions with the counts of their records, deferring long texts."""
        records = SessionCandidate.objects.filter(session=OuterRef("pk")).order_by()
        counts = records.values("session").annotate(
            all=Count("pk"),
            given=Count("pk", filter=Q(was_injected=True)),
            matched=Count("pk", filter=Q(fts_hit_count__gt=0)),
        )
        return self.annotate(
            candidate_count=Coalesce(Subquery(counts.values("all")), 0),
            injected_count=Coalesce(Subquery(counts.values("given")), 0),
            matched_count=Coalesce(Subquery(counts.values("matched")), 0),
            transcript_chars=Length("transcript"),
        ).defer("transcript", "context_embedding", "prompt_digests")


SessionManager = WorkspaceManager.from_queryset(SessionQuerySet)


class Session(WorkspaceModel):
    """One session of an agent, from its start to its end."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    session_key = models.CharField(max_length=200)
    project = models.CharField(max_length=200, blank=True)
    scope = models.CharField(max_length=300, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    context = models.TextField(blank=True)
    context_embedding = VectorField(null=True)  # by `embedding_model`; null when embedding failed
    embedding_model = models.CharField(max_length=120, blank=True)
    caller = models.CharField(max_length=80, blank=True)  # "key:" or "user:" and the id
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    k = models.PositiveSmallIntegerField()
    budget_chars = models.PositiveIntegerField()
    gap_hours = models.FloatField(
        null=True
    )  # since the workspace's previous session; null: the first
    started_at = models.DateTimeField()
    active_at = models.DateTimeField(null=True)  # the last prompt or feedback
    ended_at = models.DateTimeField(null=True)
    is_abandoned = models.BooleanField(default=False)  # closed as idle
    judged_at = models.DateTimeField(null=True)  # its records do not change any more
    transcript = models.TextField(blank=True)
    # It was given, named or stated a memory that was erased since; its words may say the same.
    knew_erased = models.BooleanField(default=False, db_default=False, editable=False)
    transcript_digest = models.CharField(max_length=64, blank=True)
    prompt_count = models.PositiveIntegerField(default=0)
    prompt_digests = ArrayField(models.CharField(max_length=32), default=list)  # the latest

    # The learned ranker's answer at the start; defaults when there is none.
    alpha = models.FloatField(default=1.0)  # the baseline's weight
    phase = models.CharField(max_length=20, blank=True)
    model_version = models.PositiveIntegerField(null=True)
    has_opinion = models.BooleanField(default=False)
    no_opinion_reason = models.CharField(max_length=60, blank=True)
    status_line = models.CharField(max_length=200, blank=True)
    reason = models.CharField(
        max_length=200, blank=True, db_default=""
    )  # why no memory was chosen for it
    # The probability with which its list is drafted from both rankings, and whether it was.
    draft_share = models.FloatField(default=0.0, db_default=0.0)
    is_drafted = models.BooleanField(default=False, db_default=False)

    objects: ClassVar[SessionManager[Self]] = SessionManager()

    class Meta:
        ordering = ["-started_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "session_key"], name="session_key_once")
        ]
        indexes = [
            models.Index(fields=["workspace", "-started_at", "-id"], name="session_newest"),
            models.Index(fields=["workspace", "caller", "-started_at"], name="session_of_caller"),
            models.Index(
                fields=["workspace", "started_at"],
                condition=Q(ended_at=None),
                name="session_open",
            ),
            models.Index(
                fields=["workspace", "ended_at"],
                condition=~Q(ended_at=None),
                name="session_ended",
            ),
            models.Index(
                fields=["workspace", "ended_at"],
                condition=~Q(transcript=""),
                name="session_with_transcript",
            ),
        ]

    def __str__(self) -> str:
        return self.session_key

    @property
    def state(self) -> SessionState:
        """Return the state."""
        if self.ended_at is None:
            return SessionState.OPEN
        return SessionState.ABANDONED if self.is_abandoned else SessionState.ENDED


class SessionCandidate(WorkspaceModel):
    """One candidate memory of a session, or one that a prompt of it matched.

    Ranks begin at 1. `signals` are the learned ranker's values for the memory, one number per
    column; empty when there is no ranker.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(Session, models.CASCADE, related_name="candidates", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    source = models.CharField(max_length=11, choices=CandidateSource.choices)
    baseline_score = models.FloatField(null=True)  # see `memories.core.baseline`
    baseline_rank = models.PositiveSmallIntegerField(null=True)
    recall_score = models.FloatField(null=True)  # of its context; null: none that can be searched
    effectiveness = models.FloatField(null=True)  # importance · 0.95^days; null: of an old session
    cosine = models.FloatField(null=True)  # to the session's context
    relevance = models.FloatField(null=True)  # probability; null: not embedded, or no context
    predictor_score = models.FloatField(null=True)
    linear_score = models.FloatField(null=True)  # by its linear part alone; null: none was learned
    predictor_rank = models.PositiveSmallIntegerField(null=True)
    fused_score = models.FloatField(null=True)
    diversity = models.FloatField(default=1.0)  # the multiplier of the fused score
    final_score = models.FloatField(default=0.0)
    rank = models.PositiveSmallIntegerField(null=True)  # null: matched by a prompt only
    was_injected = models.BooleanField(default=False)
    is_always = models.BooleanField(default=False)  # a constraint or a pin: never displaced
    is_relevant = models.BooleanField(default=True, db_default=True)  # enough to be given
    # The side that chose it for its place in a drafted list, and with which probability a place was
    # that side's; empty and null in other lists.
    drafted_by = models.CharField(
        max_length=9, choices=DraftSide.choices, blank=True, db_default=""
    )
    propensity = models.FloatField(null=True)
    revision = models.PositiveIntegerField(default=1)  # the revision that was injected
    fts_hit_count = models.PositiveIntegerField(default=0)
    feedback = models.FloatField(null=True)  # by the agent, -1..1
    feedback_at = models.DateTimeField(null=True)
    signals = ArrayField(models.FloatField(), default=list)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["session", "rank", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "memory"], name="candidate_once_a_session"),
            models.CheckConstraint(
                condition=Q(feedback=None) | Q(feedback__gte=-1, feedback__lte=1),
                name="candidate_feedback_range",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.session_id}"
