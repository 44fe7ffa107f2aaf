"""Run the janitor: demote or cull unused memories, so that every action can be undone.

A preview and a run read the same batches and apply the same rules (`memories.core.janitor`). A run
locks each batch, applies the rules again under the lock and commits the batch by itself, so that
concurrent runs, or a run after a killed one, repeat no action.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.due import waiting_since
from engram.kernel.history import record, record_unsent
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.janitor import PAUSE, ActionKind
from memories.models import JanitorAction, JanitorRun, Memory
from memories.services.causes import RUN_UNDONE
from memories.services.janitor.scan import (
    BATCH,
    JanitorFinding,
    ScanPosition,
    apply_rules,
    batch_after,
    batches,
    candidates,
    position_of,
    rules_of,
)
from memories.services.lifecycle.states import hide
from memories.services.locks import lock

JANITOR_FIELDS = ("weight_factor", "confidence_factor", "demotion_count", "demoted_at", "culled_at")

Advance = Callable[[int], Any]


@dataclass(slots=True)
class RunPreview:
    """The counts of what a run would do now, and one page of its findings, oldest first."""

    may_cull: bool
    examined: int = 0
    demoted: int = 0
    culled: int = 0
    reported: int = 0
    findings: list[JanitorFinding] = field(default_factory=list)
    has_more: bool = False


def preview(
    workspace: Workspace,
    *,
    now: datetime,
    may_cull: bool | None = None,
    limit: int = BATCH,
    after: UUID | None = None,
    advance: Advance = lambda n: None,
) -> RunPreview:
    """Return what `run` would do, without writing; the page of `limit` begins after `after`."""
    rules = rules_of(workspace, may_cull)
    found = RunPreview(may_cull=rules.may_cull)
    with in_workspace(workspace):
        start = _position_after(after)
        for batch in batches(rules, now):
            found.examined += len(batch)
            for finding in apply_rules(batch, rules, now):
                _count(found, finding.verdict.action)
                if start is None or position_of(finding.memory) > start:
                    if len(found.findings) < limit:
                        found.findings.append(finding)
                    else:
                        found.has_more = True
            advance(len(batch))
    return found


def run(
    workspace: Workspace,
    *,
    actor: Actor,
    now: datetime,
    may_cull: bool | None = None,
    advance: Advance = lambda n: None,
) -> JanitorRun:
    """Demote (with `may_cull`, also cull) the due memories; return the run with its counts."""
    rules = rules_of(workspace, may_cull)
    with in_workspace(workspace):
        done = JanitorRun.objects.create(
            started_at=now, actor_label=actor.label, may_cull=rules.may_cull
        )
    after: ScanPosition | None = None
    while True:
        with in_workspace(workspace):
            batch = batch_after(rules, now, after)
            if not batch:
                break
            after = position_of(batch[-1])
            findings = list(apply_rules(lock([memory.id for memory in batch]), rules, now))
            _apply(done, findings, examined=len(batch), actor=actor, now=now)
        advance(len(batch))
    with in_workspace(workspace):
        done.refresh_from_db()
        record(
            "janitor.ran", of=("janitor_run", done.id), actor=actor, now=now, data=_event_data(done)
        )
    return done


def due_workspaces(now: datetime) -> list[UUID]:
    """Return the ids of workspaces whose weekly run is due."""
    have_run = waiting_since(lambda: _of_this_week(now), "started_at")
    return [
        one.pk for one in Workspace.objects.all() if one.pk not in have_run and _wants(one, now)
    ]


def is_due(workspace: Workspace, now: datetime) -> bool:
    """Return whether the workspace has weekly runs enabled and the last was a week ago."""
    if not _wants(workspace, now):
        return False
    with in_workspace(workspace):
        return not _of_this_week(now).exists()


def _wants(workspace: Workspace, now: datetime) -> bool:
    config = workspace.config
    youngest = min(config.janitor_assistant_days, config.janitor_summary_days)
    return config.janitor_enabled and now - workspace.created_at >= timedelta(days=youngest)


def _of_this_week(now: datetime) -> QuerySet[JanitorRun]:
    return JanitorRun.objects.filter(started_at__gt=now - PAUSE)


def run_when_due(workspace: Workspace, *, now: datetime) -> JanitorRun | None:
    """Run the janitor, if the weekly run is due."""
    return run(workspace, actor=SYSTEM, now=now) if is_due(workspace, now) else None


def count_candidates(workspace: Workspace, *, now: datetime) -> int:
    """Return the number of memories that a run would examine."""
    with in_workspace(workspace):
        return candidates(rules_of(workspace, None), now).count()


def _apply(
    done: JanitorRun, findings: list[JanitorFinding], *, examined: int, actor: Actor, now: datetime
) -> None:
    """Apply the findings to locked memories, and store what the undo needs."""
    demoted = [f for f in findings if f.verdict.action == ActionKind.DEMOTE]
    culled = [f.memory for f in findings if f.verdict.action == ActionKind.CULL]
    before = {f.memory.id: fields_of(f.memory) for f in findings}
    _demote(demoted, now)
    record_unsent(
        "memory.demoted",
        ((f.memory.id, {"run": str(done.id), "demotions": f.memory.demotion_count})
         for f in demoted),
        of="memory", actor=actor, now=now,
    )  # fmt: skip
    hide(culled, "culled_at", actor=actor, now=now, because={"run": str(done.id)})
    JanitorAction.objects.bulk_create(
        JanitorAction(
            run=done,
            memory=f.memory,
            verb=f.verdict.action,
            before=before[f.memory.id],
            after=fields_of(f.memory),
            at=now,
        )
        for f in findings
        if f.verdict.action != ActionKind.REPORT
    )
    is_standing = JanitorRun.objects.filter(pk=done.pk, undone_at=None).update(
        examined=F("examined") + examined,
        demoted=F("demoted") + len(demoted),
        culled=F("culled") + len(culled),
        reported=F("reported") + len(findings) - len(demoted) - len(culled),
    )
    if not is_standing:
        raise StaleError(
            "Somebody undid this run while it went on; it ends here.", cause=RUN_UNDONE
        )


def _demote(findings: list[JanitorFinding], now: datetime) -> None:
    """Lower the factors of locked memories, one statement per group with the same new values."""
    alike = defaultdict(list)
    for finding in findings:
        memory, verdict = finding.memory, finding.verdict
        memory.weight_factor = verdict.weight_factor
        memory.confidence_factor = verdict.confidence_factor
        memory.demotion_count += 1
        memory.demoted_at = now
        values = (memory.weight_factor, memory.confidence_factor, memory.demotion_count)
        alike[values].append(memory.id)
    for (weight, confidence, count), ids in alike.items():
        Memory.objects.filter(pk__in=ids).update(
            weight_factor=weight,
            confidence_factor=confidence,
            demotion_count=count,
            demoted_at=now,
        )


def fields_of(memory: Memory) -> dict[str, Any]:
    """Return the fields of a memory that the janitor may change, JSON serialisable."""
    values = {name: getattr(memory, name) for name in JANITOR_FIELDS}
    return {
        name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
        for name, value in values.items()
    }


def _count(found: RunPreview, action: ActionKind) -> None:
    found.demoted += action == ActionKind.DEMOTE
    found.culled += action == ActionKind.CULL
    found.reported += action == ActionKind.REPORT


def _position_after(memory_id: UUID | None) -> ScanPosition | None:
    """Return the position of a memory in the order of age, where the next page begins."""
    if memory_id is None:
        return None
    memory = Memory.objects.filter(pk=memory_id).first()
    if memory is None:
        raise InvalidError("after", "There is no such memory.")
    return position_of(memory)


def _event_data(done: JanitorRun) -> dict[str, Any]:
    return {
        name: getattr(done, name)
        for name in ("examined", "demoted", "culled", "reported", "may_cull")
    }
