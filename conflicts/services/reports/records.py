"""Agents' records of confirmed and dismissed contradictions, and their hourly limit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q

from conflicts.models import Decision, JudgedRelation, Judgement
from conflicts.models.card import WAITING
from conflicts.models.decision import Verdict
from conflicts.services.reports.judgements import by_agents, contradictions
from engram.kernel.actors import Actor
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.history import record
from engram.kernel.locks import one_at_a_time
from engram.kernel.models import Event, Workspace
from engram.kernel.refusals import LimitError
from engram.kernel.tenancy import current_workspace_id, in_workspace
from memories.core.track_records import Record
from memories.models import Memory
from memories.services.review.trust import PERSONS_ROLES

HOUR = timedelta(hours=1)
JUDGED_EVENT = "memory.judged"


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """One agent's judgements, and people's verdicts on its contradictions."""

    agent: str
    judged: int  # pairs, with any relation
    contradicts: int
    kept: int  # contradictions without a card, because nobody else confirmed them
    record: Record


def agent_records(workspace: Workspace) -> list[AgentRecord]:
    """Return the record of every agent that judged or reported, the busiest first.

    A card counts once per agent; every verdict except `dismiss` confirms it. Undone verdicts and
    lapsed cards do not count.
    """
    with in_workspace(workspace):
        against = Q(relation=JudgedRelation.CONTRADICTS)
        counted = Judgement.objects.filter(by_agents()).order_by().values("agent")
        rows = counted.annotate(
            judged=Count("pk"),
            contradicts=Count("pk", filter=against),
            kept=Count("pk", filter=against & Q(conflict=None)),
        )
        records = _records()
        found = [
            AgentRecord(
                row["agent"], row["judged"], row["contradicts"], row["kept"],
                records.get(row["agent"], Record()),
            )
            for row in rows
        ]  # fmt: skip
    return sorted(found, key=lambda one: (-one.judged, one.agent))


def record_of(actor: Actor) -> Record:
    """Return the record of an actor in the current workspace; an empty one for people."""
    if actor.counts_as_person:
        return Record()
    return _records(actor.label).get(actor.label, Record())


def _records(agent: str | None = None) -> dict[str, Record]:
    judged = Judgement.objects.filter(
        by_agents(), relation=JudgedRelation.CONTRADICTS, conflict__isnull=False
    )
    if agent is not None:
        judged = judged.filter(agent=agent)
    pairs = set(judged.order_by().values_list("agent", "conflict_id"))
    current = Decision.objects.filter(undone_at=None, conflict__in={card for _, card in pairs})
    verdicts = dict(current.values_list("conflict_id", "verdict"))
    confirmed: Counter[str] = Counter()
    dismissed: Counter[str] = Counter()
    for name, card in pairs:
        if card in verdicts:
            (dismissed if verdicts[card] == Verdict.DISMISS else confirmed)[name] += 1
    return {name: Record(confirmed[name], dismissed[name]) for name, _ in pairs}


def check_hourly_limit(actor: Actor, config: WorkspaceSettings, *, now: datetime) -> None:
    """Lock the caller's judgements, and refuse a key that has reached its hourly limit."""
    one_at_a_time(f"judgements:{current_workspace_id()}:{actor.kind}:{actor.id}")
    if actor.key_id is None:
        return
    most, count = config.judgements_per_hour, 0
    mine = Event.objects.filter(
        type=JUDGED_EVENT, actor_kind=actor.kind, actor_id=actor.id, at__gt=now - HOUR
    )
    for at, data in mine.order_by("-at").values_list("at", "data")[:most]:
        count += data.get("pairs", 1)
        if count >= most:
            left = (at + HOUR - now).total_seconds()
            raise LimitError(f"This key judged {most} relations within an hour.", wait=left)


def record_judgement(
    memory: Memory, other: Memory, relation: str, *, pairs: int = 1, actor: Actor, now: datetime
) -> None:
    """Record the event of a judgement; a repeated answer counts again for the limit."""
    data = {"other": str(other.id), "relation": relation, "pairs": pairs}
    record(JUDGED_EVENT, of=("memory", memory.id), actor=actor, now=now, data=data)


def has_too_many_cards(actor: Actor, record: Record, config: WorkspaceSettings) -> bool:
    """Return whether a key whose reports are not decided yet has opened as many cards as it may.

    Counted are the waiting cards that an agent opened and that this key reported.
    """
    if actor.key_id is None or actor.counts_as_person or record.is_established:
        return False
    own = Judgement.objects.filter(
        key=actor.key_id,
        relation=JudgedRelation.CONTRADICTS,
        conflict__status__in=WAITING,
        conflict__detected_by__0="agent",
    )
    cards = own.order_by().values("conflict").distinct().count()
    return cards >= config.undecided_cards_per_key


def is_confirmed_by_another(
    memory: Memory, other: Memory, actor: Actor, *, is_established: bool = False
) -> bool:
    """Return whether a person, or another key whose record may open cards, judged the same.

    With `is_established` the other key must have decided reports, so that new keys do not confirm
    each other.
    """
    theirs = contradictions(memory, other).exclude(key__isnull=False, key=actor.key_id)
    for key, role, label in theirs.order_by().values_list("key_id", "key__role", "agent"):
        if key is None and label == actor.label:  # the same agent, under a deleted key
            continue
        if key is None or role in PERSONS_ROLES:
            return True
        record = _records(label).get(label, Record())
        if record.may_open and (record.is_established or not is_established):
            return True
    return False
