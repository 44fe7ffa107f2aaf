"""Speaking up by hand: a person or an agent says that memories contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from conflicts.core.facts import Finding
from conflicts.core.questions import ask_ambiguity
from conflicts.models import Conflict
from conflicts.services.cards import file_findings
from conflicts.services.discuss import add_comment
from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory


def report(
    workspace: Workspace,
    memory_ids: Sequence[UUID],
    *,
    note: str,
    actor: Actor,
    now: datetime,
) -> Conflict:
    """Join an open card about these memories, or open one; raise when people decided before."""
    with in_workspace(workspace):
        asked = list(dict.fromkeys(memory_ids))
        found = list(
            Memory.objects.recallable(now)
            .filter(pk__in=asked)
            .order_by("observed_at", "created_at", "pk")
        )
        missing = set(asked) - {memory.id for memory in found}
        if missing:
            raise InvalidError("memory_ids", f"There is no live memory {min(missing)}.")
        if len({memory.lineage for memory in found}) < 2:
            raise InvalidError("memory_ids", "Name two memories of different lineages.")
        filed = file_findings(
            [_finding(found, note, actor)],
            detected_by="person" if actor.is_person else "agent",
            actor=actor,
            now=now,
        )
        if not filed.cards:
            raise StaleError("People have decided about these memories already.")
        card = Conflict.objects.get(pk=filed.cards[0])
        # The question of a card that others opened stands; what the reporter has to say is kept.
        if note and card.reasoning != note:
            is_said = card.comments.filter(author=actor.label, text=note).exists()
            if not is_said:
                add_comment(card, note, actor=actor, now=now)
        return card


def _finding(memories: Sequence[Memory], note: str, actor: Actor) -> Finding:
    newest, before = memories[-1], memories[-2]
    return Finding(
        kind="ambiguity",
        fact_ids=tuple(str(memory.id) for memory in memories),
        yes_keeps=(str(newest.id),),
        question=ask_ambiguity(newest.content, before.content),
        reasoning=note or f"{actor.label} reports that these contradict each other.",
        severity="medium",
        confidence=0.5,
        suggestion=None,
    )
