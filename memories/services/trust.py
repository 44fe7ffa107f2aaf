"""Trust has an order: an agent does not change what a more trusted class said."""

from __future__ import annotations

from engram.kernel.actors import Actor
from engram.kernel.models import Role
from engram.kernel.refusals import ForbiddenError
from memories.models import Memory, Provenance


def refuse_lower_trust(memory: Memory, provenance: str, actor: Actor) -> None:
    """Refuse an agent that would change a memory of a higher class than its own statement."""
    is_agent = not actor.role.includes(Role.REVIEWER)
    if is_agent and Provenance(provenance).trust < Provenance(memory.provenance).trust:
        raise ForbiddenError(
            f"That memory is {memory.provenance}: changing it needs a reviewer,"
            " or a statement of the same class."
        )
