"""Keys of benchmarks."""

from __future__ import annotations

from django.utils import timezone

from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Role, Workspace


def issue_token(workspace: Workspace, role: Role = Role.AGENT) -> str:
    """Issue a key that no throttle limits; return its token."""
    _, token = keys.issue(
        workspace,
        name="bench",
        role=role,
        actor=SYSTEM,
        now=timezone.now(),
        is_exempt_from_throttle=True,
    )
    return token
