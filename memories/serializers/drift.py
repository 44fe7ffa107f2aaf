"""Shapes of prediction errors and of signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from engram.kernel.answers import to_json
from engram.kernel.fields import Id, JsonObject, Line, Number, Text
from memories.models import ErrorType, MemoryTag, PredictionError, Resolution
from memories.models.drift import SOURCE_MAX_CHARS, WEIGHT_MAX
from memories.models.note import PATH_MAX_CHARS
from memories.services.drift.answer import MOST_AT_ONCE
from memories.services.drift.asked import queries_of_forgotten
from memories.services.drift.signals import EVIDENCE_MAX_BYTES
from memories.services.notes.missing import COMPARED

NOTE_MAX_CHARS = 1000


class SignalSerializer(serializers.Serializer[Any]):
    """Outside evidence that a memory may be out of date."""

    source = Line(  # type: ignore[assignment]
        max_length=SOURCE_MAX_CHARS,
        help_text="Who says so, such as `git` or `calendar`; kept in lower case.",
    )
    evidence = JsonObject(
        max_bytes=EVIDENCE_MAX_BYTES,
        help_text="What it saw: a free JSON object, shown as it is; {}: it says no more.",
    )
    weight = Number(
        min_value=0,
        max_value=WEIGHT_MAX,
        default=1.0,
        help_text="How much it weighs; the inbox shows the heaviest first, and 0 last.",
    )


class ResolveErrorSerializer(serializers.Serializer[Any]):
    """A person's answer to a prediction error."""

    action = serializers.ChoiceField(
        ["still_true", "dismiss", "updated"],
        help_text="still_true: the memory holds, for this version of the note; dismiss: it was no "
        "error; updated: what was wrong has been put right.",
    )
    note = Text(max_length=NOTE_MAX_CHARS, allow_blank=True, default="")


class ResolveErrorsSerializer(ResolveErrorSerializer):
    """One answer to several prediction errors: those of `ids`, or the drift of one note version."""

    ids = serializers.ListField(
        child=Id(),
        allow_empty=False,
        max_length=MOST_AT_ONCE,
        required=False,
        help_text="Ids of prediction errors.",
    )
    note_path = Text(
        max_length=PATH_MAX_CHARS,
        required=False,
        help_text="Instead of ids: the open drift of memories from this note …",
    )
    note_version = serializers.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        required=False,
        help_text="… that is about this version of it, as the errors name it.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand either ids or a note with its version."""
        is_by_note = "note_path" in attrs
        if ("ids" in attrs) == is_by_note:
            raise serializers.ValidationError({"ids": "Give either ids or note_path."})
        if is_by_note != ("note_version" in attrs):
            raise serializers.ValidationError(
                {"note_version": "Give it with note_path, and only with it."}
            )
        return attrs


class SkippedErrorSerializer(serializers.Serializer[Any]):
    """An error that an answer left as it was."""

    id = serializers.UUIDField()
    resolution = serializers.ChoiceField(
        Resolution.choices, help_text="How it was resolved before."
    )


class AnsweredErrorsSerializer(serializers.Serializer[Any]):
    """What one answer to several prediction errors did."""

    resolved = serializers.IntegerField(help_text="How many it resolved.")
    ids = serializers.ListField(child=serializers.UUIDField(), help_text="Those.")
    skipped = SkippedErrorSerializer(
        many=True, help_text="Those of `ids` that were resolved before; they stay so."
    )
    left = serializers.IntegerField(
        help_text=f"How many of the note's are still open; one call answers {MOST_AT_ONCE}."
    )


class ErrorMemorySerializer(serializers.Serializer[Any]):
    """The memory of a prediction error."""

    content = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField(), help_text="Its tags.")
    created_at = serializers.DateTimeField()


class PredictionErrorSerializer(serializers.Serializer[Any]):
    """A sign that something which was retrieved is out of date, or that nothing fits."""

    id = serializers.UUIDField()
    error_type = serializers.ChoiceField(ErrorType.choices, help_text="What it says.")
    note_path = serializers.CharField(
        allow_null=True, help_text="The path of the note, also of a deleted one; null: none."
    )
    note_version = serializers.IntegerField(
        allow_null=True,
        help_text="The version of the note that it is about; 0: one before it moved; null: none.",
    )
    memory_id = serializers.UUIDField(
        allow_null=True, help_text="The memory; null: it is about a note alone."
    )
    query = serializers.CharField(
        help_text="What was asked; of drift `memory:` and the id; empty: nothing was, or a "
        "statement that is forgotten."
    )
    cosine_distance = serializers.FloatField(
        allow_null=True,
        help_text="1 - cosine to the nearest sentence or passage; null: a signal from outside.",
    )
    context = serializers.DictField(  # type: ignore[assignment]
        help_text="Of drift: reasons, the passage that contradicts or replaces, the one before, "
        "whether that was removed (then there is no passage), whether support was stored, whether "
        "only the beginning of the note was read (`is_cut`). Of "
        "signals: the evidence, and by whom. Empty once the memory is forgotten."
    )
    weight = serializers.FloatField(help_text="How strong the signal is, 0 to 10.")
    source = serializers.CharField(  # type: ignore[assignment]
        help_text="Who found it: `notes`, or the source of a signal."
    )
    occurrences = serializers.IntegerField(help_text="How often it was found.")
    detected_at = serializers.DateTimeField(help_text="When it was first found.")
    last_seen_at = serializers.DateTimeField(help_text="When it was last found.")
    resolved_at = serializers.DateTimeField(
        allow_null=True, help_text="When it was resolved; null: it is open."
    )
    resolution = serializers.ChoiceField(
        Resolution.choices, allow_null=True, help_text="How it ended; null: it is open."
    )
    resolved_by = serializers.CharField(help_text="Who resolved it; empty: nobody yet.")
    note = serializers.CharField(help_text="The remark of who resolved it.")
    memory = ErrorMemorySerializer(
        allow_null=True, help_text="The memory; null: none, or it was forgotten."
    )


class PredictionErrorPageSerializer(serializers.Serializer[Any]):
    """A page of prediction errors."""

    results = PredictionErrorSerializer(many=True)
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    total = serializers.IntegerField(help_text="How many match the filters, on all pages.")


def present_errors(errors: Sequence[PredictionError]) -> list[dict[str, Any]]:
    """Return the JSON of errors with their memories; one query for the tags of all.

    Of a forgotten memory nothing is told but its id, and no query that states it.
    """
    shown = [error.memory_id for error in errors if error.memory and not is_withheld(error)]
    tags: dict[Any, list[str]] = {}
    rows = MemoryTag.objects.filter(memory__in=shown).order_by("tag") if shown else ()
    for row in rows:
        tags.setdefault(row.memory_id, []).append(row.tag)
    stating = queries_of_forgotten(errors)
    return [
        _present(error, tags.get(error.memory_id, []), says_forgotten=error.pk in stating)
        for error in errors
    ]


def is_withheld(error: PredictionError) -> bool:
    """Return whether the memory was forgotten, so that nothing about it is shown."""
    return error.memory is not None and error.memory.forgotten_at is not None


def _shown_context(error: PredictionError) -> dict[str, Any]:
    return {name: value for name, value in error.context.items() if name != COMPARED}


def _present(error: PredictionError, tags: list[str], *, says_forgotten: bool) -> dict[str, Any]:
    is_hidden = is_withheld(error)
    memory = None
    if error.memory is not None and not is_hidden:
        memory = {
            "content": error.memory.content,
            "tags": tags,
            "created_at": to_json(error.memory.created_at),
        }
    return {
        "id": str(error.pk),
        "error_type": error.error_type,
        "note_path": error.note_path or None,
        "note_version": error.note_version,
        "memory_id": str(error.memory_id) if error.memory_id else None,
        "query": "" if says_forgotten else error.query,
        "cosine_distance": error.cosine_distance,
        "context": {} if is_hidden else _shown_context(error),
        "weight": error.weight,
        "source": error.source,
        "occurrences": error.occurrences,
        "detected_at": to_json(error.detected_at),
        "last_seen_at": to_json(error.last_seen_at),
        "resolved_at": to_json(error.resolved_at) if error.resolved_at else None,
        "resolution": error.resolution or None,
        "resolved_by": error.resolved_by,
        "note": "" if is_hidden else error.resolution_note,
        "memory": memory,
    }
