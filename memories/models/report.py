"""Models of what an agent said at its session's end: what it used, what was wrong or missing."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from engram.kernel.labels import row_label
from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory
from memories.models.session import Session


class ReportKind(models.TextChoices):
    """What one statement of an agent is about."""

    USED = "used", "How much a memory was of use"
    WRONG = "wrong", "A memory that turned out wrong"
    MISSING = "missing", "What no memory said"


class SessionReport(WorkspaceModel):
    """That an agent reported at the end of its session; a session takes one report.

    `digest` is of what was sent, to know a repeated call; empty once something that the report may
    quote was erased, because the text of a short one could be guessed.
    """

    session = models.OneToOneField(Session, models.CASCADE, primary_key=True, related_name="report")
    digest = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return row_label(self, self.created_at)


class ReportItem(WorkspaceModel):
    """One statement of a report.

    `value` is how much the memory was of use, 0..1; `text` why it is wrong, or what was missing.
    `text_hash` is the text's `content_hash`, to know the wordings of forgotten memories.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(
        Session, models.CASCADE, related_name="report_items", db_index=False
    )
    kind = models.CharField(max_length=7, choices=ReportKind.choices)
    memory = models.ForeignKey(Memory, models.CASCADE, null=True, related_name="+")
    value = models.FloatField(null=True)
    text = models.TextField(blank=True)
    text_hash = models.CharField(max_length=64, blank=True)
    position = models.PositiveSmallIntegerField()  # within its kind, in the order that was sent
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "report of an agent"
        verbose_name_plural = "reports of agents"
        ordering = ["session", "kind", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "kind", "position"], name="report_item_position_once"
            ),
            models.CheckConstraint(
                condition=Q(kind="missing", memory=None) | ~Q(kind="missing") & ~Q(memory=None),
                name="report_item_of_a_memory",
            ),
            models.CheckConstraint(
                condition=Q(kind="used", value__gte=0, value__lte=1)
                | ~Q(kind="used") & Q(value=None),
                name="report_item_value_range",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "-created_at", "-id"],
                condition=~Q(kind="used"),
                name="report_item_newest",
            )
        ]

    def __str__(self) -> str:
        return row_label(self, self.created_at)
