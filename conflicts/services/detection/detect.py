"""Run detection by rules over due memories, one runner per workspace, and file the findings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from datetime import datetime
from time import monotonic
from traceback import format_tb
from uuid import UUID, uuid4

from conflicts.core.comparisons import Comparisons
from conflicts.core.detective import DetectiveSettings, detect_in_turn, left_unread
from conflicts.core.severity_by_meaning import rate_findings
from conflicts.models import DetectionDue, DetectionLease, DetectionRun
from conflicts.services.cards.file import file_findings
from conflicts.services.cards.locks import with_comparisons
from conflicts.services.cards.reworded import cards_with_reworded_members, settle_reworded
from conflicts.services.detection import backlog
from conflicts.services.detection.narrative import queue_for_model
from conflicts.services.detection.story import add_answers, is_short, load_facts, story_ids
from conflicts.services.detection.time_left import ReadingTime
from conflicts.services.due import DETECT_TASK
from engram.kernel import lease, telemetry
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.jobs import wake
from engram.kernel.lease import Renewal, lease_of, renewing
from engram.kernel.models import Workspace
from engram.kernel.planning import without_nested_loops
from engram.kernel.tenancy import in_workspace
from memories.services.index.answers import embed_questions
from memories.services.index.question_groups import join_wordings

log = logging.getLogger(__name__)
Clock = Callable[[], datetime]

# New memories per run; more need further runs. Fewer where each brings its own neighbourhood, so
# that a run takes seconds.
TRIGGERS_A_RUN = 500
TRIGGERS_A_RUN_OF_A_LONG_STORY = 50
MEMORIES_A_STEP = 64  # whose questions are embedded before the time is looked at


def detect_due(
    workspace: Workspace, *, clock: Clock, seconds: float | None = None
) -> list[DetectionRun]:
    """Read the due memories of a workspace; does nothing while another runner has the lease.

    After `seconds` the rest is left to a later wake-up, so that other workspaces are served, also
    within a run: it files what it found for the memories that it has read, and leaves the others.
    None reads everything. Safe to kill at any point: due rows are deleted in the transaction that
    files the findings, and filing is idempotent.
    """
    runs: list[DetectionRun] = []
    time = ReadingTime(seconds)
    while _read_all(workspace, runs, clock=clock, time=time):
        if time.is_over():
            wake(DETECT_TASK, workspace.pk)
            break
    return runs


def _read_all(
    workspace: Workspace,
    runs: list[DetectionRun],
    *,
    clock: Clock,
    time: ReadingTime,
) -> bool:
    """Hold the lease until nothing is due or time is over; return whether something is due."""
    held, holder = lease_of(DetectionLease, workspace.pk), uuid4()
    if not lease.acquire(held, holder, clock()):
        return False

    def renew() -> None:
        lease.renew_or_raise(held, holder, clock())

    has_failed = False
    try:
        backlog.close_abandoned(workspace, now=clock())
        with renewing(lambda: lease.renew(held, holder, clock())):
            while not has_failed and lease.renew(held, holder, clock()):
                run = _read_once(workspace, renew, clock=clock, time=time)
                if run is None:
                    break
                runs.append(run)
                has_failed = run.status == "failed"
                if time.is_over():
                    break
    finally:
        is_due = backlog.release(DetectionLease, workspace, holder, clock())
    # After a failure the sweep retries: a persistent error must not loop.
    return is_due and not has_failed


def _read_once(
    workspace: Workspace, renew: Renewal, *, clock: Clock, time: ReadingTime
) -> DetectionRun | None:
    """Read the oldest due memories as one run; None when nothing is due."""
    started = monotonic()
    with in_workspace(workspace):
        now = clock()
        most = TRIGGERS_A_RUN if is_short(now) else TRIGGERS_A_RUN_OF_A_LONG_STORY
        due = backlog.next_due(most, now)
        if not due:
            return None
        # After the rows: who unmutes a rule queues what is to be read with it.
        workspace.read_settings()
        run = DetectionRun.objects.create(
            reason="commit", trigger_count=len(due), created_at=now,
            lag_seconds=max((now - min(d.since for d in due)).total_seconds(), 0.0),
        )  # fmt: skip
        backlog.assign_run(due, run)

    try:
        _fill(workspace, run, due, renew=renew, clock=clock, time=time)
    except Exception as error:  # noqa: BLE001  the run is closed and retried after any error
        # Messages of exceptions may quote memories: only the type and the traceback are kept.
        kind, places = type(error).__name__, "".join(format_tb(error.__traceback__))
        log.error("detection run %s failed: %s\n%s", run.id, kind, places)
        run.status, run.error = "failed", kind
    run.duration_seconds = monotonic() - started
    with in_workspace(workspace):
        run.save()
        if run.status == "failed":
            backlog.note_failure([run.id], now=clock())
            telemetry.record_error("detect", "detect_failed", detail=run.error, now=clock())
        telemetry.observe("detect", run.duration_seconds)
    return run


def detective_settings(config: WorkspaceSettings, model: str) -> DetectiveSettings:
    """Return the thresholds of a workspace with that embedding model."""
    return DetectiveSettings(
        min_confidence=config.detection_min_confidence,
        embedding_model=model,
        muted_rules=frozenset(config.muted_rules),
    )


def _fill(
    workspace: Workspace,
    run: DetectionRun,
    due: list[DetectionDue],
    *,
    renew: Renewal,
    clock: Clock,
    time: ReadingTime,
) -> None:
    """Read, then file the findings and remove or hand on the due rows in one transaction.

    Rows for which there is no time stay due, as they were.
    """
    now, begun = run.created_at, monotonic()
    due, left = _embed_in_turn(workspace, due, time)
    triggers = {row.memory_id for row in due}
    renew()
    with in_workspace(workspace), without_nested_loops():
        ids = story_ids(triggers, workspace.embedding_model, now)
    renew()
    with in_workspace(workspace), without_nested_loops():
        story = load_facts(ids, workspace.embedding_model, with_past=True)
        story = add_answers(story, workspace, now)
    join_wordings(workspace, story.wordings_of(story.facts_of(triggers)))
    renew()
    in_turn = detect_in_turn(
        story.facts, story.vectors, now=story.time_of_reading(now),
        triggers=story.facts_in_order([row.memory_id for row in due]),
        settings=detective_settings(workspace.config, workspace.embedding_model),
        questions=story.questions, is_over=time.limit(monotonic() - begun),
    )  # fmt: skip
    due, unread_rows = _without(due, {UUID(story.memory_of[fact]) for fact in in_turn.left})
    left += unread_rows
    triggers = {row.memory_id for row in due}
    found = [] if "rules" in workspace.config.muted_rules else in_turn.findings
    found = rate_findings(found, story.facts, story.vectors, workspace.embedding_model)
    findings = [finding for raw in found if (finding := story.in_memories(raw))]
    renew()
    run.trigger_count, run.facts_considered = len(due), len(story.facts)
    unread = {story.memory_of[fact] for fact in left_unread(story.facts)}
    run.left_unread = len(unread.intersection(map(str, triggers)))
    run.batches = 1

    def file(known: Comparisons) -> None:
        reworded = cards_with_reworded_members(triggers)
        filed = file_findings(
            findings, known, detected_by="rules", read=story.revisions, also_lock=reworded, now=now
        )
        settle_reworded(reworded, known, placed=filed.placed, read=story.revisions, now=now)
        run.opened, run.joined, run.skipped = filed.opened, filed.joined, filed.skipped
        backlog.leave(left, run)
        run.narrative = queue_for_model(workspace, due, story, now=clock())
        run.status = "done"
        run.save()

    with_comparisons(workspace, file)


def _embed_in_turn(
    workspace: Workspace, due: list[DetectionDue], time: ReadingTime
) -> tuple[list[DetectionDue], list[DetectionDue]]:
    """Embed what the memories answer, some at a time; return the rows read, and those left."""
    is_over = time.limit()
    for end in range(MEMORIES_A_STEP, len(due) + MEMORIES_A_STEP, MEMORIES_A_STEP):
        embed_questions(workspace, {row.memory_id for row in due[end - MEMORIES_A_STEP : end]})
        if is_over():
            return due[:end], due[end:]
    return due, []


def _without(
    due: list[DetectionDue], left: Collection[UUID]
) -> tuple[list[DetectionDue], list[DetectionDue]]:
    """Return the rows of the memories that were read, and those of the ones that were left."""
    return (
        [row for row in due if row.memory_id not in left],
        [row for row in due if row.memory_id in left],
    )
