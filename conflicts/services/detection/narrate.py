"""Narrative pass: a language model reads memories that the rules have read, by its own runner."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from time import monotonic
from traceback import format_tb
from uuid import UUID, uuid4

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.core.model_prompt import PROMPT_VERSION
from conflicts.models import (
    Awaits,
    DetectionDue,
    DetectionRun,
    Narrative,
    NarrativeLease,
)
from conflicts.services.cards.file import file_findings
from conflicts.services.cards.locks import with_comparisons
from conflicts.services.detection import backlog
from conflicts.services.detection.answering import STATEMENTS_A_RUN, write_answers_of
from conflicts.services.detection.ask_model import BeyondCapError, ask_model
from conflicts.services.detection.detect import Clock
from conflicts.services.detection.narrative import NARRATE_TASK, drop_unwanted
from conflicts.services.detection.put_off import fail, longest_outage, put_off_capped
from conflicts.services.detection.readings import choose_readings, memories_of
from conflicts.services.detection.story import Story
from engram.kernel import lease, llm, telemetry
from engram.kernel.jobs import wake
from engram.kernel.lease import Renewal, lease_of, renewing
from engram.kernel.llm import Usage
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core import answer_prompt
from memories.models import Memory

log = logging.getLogger(__name__)

TRIGGERS_A_RUN = 50
_PROMPTS = {Awaits.MODEL: PROMPT_VERSION, Awaits.ANSWERS: answer_prompt.PROMPT_VERSION}


def narrate_due(
    workspace: Workspace, *, clock: Clock, seconds: float | None = None
) -> list[DetectionRun]:
    """Have the model read the waiting memories; do nothing while another runner has the lease.

    After `seconds` the rest is left to a later wake-up, so that other workspaces are served; a
    running run is finished. None reads everything. Safe to kill at any point: due rows are deleted
    in the transaction that files the findings. A run that fails or reaches the cap leaves them due,
    after a pause.
    """
    if not drop_unwanted(workspace):
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
        for awaits in NarrativeLease.awaits:
            backlog.close_abandoned(workspace, now=clock(), awaits=awaits)
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
    """Have the model read the oldest waiting memories as one run; None when nothing is due.

    What memories answer comes first: the rules read them again before the story is read.
    """
    started = monotonic()
    with in_workspace(workspace):
        now = clock()
        backlog.join_pause(now)
        awaits = Awaits.ANSWERS
        due = backlog.next_due(STATEMENTS_A_RUN, now, awaits)
        if not due:
            awaits = Awaits.MODEL
            due = backlog.next_due(TRIGGERS_A_RUN, now, awaits)
        if not due:
            return None
        run = DetectionRun.objects.create(
            reason=backlog.REASONS[awaits],
            trigger_count=len(due),
            model=llm.model_name(workspace.config.language_model),
            prompt_version=_PROMPTS[awaits],
            narrative=Narrative.WAITING,
            lag_seconds=max((now - min(d.since for d in due)).total_seconds(), 0.0),
            created_at=now,
        )
        backlog.assign_run(due, run)

    read = _read if awaits == Awaits.MODEL else write_answers_of
    try:
        read(workspace, run, due, renew=renew, clock=clock)
    except Exception as error:  # noqa: BLE001  the run is closed and retried after any error
        # Messages of exceptions may quote memories: only the type and the traceback are kept.
        kind, places = type(error).__name__, "".join(format_tb(error.__traceback__))
        log.error("narrative run %s failed: %s\n%s", run.id, kind, places)
        fail(workspace, run, due, error, now=clock())
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
    story, readings = choose_readings(workspace, run, triggers, now=now)
    renew()
    if not readings or not story.facts_of(triggers):  # all were hidden meanwhile, or are alone
        run.status, run.narrative, run.batches = "done", Narrative.NOT_NEEDED, 0
        with in_workspace(workspace):
            backlog.delete_read(due)
        return

    def charge(usage: Usage, cost_usd: float) -> None:
        run.tokens, run.cost_usd = usage.tokens, cost_usd
        with in_workspace(workspace):
            run.save(update_fields=["tokens", "cost_usd"])

    try:
        model_run = ask_model(workspace, readings, renew=renew, charge=charge, now=now)
    except BeyondCapError as error:
        model_run, run.error = None, str(error)
    if model_run is None:
        put_off_capped(workspace, run, now=now)
        return
    run.dropped, run.batches = model_run.dropped, len(readings) - model_run.unsent
    if run.facts_forgotten:
        run.survivors = memories_of(story, [readings[i] for i in sorted(model_run.read)])
    renew()
    muted = workspace.config.muted_rules
    found = [finding for finding in model_run.findings if finding.rules[0] not in muted]
    findings = [finding for raw in found if (finding := story.in_memories(raw))]

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
        fail(workspace, run, due, longest_outage(model_run.errors), now=clock())


def _to_read_again(findings: Sequence[Finding], story: Story, *, now: datetime) -> set[UUID]:
    """Return the memories of findings that were not filed, as one was hidden or reworded meanwhile.

    Called within the transaction that filed, which holds locks on all of them.
    """
    named = [{UUID(i) for i in finding.fact_ids} for finding in findings]
    live = Memory.objects.recallable(now).filter(pk__in=set().union(*named))
    as_read = {pk for pk, revision in live.values_list("pk", "revision")
               if revision == story.revisions[pk]}  # fmt: skip
    return {pk for ids in named if not ids <= as_read for pk in ids}
