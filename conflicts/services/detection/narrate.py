"""Narrative pass: a language model reads memories that the rules have read, by its own runner."""

from __future__ import annotations

import logging
import random
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from time import monotonic
from traceback import format_tb
from uuid import UUID, uuid4

import numpy as np
from django.db.models import Count

from conflicts.core.batches import cut_batches
from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Fact, Finding
from conflicts.core.forgetting import sample_to_budget
from conflicts.core.narrative import PROMPT_VERSION, line_tokens
from conflicts.models import (
    Awaits,
    ConflictMember,
    DetectionDue,
    DetectionRun,
    Narrative,
    NarrativeLease,
)
from conflicts.models.card import ConflictStatus
from conflicts.services.cards.file import file_findings
from conflicts.services.cards.locks import with_comparisons
from conflicts.services.detection import backlog
from conflicts.services.detection.ask_model import BeyondCapError, ModelRun, ask_model
from conflicts.services.detection.detect import Clock
from conflicts.services.detection.narrative import NARRATE_TASK, drop_waiting, is_on
from conflicts.services.detection.story import Story, load_facts, story_ids
from engram.kernel import lease, llm, spend, telemetry
from engram.kernel.jobs import wake
from engram.kernel.lease import Renewal, TakenOverError, lease_of, renewing
from engram.kernel.llm import ModelError, RejectedError, UnavailableError, Usage
from engram.kernel.models import Workspace
from engram.kernel.planning import without_nested_loops
from engram.kernel.tenancy import in_workspace
from memories.models import Memory

log = logging.getLogger(__name__)

TRIGGERS_A_RUN = 50
NEIGHBOURS = 6
# A workspace at its cap tries again after this, or when the next day begins.
CAPPED_PAUSE = timedelta(hours=1)


def narrate_due(
    workspace: Workspace, *, clock: Clock, seconds: float | None = None
) -> list[DetectionRun]:
    """Have the model read the waiting memories; do nothing while another runner has the lease.

    After `seconds` the rest is left to a later wake-up, so that other workspaces are served; a
    running run is finished. None reads everything. Safe to kill at any point: due rows are deleted
    in the transaction that files the findings. A run that fails or reaches the cap leaves them due,
    after a pause.
    """
    if not is_on(workspace):
        drop_waiting(workspace)
        return []
    held, holder = lease_of(NarrativeLease, workspace.pk), uuid4()
    if not lease.acquire(held, holder, clock()):
        return []

    def renew() -> None:
        lease.renew_or_raise(held, holder, clock())

    runs: list[DetectionRun] = []
    has_failed = False
    started = monotonic()
    try:
        backlog.close_abandoned(workspace, now=clock(), awaits=Awaits.MODEL)
        with renewing(lambda: lease.renew(held, holder, clock())):
            while lease.renew(held, holder, clock()):
                run = _narrate_once(workspace, renew, clock=clock)
                if run is None:
                    break
                runs.append(run)
                has_failed = run.narrative not in {Narrative.DONE, Narrative.NOT_NEEDED}
                if has_failed or (seconds is not None and monotonic() - started >= seconds):
                    break
    finally:
        is_due = backlog.release(NarrativeLease, workspace, holder, clock())
    # After a failure the sweep retries: a persistent error must not loop.
    if is_due and not has_failed:
        wake(NARRATE_TASK, workspace.pk)
    return runs


def _narrate_once(workspace: Workspace, renew: Renewal, *, clock: Clock) -> DetectionRun | None:
    """Have the model read the oldest waiting memories as one run; None when nothing is due."""
    started = monotonic()
    with in_workspace(workspace):
        now = clock()
        backlog.join_pause(now)
        due = backlog.next_due(TRIGGERS_A_RUN, now, Awaits.MODEL)
        if not due:
            return None
        run = DetectionRun.objects.create(
            reason=backlog.NARRATIVE,
            trigger_count=len(due),
            model=llm.model_name(),
            prompt_version=PROMPT_VERSION,
            narrative=Narrative.WAITING,
            lag_seconds=max((now - min(d.since for d in due)).total_seconds(), 0.0),
            created_at=now,
        )
        backlog.assign_run(due, run)

    try:
        _read(workspace, run, due, renew=renew, clock=clock)
    except Exception as error:  # noqa: BLE001  the run is closed and retried after any error
        # Messages of exceptions may quote memories: only the type and the traceback are kept.
        kind, places = type(error).__name__, "".join(format_tb(error.__traceback__))
        log.error("narrative run %s failed: %s\n%s", run.id, kind, places)
        _fail(workspace, run, due, error, now=clock())
    run.duration_seconds = monotonic() - started
    with in_workspace(workspace):
        run.save()
        telemetry.observe("narrate", run.duration_seconds)
    return run


def _read(
    workspace: Workspace,
    run: DetectionRun,
    due: Sequence[DetectionDue],
    *,
    renew: Renewal,
    clock: Clock,
) -> None:
    """Ask the model about the facts, then file its findings; postpone the run at the cap."""
    now = run.created_at
    triggers = {row.memory_id for row in due}
    story, batches = _story(workspace, run, triggers, now=now)
    renew()
    if not story.facts_of(triggers):  # all of them were hidden meanwhile
        run.status, run.narrative, run.batches = "done", Narrative.NOT_NEEDED, 0
        with in_workspace(workspace):
            backlog.delete_read(due)
        return

    def charge(usage: Usage, cost_usd: float) -> None:
        run.tokens, run.cost_usd = usage.tokens, cost_usd
        with in_workspace(workspace):
            run.save(update_fields=["tokens", "cost_usd"])

    try:
        model_run = ask_model(workspace, batches, renew=renew, charge=charge, now=now)
    except BeyondCapError as error:
        model_run, run.error = None, str(error)
    if model_run is None:
        run.status, run.narrative, run.batches = "done", Narrative.CAPPED, 0
        until = min(spend.next_day(now), now + CAPPED_PAUSE)
        with in_workspace(workspace):
            backlog.put_off(run, until=until, has_failed=False)
            backlog.join_pause(now)
        return
    run.dropped, run.batches = model_run.dropped, len(batches) - model_run.unsent
    if run.facts_forgotten:
        run.survivors = _memories_of(story, [batches[i] for i in sorted(model_run.read)])
    renew()
    findings = [finding for raw in model_run.findings if (finding := story.in_memories(raw))]

    def file(known: Comparisons) -> None:
        filed = file_findings(
            findings, known, detected_by="narrative", read=story.revisions, now=now
        )
        again = _to_read_again(findings, story, now=clock())
        run.opened, run.joined, run.skipped = filed.opened, filed.joined, filed.skipped
        if not model_run.errors:
            backlog.delete_read([row for row in due if row.memory_id not in again])
            run.status, run.narrative = "done", Narrative.DONE
            run.save()

    with_comparisons(workspace, file)
    if model_run.errors:
        _fail(workspace, run, due, _longest_outage(model_run), now=clock())


def _to_read_again(findings: Sequence[Finding], story: Story, *, now: datetime) -> set[UUID]:
    """Return the memories of findings that were not filed, as one was hidden or reworded meanwhile.

    Called within the transaction that filed, which holds locks on all of them.
    """
    named = [{UUID(i) for i in finding.fact_ids} for finding in findings]
    live = Memory.objects.recallable(now).filter(pk__in=set().union(*named))
    as_read = {pk for pk, revision in live.values_list("pk", "revision")
               if revision == story.revisions[pk]}  # fmt: skip
    return {pk for ids in named if not ids <= as_read for pk in ids}


def _longest_outage(model_run: ModelRun) -> ModelError:
    """Return the error with the longest pause before the next try."""
    away = [
        error for error in model_run.errors if isinstance(error, UnavailableError | RejectedError)
    ]
    return max(away, key=_pause_of, default=model_run.errors[0])


def _pause_of(error: Exception) -> timedelta:
    seconds = getattr(error, "retry_after_seconds", None) or 0.0
    longest = backlog.LONGEST_ASKED_PAUSE
    return timedelta(seconds=min(seconds, longest.total_seconds()))


def _fail(
    workspace: Workspace,
    run: DetectionRun,
    due: Sequence[DetectionDue],
    error: Exception,
    *,
    now: datetime,
) -> None:
    """Close a failed run; outages and lost leases do not count as failures of its memories."""
    run.status, run.narrative = "failed", Narrative.FAILED
    run.error = str(error) if isinstance(error, ModelError) else type(error).__name__
    with in_workspace(workspace):
        code = "narrate_unavailable" if isinstance(error, UnavailableError) else "narrate_failed"
        telemetry.record_error("narrate", code, detail=run.error, now=now)
        if not isinstance(error, UnavailableError | RejectedError | TakenOverError):
            backlog.note_failure([run.id], now=now, awaits=Awaits.MODEL)
            return
        pause = max(backlog.pause(max(row.attempts for row in due)), _pause_of(error))
        backlog.put_off(run, until=now + pause, has_failed=True)
        backlog.join_pause(now)


def _story(
    workspace: Workspace, run: DetectionRun, triggers: Collection[UUID], *, now: datetime
) -> tuple[Story, list[tuple[Fact, ...]]]:
    """Return the facts and the batches for the model; the run counts those that were left out."""
    with in_workspace(workspace), without_nested_loops():
        ids = story_ids(triggers, workspace.embedding_model, now)
    with in_workspace(workspace), without_nested_loops():
        story = load_facts(ids, workspace.embedding_model)
        in_cards = _in_cards(ids)
        open_ids = _in_open_cards(ids)
    budget = workspace.config.story_budget_tokens
    threads = _threads(story, story.facts_of(triggers))
    thinned = sample_to_budget(
        story.facts,
        now=now,
        rng=random.Random(run.id.int),
        always={i for thread in threads for i in thread} | story.facts_of(open_ids),
        conflicts={fact: in_cards.get(UUID(m), 0) for fact, m in story.memory_of.items()},
        budget_tokens=budget,
        size=line_tokens,
    )
    batches = cut_batches(thinned.kept, threads, budget_tokens=budget, size=line_tokens)
    run.facts_considered, run.facts_forgotten = len(thinned.kept), len(thinned.forgotten)
    run.batches = len(batches)
    return story, batches


def _memories_of(story: Story, batches: Sequence[Sequence[Fact]]) -> list[UUID]:
    """Return the distinct memories of batches, by time."""
    shown = {fact.id for batch in batches for fact in batch}
    facts = [fact.id for fact in story.facts if fact.id in shown]
    return list(dict.fromkeys(UUID(story.memory_of[i]) for i in facts))


def _threads(story: Story, triggers: Collection[str]) -> list[list[str]]:
    """Return each trigger with its nearest neighbours by meaning, the trigger first."""
    threads = []
    for i, fact in enumerate(story.facts):
        if fact.id not in triggers:
            continue
        thread = [fact.id]
        if story.vectors.shape[1]:
            near = story.vectors @ story.vectors[i]
            near[i] = -np.inf
            nearest = np.argsort(-near, kind="stable")[:NEIGHBOURS]
            thread += [story.facts[j].id for j in nearest if near[j] > 0]
        threads.append(thread)
    return threads


def _in_cards(ids: Collection[UUID]) -> dict[UUID, int]:
    """Return the number of cards of each memory."""
    rows = ConflictMember.objects.order_by().filter(memory__in=ids).values_list("memory")
    return dict(rows.annotate(cards=Count("conflict")))


def _in_open_cards(ids: Collection[UUID]) -> set[UUID]:
    """Return the memories on waiting cards."""
    waiting = [ConflictStatus.OPEN, ConflictStatus.SNOOZED]
    members = ConflictMember.objects.order_by().filter(conflict__status__in=waiting, memory__in=ids)
    return set(members.values_list("memory", flat=True))
