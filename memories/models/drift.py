"""Models of drift: what memories lean on in notes, and prediction errors."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from engram.kernel.labels import row_label
from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory
from memories.models.note import PATH_MAX_CHARS, Note

SOURCE_MAX_CHARS = 60
DRIFT_SOURCE = "notes"  # of the types that Engram finds by itself
REPORT_SOURCE = "agent"  # of what an agent says at the end of its session
TRANSCRIPT_SOURCE = "transcript"  # of what was said in a session
# Which no caller may name as its own.
OWN_SOURCES = (DRIFT_SOURCE, REPORT_SOURCE, TRANSCRIPT_SOURCE)
WEIGHT_MAX = 10.0
RETRIEVALS_NEEDED = 2  # distinct queries before an error about a note alone is listed


class NoteSupport(WorkspaceModel):
    """What one memory leans on in one note that it links, and the last check of it.

    The check is due while `due_at` is set. `support` is null until it is read, and while it is read
    anew; `earlier` is the note's text from then, if the note has changed before it was read.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="note_supports", db_index=False)
    note = models.ForeignKey(Note, models.CASCADE, related_name="supports")
    support = models.JSONField(null=True)  # `core/drift/support.py`
    model = models.CharField(max_length=120, blank=True)  # whose cosines it has
    note_version = models.PositiveIntegerField(null=True)  # that the support is of
    earlier = models.TextField(null=True)  # noqa: DJ001  null: the present text is the one
    earlier_version = models.PositiveIntegerField(null=True)
    # The last check: of this version of the note and this wording of the memory.
    checked_version = models.PositiveIntegerField(null=True)
    checked_hash = models.CharField(max_length=64, blank=True)
    checked_at = models.DateTimeField(null=True)
    is_drifted = models.BooleanField(default=False)
    distance = models.FloatField(null=True)
    evidence = models.FloatField(default=0.0)
    verdict = models.JSONField(default=dict)
    still_true_version = models.PositiveIntegerField(null=True)  # a person said so of this version
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["memory", "note"], name="note_support_once")]
        indexes = [
            models.Index(
                fields=["workspace", "due_at"],
                condition=Q(due_at__isnull=False),
                name="note_support_due",
            ),
            models.Index(
                fields=["workspace", "memory"],
                condition=Q(is_drifted=True),
                name="note_support_drifted",
            ),
        ]

    def __str__(self) -> str:
        return row_label(self, self.checked_at)


class ErrorType(models.TextChoices):
    """What a prediction error says."""

    LOW_OVERLAP = "low_overlap", "No note is near to what was asked"
    CONTEXTUAL_MISMATCH = "contextual_mismatch", "The nearest note is of another context, and weak"
    MEMORY_DRIFT = "memory_drift", "The note no longer carries the memory"
    MEMORY_EXTERNAL_SIGNAL = "memory_external_signal", "Outside evidence against the memory"


class Resolution(models.TextChoices):
    """How a prediction error ended."""

    STILL_TRUE = "still_true", "A person said that the memory is still true"
    DISMISSED = "dismissed", "A person dismissed it"
    UPDATED = "updated", "The memory was updated"
    MEMORY_FORGOTTEN = "memory_forgotten", "The memory was forgotten"
    MEMORY_HIDDEN = "memory_hidden", "The memory is not recalled any more"
    NOTE_DELETED = "note_deleted", "The note was deleted"
    LINK_GONE = "link_gone", "The memory does not link the note any more"
    NOTE_AGREES = "note_agrees", "The note carries the memory again"
    PROMOTED = "promoted", "The memory only points at the note"
    NOTE_NEAR = "note_near", "A note is near to the task now"


class ErrorSeverity(models.TextChoices):
    """How harmful it would be to go by the memory; not how sure the finding is."""

    LOW = "low", "Low"
    MEDIUM = "medium", "Medium"
    HIGH = "high", "High"


class PredictionError(WorkspaceModel):
    """A sign that something which was retrieved is out of date, or that nothing fits.

    At most one is open per type, memory, note and source; later detections refresh it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    error_type = models.CharField(max_length=24, choices=ErrorType.choices)
    memory = models.ForeignKey(
        Memory, models.CASCADE, null=True, blank=True, related_name="prediction_errors"
    )
    note = models.ForeignKey(
        Note, models.SET_NULL, null=True, blank=True, related_name="prediction_errors"
    )
    note_path = models.CharField(max_length=PATH_MAX_CHARS, blank=True)  # stays without the note
    note_version = models.PositiveIntegerField(null=True)
    source = models.CharField(max_length=SOURCE_MAX_CHARS)
    query = models.TextField(blank=True)
    queries = ArrayField(models.CharField(max_length=16), default=list)  # digests of distinct ones
    cosine_distance = models.FloatField(null=True)
    context = models.JSONField(default=dict)
    weight = models.FloatField(default=1.0)
    severity = models.CharField(
        max_length=6,
        choices=ErrorSeverity.choices,
        default=ErrorSeverity.MEDIUM,
        db_default=ErrorSeverity.MEDIUM,
    )
    detected_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    occurrences = models.PositiveIntegerField(default=1)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolution = models.CharField(max_length=16, choices=Resolution.choices, blank=True)
    resolved_by = models.CharField(max_length=200, blank=True)
    resolution_note = models.TextField(blank=True)

    class Meta:
        ordering = ["-detected_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(memory__isnull=False) | ~Q(note_path=""),
                name="prediction_error_of_something",
            ),
            models.CheckConstraint(
                condition=Q(weight__gte=0, weight__lte=WEIGHT_MAX),
                name="prediction_error_weight_range",
            ),
            models.UniqueConstraint(
                fields=["workspace", "error_type", "memory", "note", "source"],
                condition=Q(resolved_at=None),
                nulls_distinct=False,
                name="prediction_error_one_open",
            ),
        ]
        indexes = [
            models.Index(
                fields=["workspace", "-detected_at", "-id"], name="prediction_error_newest"
            ),
            models.Index(
                fields=["workspace", "-detected_at", "-id"],
                condition=Q(resolved_at=None),
                name="prediction_error_open",
            ),
            models.Index(fields=["workspace", "note_path"], name="prediction_error_note"),
        ]

    def __str__(self) -> str:
        return row_label(self, self.detected_at)

    @property
    def is_listed(self) -> bool:
        """Return whether it was found often enough to be shown."""
        is_of_note = self.error_type in OF_NOTES
        return not is_of_note or len(self.queries) >= RETRIEVALS_NEEDED


OF_NOTES = (ErrorType.LOW_OVERLAP, ErrorType.CONTEXTUAL_MISMATCH)
