"""Judgements of sessions, and the labels that rankers are trained on."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from engram.kernel.lease import Lease
from engram.kernel.tenancy import WorkspaceModel
from memories.models import Memory, Session


class JudgeStatus(models.TextChoices):
    """Progress of the judging of a session."""

    DUE = "due", "Due"
    DONE = "done", "Done"
    SKIPPED = "skipped", "Skipped: there is too little to judge"
    FAILED = "failed", "Failed for good"


class JudgeKind(models.TextChoices):
    """Kind of the judge."""

    AGENT = "agent", "The agent of the session"
    MODEL = "model", "A language model"
    OFFLINE = "offline", "The offline judge"


class Judgement(WorkspaceModel, Lease):
    """The judging of one session: due when the session ends, done once.

    `memory_ids` is in the shuffled order of the prompt: note n, from 1, is the n-th entry. `raw` is
    the judge's whole answer.
    """

    silence = timedelta(seconds=20)  # the sweep comes every ten seconds

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.OneToOneField(Session, models.CASCADE, related_name="judgement")
    status = models.CharField(max_length=7, choices=JudgeStatus.choices, default=JudgeStatus.DUE)
    due_at = models.DateTimeField()
    not_before = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    kind = models.CharField(max_length=7, choices=JudgeKind.choices, blank=True)
    version = models.CharField(max_length=40, blank=True)  # of the prompt or of the offline rules
    model = models.CharField(max_length=120, blank=True)
    memory_ids = ArrayField(models.UUIDField(), default=list)
    overall = models.FloatField(null=True)  # 0..1
    confidence = models.FloatField(null=True)  # 0..1
    missing_topics = models.JSONField(default=list)
    novel_context_count = models.PositiveIntegerField(default=0)
    raw = models.JSONField(default=dict)
    is_flat = models.BooleanField(default=False)
    void_reason = models.CharField(max_length=60, blank=True)  # why nothing is learned from it
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.FloatField(default=0)
    error = models.CharField(max_length=300, blank=True)
    judged_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["workspace", "due_at"],
                condition=Q(status="due"),
                name="predictor_judging_due",
            ),
            models.Index(fields=["workspace", "-judged_at"], name="judgement_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.session_id}: {self.status}"


class Label(WorkspaceModel):
    """Label of one memory in one session, before (`raw`) and after behaviour (`final`).

    Both are null when the memory has no label (merged or culled since); `reasons` names the rules
    that determined `final`, in their order. `chance` is the probability with which the memory was
    chosen to be judged: a training counts the label as often as 1 / `chance`.
    """

    session = models.ForeignKey(Session, models.CASCADE, related_name="labels", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    relevance = models.FloatField(null=True)  # by the judge, 0..1; null: not judged
    raw = models.FloatField(null=True)
    final = models.FloatField(null=True)
    reasons = ArrayField(models.CharField(max_length=40), default=list)
    chance = models.FloatField(null=True)  # above 0; null: not judged
    is_sampled = models.BooleanField(default=True)  # whether a training reads it
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "memory"], name="label_once_a_session")
        ]

    def __str__(self) -> str:
        return f"{self.memory_id}: {self.final}"
