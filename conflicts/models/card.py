"""The card: one question to a person about memories that disagree."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from conflicts.core.rules.reported import UNKNOWN
from engram.kernel.labels import row_label
from engram.kernel.tenancy import WorkspaceManager, WorkspaceModel, WorkspaceQuerySet
from memories.models import Memory


class ConflictKind(models.TextChoices):
    """Kind of a contradiction."""

    REVERSAL = "reversal", "Reversal"
    AMBIGUITY = "ambiguity", "Ambiguity"
    STALE = "stale", "Stale"


class ConflictStatus(models.TextChoices):
    """Status of a card."""

    OPEN = "open", "Open"
    RESOLVED = "resolved", "Resolved"
    DISMISSED = "dismissed", "Dismissed"
    SNOOZED = "snoozed", "Snoozed"


WAITING = (ConflictStatus.OPEN, ConflictStatus.SNOOZED)  # for an answer


class Severity(models.TextChoices):
    """How harmful it would be to act on the wrong claim."""

    LOW = "low", "Low"
    MEDIUM = "medium", "Medium"
    HIGH = "high", "High"


class LapseReason(models.TextChoices):
    """Why a card was closed without a verdict."""

    GONE = "gone", "Fewer than two of its memories are still recalled."
    REWORDED = "reworded", "One of its memories says something else now."
    ABSORBED = "absorbed", "A wider card asks about all of its memories."


class ConflictQuerySet(WorkspaceQuerySet["Conflict"]):
    """Queries over the cards of the current workspace."""

    def waiting(self) -> ConflictQuerySet:
        """Return the cards that wait for a person."""
        return self.filter(status=ConflictStatus.OPEN)


ConflictManager = WorkspaceManager.from_queryset(ConflictQuerySet)


class Conflict(WorkspaceModel):
    """A yes/no question that people answer; *yes* means the named claim still holds."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=ConflictKind.choices)
    status = models.CharField(
        max_length=10, choices=ConflictStatus.choices, default=ConflictStatus.OPEN
    )
    question = models.CharField(max_length=400)
    reasoning = models.TextField(blank=True)
    model_reasoning = models.TextField(blank=True, db_default="")  # of the language model, if any
    severity = models.CharField(max_length=6, choices=Severity.choices, default=Severity.MEDIUM)
    detected_by = ArrayField(models.CharField(max_length=12), default=list)
    # Why it was opened, and by which other rules it was found since: ids of `core/rules/registry`.
    rule = models.CharField(max_length=48, db_default=UNKNOWN.id)
    further_rules = ArrayField(models.CharField(max_length=48), default=list, db_default=[])
    confidence = models.FloatField(default=0.5)
    suggested_verdict = models.CharField(max_length=12, blank=True)
    # Lineages that disagree with the members and are not listed: a card lists so many memories.
    unlisted = ArrayField(models.UUIDField(), default=list, db_default=[])
    version = models.PositiveIntegerField(default=1)
    # Accounts are deleted outside of any workspace, where these rows cannot be seen: the database
    # clears the reference (migration 0009).
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, blank=True, related_name="+"
    )
    is_lapsed = models.BooleanField(default=False)  # closed because its memories went away
    lapse_reason = models.CharField(max_length=10, choices=LapseReason.choices, blank=True)
    snoozed_until = models.DateTimeField(null=True, blank=True)
    reopened_from = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_before = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects: ClassVar[ConflictManager[Self]] = ConflictManager()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "status", "-created_at", "-id"], name="card_queue"),
            models.Index(fields=["workspace", "-created_at", "-id"], name="card_newest"),
        ]

    def __str__(self) -> str:
        return row_label(self, self.created_at)

    @property
    def rules(self) -> list[str]:
        """Ids of the rules that found it, first the one that opened it."""
        return [self.rule, *self.further_rules]


class ConflictMember(WorkspaceModel):
    """A memory on a card; `position` is its order by time."""

    conflict = models.ForeignKey(Conflict, models.CASCADE, related_name="members")
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="conflict_members")
    lineage = models.UUIDField()
    position = models.PositiveSmallIntegerField()
    says_yes = models.BooleanField(default=False)
    revision = models.PositiveIntegerField()  # of the memory when the question was made, or decided
    # The memory's text is newer than the revision that detection has read.
    is_reworded = models.BooleanField(default=False, db_default=False)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["conflict", "memory"], name="member_once_a_card")
        ]
        indexes = [
            models.Index(fields=["workspace", "memory"], name="member_memory"),
            models.Index(fields=["workspace", "lineage"], name="member_lineage"),
        ]

    def __str__(self) -> str:
        return f"{self.position}. {self.memory_id}"


class ConflictPair(WorkspaceModel):
    """Two lineages that a card covers; each pair belongs to at most one card of a workspace."""

    lineage_low = models.UUIDField()
    lineage_high = models.UUIDField()
    conflict = models.ForeignKey(Conflict, models.CASCADE, related_name="pairs")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "lineage_low", "lineage_high"], name="pair_once"
            ),
            models.CheckConstraint(
                condition=Q(lineage_low__lt=F("lineage_high")), name="pair_in_order"
            ),
        ]
        indexes = [models.Index(fields=["workspace", "lineage_high"], name="pair_high")]

    def __str__(self) -> str:
        return f"{self.lineage_low} and {self.lineage_high}"


class ConflictComment(WorkspaceModel):
    """A person's comment on a card."""

    conflict = models.ForeignKey(Conflict, models.CASCADE, related_name="comments")
    author = models.CharField(max_length=150)
    text = models.CharField(max_length=2000)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return row_label(self, self.created_at)
