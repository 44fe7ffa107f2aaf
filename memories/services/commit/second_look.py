"""Compare new memories with memories that concurrent commits wrote (the second look).

Concurrent commits do not see each other's rows. Each increments a counter last, in a row that all
writers of a workspace share (`CorpusSize.writes`), so the later of two commits detects the other.
It marks the memories that it created in the same transaction (`Memory.unseen_from`) and compares
them after the commit, when it holds no locks. If the process dies in between, or the commit is part
of a larger transaction (an Idempotency-Key), the task `memories.second_look` finds the mark. The
comparison is idempotent.

A statement that exceeded the character budget of its call (`memories/core/comparing.py`) is marked
as `SAW_NOTHING` and is compared with all memories of its scope and project.

Both memories are live by then, so a pair that the gate would have merged becomes a suggestion.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from uuid import UUID

from django.db import Error, connection
from django.db.models.functions import Length

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.planning import by_index
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.comparing import CHARS_A_CALL, Comparer
from memories.core.gate import GateOutcome
from memories.core.token_matches import WordStates
from memories.models import Memory, MemoryQuerySet, Observation
from memories.services.commit.transaction import CREATED, Committed
from memories.services.gate import examine
from memories.services.gate.judging import judge_among, near_texts
from memories.services.gate.neighbours import NearMemory
from memories.services.gate.report import GateReport, JudgedNeighbour, NewStatement
from memories.services.gate.suggestions import pair_of, suggest_all
from memories.services.index.tokens import word_states_of
from memories.services.locks import lock
from memories.services.recallable import recallable_condition
from memories.signals import memories_written

log = logging.getLogger(__name__)
TASK = "memories.second_look"
MEMORIES_A_TURN = 200
SAW_NOTHING = 0  # smaller than every transaction id: compared with nothing yet

# A row's xmin is the transaction that wrote it last; ages are compared because the numbers wrap.
# Memories with the same mark are of one commit: the gate has compared them already.
_UNSEEN = """
    WITH due AS MATERIALIZED (
        SELECT memory.id, memory.scope, memory.project, memory.xmin AS writer, vector.embedding,
            memory.unseen_from
        FROM memories_memory AS memory JOIN memories_memoryvector AS vector
            ON vector.memory_id = memory.id AND vector.model = %(model)s AND vector.position = 0
        WHERE memory.workspace_id = %(workspace)s AND memory.id = ANY(%(ids)s)
    ), unseen AS MATERIALIZED (
        SELECT id, scope, project, xmin AS writer FROM memories_memory
        WHERE {condition} AND (scope, project) IN (SELECT scope, project FROM due)
            AND age(xmin) <= age(%(unseen_from)s::text::xid8::xid)
    )
    SELECT due.id, near.id, near.cosine FROM due CROSS JOIN LATERAL (
        SELECT unseen.id, 1 - min(vector.embedding <=> due.embedding) AS cosine
        FROM unseen JOIN memories_memoryvector AS vector
            ON vector.memory_id = unseen.id AND vector.model = %(model)s
        WHERE unseen.scope = due.scope AND unseen.project = due.project
            AND unseen.id <> due.id AND (due.unseen_from = %(saw_nothing)s OR (
                unseen.writer <> due.writer
                AND age(unseen.writer) <= age(due.unseen_from::text::xid8::xid)
            ))
        GROUP BY unseen.id ORDER BY cosine DESC, unseen.id LIMIT %(neighbours)s
    ) AS near
    ORDER BY due.id, near.cosine DESC, near.id
"""


@dataclass(frozen=True, slots=True)
class SecondLook:
    """The result of a second look at one memory."""

    outcome: GateOutcome
    best: JudgedNeighbour


def mark_due(ids: Sequence[UUID], unseen_from: int) -> None:
    """Mark new memories as due for a second look, in the transaction that created them."""
    if ids:
        Memory.objects.filter(pk__in=ids).update(unseen_from=unseen_from)


def look_now_or_later(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> dict[UUID, SecondLook]:
    """Take the second look now; leave to the sweep what fails or exceeds the budget of one call."""
    try:
        return look_again(workspace, ids, actor=actor, now=now)
    except (Error, StaleError) as error:
        log.warning("a second look is left to the sweep: %s", type(error).__name__)
        return {}


def select_due() -> MemoryQuerySet:
    """Return the memories that were not compared with all that they are to be compared with."""
    return Memory.objects.filter(unseen_from__isnull=False)


def look_at_due(workspace: Workspace, *, now: datetime) -> int:
    """Take the second look at all due memories of a workspace; return their number."""
    total = 0
    while True:
        with in_workspace(workspace):
            oldest = select_due().order_by("pk")
            sizes = list(oldest.values_list("pk", Length("content"))[:MEMORIES_A_TURN])
        if not sizes:
            return total
        ids = _first_turn(sizes)
        look_again(workspace, ids, actor=SYSTEM, now=now)
        total += len(ids)


def _first_turn(sizes: Sequence[tuple[UUID, int]]) -> list[UUID]:
    """Return the first due memories, as many as one call can probably compare."""
    pairs = 2 * examine.NEIGHBOURS  # both texts of a pair count
    sums = accumulate(size * pairs for _, size in sizes)
    room = [pk for (pk, _), chars in zip(sizes, sums, strict=True) if chars <= CHARS_A_CALL]
    return room or [sizes[0][0]]


@retry_on_collision
def look_again(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> dict[UUID, SecondLook]:
    """Compare due memories with those that the gate did not see; return the results.

    The number of SQL statements does not depend on the number of memories; no transaction is open
    while claims are compared. Memories beyond the budget of one call stay due and a worker is
    woken.
    """
    comparer = Comparer(CHARS_A_CALL)
    with in_workspace(workspace):
        neighbours = _unseen(workspace, ids, now=now)
        comparer.states = _states(neighbours, workspace.embedding_model)
    judged: dict[Memory, list[JudgedNeighbour]] = {}
    left: set[UUID] = set()
    for memory, near in neighbours.items():
        texts = near_texts(near, workspace.config)
        if left or not comparer.has_room(texts, memory.content):
            left.add(memory.id)
        else:
            judged[memory] = _judge(workspace, memory, near, comparer)
    with in_workspace(workspace):
        if left:
            wake(TASK, workspace.pk)
        return _file(workspace, set(ids) - left, judged, actor=actor, now=now)


def add_second_look(result: Committed, all_found: Mapping[UUID, SecondLook]) -> Committed:
    """Return the result of a commit with the result of its second look."""
    found = all_found.get(result.memory.id) if result.memory is not None else None
    if found is None or result.outcome not in CREATED:
        return result
    if result.outcome != "created":
        is_apart = "kept_apart" in (result.outcome, found.outcome)
        return replace(result, outcome="kept_apart" if is_apart else "suggested")
    report = replace(result.gate, outcome=found.outcome, best=found.best, is_triggered=True)
    return replace(result, outcome=found.outcome, gate=report)


def _unseen(
    workspace: Workspace, ids: Collection[UUID], *, now: datetime
) -> dict[Memory, list[tuple[Memory, float]]]:
    """Return for each memory the nearest of its scope and project that the gate did not see."""
    due = Memory.objects.filter(pk__in=ids, unseen_from__isnull=False)
    marks = dict(due.order_by("unseen_from").values_list("pk", "unseen_from"))
    if not marks:
        return {}
    condition = recallable_condition(now)
    with by_index(), connection.cursor() as cursor:
        cursor.execute(
            _UNSEEN.format(condition=condition.sql),
            condition.parameters
            | {
                "workspace": current_workspace_id(),
                "model": workspace.embedding_model,
                "ids": list(marks),
                "unseen_from": next(iter(marks.values())),
                "neighbours": examine.NEIGHBOURS,
                "saw_nothing": SAW_NOTHING,
            },
        )
        rows = cursor.fetchall()
    memories = Memory.objects.in_bulk({memory_id for row in rows for memory_id in row[:2]})
    found: dict[Memory, list[tuple[Memory, float]]] = defaultdict(list)
    for memory_id, other_id, cosine in rows:
        found[memories[memory_id]].append((memories[other_id], cosine))
    return found


def _states(neighbours: Mapping[Memory, list[NearMemory]], model: str) -> dict[str, WordStates]:
    """Return the token states of memories and of their neighbours, by content."""
    near = {other for found in neighbours.values() for other, _ in found}
    return word_states_of(near | neighbours.keys(), model)


def _judge(
    workspace: Workspace, memory: Memory, near: Iterable[NearMemory], comparer: Comparer
) -> list[JudgedNeighbour]:
    """Return the neighbours that a memory duplicates or contradicts."""
    statement = NewStatement(
        memory.content, memory.content_hash, memory.scope, memory.project, memory.provenance
    )
    judged = judge_among(statement, near, workspace.config, comparer)
    return [one for one in judged if one.decision.outcome != "created"]


def _file(
    workspace: Workspace,
    ids: Collection[UUID],
    judged: dict[Memory, list[JudgedNeighbour]],
    *,
    actor: Actor,
    now: datetime,
) -> dict[UUID, SecondLook]:
    """Create suggestions and findings for memories unchanged since, and clear the marks."""
    read = {one.memory for near in judged.values() for one in near} | set(judged)
    stored = {memory.id: memory for memory in lock({*ids, *(memory.id for memory in read)})}
    due = {memory_id for memory_id in ids if memory_id in stored and _is_due(stored[memory_id])}
    same = {memory.id for memory in read if _is_as_read(stored.get(memory.id), memory)}
    pairs = [
        (memory, one)
        for memory, near in judged.items()
        for one in near
        if memory.id in due and {memory.id, one.memory.id} <= same
    ]
    suggested = suggest_all(
        (
            one.as_proposal(memory, now)
            for memory, one in pairs
            if one.decision.outcome != "kept_apart"
        ),
        actor=actor,
        now=now,
    )
    found: dict[UUID, SecondLook] = {}
    for memory, one in pairs:
        if one.decision.outcome == "kept_apart":
            found[memory.id] = SecondLook("kept_apart", one)
        elif pair_of(memory.id, one.memory.id) in suggested:
            found.setdefault(memory.id, SecondLook("suggested", one))
    _note(found)
    apart = {memory_id for memory_id, one in found.items() if one.outcome == "kept_apart"}
    if apart:
        memories_written.send(
            Memory,
            workspace=workspace,
            memory_ids=sorted(apart),
            first_in_line=apart,
            actor=actor,
            now=now,
        )
    Memory.objects.filter(pk__in=due).update(unseen_from=None)
    return found


def _is_due(memory: Memory) -> bool:
    return memory.unseen_from is not None


def _is_as_read(stored: Memory | None, read: Memory) -> bool:
    """Return whether a memory is live and has the content that was compared."""
    if stored is None or not stored.is_live:
        return False
    place = (stored.scope, stored.project, stored.content_hash)
    return place == (read.scope, read.project, read.content_hash)


def _note(found: dict[UUID, SecondLook]) -> None:
    """Store the outcome with each observation."""
    noted = list(Observation.objects.filter(memory__in=list(found), outcome="created"))
    for observation in noted:
        one = found[observation.memory_id]
        report = GateReport(one.outcome, one.best)
        observation.outcome = one.outcome
        observation.gate = report.as_record() | {"triggered": True}
    Observation.objects.bulk_update(noted, ["outcome", "gate"])
