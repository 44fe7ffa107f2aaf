"""Read the asks that wait for a caller, with the reason for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from engram.kernel.actors import Actor
from engram.kernel.configuration import WorkspaceSettings
from memories.core.asking import explain, rarities, words_of
from memories.models import Ask, Memory
from memories.services.disputes import have_card
from memories.services.index.postings import vocabulary_of

READ_CHARS = 1_000  # of each text


def waiting_asks(actor: Actor, config: WorkspaceSettings, now: datetime) -> QuerySet[Ask]:
    """Return the unanswered asks of a caller that are not expired.

    Both memories are live, and no card asks people about the two, or has asked them.
    """
    live = Memory.objects.recallable(now).order_by()
    return Ask.objects.filter(
        ~have_card("memory", "other"),
        Exists(live.filter(pk=OuterRef("memory_id"))),
        Exists(live.filter(pk=OuterRef("other_id"))),
        actor_kind=actor.kind,
        actor_id=actor.id,
        answered_at=None,
        created_at__gt=now - timedelta(days=config.ask_days),
    ).select_related("memory", "other")


def reasons_of(asks: Sequence[Ask]) -> Mapping[UUID, str]:
    """Return why each pair is asked about, by the present texts, with one query for all."""
    shared = {
        ask.id: words_of(ask.memory.content[:READ_CHARS]) & words_of(ask.other.content[:READ_CHARS])
        for ask in asks
    }
    if not shared:
        return {}
    vocabulary = vocabulary_of(frozenset[str]().union(*shared.values()))
    # The counts include the statement itself.
    others = {term: count - 1 for term, count in vocabulary.frequencies.items()}
    memories = max(vocabulary.memories - 1, 0)
    return {
        ask.id: explain(
            ask.memory.content[:READ_CHARS], rarities(shared[ask.id], others, memories), ask.cosine
        )
        for ask in asks
    }
