"""Answer shapes of cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects
from rest_framework import serializers

from conflicts.core.comparisons import Comparisons
from conflicts.models import Conflict, ConflictMember, Decision
from conflicts.models.card import WAITING, ConflictKind, ConflictStatus, Severity
from conflicts.models.decision import Verdict
from conflicts.services.cards.consequences import (
    CardQuestion,
    consequences,
    listing_of,
    question_of,
)
from conflicts.services.cards.finders import rules_of
from conflicts.services.cards.naming import WITHHELD
from conflicts.services.cards.show import closing_reason, readable_note, remarks
from conflicts.services.cards.unlisted import count_recallable, say_unlisted
from engram.kernel.refusals import InvalidError
from memories.models import State


class MemberSerializer(serializers.Serializer[Any]):
    """A memory of a card; a forgotten one keeps its position, not its text."""

    id = serializers.UUIDField()
    content = serializers.CharField(allow_null=True)
    scope = serializers.CharField()
    agent = serializers.CharField()
    provenance = serializers.CharField()
    observed_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()
    state = serializers.ChoiceField(State.choices)
    position = serializers.IntegerField()


class CommentSerializer(serializers.Serializer[Any]):
    """A comment on a card."""

    author = serializers.CharField()
    text = serializers.CharField()
    created_at = serializers.DateTimeField()


class ResolutionSerializer(serializers.Serializer[Any]):
    """What a person decided; `verdict` is null when the card closed by itself."""

    verdict = serializers.ChoiceField(Verdict.choices, allow_null=True)
    kept = serializers.ListField(child=serializers.UUIDField())
    answer_memory = serializers.UUIDField(allow_null=True)
    note = serializers.CharField(allow_blank=True)
    decided_by = serializers.CharField()
    decided_at = serializers.DateTimeField()


class SuggestionSerializer(serializers.Serializer[Any]):
    """The verdict that the detector suggests, and its confidence."""

    verdict = serializers.CharField(allow_null=True)
    confidence = serializers.FloatField()


class RuleSerializer(serializers.Serializer[Any]):
    """Why a card was opened; `/rules/` lists all rules with an example each."""

    id = serializers.CharField(help_text="Stable; an id that left the list stays on its cards.")
    meaning = serializers.CharField(help_text="One line in plain words.")


class ConflictSerializer(serializers.Serializer[Any]):
    """A card."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(ConflictKind.choices)
    status = serializers.ChoiceField(ConflictStatus.choices)
    question = serializers.CharField()
    reasoning = serializers.CharField(allow_blank=True)
    model_reasoning = serializers.CharField(
        allow_blank=True,
        help_text="How a language model reasoned that found the conflict, also one that the rules "
        "had found; otherwise empty.",
    )
    memories = MemberSerializer(many=True)
    unlisted_count = serializers.IntegerField(
        help_text="How many more memories that are recalled disagree than the card lists; they are "
        "asked about next once it is decided, unless it is dismissed or all are valid."
    )
    detected_by = serializers.ListField(
        child=serializers.ChoiceField(["rules", "narrative", "agent", "person"])
    )
    rule = RuleSerializer(help_text="The rule that opened the card.")
    further_rules = RuleSerializer(many=True, help_text="Other rules that found it, in order.")
    severity = serializers.ChoiceField(Severity.choices)
    suggestion = SuggestionSerializer()
    yes_keeps = serializers.ListField(child=serializers.UUIDField())
    version = serializers.IntegerField()
    assignee = serializers.CharField(allow_null=True)
    comments = CommentSerializer(many=True)
    snoozed_until = serializers.DateTimeField(allow_null=True)
    reopened_from = serializers.UUIDField(allow_null=True)
    decided_before = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    resolution = ResolutionSerializer(allow_null=True)


class ConsequenceSerializer(serializers.Serializer[Any]):
    """What a verdict would do now; memories that it does not list are not changed."""

    verdict = serializers.ChoiceField(Verdict.choices)
    is_possible = serializers.BooleanField(
        help_text="False when it would be refused with any `keep`."
    )
    needs_keep = serializers.BooleanField(
        help_text="The memories that are true must be named in `keep`; the others, except those "
        "in `aside`, are superseded."
    )
    kept = serializers.ListField(child=serializers.UUIDField())
    superseded = serializers.ListField(child=serializers.UUIDField())
    superseded_by = serializers.UUIDField(allow_null=True)
    retired = serializers.ListField(child=serializers.UUIDField())
    reason = serializers.CharField(
        allow_blank=True,
        help_text="Why it would be refused, or needs `keep`; otherwise empty.",
    )


class ConflictDetailSerializer(ConflictSerializer):
    """A card with the consequences of each verdict."""

    aside = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="Live memories about another subject than the question: no verdict changes them.",
    )
    consequences = ConsequenceSerializer(many=True, help_text="Empty once the card is closed.")
    listing = serializers.CharField(
        allow_blank=True,
        help_text="Fingerprint of `consequences`. When it is sent with a verdict whose "
        "consequences have changed meanwhile, the verdict is refused (409).",
    )


CURRENT_DECISION = Prefetch(
    "decisions", Decision._base_manager.filter(undone_at=None), to_attr="current_decisions"
)
MEMBERS = Prefetch(
    "members", ConflictMember._base_manager.select_related("memory").order_by("position")
)


def present(cards: Sequence[Conflict]) -> list[dict[str, Any]]:
    """Return cards as `ConflictSerializer` shows them, by a constant number of queries."""
    prefetch_related_objects(list(cards), MEMBERS, CURRENT_DECISION, "comments", "assignee")
    counts = count_recallable(cards)
    return [dict(ConflictSerializer(_shape(card, counts[card.pk])).data) for card in cards]


def present_one(card: Conflict, known: Comparisons | None = None) -> dict[str, Any]:
    """Return one card as `ConflictDetailSerializer` shows it."""
    shape = present([card])[0]
    members = list(card.members.all())
    live = [m.memory for m in members if m.memory.state() == "active"]
    question = question_of(card, members, live, known)
    is_waiting = card.status in WAITING
    shape |= {
        "aside": sorted(str(memory_id) for memory_id in question.aside),
        "consequences": [_consequence(question, v) for v in Verdict] if is_waiting else [],
        "listing": listing_of(card, question) if is_waiting else "",
    }
    return shape


def _consequence(question: CardQuestion, verdict: Verdict) -> dict[str, Any]:
    shape = {
        "verdict": str(verdict), "is_possible": True, "needs_keep": False,
        "kept": [], "superseded": [], "superseded_by": None, "retired": [], "reason": "",
    }  # fmt: skip
    if verdict == Verdict.KEEP:
        return shape | {"needs_keep": True, "is_possible": bool(question.members)}
    try:
        plan = consequences(question, verdict, [])
    except InvalidError as error:
        shape["reason"] = error.message
        says_yes = [str(m.id) for m in question.members if m.id in question.says_yes]
        if verdict == Verdict.NO and says_yes:
            return shape | {"needs_keep": True, "retired": says_yes}
        return shape | {"is_possible": False}
    return shape | {
        "kept": [str(memory.id) for memory in plan.kept],
        "superseded": [str(memory.id) for memory in plan.superseded],
        "superseded_by": str(plan.successor.id) if plan.superseded and plan.successor else None,
        "retired": [str(memory.id) for memory in plan.retired],
    }


def _shape(card: Conflict, unlisted: int) -> dict[str, Any]:
    members = list(card.members.all())
    is_withheld = any(m.memory.forgotten_at is not None for m in members)
    rules = rules_of(card)
    return {
        "id": card.id,
        "kind": card.kind,
        "status": card.status,
        "question": WITHHELD if is_withheld else card.question,
        "reasoning": "" if is_withheld else say_unlisted(card, card.reasoning, unlisted),
        "model_reasoning": "" if is_withheld else card.model_reasoning,
        "memories": [_member(member) for member in members],
        "unlisted_count": unlisted,
        "detected_by": card.detected_by,
        "rule": rules[0],
        "further_rules": rules[1:],
        "severity": card.severity,
        "suggestion": {
            "verdict": card.suggested_verdict or None,
            "confidence": card.confidence,
        },
        "yes_keeps": [m.memory_id for m in members if m.says_yes],
        "version": card.version,
        "assignee": card.assignee.get_username() if card.assignee else None,
        "comments": remarks(card.comments.all(), is_withheld=is_withheld),
        "snoozed_until": card.snoozed_until,
        "reopened_from": card.reopened_from_id,
        "decided_before": card.decided_before_id,
        "created_at": card.created_at,
        "updated_at": card.updated_at,
        "resolution": _resolution(card, is_withheld=is_withheld),
    }


def _member(member: ConflictMember) -> dict[str, Any]:
    memory = member.memory
    return {
        "id": memory.id,
        "content": None if memory.forgotten_at is not None else memory.content,
        "scope": memory.scope,
        "agent": memory.agent,
        "provenance": memory.provenance,
        "observed_at": memory.observed_at,
        "created_at": memory.created_at,
        "state": memory.state(),
        "position": member.position,
    }


def _resolution(card: Conflict, *, is_withheld: bool) -> dict[str, Any] | None:
    decisions: list[Decision] = card.current_decisions  # type: ignore[attr-defined]
    if decisions:
        decision = decisions[0]
        return {
            "verdict": decision.verdict,
            "kept": [UUID(kept) for kept in decision.kept],
            "answer_memory": decision.answer_id,
            "note": readable_note(decision.note, is_withheld=is_withheld),
            "decided_by": decision.decided_by,
            "decided_at": decision.decided_at,
        }
    if card.is_lapsed:
        return {
            "verdict": None,
            "kept": [],
            "answer_memory": None,
            "note": closing_reason(card),
            "decided_by": "engram",
            "decided_at": card.updated_at,
        }
    return None
