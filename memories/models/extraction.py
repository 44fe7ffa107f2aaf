"""Models of extraction: transcripts to read, what was refused of them, and where facts are from."""

from __future__ import annotations

import uuid
from typing import Final

from django.db import models
from django.db.models import Q

from engram.kernel.labels import row_label
from engram.kernel.models import Job, Provenance
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory

# What an extraction is changed to whose transcript is deleted.
WITHOUT_TRANSCRIPT: Final = {"transcript": "", "described": None}


class Extraction(WorkspaceModel):
    """What an extraction job reads; the transcript is emptied when the job ends.

    `is_of_session`: it is the transcript of the session, which is extracted once. `described` is
    what a worker that handed the job over knows of its statements; it quotes the transcript.
    """

    job = models.OneToOneField(Job, models.CASCADE, primary_key=True, related_name="extraction")
    transcript = models.TextField(blank=True)
    described = models.JSONField(null=True, editable=False)
    is_of_session = models.BooleanField(default=False)
    session_key = models.CharField(max_length=200, blank=True)
    project = models.CharField(max_length=200, blank=True)
    scope = models.CharField(max_length=300, blank=True)
    agent = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(described__isnull=True) | ~Q(transcript=""),
                name="extraction_described_with_transcript",
            )
        ]
        indexes = [
            models.Index(
                fields=["workspace", "session_key"],
                condition=~Q(session_key=""),
                name="extraction_session",
            )
        ]

    def __str__(self) -> str:
        return f"{self.session_key or 'a transcript'}: {self.job_id}"


class RefusalDecision(models.TextChoices):
    """What a person decided about a refused statement."""

    UNDECIDED = "undecided", "Undecided"
    KEPT = "kept", "Kept"
    LEFT_OUT = "left_out", "Left out"


class ExtractionRefusal(WorkspaceModel):
    """A statement of a transcript that was not kept, with the reason.

    `text` is the verbatim quote, `fact` what would be committed, `before` and `after` what was said
    around it. `is_borderline`: a person is asked in the inbox. The rows end with their job.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(Job, models.CASCADE, related_name="extraction_refusals")
    text = models.TextField()
    fact = models.TextField(blank=True)
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    reason = models.CharField(max_length=24)
    worth = models.FloatField()  # 0..1
    confidence = models.FloatField()  # 0..1
    provenance = models.CharField(
        max_length=20, choices=Provenance.choices
    )  # who asserted it, whatever the key of the job may claim
    speaker = models.CharField(max_length=100, blank=True)
    position = models.PositiveIntegerField()  # of the quote in the transcript, in characters
    session_key = models.CharField(max_length=200, blank=True)
    project = models.CharField(max_length=200, blank=True)
    scope = models.CharField(max_length=300, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    is_borderline = models.BooleanField(default=False)
    decision = models.CharField(
        max_length=9, choices=RefusalDecision.choices, default=RefusalDecision.UNDECIDED
    )
    decided_at = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=150, blank=True)
    memory = models.ForeignKey(Memory, models.SET_NULL, null=True, related_name="+")  # when kept
    is_new_memory = models.BooleanField(default=False)  # keeping it created the memory
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["workspace", "-created_at", "-id"], name="refusal_newest"),
            models.Index(
                fields=["workspace", "created_at"],
                condition=Q(is_borderline=True, decision="undecided"),
                name="refusal_waiting",
            ),
            models.Index(fields=["workspace", "session_key"], name="refusal_session"),
        ]

    def __str__(self) -> str:
        return row_label(self, self.created_at)


class ExtractedQuote(WorkspaceModel):
    """Words of a transcript that a memory was made of or said already; erased with the memory."""

    memory = models.ForeignKey(Memory, models.CASCADE, related_name="extracted_quotes")
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+")
    session_key = models.CharField(max_length=200, blank=True)
    text = models.TextField()

    class Meta:
        indexes = [
            models.Index(
                fields=["workspace", "session_key"],
                condition=~Q(session_key=""),
                name="quote_session",
            )
        ]

    def __str__(self) -> str:
        return f"of {self.memory_id}"
