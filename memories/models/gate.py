"""Models of the redundancy gate: merges (which can be split) and merge suggestions."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory
from memories.models.record import Observation


class Relation(models.TextChoices):
    """The relation of two statements, as computed by `memories.core.claims`."""

    SAME = "same", "Same"
    REFINES = "refines", "Refines"
    CONTRADICTS = "contradicts", "Contradicts"
    DIFFERENT = "different", "Different"


class Merge(WorkspaceModel):
    """One statement merged into a memory, with everything needed to split it.

    `absorbed` is the memory that an accepted suggestion hid; a statement merged at commit has none,
    unless it was split off and merged again. `before` and `after` are the survivor's fields. An
    `after` with `folded` false means that the merge changed no field (a witness).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="merges")
    observation = models.ForeignKey(
        Observation, models.CASCADE, null=True, blank=True, related_name="merges"
    )
    absorbed = models.ForeignKey(
        Memory, models.CASCADE, null=True, blank=True, related_name="merged_into"
    )
    similarity = models.FloatField(null=True, blank=True)
    relation = models.CharField(max_length=12, choices=Relation.choices)
    reasons = models.JSONField(default=list, blank=True)
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    actor_label = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField()
    split_at = models.DateTimeField(null=True, blank=True)

    is_correct = models.BooleanField(null=True, blank=True)
    audited_by = models.CharField(max_length=150, blank=True)
    audited_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="merge_newest"),
            models.Index(
                fields=["workspace", "id"],
                condition=Q(is_correct=None, split_at=None),
                name="merge_unaudited",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.relation} into {self.memory_id}"


class SuggestionStatus(models.TextChoices):
    """The status of a merge suggestion."""

    OPEN = "open", "Open"
    ACCEPTED = "accepted", "Accepted"
    REJECTED = "rejected", "Rejected"
    LAPSED = "lapsed", "Lapsed"  # a member was hidden or changed before an answer


class MergeSuggestion(WorkspaceModel):
    """Two live memories that are probably duplicates; a person decides."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="merge_suggestions")
    other = models.ForeignKey(Memory, models.CASCADE, related_name="merge_suggestions_as_other")
    # The pair in any order: the smaller id first, then the greater.
    pair = models.CharField(max_length=73, editable=False)
    # The content hashes of the two, the smaller first: a rejection applies to these wordings.
    wordings = models.CharField(max_length=129, default="", editable=False)
    similarity = models.FloatField(null=True, blank=True)
    relation = models.CharField(max_length=12, choices=Relation.choices)
    reasons = models.JSONField(default=list, blank=True)
    detected_by = models.CharField(max_length=10, default="gate")  # gate, agent, person
    status = models.CharField(
        max_length=10, choices=SuggestionStatus.choices, default=SuggestionStatus.OPEN
    )
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "pair"],
                condition=Q(status=SuggestionStatus.OPEN),
                name="suggestion_open_once_a_pair",
            )
        ]
        indexes = [
            models.Index(
                fields=["workspace", "status", "-created_at", "-id"], name="suggestion_newest"
            ),
            models.Index(fields=["workspace", "pair"], name="suggestion_pair"),
            models.Index(fields=["workspace", "wordings"], name="suggestion_wordings"),
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} ~ {self.other_id}"
