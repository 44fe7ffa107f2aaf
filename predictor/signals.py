"""The seam by which a past that is still being written keeps the workers out of its workspace."""

from __future__ import annotations

from uuid import UUID

from django.dispatch import Signal

# May workers judge and train in a workspace now? Argument: workspace_id. Whoever answers False
# does both there at the time of what it tells; what else ended meanwhile has its turn behind it,
# found by the sweeps.
workers_asked = Signal()


def may_work(workspace_id: UUID) -> bool:
    """Tell whether workers may judge and train in a workspace now."""
    answers = workers_asked.send(sender=None, workspace_id=workspace_id)
    return all(answer for _, answer in answers)
