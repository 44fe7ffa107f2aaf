"""Filter memories by words or by tag."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery

from engram.kernel.planning import Among
from memories.models import Memory, MemoryTag, Posting

# Up to this many ids are listed in the query; beyond, a sub-select looks up each row. The planner's
# own choice takes minutes where the table was small when it was last analysed.
FEW = 2_000


def with_words(memories: QuerySet[Memory], words: Iterable[str]) -> QuerySet[Memory]:
    """Keep memories that contain all the (stemmed) words."""
    for position, word in enumerate(words):
        memories = _in_rows(memories, Posting.objects.filter(term=word), f"holds_{position}")
    return memories


def with_tag(memories: QuerySet[Memory], tag: str) -> QuerySet[Memory]:
    """Keep memories with the tag."""
    return _in_rows(memories, MemoryTag.objects.filter(tag=tag), "tagged")


def _in_rows(memories: QuerySet[Memory], rows: QuerySet[Any], name: str) -> QuerySet[Memory]:
    few = list(rows.order_by().values_list("memory_id", flat=True)[: FEW + 1])
    if len(few) <= FEW:
        return memories.filter(Among(F("pk"), few))
    # A sub-select: the planner would turn EXISTS into a join.
    own = rows.order_by().filter(memory_id=OuterRef("pk")).values("memory_id")[:1]
    return memories.alias(**{name: Subquery(own)}).filter(**{f"{name}__isnull": False})
