"""Serializers of what a memory answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.fields import Text
from memories.core.answer_sources import SOURCES
from memories.core.answers import (
    ANSWER_MAX_CHARS,
    MAX_ANSWERS,
    QUESTION_MAX_CHARS,
    Answer,
    find_contradiction,
    is_answer_to_itself,
    is_unchanged,
    unite,
)
from memories.core.quoting import in_one_line

SOURCE_MAX_CHARS = 100
SOURCE_HELP = (
    "`written`: its writer, or a repetition of the statement, sent it; `rule`: a rule reads it from"
    " the plain statement; `model`: a language model wrote it down."
)


class MemoryAnswerSerializer(serializers.Serializer[Any]):
    """One question that a memory answers."""

    default_error_messages = {  # as DRF has it
        "invalid": "Must be an object with `question` and `answer`.",
    }

    question = Text(
        max_length=QUESTION_MAX_CHARS,
        help_text="The plain question that somebody would ask to learn this, about one fact, with"
        " the thing's full name: `Who approves refunds?`. Word it as another writer who knows only"
        " the subject would; of what is allowed, required or there at all, ask yes or no, too.",
    )
    answer = Text(
        max_length=ANSWER_MAX_CHARS,
        help_text="What the memory says, as short as it can be: `the support lead`, `30 days`.",
    )
    was = Text(
        max_length=ANSWER_MAX_CHARS,
        required=False,
        allow_null=True,
        allow_blank=True,
        default=None,
        help_text="The earlier answer, only when the memory itself says that something changed.",
    )

    source = Text(  # type: ignore[assignment]  # DRF's attribute
        max_length=SOURCE_MAX_CHARS,
        required=False,
        allow_blank=True,
        help_text="Ignored, whatever it says, so that answers can be sent as they were read.",
    )

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Refuse an answer that says nothing."""
        answer = _answer_of(fields)
        for name, text in (("question", answer.question), ("answer", answer.answer)):
            if not any(map(str.isalnum, text)):
                raise serializers.ValidationError({name: "Must have a letter or a digit."})
        if is_answer_to_itself(answer):
            name = "answer" if is_answer_to_itself(replace(answer, was=None)) else "was"
            raise serializers.ValidationError({name: "Must not repeat the question."})
        if is_unchanged(answer):
            raise serializers.ValidationError({"was": "Must differ from the answer."})
        return fields


class ShownAnswerSerializer(MemoryAnswerSerializer):
    """One question that a memory answers, and who says so."""

    source = serializers.ChoiceField(  # type: ignore[assignment]  # a caller's is any text
        SOURCES, help_text=SOURCE_HELP
    )


@extend_schema_field(MemoryAnswerSerializer(many=True))
class AnswersField(serializers.ListField):
    """Up to three answers of one memory; the same one twice counts once."""

    def __init__(self, **kwargs: Any):
        messages = {
            "max_length": "At most {max_length}; send others with a statement of their own.",
            "not_a_list": "Must be a list of objects with `question` and `answer`.",
        }
        kwargs.setdefault("error_messages", messages)
        super().__init__(child=MemoryAnswerSerializer(), max_length=MAX_ANSWERS, **kwargs)

    def to_internal_value(self, value: Any) -> list[Answer]:
        """Return the answers."""
        answers = [_answer_of(fields) for fields in super().to_internal_value(value)]
        if (found := find_contradiction(answers)) is not None:
            first, second = found
            raise serializers.ValidationError(
                {str(second): {"answer": f"Contradicts answer {first} to the same question."}}
            )
        return list(unite(answers, ()))


def _answer_of(fields: dict[str, Any]) -> Answer:
    was = in_one_line(fields["was"] or "")
    return Answer(in_one_line(fields["question"]), in_one_line(fields["answer"]), was or None)
