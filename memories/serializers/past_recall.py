"""Serializer of the past recalls that returned a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memories.models import Kind, PastResult, RecallOrigin
from memories.services.recall.past_recalls import asked_in


class AskedSerializer(serializers.Serializer[Any]):
    """What else a recall asked for; what was as by default is left out."""

    scope = serializers.CharField(required=False)
    project = serializers.CharField(required=False)
    kinds = serializers.ListField(child=serializers.ChoiceField(Kind.choices), required=False)
    min_score = serializers.FloatField(
        required=False, allow_null=True, help_text="Left out: auto; null: nothing was cut."
    )
    graph = serializers.BooleanField(
        required=False, help_text="Whether it walked along links, where the call said so."
    )
    rerank = serializers.BooleanField(
        required=False, help_text="Whether it compared token by token, where the call said so."
    )
    as_of = serializers.DateTimeField(
        required=False, help_text="The moment of which it asked what was known then."
    )
    weights = serializers.DictField(
        child=serializers.FloatField(), required=False, help_text="Of this call, by provenance."
    )


class PastResultSerializer(serializers.Serializer[Any]):
    """One recall or context that returned the memory."""

    recall = serializers.UUIDField(help_text="The recall; results of one recall share it.")
    origin = serializers.ChoiceField(RecallOrigin.choices, help_text="Which call returned it.")
    at = serializers.DateTimeField()
    query = serializers.CharField(
        allow_null=True,
        help_text="What was asked, without credentials; null: withheld, because it states a "
        "forgotten memory.",
    )
    k = serializers.IntegerField(help_text="How many memories were wanted.")
    asked = serializers.SerializerMethodField(help_text="What else was asked for.")
    returned = serializers.IntegerField(help_text="How many memories were returned.")
    by = serializers.CharField(
        help_text="The name of the key that asked, or `a person`; empty: the key is gone, or who "
        "asked was not recorded."
    )
    session_key = serializers.CharField()
    rank = serializers.IntegerField(help_text="The place of the memory, from 1.")
    score = serializers.FloatField(help_text="Its score at that time.")
    relevance = serializers.FloatField(help_text="Its relevance at that time.")
    factors = serializers.DictField(
        help_text="The factors of its score at that time, as `explain` lists them, rounded to four "
        "digits, without texts and the ids of other memories."
    )

    @extend_schema_field(AskedSerializer)
    def get_asked(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Return what else was asked for, as it is stored: names that are missing stay so."""
        return dict(shown["asked"])


def present_past(rows: Sequence[PastResult]) -> list[dict[str, Any]]:
    """Return the JSON of what past recalls returned of a memory."""
    asked = asked_in(row.recall for row in rows)
    shown = [
        {
            "recall": row.recall_id,
            "origin": row.recall.origin,
            "at": row.at,
            "query": asked[row.recall_id].query,
            "k": row.recall.k,
            "asked": row.recall.asked,
            "returned": row.recall.returned,
            "by": asked[row.recall_id].by,
            "session_key": row.recall.session_key,
            "rank": row.rank,
            "score": row.score,
            "relevance": row.relevance,
            "factors": row.factors,
        }
        for row in rows
    ]
    return list(PastResultSerializer(shown, many=True).data)
