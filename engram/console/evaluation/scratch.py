"""A workspace that never was: made in a transaction that is rolled back.

Nobody else sees it, no task is woken, no event is published, no counter moves, and a run that is
killed leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from django.db import transaction

from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace

EVALUATOR = Actor(kind="system", id="", label="evaluate", role=Role.ADMIN)


@contextmanager
def rolled_back() -> Iterator[None]:
    """Undo everything that the block writes; nests as a savepoint."""
    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)


@contextmanager
def scratch_workspace() -> Iterator[Workspace]:
    """Yield an empty workspace with default settings, gone afterwards."""
    with rolled_back():
        slug = f"evaluate-{uuid4().hex[:12]}"
        yield Workspace.objects.create(slug=slug, name="Evaluation")
