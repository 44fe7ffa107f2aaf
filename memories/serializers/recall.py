"""Serializers of recall and why-not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from engram.kernel.fields import (
    Flag,
    Number,
    PastMoment,
    Path,
    QueryFlag,
    QueryNumber,
    QueryWhole,
    Text,
    Whole,
)
from memories.models import Kind, State
from memories.serializers.associations import AssociationSerializer
from memories.serializers.memory import MemorySerializer, present
from memories.services.recall.query import AUTO
from memories.services.recall.recall import RecalledMemory
from memories.services.recall.why_not import CODES

QUERY_MAX_CHARS = 20_000
MIN_WEIGHT = 1e-6


_MIN_SCORE = {
    "oneOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "enum": [AUTO]}],
    "default": AUTO,
}


@extend_schema_field({**_MIN_SCORE, "nullable": True})
class MinScore(Number):
    """`auto`, a score or null."""

    default_error_messages = {"invalid": f'Must be "{AUTO}", a number from 0 to 1, or null.'}

    def __init__(self) -> None:
        super().__init__(
            min_value=0,
            max_value=1,
            allow_null=True,
            default=cast("Any", AUTO),
            help_text="auto: return what is relevant, and nothing where nothing is. A number cuts "
            "by score, null cuts nothing.",
        )

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return `auto`, a number or None."""
        return data if data == AUTO else super().run_validation(data)


@extend_schema_field(_MIN_SCORE)
class QueryMinScore(QueryNumber):
    """`auto` or a score, in an address."""

    def __init__(self) -> None:
        super().__init__(min_value=0, max_value=1, default=cast("Any", AUTO))

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return `auto` or a number."""
        return data if data == AUTO else super().run_validation(data)


class Weights(serializers.Serializer[Any]):
    """Provenance weights for one call; a class that is left out keeps the workspace's weight."""

    user_stated = Number(min_value=MIN_WEIGHT, max_value=1, required=False)
    episode_summary = Number(min_value=MIN_WEIGHT, max_value=1, required=False)
    assistant_derived = Number(min_value=MIN_WEIGHT, max_value=1, required=False)


class RecallSerializer(serializers.Serializer[Any]):
    """The body of a recall."""

    query = Text(max_length=QUERY_MAX_CHARS)
    k = Whole(min_value=1, max_value=100, default=10)
    scope = Path(max_length=300, allow_blank=True, default="")
    project = Text(max_length=200, allow_blank=True, default="")
    kinds = serializers.ListField(child=serializers.ChoiceField(Kind.choices), default=list)
    min_score = MinScore()
    explain = Flag(default=False)
    record = Flag(default=True)
    session_key = Text(max_length=200, allow_null=True, allow_blank=True, default=None)
    as_of = PastMoment(
        allow_null=True,
        default=None,
        help_text="Answer from the memories active at that time, in their wording at that time.",
    )
    graph = Flag(
        allow_null=True,
        default=None,
        help_text="Whether to walk along the links of what was found, raise what they lead to, and "
        "return it as associations; null: the workspace's setting, and off with as_of.",
    )
    rerank = Flag(
        allow_null=True,
        default=None,
        help_text="Whether the best are reranked token by token; null: the workspace's setting.",
    )
    weights = Weights(
        allow_null=True, default=None, help_text="Null: the workspace's provenance weights."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuse links together with a time before: links are those of the present."""
        if attrs["graph"] and attrs["as_of"] is not None:
            raise serializers.ValidationError(
                {"graph": "Not with as_of: links are those of the present."}
            )
        return attrs


_ANY_KIND = f"({'|'.join(Kind.values)})"


@extend_schema_field({"type": "string", "pattern": f"^{_ANY_KIND}(,{_ANY_KIND})*$"})
class KindList(serializers.CharField):
    """Kinds in a query parameter, separated by commas."""

    def to_internal_value(self, value: Any) -> Any:
        """Return the kinds."""
        kinds = [part.strip() for part in super().to_internal_value(value).split(",")]
        if unknown := [kind for kind in kinds if kind not in Kind.values]:
            raise serializers.ValidationError(f"There is no kind {unknown[0][:40]!r}.")
        return kinds


class WhyNotQuerySerializer(serializers.Serializer[Any]):
    """The query parameters of why-not: a recall as in `POST /memories/recall`."""

    query = Text(max_length=QUERY_MAX_CHARS)
    k = QueryWhole(min_value=1, max_value=100, default=10)
    scope = Path(max_length=300, allow_blank=True, default="")
    project = Text(max_length=200, allow_blank=True, default="")
    kinds = KindList(required=False, help_text="Kinds, separated by commas.")
    min_score = QueryMinScore()
    graph = QueryFlag(
        required=False,
        help_text="Whether links count, as in a recall; without it: the workspace's setting.",
    )


class ReasonSerializer(serializers.Serializer[Any]):
    """One reason: a code for programs and a sentence for people."""

    code = serializers.ChoiceField(list(CODES))
    message = serializers.CharField()


class WhyNotSerializer(serializers.Serializer[Any]):
    """Why a recall returns a memory, or does not."""

    memory = serializers.UUIDField()
    returned = serializers.BooleanField()
    state = serializers.ChoiceField(State.choices)
    reasons = ReasonSerializer(many=True)
    rank = serializers.IntegerField(
        allow_null=True, help_text="Its rank among all related memories; null if it is not related."
    )
    score = serializers.FloatField(allow_null=True)
    cosine = serializers.FloatField(allow_null=True)
    relevance = serializers.FloatField(
        allow_null=True,
        help_text="Calibrated probability that the memory is of use for the query.",
    )
    threshold = serializers.FloatField(
        allow_null=True,
        help_text="The score of place k, or min_score where it is a number and larger; null where "
        "fewer than k are returned and min_score is auto.",
    )
    explain = serializers.DictField(allow_null=True)


class RecalledSerializer(serializers.Serializer[Any]):
    """One recalled memory."""

    memory = MemorySerializer()
    score = serializers.FloatField()
    cosine = serializers.FloatField(allow_null=True)
    relevance = serializers.FloatField(
        help_text="Calibrated probability that the memory is of use for the query."
    )
    rank = serializers.IntegerField()
    disputed = serializers.BooleanField()
    conflicts = serializers.ListField(child=serializers.UUIDField())
    explain = serializers.DictField(required=False)


def present_recalled(
    results: Sequence[RecalledMemory], *, explains: bool = False
) -> list[dict[str, Any]]:
    """Return the JSON of recalled memories, best first."""
    shown = present([found.memory for found in results])
    return [
        {
            "memory": memory,
            "score": found.score,
            "cosine": found.cosine,
            "relevance": found.relevance,
            "rank": rank,
            "disputed": memory["disputed"],
            "conflicts": memory["conflicts"],
            **({"explain": found.explain} if explains else {}),
        }
        for rank, (memory, found) in enumerate(zip(shown, results, strict=True), start=1)
    ]


class RecallAnswerSerializer(serializers.Serializer[Any]):
    """The answer to a recall."""

    results = RecalledSerializer(many=True)
    associations = AssociationSerializer(
        many=True,
        help_text="Those of the results that links led to, most active first; empty without graph.",
    )
    took_ms = serializers.FloatField()
    reason = serializers.CharField(
        required=False, help_text="Why there are no results, or nothing but pins."
    )
