"""Trust has an order: an agent overrules neither a more trusted class nor a person."""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import Q

from engram.kernel.actors import Actor
from engram.kernel.models import Event, Role
from memories.models import Memory, Merge, Provenance

# What a person does to a memory that makes it a decision of theirs.
_WILL = frozenset(
    {
        "memory.committed", "memory.revised", "memory.merged", "memory.split", "memory.forgotten",
        "memory.restored", "memory.retired", "memory.superseded", "memory.culled", "memory.upheld",
        "memory.separated", "review.accepted", "review.rejected",
    }
)  # fmt: skip


_SAID: dict[str, str] = {
    Provenance.USER_STATED: "what a user said",
    Provenance.EPISODE_SUMMARY: "the summary of a session",
    Provenance.ASSISTANT_DERIVED: "what an agent concluded",
}


class ReviewNeededError(Exception):
    """What an agent asks for needs a reviewer; raised before anything is written."""

    def __init__(self, kind: str, memory: Memory, reason: str):
        super().__init__(reason)
        self.kind = kind
        self.memory = memory
        self.reason = reason


def demand_all(*demands: Callable[[], object]) -> None:
    """Meet every demand, or raise one `ReviewNeededError` that names each reason."""
    needed = []
    for demand in demands:
        try:
            demand()
        except ReviewNeededError as one:
            needed.append(one)
    if needed:
        first, *others = needed
        also = [f"It would also {one.kind} {one.memory.id}: {one.reason}" for one in others]
        raise ReviewNeededError(first.kind, first.memory, " ".join([first.reason, *also]))


def demand_trust(memory: Memory, *, kind: str, provenance: str, actor: Actor) -> None:
    """Raise `ReviewNeededError` when an agent may not replace or change a locked memory alone."""
    if actor.role.includes(Role.REVIEWER):
        return
    if Provenance(provenance).trust < Provenance(memory.provenance).trust:
        reason = f"That memory is {_SAID[memory.provenance]}, what is asked is {_SAID[provenance]}."
        raise ReviewNeededError(kind, memory, reason)
    if is_persons_word(memory):
        raise ReviewNeededError(kind, memory, "A person wrote that memory or decided about it.")


def demand_leave(memory: Memory, *, actor: Actor) -> None:
    """Raise `ReviewNeededError` when an agent would bring back what its betters made us forget.

    A person, a reviewer's or admin's key, a rollback or an accepted review.
    """
    if actor.role.includes(Role.REVIEWER):
        return
    told = Event.objects.filter(object_id=str(memory.id), type="memory.forgotten")
    event = told.order_by("-seq").first()
    if event is None:
        return
    if event.actor_kind == "user":
        raise ReviewNeededError("revive", memory, "A person made Engram forget this.")
    forgot = Role(event.data.get("role", Role.AGENT))
    if forgot.includes(Role.REVIEWER) or not {"rollback", "review"}.isdisjoint(event.data):
        raise ReviewNeededError("revive", memory, f"A caller of the role {forgot} forgot this.")


def is_persons_word(memory: Memory) -> bool:
    """Tell whether a person wrote, changed, hid, kept or answered for a memory.

    A verdict that kept it counts until it is undone. What was merged into it counts, and what it
    was split from when a person said it there, whoever merged or split.
    """
    told = Event.objects.filter(object_id__in=_merged_with(memory)).order_by("seq")
    by_person = Q(actor_kind="user") | Q(type="memory.separated", data__said_by="user")
    types = list(told.filter(by_person).values_list("type", flat=True))
    if "memory.released" in types:
        last = len(types) - 1 - types[::-1].index("memory.released")
        types = [t for n, t in enumerate(types) if t != "memory.upheld" or n > last]
    return not _WILL.isdisjoint(types)


def _merged_with(memory: Memory) -> set[str]:
    """Return the ids of a memory and of those that were merged into it, however indirectly."""
    known = new = {memory.id}
    while new:
        merges = Merge.objects.filter(memory__in=new, split_at=None).exclude(absorbed=None)
        new = set(merges.values_list("absorbed_id", flat=True)) - known
        known = known | new
    return {str(memory_id) for memory_id in known}
