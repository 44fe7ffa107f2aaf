"""Query and answer shapes of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from conflicts.services.questions.former import FORMER_STATES, GivenAnswer
from conflicts.services.questions.select import AS_OF_MEANING
from conflicts.services.questions.show import KnownQuestion
from engram.kernel.answers import fields_of
from engram.kernel.fields import PastMoment
from memories.core.answer_sources import SOURCES
from memories.serializers.answers import SOURCE_HELP


class QuestionQuerySerializer(serializers.Serializer[Any]):
    """The time that a question is asked about."""

    as_of = PastMoment(required=False, help_text=AS_OF_MEANING)


@fields_of(KnownQuestion)
class KnownQuestionSerializer(serializers.Serializer[Any]):
    """A question that memories answer, in the wording of its newest answer."""

    answer = serializers.CharField(
        help_text="The answer that holds: the newest that no later one has replaced."
    )
    since = serializers.DateTimeField(
        help_text="When this answer was first given, since the last change."
    )
    agent = serializers.CharField(
        allow_blank=True, help_text="The agent that gave it last; empty: none was named."
    )
    memory = serializers.UUIDField(help_text="The memory that gives it.")
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF's attribute
        SOURCES, help_text=SOURCE_HELP
    )
    scope = serializers.CharField(allow_blank=True)
    disputed = serializers.BooleanField(
        help_text="Whether a waiting card asks which answer holds; `answer` is then the newest."
    )
    conflicts = serializers.ListField(
        child=serializers.UUIDField(), help_text="The waiting cards that ask it."
    )
    also = serializers.ListField(
        child=serializers.CharField(),
        help_text="Other answers that hold beside it, newest first, at most five: the other ones "
        "of a disputed question, or those for another case.",
    )
    answers_count = serializers.IntegerField(help_text="How many answers memories give now.")


@fields_of(GivenAnswer)
class GivenAnswerSerializer(serializers.Serializer[Any]):
    """An answer, with the memory that gives it, or gave it."""

    answer = serializers.CharField(help_text="What this memory answers.")
    was = serializers.CharField(
        allow_null=True, help_text="The answer that it replaced, if its writer named one."
    )
    question = serializers.CharField(help_text="Its wording of the question.")
    scope = serializers.CharField(allow_blank=True)
    agent = serializers.CharField(allow_blank=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # DRF's attribute
        SOURCES, help_text=SOURCE_HELP
    )
    observed_at = serializers.DateTimeField(help_text="When it was given, or repeated.")
    state = serializers.ChoiceField(
        ["holds", "left", "disputed", "passing", *FORMER_STATES],
        help_text="`left`: a later one says that it changed; `disputed`: it holds, and a waiting "
        "card asks whether it does; `passing`: it was given for an interim, or of the past. The "
        "others are states of a memory that is not recalled any more.",
    )
    until = serializers.DateTimeField(
        allow_null=True, help_text="Until when it counted; null: nothing has ended it."
    )
    replaced_by = serializers.UUIDField(
        allow_null=True,
        help_text="The memory that replaced it; null without one, and when that is forgotten.",
    )


class QuestionDetailSerializer(KnownQuestionSerializer):
    """A question with its history."""

    history = GivenAnswerSerializer(
        many=True,
        help_text="The answers, newest first: the newest 60 of memories that can be recalled, and "
        "the newest 60 of those that were superseded, retired or hidden by the janitor, or that "
        "have expired.",
    )


def present_questions(questions: Sequence[KnownQuestion]) -> list[dict[str, Any]]:
    """Return questions as JSON."""
    return [dict(row) for row in KnownQuestionSerializer(questions, many=True).data]


def present_question(question: KnownQuestion, history: Sequence[GivenAnswer]) -> dict[str, Any]:
    """Return a question with its history as JSON."""
    shown: dict[str, Any] = QuestionDetailSerializer({**asdict(question), "history": history}).data
    return shown
