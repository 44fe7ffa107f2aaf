"""Check trust: an agent cannot overrule a more trusted class of provenance, nor a person.

Nor can it claim more than its key allows: see `engram.kernel.actors.Claims`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any
from uuid import UUID

from django.db.models import CharField, Q
from django.db.models.functions import Cast

from engram.kernel.actors import Actor
from engram.kernel.models import ApiKey, Event, Role
from memories.models import Kind, Memory, Merge, Provenance, ReviewKind

# The roles of keys whose writes and decisions count as a person's, as `Actor.counts_as_person`.
PERSONS_ROLES = [role for role in Role if role.includes(Role.REVIEWER)]

# The types of events by which a person decides about a memory.
_WILL = frozenset(
    {
        "memory.committed", "memory.revised", "memory.merged", "memory.split", "memory.forgotten",
        "memory.restored", "memory.retired", "memory.superseded", "memory.culled", "memory.upheld",
        "memory.separated", "review.accepted", "review.rejected",
    }
)  # fmt: skip


_PROVENANCE_IN_WORDS: dict[str, str] = {
    Provenance.USER_STATED: "what a user said",
    Provenance.EPISODE_SUMMARY: "the summary of a session",
    Provenance.ASSISTANT_DERIVED: "what an agent concluded",
}


_PERSONS = "A person wrote that memory or decided about it."


class ReviewNeededError(Exception):
    """The operation needs a reviewer; raised before any write."""

    def __init__(self, kind: str, memory: Memory | None, reason: str):
        super().__init__(reason)
        self.kind = kind
        self.memory = memory
        self.reason = reason


def demand_all(*demands: Callable[[], object]) -> None:
    """Call every demand; raise one `ReviewNeededError` with the reasons of all that failed."""
    needed = []
    for demand in demands:
        try:
            demand()
        except ReviewNeededError as one:
            needed.append(one)
    if needed:
        first, *others = needed
        also = [
            f"It would also {one.kind} {one.memory.id}: {one.reason}" if one.memory else one.reason
            for one in others
        ]
        raise ReviewNeededError(first.kind, first.memory, " ".join([first.reason, *also]))


def leads(fields: Mapping[str, Any]) -> bool:
    """Return whether these fields are of a pin or constraint, which lead all sessions."""
    return bool(fields.get("is_pinned")) or fields.get("kind") == Kind.CONSTRAINT


def demand_claims(provenance: str, fields: Mapping[str, Any], *, actor: Actor) -> None:
    """Raise `ReviewNeededError` when a statement claims more than the key allows."""
    reasons = []
    if not actor.may_claim(Provenance(provenance)):
        claimed = _PROVENANCE_IN_WORDS[provenance]
        reasons.append(f"It claims to be {claimed}, which this key may not claim.")
    if leads(fields) and not actor.may_pin:
        reasons.append("It would lead everybody's sessions, and this key may not pin.")
    if reasons:
        raise ReviewNeededError(ReviewKind.CLAIM, None, " ".join(reasons))


def demand_trust(memory: Memory, *, kind: str, provenance: str, actor: Actor) -> None:
    """Raise `ReviewNeededError` when an agent may not replace or change a locked memory alone."""
    if reason := _why_not_alone(memory, provenance, actor):
        raise ReviewNeededError(kind, memory, reason)


def may_change(memory: Memory, *, provenance: str, actor: Actor) -> bool:
    """Return whether a caller may change a locked memory alone, by what it states."""
    return not _why_not_alone(memory, provenance, actor)


def _why_not_alone(memory: Memory, provenance: str, actor: Actor) -> str:
    if actor.is_reviewer:
        return ""
    return why_untrusted(memory, provenance, actor) or (
        _PERSONS if is_decided_by_person(memory) else ""
    )


def demand_pin(memory: Memory, changes: Mapping[str, Any], *, actor: Actor) -> None:
    """Raise `ReviewNeededError` when a change would make a memory lead sessions."""
    if leads(changes) and not actor.may_pin:
        reason = "It would lead everybody's sessions, and this key may not pin."
        raise ReviewNeededError(ReviewKind.REVISE, memory, reason)


def reviews_before_forgetting(
    memories: Collection[Memory], *, actor: Actor
) -> list[ReviewNeededError]:
    """Return the reviews that an agent needs before it may forget these memories."""
    if actor.is_reviewer:
        return []
    persons = decided_by_persons([memory.id for memory in memories])
    found = []
    for memory in memories:
        reason = why_untrusted(memory, actor.highest_provenance, actor)
        if reason := reason or (_PERSONS if memory.id in persons else ""):
            found.append(ReviewNeededError(ReviewKind.FORGET, memory, reason))
    return found


def why_untrusted(memory: Memory, provenance: str, actor: Actor) -> str:
    """Return why an agent may not overrule a memory of this provenance and kind; "" when it may."""
    if Provenance(provenance).trust < Provenance(memory.provenance).trust:
        stored, asked = (_PROVENANCE_IN_WORDS[one] for one in (memory.provenance, provenance))
        return f"That memory is {stored}, what is asked is {asked}."
    if leads({"is_pinned": memory.is_pinned, "kind": memory.kind}) and not actor.may_pin:
        return "That memory leads everybody's sessions, and this key may not pin."
    return ""


def demand_may_restore(memory: Memory, *, actor: Actor) -> None:
    """Raise `ReviewNeededError` when an agent may not restore a memory because of who forgot it.

    A person, a key of the role reviewer or admin, a rollback or an accepted review.
    """
    if actor.is_reviewer:
        return
    events = Event.objects.filter(object_id=str(memory.id), type="memory.forgotten")
    event = events.order_by("-seq").first()
    if event is None:
        return
    if event.actor_kind == "user":
        raise ReviewNeededError("revive", memory, "A person made Engram forget this.")
    forgot = Role(event.data.get("role", Role.AGENT))
    if forgot.includes(Role.REVIEWER) or not {"rollback", "review"}.isdisjoint(event.data):
        raise ReviewNeededError("revive", memory, f"A caller of the role {forgot} forgot this.")


def is_decided_by_person(memory: Memory) -> bool:
    """Return whether a person wrote, changed, hid or kept a memory, or decided about it."""
    return bool(decided_by_persons([memory.id]))


def decided_by_persons(ids: Collection[UUID]) -> set[UUID]:
    """Return the memories that a person wrote, changed, hid or kept, or decided about.

    A verdict that kept a memory counts until it is undone. Memories merged into it count, and so
    does the memory it was split from, if a person stated it there. The number of queries is
    constant.
    """
    parts = _merge_partners(ids)
    decided = by_persons() | Q(type="memory.separated", data__said_by="user")
    of_parts = Event.objects.filter(object_id__in=[str(part) for part in parts])
    events = of_parts.filter(decided).order_by("seq")
    types: dict[UUID, list[str]] = defaultdict(list)
    for object_id, type_ in events.values_list("object_id", "type"):
        for memory_id in parts[UUID(object_id)]:
            types[memory_id].append(type_)
    return {
        memory_id for memory_id, its in types.items() if not _WILL.isdisjoint(_types_in_force(its))
    }


def by_persons() -> Q:
    """Match the events of signed-in people, and of keys that count as a person's."""
    trusted = ApiKey.objects.filter(role__in=PERSONS_ROLES)
    ids = trusted.annotate(text=Cast("pk", CharField())).order_by().values("text")
    return Q(actor_kind="user") | Q(actor_kind="key", actor_id__in=ids)


def _types_in_force(types: list[str]) -> list[str]:
    """Return the types of events, without verdicts that were undone."""
    if "memory.released" not in types:
        return types
    last = len(types) - 1 - types[::-1].index("memory.released")
    return [one for n, one in enumerate(types) if one != "memory.upheld" or n > last]


def _merge_partners(ids: Collection[UUID]) -> dict[UUID, set[UUID]]:
    """Return memories and those merged into them, directly or indirectly: part → the memories."""
    parts = {memory_id: {memory_id} for memory_id in ids}
    frontier = set(parts)
    while frontier:
        merges = Merge.objects.filter(memory__in=frontier, split_at=None).exclude(absorbed=None)
        frontier = set()
        for memory_id, absorbed_id in merges.values_list("memory_id", "absorbed_id"):
            known = parts.setdefault(absorbed_id, set())
            if not parts[memory_id] <= known:
                known |= parts[memory_id]
                frontier.add(absorbed_id)
    return parts
