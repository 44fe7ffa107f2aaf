"""Process the drafts of one transaction: observe duplicates, merge, create or request a review."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import numpy as np

from engram.kernel.actors import Actor
from engram.kernel.history import record, send
from engram.kernel.inserting import insert
from engram.kernel.models import Workspace
from memories.core.comparing import Comparer
from memories.core.typed_answers import typed_answers
from memories.models import Memory, Observation, ReviewKind, State
from memories.services.commit.draft import Draft, without_known_claims
from memories.services.commit.rows import known_sources, lock_replaced, new_memory, observation_of
from memories.services.gate import examine, protection
from memories.services.gate.merge import merge_into
from memories.services.gate.report import GateReport, JudgedNeighbour, NewStatement
from memories.services.gate.suggestions import Proposal, suggest_all
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import forgotten_memory, live_twins
from memories.services.lifecycle.attached import Links
from memories.services.lifecycle.create import create
from memories.services.lifecycle.repeated import add_missing_answers
from memories.services.lifecycle.states import hide, restore_fields
from memories.services.locks import lock
from memories.services.review.ask import request_review
from memories.services.review.trust import (
    ReviewNeededError,
    demand_all,
    demand_claims,
    demand_may_restore,
    demand_trust,
)

MICROSECOND = timedelta(microseconds=1)
LOOKS = 3  # attempts when the neighbour changes while the gate compares


@dataclass(frozen=True, slots=True)
class NearbyMemory:
    """A memory on the subject of a new one that no rule could judge, and why it is asked about."""

    memory: Memory
    why: str


CREATED: Final = frozenset(["created", "suggested", "kept_apart"])  # outcomes of a new memory


@dataclass(frozen=True, slots=True)
class Committed:
    """The result of committing one draft."""

    outcome: str
    memory: Memory | None
    gate: GateReport = field(default_factory=GateReport)
    is_detection_queued: bool = False
    nearby: tuple[NearbyMemory, ...] = ()  # the writer may report how they relate
    links: Links | None = None  # tags, sources and answers of a new memory
    review: UUID | None = None  # the pending review, when the outcome is `pending`


class CommitTransaction:
    """The state of one commit transaction."""

    def __init__(
        self,
        workspace: Workspace,
        model: str,
        known: set[str],
        size: int,
        *,
        actor: Actor,
        now: datetime,
        is_gated: bool,
        comparer: Comparer,
    ):
        self.workspace = workspace
        self.actor = actor
        self.now = now
        self.model = model
        self.known = known  # hashes of statements committed before
        self.size = size  # `corpus_size()` at the start
        self.is_gated = is_gated
        self.comparer = comparer
        self.words = WordIndex()
        self.written: list[UUID] = []
        self.created: set[UUID] = set()
        self.gated: set[UUID] = set()  # created memories that passed the gate
        self.left_for_later: set[UUID] = set()  # of `gated`, those not compared with any memory
        self.kept_apart: set[UUID] = set()
        self._proposals: list[Proposal] = []

    def commit_one(self, draft: Draft, digest: str, vectors: np.ndarray | None) -> Committed:
        """Write one draft, or request a review where the caller may not write it alone."""
        self.now += MICROSECOND  # distinct times keep the order
        draft = replace(draft, agent=self.actor.agent_name(draft.agent))
        try:
            known = self._commit_known(draft, digest) if digest in self.known else None
            if known is None:
                self._demand(draft)
                known = self._decide(draft, digest, vectors)
        except ReviewNeededError as needed:  # raised before any write
            review = request_review(
                self.workspace, needed, draft.as_json(), actor=self.actor, now=self.now
            )
            return Committed("pending", None, review=review.id)
        self.known.add(digest)
        return known

    def _demand(self, draft: Draft, *others: Callable[[], object]) -> None:
        """Raise one `ReviewNeededError` for everything that the caller may not do or claim."""
        demand_all(
            lambda: self._demand_trust(lock_replaced(draft), draft),
            *others,
            lambda: demand_claims(
                draft.provenance,
                {"is_pinned": draft.is_pinned, "kind": draft.kind},
                actor=self.actor,
            ),
        )

    def _commit_known(self, draft: Draft, digest: str) -> Committed | None:
        """Handle a statement committed before; None if no live or forgotten memory has it."""
        twins = live_twins(digest, scope=draft.scope, project=draft.project, now=self.now)
        if (twin := twins.order_by("created_at").first()) is not None:
            return self._commit_duplicate(twin, draft)
        if (forgotten := forgotten_memory(digest)) is not None:
            if not draft.is_revival:
                record(
                    "memory.suppressed", of=("memory", forgotten.id), actor=self.actor, now=self.now
                )
                return Committed("suppressed", None)
            if (revived := self._revive(forgotten, draft)) is not None:
                return revived
        return None

    def _decide(self, draft: Draft, digest: str, vectors: np.ndarray | None) -> Committed:
        """Apply the gate if it applies to this draft, else create the memory."""
        if self.is_gated and vectors is not None and draft.supersedes is None:
            return self._pass_gate(draft, digest, vectors)
        return self._create_gated(draft, digest, vectors, GateReport())

    def _pass_gate(self, draft: Draft, digest: str, vectors: np.ndarray) -> Committed:
        """Run the gate; run it again if the neighbour to merge into changed meanwhile."""
        for _ in range(LOOKS):
            report = self._examine(draft, digest, vectors)
            if report.outcome != "merged" or report.best is None:
                return self._create_gated(draft, digest, vectors, report)
            compared = report.best.memory
            stored = next(iter(lock([compared.id])), None)
            if stored is not None and (stored.revision, stored.updated_at) == (
                compared.revision,
                compared.updated_at,
            ):
                statement = self._statement(draft, digest)
                report = protection.protect_decided(report, statement, self.actor)
                report = protection.protect_disputed(report)
                if report.outcome != "merged":
                    return self._create_gated(draft, digest, vectors, report)
                return self._merge(stored, draft, vectors, report)
        return self._create_gated(draft, digest, vectors, GateReport())

    def _statement(self, draft: Draft, digest: str) -> NewStatement:
        return NewStatement(draft.content, digest, draft.scope, draft.project, draft.provenance)

    def _examine(self, draft: Draft, digest: str, vectors: np.ndarray) -> GateReport:
        return examine.examine(
            self._statement(draft, digest), vectors, self.model, self.workspace.config,
            actor=self.actor, now=self.now, size=self.size, comparer=self.comparer,
        )  # fmt: skip

    def _create_gated(
        self, draft: Draft, digest: str, vectors: np.ndarray | None, report: GateReport
    ) -> Committed:
        """Create a memory, with suggestions for neighbours that probably duplicate it."""
        memory, links = self._create(draft, digest, vectors, report)
        if self.is_gated and vectors is not None and draft.supersedes is None:
            self.gated.add(memory.id)
        if report.is_left_for_later:
            self.left_for_later.add(memory.id)
        if report.outcome == "suggested" and report.best is not None:
            self._suggest(memory, [report.best, *report.also])
        if report.outcome == "kept_apart":
            self.kept_apart.add(memory.id)
            self._suggest(memory, report.also)
        return Committed(report.outcome, memory, report, links=links)

    def _suggest(self, memory: Memory, neighbours: Iterable[JudgedNeighbour]) -> None:
        """Suggest merges with neighbours that probably make the same statement."""
        self._proposals += (judged.as_proposal(memory, self.now) for judged in neighbours)

    def write_suggestions(self) -> None:
        """Write the suggestions of all drafts, after the last of them."""
        if self._proposals:
            suggest_all(self._proposals, actor=self.actor, now=self.now)

    def _commit_duplicate(self, memory: Memory, draft: Draft) -> Committed:
        """Observe a duplicate; if it is newer than the memory, detection reads it again."""
        draft = without_known_claims(draft, memory, actor=self.actor)
        self._demand(draft)
        replaced = lock_replaced(draft)
        if replaced is not None and replaced.id != memory.id:
            hide([replaced], "superseded_at", actor=self.actor, now=self.now, successor=memory)
        observation = self._observe(memory, draft, "duplicate")
        answered = self._add_answers(memory, observation, draft)
        if answered is not None or (draft.observed_at or self.now) > memory.observed_at:
            self.written.append(memory.id)
        return Committed("duplicate", answered or memory)

    def _revive(self, memory: Memory, draft: Draft) -> Committed | None:
        """Restore a forgotten memory; None if it is also retired or superseded."""
        locked = lock([memory.id])[0]
        self._demand(draft, lambda: demand_may_restore(locked, actor=self.actor))
        replaced = lock_replaced(draft)
        restore_fields(locked, {"forgotten_at": None}, actor=self.actor, now=self.now)
        if locked.state(self.now) != State.ACTIVE:
            return None
        if replaced is not None:
            hide([replaced], "superseded_at", actor=self.actor, now=self.now, successor=locked)
        observation = self._observe(locked, draft, "revived")
        answered = self._add_answers(locked, observation, draft)
        self.written.append(locked.id)
        return Committed("created", answered or locked)

    def _add_answers(self, memory: Memory, observation: Observation, draft: Draft) -> Memory | None:
        """Add to a memory what a repetition of it answers besides; None if nothing changed."""
        if not draft.answers:
            return None
        return add_missing_answers(
            memory.id, draft.answers, sent=observation, actor=self.actor, now=self.now
        )

    def _merge(
        self, stored: Memory, draft: Draft, vectors: np.ndarray, report: GateReport
    ) -> Committed:
        """Merge a draft into a locked memory: keep the better wording, store an observation.

        The gate has just compared the new wording with all neighbours, so for a reworded survivor
        merges are suggested and nothing more is merged.
        """
        assert report.best is not None  # noqa: S101
        known_sources(draft)
        observation = self._observe(stored, draft, "merged", report)
        is_reworded = merge_into(
            stored, observation, report.best, words=self.words, actor=self.actor, now=self.now
        )
        if is_reworded:
            reindex_vectors(stored, vectors, self.model)
            self._suggest(stored, report.also)
        self.written.append(stored.id)
        return Committed("merged", stored, report)

    def _create(
        self, draft: Draft, digest: str, vectors: np.ndarray | None, report: GateReport
    ) -> tuple[Memory, Links]:
        """Create a memory with its observation; supersede the memory that it replaces."""
        replaced = lock_replaced(draft)
        memory = new_memory(draft, digest, replaced, actor=self.actor, now=self.now)
        observation, committed = observation_of(
            memory, draft, report.outcome, report, actor=self.actor, now=self.now
        )
        links = Links(
            tags=sorted(set(draft.tags)),
            sources=known_sources(draft),
            replaced=replaced.id if replaced else None,
            answers=list(draft.answers or typed_answers(draft.content)),
        )
        create(
            memory,
            links,
            vectors,
            self.model,
            words=self.words,
            extra_rows=[observation, committed],
        )
        send(committed)
        if replaced:
            hide([replaced], "superseded_at", actor=self.actor, now=self.now, successor=memory)
        self.written.append(memory.id)
        self.created.add(memory.id)
        return memory, links

    def _demand_trust(self, replaced: Memory | None, draft: Draft) -> None:
        if replaced is not None:
            kind, provenance = ReviewKind.SUPERSEDE, draft.provenance
            demand_trust(replaced, kind=kind, provenance=provenance, actor=self.actor)

    def _observe(
        self,
        memory: Memory,
        draft: Draft,
        outcome: str,
        report: GateReport | None = None,
    ) -> Observation:
        """Store the observation and its event."""
        observation, committed = observation_of(
            memory, draft, outcome, report, actor=self.actor, now=self.now
        )
        insert([observation, committed])
        send(committed)
        return observation
