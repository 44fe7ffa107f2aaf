"""Telling a story in the background: a row says how far it is, each step is a transaction.

A worker that is killed loses at most the step that it was at; the sweep wakes another. Two at once
do no step twice: whoever finds the row locked, or further than expected, leaves it to the other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from engram.console.demo.story import STORY, TimedStep, embed_story, read_demo, take, timed
from engram.console.models import Telling
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.refusals import RefusalError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.commit import Prepared
from memories.signals import memories_written

log = logging.getLogger(__name__)
TASK = "console.tell_stories"
BATCH = 16  # steps whose statements are embedded at once
LOG_EVERY = 64


def begin(workspace: Workspace, now: datetime, *, path: Path = STORY) -> None:
    """Have the story told once, unless the workspace holds memories already."""
    with in_workspace(workspace):
        has_memories = Memory.objects.exists()
    telling, _ = Telling.objects.get_or_create(
        workspace=workspace,
        defaults={
            "steps": len(read_demo(path)),
            "began_at": now,
            "finished_at": now if has_memories else None,
        },
    )
    if telling.finished_at is None:
        wake(TASK)


def unfinished() -> list[Workspace]:
    """Return the workspaces whose story was not told to its end."""
    return list(Workspace.objects.filter(pk__in=_unfinished().values("pk")))


def progress(workspace: Workspace) -> Telling | None:
    """Return how far the story of a workspace is, while it is being told."""
    return _unfinished().filter(workspace=workspace).first()


def _unfinished() -> QuerySet[Telling]:
    return Telling.objects.filter(finished_at=None)


def go_on(workspace: Workspace, *, clock: Callable[[], datetime], path: Path = STORY) -> None:
    """Tell the story from where it stands to its end, or until somebody else tells it."""
    telling = progress(workspace)
    if telling is None:
        return
    steps = timed(read_demo(path), telling.began_at)
    at: int | None = telling.told
    while at is not None:
        some = steps[at : at + BATCH]
        embedded = iter(embed_story(workspace, [step for step, _ in some]))
        for step in some:
            at = _tell_next(workspace, at, step, embedded)
            if at is None:
                return
        if not steps[at:]:
            _finish(workspace, at, clock())
            return


def _tell_next(
    workspace: Workspace, position: int, step: TimedStep, embedded: Iterator[Prepared]
) -> int | None:
    """Take one step, if it is the next; return the position after it."""
    with in_workspace(workspace):
        telling = _lock(workspace, position)
        if telling is None:
            return None
        labels = {label: UUID(memory) for label, memory in telling.labels.items()}
        try:
            with transaction.atomic():
                take(workspace, step, embedded, labels)
        except (RefusalError, KeyError) as error:
            # People may have changed what the story is about; it goes on without the step.
            log.warning("the demo's story leaves step %s out: %s", position + 1, type(error))
        telling.told = position + 1
        telling.labels = {label: str(memory) for label, memory in labels.items()}
        telling.save(update_fields=["told", "labels"])
    if telling.told % LOG_EVERY == 0:
        log.info("the demo's story is being told: step %s of %s", telling.told, telling.steps)
    return telling.told


def _lock(workspace: Workspace, position: int) -> Telling | None:
    rows = _unfinished().select_for_update(skip_locked=True)
    return rows.filter(workspace=workspace, told=position).first()


def _finish(workspace: Workspace, position: int, now: datetime) -> None:
    """Say that the story is told, and have the detective read it whole."""
    with in_workspace(workspace):
        telling = _lock(workspace, position)
        if telling is None:
            return
        telling.finished_at = now
        telling.labels = {}
        telling.save(update_fields=["finished_at", "labels"])
        memories_written.send(
            Memory,
            memory_ids=list(Memory.objects.recallable(now).values_list("pk", flat=True)),
            first_in_line=set(),
            now=now,
        )
    log.info("the demo's story is told: %s steps", position)
