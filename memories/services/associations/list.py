"""List the links of one memory, of every kind, to what may be recalled now."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Final
from uuid import UUID

from django.db.models import Q

from memories.core.associations import MEMORY, NOTE, most_memories, rarity
from memories.core.co_recall import decayed
from memories.models import (
    CoRecall,
    CorpusSize,
    Derivation,
    EntityCount,
    Memory,
    MemoryEntity,
    NoteLink,
)
from memories.services.recall.links import LINKS_READ, LINKS_SCANNED

KINDS: Final = {
    "superseded_by": "it replaced this memory",
    "source": "this memory is drawn from it",
    "derived": "it is drawn from this memory",
    "note": "this memory links it",
    "shared_note": "both link one note",
    "shared_entity": "both name one entity",
    "previous": "it came before in the session",
    "next": "it came after in the session",
    "recalled_together": "recalls returned both",
}
SHARING: Final = ("shared_note", "shared_entity")
SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class MemoryLink:
    """One link of a memory: its kind, where it leads, how strong it is, and since when."""

    kind: str
    other_type: str  # "memory" or "note"
    other: UUID
    name: str  # of the entity or note, or ""
    weight: float  # in (0, 1]
    since: datetime
    also: tuple[tuple[str, str], ...] = ()  # kind and name of further reasons for the same link


def links_of_memory(memory: Memory, now: datetime) -> list[MemoryLink]:
    """Return the links of a memory to recallable memories and to notes, strongest first.

    Of each kind at most `LINKS_READ`, among the first `LINKS_SCANNED`; of entities those that lead
    somewhere. The number of queries does not depend on the number of links. None of a forgotten
    memory, whose words the entities are.
    """
    if memory.forgotten_at is not None:
        return []
    found = [
        *_of_supersession(memory),
        *_of_derivations(memory),
        *_of_notes(memory),
        *_of_entities(memory),
        *_of_session(memory),
        *_of_recalls(memory, now),
    ]
    ids = {link.other for link in found if link.other_type == MEMORY}
    live = set(Memory.objects.recallable(now).filter(pk__in=ids).values_list("pk", flat=True))
    kept: Counter[str] = Counter()
    shown = []
    for link in found:
        is_shown = link.other_type == NOTE or link.other in live
        if is_shown and kept[link.kind] < LINKS_READ:
            kept[link.kind] += 1
            shown.append(link)
    shown = [*_united(shown)]
    return sorted(shown, key=lambda link: (-link.weight, link.kind, link.name, link.other))


def _united(links: Sequence[MemoryLink]) -> Iterator[MemoryLink]:
    """Yield links; those that share a note and an entity with one memory are one, with both."""
    by_other: dict[UUID, list[MemoryLink]] = defaultdict(list)
    for link in links:
        if link.kind in SHARING:
            by_other[link.other].append(link)
        else:
            yield link
    for several in by_other.values():
        first, *others = sorted(several, key=lambda link: -link.weight)
        yield replace(first, also=tuple((one.kind, one.name) for one in others))


def _of_supersession(memory: Memory) -> list[MemoryLink]:
    """Return the link to what replaced a memory; what it replaced itself cannot be recalled."""
    if memory.superseded_by_id is None or memory.superseded_at is None:
        return []
    successor, at = memory.superseded_by_id, memory.superseded_at
    return [MemoryLink("superseded_by", MEMORY, successor, "", 1.0, at)]


def _of_derivations(memory: Memory) -> list[MemoryLink]:
    rows = Derivation.objects.filter(Q(source=memory) | Q(derived=memory)).order_by("pk")
    names = ("source_id", "derived_id", "derived__created_at")
    return [
        MemoryLink("derived", MEMORY, derived, "", 1.0, at)
        if source == memory.pk
        else MemoryLink("source", MEMORY, source, "", 1.0, at)
        for source, derived, at in rows.values_list(*names)[:LINKS_SCANNED]
    ]


def _of_notes(memory: Memory) -> list[MemoryLink]:
    """Return the notes that a memory links, and the memories that link them as well."""
    rows = NoteLink.objects.filter(memory=memory, note__isnull=False).order_by("position")
    own = dict(rows.values_list("note_id", "note__title")[:LINKS_READ])
    found = [MemoryLink("note", NOTE, pk, own[pk], 1.0, memory.updated_at) for pk in own]
    others = NoteLink.objects.filter(note__in=own, memory__isnull=False, is_live=True)
    names = ("note_id", "memory_id", "memory__updated_at")
    seen: set[UUID] = set()
    linking = others.exclude(memory=memory).order_by("-pk").values_list(*names)
    for note, other, at in linking[:LINKS_SCANNED]:
        if other not in seen:
            since = max(at, memory.updated_at)
            found.append(MemoryLink("shared_note", MEMORY, other, own[note], 1.0, since))
        seen.add(other)
    return found


def _of_entities(memory: Memory) -> list[MemoryLink]:
    """Return the memories that name an entity which this one names, by its rarest first."""
    size = CorpusSize.objects.values_list("memories", flat=True).first() or 1
    own = MemoryEntity.objects.filter(memory=memory).values("key")
    counts = EntityCount.objects.filter(
        key__in=own, memories__gte=2, memories__lte=most_memories(size)
    ).order_by("memories", "key")
    rarest = dict(counts.values_list("key", "memories")[:LINKS_READ])
    others = MemoryEntity.objects.filter(key__in=rarest).exclude(memory=memory)
    rows = others.order_by("key", "memory_id").values_list("key", "memory_id", "memory__created_at")
    best: dict[UUID, MemoryLink] = {}
    for key, other, at in rows[:LINKS_SCANNED]:
        weight = rarity(rarest[key], size)
        if other not in best or weight > best[other].weight:
            since = max(at, memory.created_at)
            best[other] = MemoryLink("shared_entity", MEMORY, other, key, weight, since)
    return sorted(best.values(), key=lambda link: (-link.weight, link.other))


def _of_session(memory: Memory) -> list[MemoryLink]:
    """Return the memories before and after one in its session."""
    if not memory.session_key:
        return []
    of_session = Memory.objects.filter(session_key=memory.session_key, key_id=memory.key_id)
    order = ("observed_at", "created_at", "pk")
    at = memory.observed_at
    before = of_session.recallable().filter(Q(observed_at__lte=at)).order_by(*_reversed(order))
    after = of_session.recallable().filter(Q(observed_at__gte=at)).order_by(*order)
    return [
        *_next_to(memory, "previous", list(before[: LINKS_READ + 1])),
        *_next_to(memory, "next", list(after[: LINKS_READ + 1])),
    ]


def _reversed(order: Sequence[str]) -> list[str]:
    return [f"-{name}" for name in order]


def _next_to(memory: Memory, kind: str, row: list[Memory]) -> list[MemoryLink]:
    """Return the link to the memory that follows this one in a row, if it is in it."""
    return [
        MemoryLink(kind, MEMORY, other.pk, "", 0.5, max(one.observed_at, other.observed_at))
        for one, other in pairwise(row)
        if one.pk == memory.pk
    ]


def _of_recalls(memory: Memory, now: datetime) -> list[MemoryLink]:
    rows = CoRecall.objects.filter(Q(first=memory) | Q(second=memory))
    return [
        MemoryLink(
            "recalled_together",
            MEMORY,
            row.second_id if row.first_id == memory.pk else row.first_id,
            "",
            min(
                1.0, decayed(row.weight, (now - row.reinforced_at).total_seconds() / SECONDS_A_DAY)
            ),
            row.since,
        )
        for row in rows.order_by("first_id", "second_id")[:LINKS_SCANNED]
    ]
