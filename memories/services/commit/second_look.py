"""The second look: new memories are compared with what was written while the gate looked.

Commits that run at the same time do not see each other. Each counts itself last, in a row that all
writers of a workspace share (`CorpusSize.writes`): of two commits the later one finds the other
counted, which the gate cannot have seen. It marks what it created in the same transaction
(`Memory.unseen_from`) and compares it after the commit, when nobody waits for its locks. Where a
process dies in between, or the commit is a part of a larger transaction (an Idempotency-Key), the
mark is found by `memories.second_look`. Looking twice proposes nothing twice.

A statement that a call had no room to compare (`memories/core/comparing.py`) is marked as well, as
one that saw nothing (`SAW_NOTHING`), and is compared with all of its place.

Both memories are live by then, so that what the gate would have merged is put to a person.
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
from engram.kernel.conditions import condition_of
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.planning import by_index
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.comparing import CHARS_A_CALL, Comparer
from memories.core.gate import Outcome
from memories.models import Memory, Observation
from memories.services.commit.transaction import Committed
from memories.services.gate import examine
from memories.services.gate.neighbours import Row
from memories.services.gate.suggestions import Proposal, pair_of, suggest_all
from memories.services.locks import lock
from memories.signals import memories_written

log = logging.getLogger(__name__)
TASK = "memories.second_look"
MEMORIES_A_TURN = 200
SAW_NOTHING = 0  # a mark: a transaction older than all

# A row's xmin is the transaction that wrote it last; ages are compared because the numbers wrap.
# The memories of one commit were marked by one statement: the gate has compared them already.
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
    """What a second look found about a memory."""

    outcome: Outcome
    best: examine.JudgedNeighbour


def mark_due(ids: Sequence[UUID], unseen_from: int) -> None:
    """Write down that new memories are due; runs in the transaction that wrote them."""
    if ids:
        Memory.objects.filter(pk__in=ids).update(unseen_from=unseen_from)


def look_now_or_later(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> dict[UUID, SecondLook]:
    """Look again at what was committed just now; when the database refuses, the sweep does it.

    So it does with what is too much for one call.
    """
    try:
        return look_again(workspace, ids, actor=actor, now=now)
    except (Error, StaleError) as error:
        log.warning("a second look is left to the sweep: %s", type(error).__name__)
        return {}


def look_at_due(workspace: Workspace, *, now: datetime) -> int:
    """Look again at all that is due in a workspace; return how many memories."""
    total = 0
    while True:
        with in_workspace(workspace):
            due = Memory.objects.filter(unseen_from__isnull=False).order_by("pk")
            sizes = list(due.values_list("pk", Length("content"))[:MEMORIES_A_TURN])
        if not sizes:
            return total
        ids = _a_turn(sizes)
        look_again(workspace, ids, actor=SYSTEM, now=now)
        total += len(ids)


def _a_turn(sizes: Sequence[tuple[UUID, int]]) -> list[UUID]:
    """Return the first of the memories that are due, as many as one call is likely to compare."""
    pairs = 2 * examine.NEIGHBOURS  # both texts of each count
    sums = accumulate(size * pairs for _, size in sizes)
    room = [pk for (pk, _), chars in zip(sizes, sums, strict=True) if chars <= CHARS_A_CALL]
    return room or [sizes[0][0]]


@retry_on_collision
def look_again(
    workspace: Workspace, ids: Collection[UUID], *, actor: Actor, now: datetime
) -> dict[UUID, SecondLook]:
    """Compare memories that are due with what the gate did not see; return what was found.

    As many statements for a hundred memories as for one, and none while claims are compared. What
    one call has no room to compare stays due, and a worker is asked to go on.
    """
    with in_workspace(workspace):
        neighbours = _unseen(workspace, ids, now=now)
    comparer = Comparer(CHARS_A_CALL)
    judged: dict[Memory, list[examine.JudgedNeighbour]] = {}
    left: set[UUID] = set()
    for memory, near in neighbours.items():
        texts = examine.near_texts(near, workspace.config)
        if left or not comparer.has_room(texts, memory.content):
            left.add(memory.id)
        else:
            judged[memory] = _judge(workspace, memory, near, comparer)
    with in_workspace(workspace):
        if left:
            wake(TASK, workspace.pk)
        return _file(workspace, set(ids) - left, judged, actor=actor, now=now)


def add_second_look(result: Committed, all_found: Mapping[UUID, SecondLook]) -> Committed:
    """Return the answer to a commit with what a second look found."""
    found = all_found.get(result.memory.id) if result.memory is not None else None
    if found is None or result.outcome not in ("created", "suggested", "kept_apart"):
        return result
    if result.outcome != "created":
        is_apart = "kept_apart" in (result.outcome, found.outcome)
        return replace(result, outcome="kept_apart" if is_apart else "suggested")
    report = replace(result.gate, outcome=found.outcome, best=found.best, is_triggered=True)
    return replace(result, outcome=found.outcome, gate=report)


def _unseen(
    workspace: Workspace, ids: Collection[UUID], *, now: datetime
) -> dict[Memory, list[tuple[Memory, float]]]:
    """Return for each memory the nearest of its place that the gate did not see."""
    due = Memory.objects.filter(pk__in=ids, unseen_from__isnull=False)
    marks = dict(due.order_by("unseen_from").values_list("pk", "unseen_from"))
    if not marks:
        return {}
    condition = condition_of(Memory.objects.recallable(now).order_by())
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


def _judge(
    workspace: Workspace, memory: Memory, near: Iterable[Row], comparer: Comparer
) -> list[examine.JudgedNeighbour]:
    """Return the neighbours that a memory repeats or contradicts."""
    statement = examine.NewStatement(
        memory.content, memory.content_hash, memory.scope, memory.project, memory.provenance
    )
    judged = examine.examine_among(statement, near, workspace.config, comparer)
    return [one for one in judged if one.decision.outcome != "created"]


def _file(
    workspace: Workspace,
    ids: Collection[UUID],
    judged: dict[Memory, list[examine.JudgedNeighbour]],
    *,
    actor: Actor,
    now: datetime,
) -> dict[UUID, SecondLook]:
    """Put to people what still holds, and take the marks away."""
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
            Proposal(
                one.memory, memory, one.comparison.relation, one.similarity, one.decision.reasons
            )
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
            Memory, workspace=workspace, memory_ids=sorted(apart), first_in_line=apart, now=now
        )
    Memory.objects.filter(pk__in=due).update(unseen_from=None)
    return found


def _is_due(memory: Memory) -> bool:
    return memory.unseen_from is not None


def _is_as_read(stored: Memory | None, read: Memory) -> bool:
    """Tell whether a memory is live and says what was compared."""
    if stored is None or not stored.is_live:
        return False
    place = (stored.scope, stored.project, stored.content_hash)
    return place == (read.scope, read.project, read.content_hash)


def _note(found: dict[UUID, SecondLook]) -> None:
    """Keep with each statement what became of it."""
    noted = list(Observation.objects.filter(memory__in=list(found), outcome="created"))
    for observation in noted:
        one = found[observation.memory_id]
        report = examine.GateReport(one.outcome, one.best)
        observation.outcome = one.outcome
        observation.gate = report.as_record() | {"triggered": True}
    Observation.objects.bulk_update(noted, ["outcome", "gate"])
