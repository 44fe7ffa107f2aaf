"""The model of a memory: a statement with its provenance, confidence and lifecycle."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import ClassVar, Self

from django.apps import apps
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from engram.kernel.labels import row_label
from engram.kernel.models import ApiKey, Provenance, Workspace
from engram.kernel.tenancy import WorkspaceManager, WorkspaceModel, WorkspaceQuerySet


class Kind(models.TextChoices):
    """The kind of a statement; the values are those of the API."""

    SEMANTIC = "semantic", "Fact"
    EPISODIC = "episodic", "Event"
    PROCEDURAL = "procedural", "Procedure"
    DECISION = "decision", "Decision"
    CONSTRAINT = "constraint", "Constraint"


class State(models.TextChoices):
    """The lifecycle state of a memory, strongest first (erased memories have no row)."""

    FORGOTTEN = "forgotten", "Forgotten"
    CULLED = "culled", "Hidden"  # by the janitor
    RETIRED = "retired", "Retired"
    SUPERSEDED = "superseded", "Superseded"
    EXPIRED = "expired", "Expired"
    ACTIVE = "active", "Active"


LIVE = Q(forgotten_at=None, culled_at=None, retired_at=None, superseded_at=None)


def in_scope(scope: str) -> Q:
    """Match a scope and all below it, by whole path segments."""
    return Q(scope=scope) | Q(scope__startswith=f"{scope}/")


class MemoryQuerySet(WorkspaceQuerySet["Memory"]):
    """Queries over memories of the current workspace."""

    def recallable(self, at: datetime | None = None) -> MemoryQuerySet:
        """Return the memories that may be read at `at`; every read path uses this filter."""
        moment = at or timezone.now()
        return self.filter(LIVE).filter(Q(expires_at=None) | Q(expires_at__gt=moment))

    def recallable_then(self, at: datetime, *, whatever_expiry: bool = False) -> MemoryQuerySet:
        """Return the memories that could be read at the past time `at`.

        Observed by then, not yet retired, culled, expired or superseded, and not forgotten until
        now. A memory counts as superseded from the time its successor was observed; if the
        successor was observed earlier (a verdict kept an older claim), from the time of the
        verdict. A statement that was merged at that time and split later is read in the survivor.
        `whatever_expiry` ignores the expiry, for callers who look up the former one.
        """
        stands = (
            Q(superseded_at=None)
            | Q(superseded_by=None, superseded_at__gt=at)
            | Q(superseded_by__observed_at__gt=at)
            | Q(superseded_by__observed_at__lte=F("observed_at"), superseded_at__gt=at)
        )
        merges = apps.get_model("memories", "Merge").objects.filter(
            created_at__lte=at,
            split_at__gt=at,
            memory__forgotten_at=None,
            observation__isnull=False,
        )
        known = self.exclude(pk__in=merges.values("observation__memory")).filter(
            stands,
            Q(retired_at=None) | Q(retired_at__gt=at),
            Q(culled_at=None) | Q(culled_at__gt=at),
            forgotten_at=None,
            observed_at__lte=at,
        )
        if whatever_expiry:
            return known
        return known.filter(Q(expires_at=None) | Q(expires_at__gt=at))

    def in_state(self, state: str, at: datetime | None = None) -> MemoryQuerySet:
        """Return the memories whose strongest state is `state`."""
        moment = at or timezone.now()
        if state == State.ACTIVE:
            return self.recallable(moment)
        if state == State.EXPIRED:
            return self.filter(LIVE, expires_at__lte=moment)
        stamps = ["forgotten_at", "culled_at", "retired_at", "superseded_at"]
        position = stamps.index(f"{state}_at")
        stronger = Q(**dict.fromkeys(stamps[:position]))
        return self.filter(stronger).exclude(**{stamps[position]: None})


MemoryManager = WorkspaceManager.from_queryset(MemoryQuerySet)


class Memory(WorkspaceModel):
    """One statement that agents recall."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    lineage = models.UUIDField(default=uuid.uuid4, editable=False)
    content = models.TextField()
    content_hash = models.CharField(max_length=64, editable=False)
    word_count = models.PositiveIntegerField(default=0, editable=False)
    scope = models.CharField(max_length=300, blank=True)
    project = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.SEMANTIC)
    provenance = models.CharField(
        max_length=20, choices=Provenance.choices, default=Provenance.ASSISTANT_DERIVED
    )
    confidence = models.FloatField(default=0.7)
    importance = models.FloatField(default=0.5)
    is_pinned = models.BooleanField(default=False)
    metadata = models.JSONField(default=dict, blank=True)
    source = models.CharField(max_length=2000, null=True, blank=True)  # noqa: DJ001  null: none given
    agent = models.CharField(max_length=200, blank=True)
    session_key = models.CharField(max_length=200, blank=True)
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    observed_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    revision = models.PositiveIntegerField(default=1)

    is_embedding_due = models.BooleanField(default=False)
    # The oldest transaction that the gate may not have seen at the commit, while a second look is
    # due (`memories/services/commit/second_look.py`).
    unseen_from = models.BigIntegerField(null=True, blank=True, editable=False)

    # The janitor's factors on the provenance weight and on the confidence.
    weight_factor = models.FloatField(default=1.0)
    confidence_factor = models.FloatField(default=1.0)
    demotion_count = models.PositiveSmallIntegerField(default=0)
    demoted_at = models.DateTimeField(null=True, blank=True)

    forgotten_at = models.DateTimeField(null=True, blank=True)
    culled_at = models.DateTimeField(null=True, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)
    superseded_at = models.DateTimeField(null=True, blank=True)
    superseded_by = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="supersedes"
    )

    recall_count = models.PositiveIntegerField(default=0)
    injected_count = models.PositiveIntegerField(default=0)
    hit_count = models.PositiveIntegerField(default=0)
    used_count = models.PositiveIntegerField(default=0)
    last_recalled_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[MemoryManager[Self]] = MemoryManager()

    class Meta:
        ordering = ["-created_at", "-id"]
        verbose_name_plural = "memories"
        constraints = [
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="memory_confidence_range"
            ),
            models.CheckConstraint(
                condition=Q(importance__gte=0, importance__lte=1), name="memory_importance_range"
            ),
            models.CheckConstraint(
                condition=Q(superseded_by=None) | ~Q(superseded_by=F("id")),
                name="memory_never_supersedes_itself",
            ),
            models.CheckConstraint(
                condition=Q(
                    weight_factor__gt=0,
                    weight_factor__lte=1,
                    confidence_factor__gt=0,
                    confidence_factor__lte=1,
                ),
                name="memory_factor_range",
            ),
            # Unique content per place, except for rows with an expiry.
            models.UniqueConstraint(
                fields=["workspace", "scope", "project", "content_hash"],
                condition=LIVE & Q(expires_at=None),
                name="memory_one_live_row_a_statement",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="memory_newest"),
            models.Index(fields=["workspace", "observed_at"], condition=LIVE, name="memory_story"),
            models.Index(
                fields=["workspace", "scope", "project"], condition=LIVE, name="memory_place"
            ),
            models.Index(fields=["workspace", "content_hash"], name="memory_hash"),
            models.Index(fields=["workspace", "lineage"], name="memory_lineage"),
            models.Index(
                fields=["workspace", "session_key", "observed_at", "created_at", "id"],
                condition=LIVE & ~Q(session_key=""),
                name="memory_session_order",
            ),
            models.Index(fields=["workspace", "key", "created_at"], name="memory_writer"),
            models.Index(
                fields=["workspace"],
                condition=Q(is_embedding_due=True),
                name="memory_embedding_due",
            ),
            models.Index(
                fields=["workspace"],
                condition=Q(unseen_from__isnull=False),
                name="memory_second_look_due",
            ),
        ]

    def __str__(self) -> str:
        return row_label(self, self.created_at)

    @property
    def is_live(self) -> bool:
        """Return whether the memory is not hidden, ignoring its expiry."""
        stamps = (self.forgotten_at, self.culled_at, self.retired_at, self.superseded_at)
        return all(stamp is None for stamp in stamps)

    def state(self, at: datetime | None = None) -> State:
        """Return the strongest state that applies at `at` (default: now)."""
        for state in (State.FORGOTTEN, State.CULLED, State.RETIRED, State.SUPERSEDED):
            if getattr(self, f"{state}_at") is not None:
                return state
        if self.expires_at is not None and self.expires_at <= (at or timezone.now()):
            return State.EXPIRED
        return State.ACTIVE


class Derivation(WorkspaceModel):
    """A source of a derived memory (summary); forgetting it creates a review of the summary."""

    source = models.ForeignKey(Memory, models.CASCADE, related_name="derivations")
    derived = models.ForeignKey(Memory, models.CASCADE, related_name="derived_from")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "derived"], name="derivation_once")
        ]

    def __str__(self) -> str:
        return f"{self.derived_id} from {self.source_id}"
