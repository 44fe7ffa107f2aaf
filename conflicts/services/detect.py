"""Reading the story: what is due, by one runner a workspace, joined to the cards by identity."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from time import monotonic
from uuid import UUID, uuid4

from conflicts.core.detective import detect as find
from conflicts.models import DetectionDue, DetectionRun
from conflicts.services import lease
from conflicts.services.cards import file_findings
from conflicts.services.story import story_ids, tell
from engram.kernel.models import Workspace
from engram.kernel.planning import without_nested_loops
from engram.kernel.tenancy import in_workspace

log = logging.getLogger(__name__)
Clock = Callable[[], datetime]

# So many new memories are read in one run; more make further runs.
TRIGGERS_A_RUN = 500


def detect_due(workspace: Workspace, *, clock: Clock) -> list[DetectionRun]:
    """Read all that is due in a workspace; nothing when another runner is at it.

    Kill it anywhere and nothing is lost or doubled: due rows go in the transaction that files the
    findings, and findings have an identity.
    """
    runs: list[DetectionRun] = []
    while _read_all(workspace, runs, clock=clock):
        pass
    return runs


def _read_all(workspace: Workspace, runs: list[DetectionRun], *, clock: Clock) -> bool:
    """Hold the lease until nothing is due; tell whether something fell due while giving it back."""
    holder = uuid4()
    if not lease.take(workspace, holder, clock()):
        return False
    has_failed = False
    try:
        while not has_failed and lease.beat(workspace, holder, clock()):
            run = _read_once(workspace, clock=clock)
            if run is None:
                break
            runs.append(run)
            has_failed = run.status == "failed"
    finally:
        is_due = lease.give_back(workspace, holder)
    return is_due and not has_failed


def _read_once(workspace: Workspace, *, clock: Clock) -> DetectionRun | None:
    """Read the oldest due memories as one run; None when nothing is due."""
    started = monotonic()
    with in_workspace(workspace):
        due = list(DetectionDue.objects.order_by("-is_first_in_line", "since")[:TRIGGERS_A_RUN])
        if not due:
            return None
        now = clock()
        run = DetectionRun.objects.create(
            reason="commit", trigger_count=len(due), created_at=now,
            lag_seconds=max((now - min(d.since for d in due)).total_seconds(), 0.0),
        )  # fmt: skip
    triggers = {row.memory_id for row in due}
    try:
        _fill(workspace, run, triggers, due, now=now)
    except Exception as error:
        log.exception("detection run %s failed", run.id)
        run.status, run.error = "failed", f"{type(error).__name__}: {error}"[:2000]
    run.duration_seconds = monotonic() - started
    with in_workspace(workspace):
        run.save()
    return run


def _fill(
    workspace: Workspace,
    run: DetectionRun,
    triggers: set[UUID],
    due: list[DetectionDue],
    *,
    now: datetime,
) -> None:
    """Read, then file the findings and take the due rows away in one transaction."""
    with in_workspace(workspace), without_nested_loops():
        story = tell(story_ids(triggers, now))
    found = find(story.facts, story.vectors, now=now, triggers=story.facts_of(triggers))
    findings = [finding for raw in found if (finding := story.in_memories(raw))]
    run.facts_considered = len(story.facts)
    run.batches = 1
    with in_workspace(workspace):
        filed = file_findings(findings, detected_by="rules", now=now)
        run.opened, run.joined, run.skipped = filed.opened, filed.joined, filed.skipped
        for row in due:
            # A memory that changed again while it was read keeps its row.
            DetectionDue.objects.filter(pk=row.pk, turn=row.turn).delete()
        run.status = "done"
        run.save()
