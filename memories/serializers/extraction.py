"""Shapes of extraction: the transcript, and statements of transcripts that were refused."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from engram.kernel.fields import Path, Text
from engram.kernel.models import Provenance
from memories.core.extraction.floor import REASONS, explain_reason
from memories.core.extraction.messages import labelled
from memories.models import ExtractionRefusal, RefusalDecision
from memories.models.session import TRANSCRIPT_MAX_CHARS
from memories.services.extraction.results import shown_texts


class Transcript(Text):
    """A transcript: labelled turns; messages in JSON are written so."""

    def to_internal_value(self, value: Any) -> str:
        """Return the transcript with a label for each turn."""
        text = labelled(super().to_internal_value(value))
        if not self.allow_blank and not text.strip():
            self.fail("blank")
        return text


class TranscriptSerializer(serializers.Serializer[Any]):
    """The body of an extraction."""

    transcript = Transcript(
        max_length=TRANSCRIPT_MAX_CHARS,
        help_text="Turns that begin with the name of their speaker, such as `User:` and `Agent:`, "
        "or messages with `role` and `content` in JSON.",
    )
    session_key = Text(max_length=200, allow_blank=True, default="")
    project = Text(max_length=200, allow_blank=True, default="")
    scope = Path(max_length=300, allow_blank=True, default="")


class QueuedSerializer(serializers.Serializer[Any]):
    """A queued job."""

    job = serializers.UUIDField(help_text="The job: `GET /jobs/{id}` says what came of it.")


class _RefusalListSerializer(serializers.ListSerializer[Any]):
    """Refusals without what was forgotten, with as many queries for one as for many."""

    def to_representation(self, data: Any) -> list[Any]:
        """Return the rows with the texts that may be shown."""
        rows = list(data)
        texts = shown_texts(rows)
        child: RefusalSerializer = self.child  # type: ignore[assignment]
        return [child.represent(row) | texts[row.pk] for row in rows]


class RefusalSerializer(serializers.Serializer[Any]):
    """A statement of a transcript that was not kept."""

    id = serializers.UUIDField()
    job = serializers.UUIDField(source="job_id", help_text="The job that refused it.")
    text = serializers.CharField(help_text="Its words in the transcript.")
    fact = serializers.CharField(help_text="What accepting it commits.")
    before = serializers.CharField(help_text="What was said before it.")
    after = serializers.CharField(help_text="What was said after it.")
    reason = serializers.ChoiceField(REASONS)
    why = serializers.SerializerMethodField(help_text="The reason in words.")
    worth = serializers.FloatField(help_text="0..1: the estimate that it is worth keeping.")
    speaker = serializers.CharField(help_text="Who said it; empty: unknown.")
    provenance = serializers.ChoiceField(Provenance.choices)
    borderline = serializers.BooleanField(
        source="is_borderline", help_text="Whether a person is asked about it in the inbox."
    )
    decision = serializers.ChoiceField(
        RefusalDecision.choices, help_text="What a person decided about it."
    )
    memory = serializers.UUIDField(
        source="memory_id", allow_null=True, help_text="The memory that keeping it wrote."
    )
    session_key = serializers.CharField()
    project = serializers.CharField()
    scope = serializers.CharField()
    created_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField()

    class Meta:
        list_serializer_class = _RefusalListSerializer

    def to_representation(self, instance: ExtractionRefusal) -> dict[str, Any]:
        """Return the row without the texts that were forgotten."""
        return self.represent(instance) | shown_texts([instance])[instance.pk]

    def represent(self, row: ExtractionRefusal) -> dict[str, Any]:
        """Return the row as it is stored."""
        stored: dict[str, Any] = super().to_representation(row)
        return stored

    def get_why(self, row: ExtractionRefusal) -> str:
        """Return the reason in words."""
        return explain_reason(row.reason)
