"""Read the memories that the janitor examines, in batches by age, and apply its rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Max, Q, QuerySet

from engram.kernel.models import Workspace
from memories.core.janitor import JanitorRules, JanitorVerdict, Subject, judge
from memories.models import JanitorAction, Kind, Memory, Provenance, RecallRecord, State
from memories.services.disputes import disputes_of

BATCH = 500

ScanPosition = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class JanitorFinding:
    """One memory and the action that its rules require."""

    memory: Memory
    verdict: JanitorVerdict


def rules_of(workspace: Workspace, may_cull: bool | None) -> JanitorRules:
    """Return the workspace's rules; `may_cull` overrides its setting, if given."""
    config = workspace.config
    return JanitorRules(
        assistant_days=config.janitor_assistant_days,
        summary_days=config.janitor_summary_days,
        may_cull=config.janitor_culls if may_cull is None else may_cull,
        logging_since=workspace.created_at,
    )


def position_of(memory: Memory) -> ScanPosition:
    """Return the position of a memory in the order of age."""
    return memory.created_at, memory.id


def candidates(rules: JanitorRules, now: datetime) -> QuerySet[Memory]:
    """Return live, unused memories that are old enough for their class of provenance."""
    due = Q()
    for provenance in Provenance.values:
        created = now - timedelta(days=rules.days(provenance))
        if rules.logging_since <= created:
            due |= Q(provenance=provenance, created_at__lte=created)
    if not due:
        return Memory.objects.none()
    unused = Memory.objects.recallable(now).filter(recall_count=0, hit_count=0, used_count=0)
    # A separate condition, so that the index by age bounds the scan.
    oldest = now - timedelta(days=min(rules.assistant_days, rules.summary_days))
    return unused.filter(due, created_at__lte=oldest).order_by("created_at", "pk")


def page_after(rules: JanitorRules, now: datetime, after: ScanPosition | None) -> QuerySet[Memory]:
    """Return the query of the next candidates after a position in the order of age."""
    found = candidates(rules, now)
    if after is not None:
        created_at, memory_id = after
        later = Q(created_at__gt=created_at) | Q(pk__gt=memory_id)
        found = found.filter(later, created_at__gte=created_at)
    return found[:BATCH]


def batch_after(rules: JanitorRules, now: datetime, after: ScanPosition | None) -> list[Memory]:
    """Return the next candidates after a position in the order of age."""
    return list(page_after(rules, now, after))


def batches(rules: JanitorRules, now: datetime) -> Iterator[list[Memory]]:
    """Yield all candidates, oldest first."""
    after: ScanPosition | None = None
    while batch := batch_after(rules, now, after):
        yield batch
        after = position_of(batch[-1])


def apply_rules(
    memories: list[Memory], rules: JanitorRules, now: datetime
) -> Iterator[JanitorFinding]:
    """Yield a finding for each memory that needs an action, oldest first."""
    ids = [memory.id for memory in memories]
    pending = RecallRecord.objects.filter(memory_ids__overlap=ids, is_counted=True)
    recalled = {i for row in pending.values_list("memory_ids", flat=True) for i in row}
    taken_back = dict(
        JanitorAction.objects.filter(memory__in=ids)
        .exclude(undone_at=None)
        .values_list("memory")
        .annotate(Max("undone_at"))
        .order_by()
    )
    disputed = disputes_of(ids) if rules.may_cull else {}
    for memory in sorted(memories, key=position_of):
        if memory.state(now) != State.ACTIVE:
            continue
        subject = Subject(
            provenance=memory.provenance,
            since=max(memory.created_at, taken_back.get(memory.id, memory.created_at)),
            # Recalls that the sweep has not counted yet count as well.
            uses=memory.recall_count
            + memory.hit_count
            + memory.used_count
            + (memory.id in recalled),
            is_pinned=memory.is_pinned,
            is_constraint=memory.kind == Kind.CONSTRAINT,
            is_disputed=memory.id in disputed,
            weight_factor=memory.weight_factor,
            confidence_factor=memory.confidence_factor,
            demotion_count=memory.demotion_count,
            demoted_at=memory.demoted_at,
        )
        verdict = judge(subject, rules, now)
        if verdict is not None:
            yield JanitorFinding(memory, verdict)
