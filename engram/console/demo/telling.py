"""Telling a story in the background: a row says how far it is, and who tells it.

A step is one transaction with the row; a session is many, each of which may be made again. A worker
that is killed loses at most the step that it was at; the sweep wakes another. Two at once do no
step twice: whoever finds the row held, or further than expected, leaves it to the other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction

from engram.console.demo.sessions import SessionStep
from engram.console.demo.steps import Labels
from engram.console.demo.story import STORY, TimedStep, embed_story, read_demo, take, timed
from engram.console.demo.teller import OvertakenError, Teller, rows_untold
from engram.console.models import Telling
from engram.kernel.collisions import AGAIN
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.refusals import RefusalError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.commit.commit import Prepared
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
    return list(Workspace.objects.filter(pk__in=rows_untold().values("pk")))


def progress(workspace: Workspace) -> Telling | None:
    """Return how far the story of a workspace is, while it is being told."""
    return rows_untold().filter(workspace=workspace).first()


def may_work(sender: Any, *, workspace_id: UUID, **_: Any) -> bool:
    """Tell whether nothing of the workspace's past is told any more: else workers would judge it.

    What people's own sessions say comes behind the story, as the time in which they were held.
    """
    return not rows_untold().filter(workspace=workspace_id).exists()


def go_on(workspace: Workspace, *, clock: Callable[[], datetime], path: Path = STORY) -> None:
    """Tell the story from where it stands to its end, or until somebody else tells it."""
    teller = Teller(workspace, clock)
    if not teller.take():
        return
    try:
        _tell(teller, path)
    except OvertakenError:
        log.warning("the demo's story is told by another worker")
    finally:
        teller.give_back()


def _tell(teller: Teller, path: Path) -> None:
    telling = progress(teller.workspace)
    if telling is None:
        return
    steps = timed(read_demo(path), telling.began_at)
    at = telling.told
    while some := steps[at : at + BATCH]:
        teller.beat()
        embedded = iter(embed_story(teller.workspace, [step for step, _ in some]))
        for step in some:
            at = _tell_next(teller, at, step, embedded)
    _finish(teller, at)


def _tell_next(teller: Teller, position: int, step: TimedStep, embedded: Iterator[Prepared]) -> int:
    """Take one step, which is the next; return the position after it."""
    teller.beat()
    is_session = isinstance(step[0], SessionStep)
    if is_session:
        _take(teller, teller.at(position), step, embedded)
    with in_workspace(teller.workspace):
        telling = teller.at(position, is_locked=True)
        if not is_session:
            labels = _take(teller, telling, step, embedded)
            telling.labels = {label: str(memory) for label, memory in labels.items()}
        telling.told = position + 1
        telling.save(update_fields=["told", "labels"])
    if telling.told % LOG_EVERY == 0:
        log.info("the demo's story is being told: step %s of %s", telling.told, telling.steps)
    return telling.told


def _take(
    teller: Teller, telling: Telling, step: TimedStep, embedded: Iterator[Prepared]
) -> Labels:
    """Take a step, or leave it out when people have changed what the story is about."""
    labels = {label: UUID(memory) for label, memory in telling.labels.items()}
    is_session = isinstance(step[0], SessionStep)
    try:
        with nullcontext() if is_session else transaction.atomic():
            take(teller.workspace, step, embedded, labels, teller.beat)
    except (RefusalError, KeyError) as error:
        if str(error) == AGAIN:  # the sweep wakes who takes it once more
            raise
        log.warning("the demo's story leaves step %s out: %s", telling.told + 1, type(error))
    return labels


def _finish(teller: Teller, position: int) -> None:
    """Say that the story is told, and have the detective read it whole."""
    now = teller.clock()
    with in_workspace(teller.workspace):
        telling = teller.at(position, is_locked=True)
        telling.finished_at = now
        telling.labels = {}
        telling.save(update_fields=["finished_at", "labels"])
        memories_written.send(
            Memory,
            workspace=teller.workspace,
            memory_ids=list(Memory.objects.recallable(now).values_list("pk", flat=True)),
            now=now,
        )
    log.info("the demo's story is told: %s steps", position)
