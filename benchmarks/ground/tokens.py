"""Keys of benchmarks."""

from __future__ import annotations

from django.utils import timezone

from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Role, Workspace


def agent_token(workspace: Workspace) -> str:
    """Issue a key of role agent that no throttle limits; return its token."""
    _, token = keys.issue(
        workspace,
        name="bench",
        role=Role.AGENT,
        actor=SYSTEM,
        now=timezone.now(),
        is_exempt_from_throttle=True,
    )
    return token
