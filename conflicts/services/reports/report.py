"""Report that memories contradict each other, by a person or an agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import comb
from typing import Literal
from uuid import UUID

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding, FindingKind
from conflicts.core.questions import ask_ambiguity, ask_reversal
from conflicts.core.rules.reported import AGENT_REPORTS, CORRECTION, PERSON_REPORTS
from conflicts.core.rules.rule import Rule
from conflicts.core.subjects import group_by_subject, note_of, share_nothing
from conflicts.models import Conflict, JudgedRelation
from conflicts.services.cards.consequences import compare_members, question_of
from conflicts.services.cards.discuss import add_comment
from conflicts.services.cards.file import file_findings, lock_filing
from conflicts.services.cards.locks import with_comparisons
from conflicts.services.cards.question import live_members
from conflicts.services.causes import ALREADY_DECIDED, SEVERAL_QUESTIONS
from conflicts.services.reports import judgements
from conflicts.services.reports.records import (
    check_hourly_limit,
    has_too_many_cards,
    is_confirmed_by_another,
    record_judgement,
    record_of,
)
from conflicts.services.reports.related import card_of, open_card_of, related_members, vectors_of
from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.credentials import refuse_credentials
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.track_records import Record
from memories.models import Memory, Provenance, State
from memories.services.causes import FORGOTTEN_BEFORE
from memories.services.commit import commit
from memories.services.commit.draft import Draft
from memories.services.locks import lock

ReportResult = Literal["opened", "joined", "known", "decided", "kept", "capped"]
REASON_MAX_CHARS = 1000
ONE_QUESTION = "a conflict asks one question; report each by itself."


@dataclass(frozen=True, slots=True)
class ReportOutcome:
    """Result of a report: a card was opened, joined or known; or people decided before.

    `kept` means that no card opens until somebody else reports the same, `capped` that none opens
    before people have decided about others of a new key; `card` is None.
    """

    outcome: ReportResult
    card: Conflict | None


def report(
    workspace: Workspace,
    memory_ids: Sequence[UUID],
    *,
    note: str,
    actor: Actor,
    now: datetime,
) -> ReportOutcome:
    """Open a card about these memories, or join a waiting one; raise when people decided before."""
    refuse_credentials({"note": note})

    def file(known: Comparisons) -> ReportOutcome:
        lock_filing()
        check_hourly_limit(actor, workspace.config, now=now)
        rule = PERSON_REPORTS if actor.counts_as_person else AGENT_REPORTS
        reported = _report(workspace, memory_ids, known, note=note, rule=rule, actor=actor, now=now)
        if reported.card is not None:  # the answer shows its consequences
            live = live_members(reported.card, now)
            compare_members(question_of(reported.card, live, [m.memory for m in live], known))
        return reported

    return with_comparisons(workspace, file)


def _report(
    workspace: Workspace,
    memory_ids: Sequence[UUID],
    known: Comparisons,
    *,
    note: str,
    rule: Rule,
    actor: Actor,
    now: datetime,
) -> ReportOutcome:
    """Report within the caller's transaction, which holds the filing lock."""
    named = _read_live(memory_ids, known, model=workspace.embedding_model, now=now)
    gathered = lock_report(named, known, model=workspace.embedding_model, now=now)
    before, newest = gathered.pair
    record = record_of(actor)
    if not actor.counts_as_person:  # it counts for the agent's record
        judgements.keep(
            newest, before, JudgedRelation.CONTRADICTS,
            reason=note[:REASON_MAX_CHARS], weight=record.weight, actor=actor, now=now,
        )  # fmt: skip
    if actor.key_id is not None:  # it counts for the key's hourly limit
        record_judgement(
            newest, before, JudgedRelation.CONTRADICTS,
            pairs=comb(len(set(memory_ids)), 2), actor=actor, now=now,
        )  # fmt: skip
    reported = file_report(
        gathered, known, reason=note, record=record, rule=rule, config=workspace.config,
        actor=actor, now=now,
    )  # fmt: skip
    if reported.outcome == "decided":
        raise StaleError("People have decided about these memories already.", cause=ALREADY_DECIDED)
    # The question of a card that others opened is unchanged; the note becomes a comment.
    card = reported.card
    if card is not None and note and card.reasoning != note:
        is_repeated = card.comments.filter(author=actor.label, text=note).exists()
        if not is_repeated:
            add_comment(card, note, actor=actor, now=now)
    return reported


def correct(
    workspace: Workspace, memory_id: UUID, *, right: str, actor: Actor, now: datetime
) -> ReportOutcome:
    """Report that a memory is wrong: commit the correction and open a card about both.

    The memory stays until somebody decides; a person's correction is `user_stated`.
    """
    with in_workspace(workspace):
        [wrong] = _live([memory_id], now, "memory_id")
    provenance = Provenance.USER_STATED if actor.counts_as_person else Provenance.ASSISTANT_DERIVED
    draft = Draft(content=right, scope=wrong.scope, project=wrong.project, provenance=provenance)
    prepared = commit.prepare([draft], workspace.embedding_model)

    def file(known: Comparisons) -> ReportOutcome:
        lock_filing()
        check_hourly_limit(actor, workspace.config, now=now)
        [result] = commit.write(workspace, prepared, actor=actor, now=now, is_gated=False)
        if result.memory is None:
            raise InvalidError(
                "right",
                "Exactly this was forgotten before; restore it first.",
                cause=FORGOTTEN_BEFORE,
            )
        if result.memory.id == wrong.id:
            raise InvalidError("right", "This is what the memory says already.")
        both = [memory_id, result.memory.id]
        at = result.memory.updated_at
        return _report(workspace, both, known, note="", rule=CORRECTION, actor=actor, now=at)

    return with_comparisons(workspace, file)


@dataclass(frozen=True, slots=True)
class ReportedMemories:
    """The locked memories of a report by time, and the newest pair that it names."""

    memories: tuple[Memory, ...]
    pair: tuple[Memory, Memory]  # the earlier first
    has_card: bool  # a waiting card covers the pair
    joins: bool  # or one on the same topic gets the pair


def _read_live(
    memory_ids: Sequence[UUID], known: Comparisons, *, model: str, now: datetime
) -> list[Memory]:
    """Return the live memories; refuse missing ones, and several questions in one report."""
    found = _live(memory_ids, now, "memory_ids")
    if len({memory.lineage for memory in found}) < 2:
        raise InvalidError("memory_ids", "Name two memories of different lineages.")
    if len(found) > 2:  # two named memories are one question, whatever their subjects
        ordered = sorted(found, key=_by_time)
        _demand_one_subject(ordered, known)
        _demand_related(ordered, model)
    return found


def _demand_one_subject(named: Sequence[Memory], known: Comparisons) -> None:
    """Refuse memories about several subjects."""
    subjects = group_by_subject(named, note_of, is_other=known.are_of_other_subjects)
    if len(subjects) > 1:
        other = subjects[1][0]
        raise InvalidError(
            "memory_ids",
            f"{other.id} speaks of another thing than {subjects[0][0].id}: {ONE_QUESTION}",
            cause=SEVERAL_QUESTIONS,
        )


def _demand_related(named: Sequence[Memory], model: str) -> None:
    """Refuse a memory that is unrelated to all others; one that is not embedded is accepted."""
    vectors = vectors_of([memory.id for memory in named], model)
    for one in named:
        if all(
            one.id in vectors
            and other.id in vectors
            and share_nothing(
                note_of(one), note_of(other), float(vectors[one.id] @ vectors[other.id])
            )
            for other in named
            if other is not one
        ):
            raise InvalidError(
                "memory_ids",
                f"{one.id} has nothing to do with the others: {ONE_QUESTION}",
                cause=SEVERAL_QUESTIONS,
            )


def _live(memory_ids: Sequence[UUID], now: datetime, field: str) -> list[Memory]:
    wanted = set(memory_ids)
    found = list(Memory.objects.recallable(now).filter(pk__in=wanted))
    if missing := wanted - {memory.id for memory in found}:
        raise InvalidError(field, f"There is no live memory {min(missing)}.")
    return found


def _by_time(memory: Memory) -> tuple[datetime, datetime, UUID]:
    return memory.observed_at, memory.created_at, memory.id


def lock_report(
    named: Sequence[Memory], known: Comparisons, *, model: str, now: datetime
) -> ReportedMemories:
    """Lock the memories of a report, with the members of a waiting card on the same topic.

    All are locked together, in the order of their ids, to avoid deadlocks. Raises `StaleError` when
    one of them changed since it was read.
    """
    ordered = sorted(named, key=_by_time)
    before, newest = ordered[-2:]
    joins = has_card = open_card_of(newest, before) is not None
    if not has_card and len(ordered) == 2:
        related = related_members(newest, before, known, model=model, now=now)
        joins = bool(related)
        ordered = sorted({*ordered, *related}, key=_by_time)
    live = {m.id: m for m in lock({m.id for m in ordered}) if m.state(now) == State.ACTIVE}
    kept = [live[m.id] for m in ordered if m.id in live and live[m.id].revision == m.revision]
    if len(kept) < len(ordered):
        raise StaleError(
            "One of these memories changed meanwhile; read them again.", cause=CHANGED_MEANWHILE
        )
    return ReportedMemories(tuple(kept), (live[before.id], live[newest.id]), has_card, joins)


def file_report(
    gathered: ReportedMemories,
    known: Comparisons,
    *,
    reason: str,
    record: Record,
    rule: Rule,
    config: WorkspaceSettings,
    actor: Actor,
    now: datetime,
) -> ReportOutcome:
    """File a report about locked memories; the caller's transaction holds the filing lock.

    1. Unless a waiting card covers the pair, the reporter's record or another caller must confirm
    it, and a new key must not have too many undecided cards. 2. File the finding. 3. Update the
    card's confidence.
    """
    before, newest = gathered.pair
    may_open = actor.counts_as_person or record.may_open
    if not (gathered.has_card or may_open or is_confirmed_by_another(newest, before, actor)):
        return ReportOutcome("kept", None)
    is_full = not gathered.joins and has_too_many_cards(actor, record, config)
    if is_full and not is_confirmed_by_another(newest, before, actor, is_established=True):
        return ReportOutcome("capped", None)
    filed = file_findings(
        [
            _make_finding(
                gathered.memories, known, reason=reason, record=record, rule=rule, actor=actor
            )
        ],
        known,
        detected_by="person" if actor.counts_as_person else "agent",
        actor=actor,
        now=now,
        is_reported=True,
    )
    if not filed.cards:
        return ReportOutcome("decided", card_of(newest, before))
    card = Conflict.objects.get(pk=filed.cards[0])
    judgements.link(card, newest, before)
    return ReportOutcome("opened" if filed.opened else "joined" if filed.joined else "known", card)


def _make_finding(
    memories: Sequence[Memory],
    known: Comparisons,
    *,
    reason: str,
    record: Record,
    rule: Rule,
    actor: Actor,
) -> Finding:
    """Return the finding whose question is whether the newest claim still holds."""
    newest = memories[-1]
    makes_it = known.match_claim(newest.content, [m.content for m in memories])
    for_yes = [m for m, is_so in zip(memories, makes_it, strict=True) if is_so]
    against = [m for m in memories if m not in for_yes] or list(memories[:-1])
    is_return = any(m.observed_at < against[-1].observed_at for m in for_yes)
    kind: FindingKind = "reversal" if is_return else "ambiguity"
    ask = ask_reversal if is_return else ask_ambiguity
    return Finding(
        kind=kind,
        fact_ids=tuple(str(memory.id) for memory in memories),
        yes_keeps=tuple(str(memory.id) for memory in for_yes),
        question=ask(newest.content, against[-1].content),
        reasoning=reason or f"{actor.label} reports that these contradict each other.",
        severity="medium",
        confidence=round(record.weight, 3),
        suggestion=None,
        rules=(rule.id,),
    )
