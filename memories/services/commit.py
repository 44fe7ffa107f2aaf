"""Committing memories: secrets, duplicates, the gate, one transaction, then the answer."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
from django.db import DatabaseError

from engram.kernel.actors import Actor
from engram.kernel.collisions import AGAIN, is_collision
from engram.kernel.embedding import EmbeddingUnavailableError, embed_windows
from engram.kernel.history import event, record, send
from engram.kernel.inserting import insert
from engram.kernel.models import Event, Workspace
from engram.kernel.planning import by_index
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.content import content_hash, credential_in
from memories.models import Memory, Observation, ReviewKind, State
from memories.services import gate
from memories.services.create import create
from memories.services.draft import Draft
from memories.services.index import WordIndex, reindex_vectors
from memories.services.lifecycle import hide, hold, lock, put_back
from memories.services.links import Links
from memories.services.merge import merge_into
from memories.services.review import ask
from memories.services.statements import forgotten_memory, lock_statements
from memories.services.suggest import suggest
from memories.services.trust import ReviewNeededError, demand_all, demand_leave, demand_trust
from memories.signals import memories_written

log = logging.getLogger(__name__)
MICROSECOND = timedelta(microseconds=1)
ATTEMPTS = 3  # how often drafts are written when other writers are faster
LOOKS = 3  # how often the gate looks when others keep changing what it saw


@dataclass(frozen=True, slots=True)
class Committed:
    """What became of one draft."""

    outcome: str
    memory: Memory | None
    gate: gate.GateReport = field(default_factory=gate.GateReport)
    is_detection_queued: bool = False
    links: Links | None = None  # what hangs on a memory that was written now, as it stands there
    review: UUID | None = None  # what waits for a person, when the outcome is `pending`


def commit(workspace: Workspace, draft: Draft, *, actor: Actor, now: datetime) -> Committed:
    """Commit one memory."""
    return commit_all(workspace, [draft], actor=actor, now=now)[0]


@dataclass(frozen=True, slots=True)
class Prepared:
    """Drafts that carry no secret, with what is computed outside of a transaction."""

    drafts: tuple[Draft, ...]
    hashes: tuple[str, ...]
    windows: tuple[np.ndarray | None, ...]
    model: str

    def moved_to(self, *, scope: str, project: str) -> Prepared:
        """Return the same drafts for another place."""
        moved = tuple(replace(draft, scope=scope, project=project) for draft in self.drafts)
        return replace(self, drafts=moved)


def prepare(drafts: Sequence[Draft], model: str) -> Prepared:
    """Refuse what carries a credential, hash, and embed (nothing may hold a lock meanwhile).

    `model` is the workspace's.

    Without an embedding a memory is kept all the same, found by its words and embedded later.
    """
    for position, draft in enumerate(drafts):
        for name, text in draft.texts():
            if found := credential_in(text):
                path = name if len(drafts) == 1 else f"memories.{position}.{name}"
                raise InvalidError(path, f"This looks like {found}; secrets are not stored.")
    contents = [draft.content for draft in drafts]
    windows: list[np.ndarray | None]
    try:
        windows = list(embed_windows(contents, model))
    except EmbeddingUnavailableError as error:
        log.warning("%d memories are kept without an embedding: %s", len(contents), error)
        windows = [None] * len(contents)
    hashes = tuple(content_hash(content) for content in contents)
    return Prepared(tuple(drafts), hashes, tuple(windows), model)


def commit_all(
    workspace: Workspace,
    drafts: Sequence[Draft],
    *,
    actor: Actor,
    now: datetime,
    is_gated: bool = True,
    is_detected: bool = True,
) -> list[Committed]:
    """Commit drafts in order, all or none."""
    return write(
        workspace,
        prepare(drafts, workspace.embedding_model),
        actor=actor,
        now=now,
        is_gated=is_gated,
        is_detected=is_detected,
    )


def write(
    workspace: Workspace,
    prepared: Prepared,
    *,
    actor: Actor,
    now: datetime,
    is_gated: bool = True,
    is_detected: bool = True,
) -> list[Committed]:
    """Write prepared drafts, all or none; again when another writer was faster."""
    for attempt in range(ATTEMPTS):
        try:
            return _write(
                workspace, prepared, actor=actor, now=now,
                is_gated=is_gated, is_detected=is_detected,
            )  # fmt: skip
        except DatabaseError as error:
            if not is_collision(error):
                raise
            if attempt == ATTEMPTS - 1:
                raise StaleError(AGAIN) from error
    raise AssertionError  # the loop returns or raises


def _write(
    workspace: Workspace,
    prepared: Prepared,
    *,
    actor: Actor,
    now: datetime,
    is_gated: bool,
    is_detected: bool,
) -> list[Committed]:
    """Decide about prepared drafts and write them in one transaction.

    1. Lock each statement against its twin in another request. 2. Decide and write, in order.
    3. Count terms and tell upper apps last: their rows are shared by all writers of a workspace.
    """
    is_detected = is_detected and workspace.config.detection_enabled
    with in_workspace(workspace):
        known, size = lock_statements(prepared.hashes)
        _lock_named(prepared.drafts)
        run = _Run(workspace, prepared.model, known, size, actor=actor, now=now, is_gated=is_gated)
        rows = zip(prepared.drafts, prepared.hashes, prepared.windows, strict=True)
        results = []
        with by_index():  # once for all drafts
            for position, (draft, digest, vectors) in enumerate(rows):
                try:
                    results.append(run.commit_one(draft, digest, vectors))
                except InvalidError as error:
                    if len(prepared.drafts) == 1:
                        raise
                    field = f"memories.{position}.{error.field}"
                    raise InvalidError(field, error.message) from None
        run.words.write()
        if is_detected and run.written:
            memories_written.send(
                Memory,
                memory_ids=run.written,
                first_in_line=run.kept_apart,
                created=run.created,
                now=now,
            )
    return [
        replace(result, is_detection_queued=is_detected and result.memory is not None)
        for result in results
    ]


def _lock_named(drafts: Sequence[Draft]) -> None:
    """Lock what drafts replace, and hold what they are derived from, whatever their order."""
    if replaced := {draft.supersedes for draft in drafts if draft.supersedes is not None}:
        lock(replaced)
    if sources := {source for draft in drafts for source in draft.derived_from}:
        hold(sources)


class _Run:
    """One transaction's commits."""

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
    ):
        self.workspace = workspace
        self.actor = actor
        self.now = now
        self.model = model
        self.known = known  # the statements that somebody has said before, by hash
        self.size = size  # how many memories the workspace had when it began
        self.is_gated = is_gated
        self.words = WordIndex()
        self.written: list[UUID] = []
        self.created: set[UUID] = set()
        self.kept_apart: set[UUID] = set()

    def commit_one(self, draft: Draft, digest: str, vectors: np.ndarray | None) -> Committed:
        """Decide about one draft and write it, or let it wait for a person."""
        self.now += MICROSECOND  # each a little later, to keep their order
        try:
            known = self._restate(draft, digest) if digest in self.known else None
            self.known.add(digest)
            return known or self._decide(draft, digest, vectors)
        except ReviewNeededError as needed:  # raised before anything was written
            review = ask(needed, draft.as_json(), actor=self.actor, now=self.now)
            return Committed("pending", None, review=review.id)

    def _restate(self, draft: Draft, digest: str) -> Committed | None:
        """Decide about what was said before; None when nothing of it lives in this place."""
        twins = list(Memory.objects.filter(content_hash=digest).order_by("created_at"))
        live = [m for m in twins if _is_twin(m, draft, self.now)]
        if live:
            return self._state_again(live[0], draft)
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
        """Keep a statement, or what the gate makes of it."""
        if self.is_gated and vectors is not None and draft.supersedes is None:
            return self._gated(draft, digest, vectors)
        return self._keep(draft, digest, vectors, gate.GateReport())

    def _gated(self, draft: Draft, digest: str, vectors: np.ndarray) -> Committed:
        """Ask the gate; look again when the neighbour to merge into changed meanwhile."""
        for _ in range(LOOKS):
            report = self._examine(draft, digest, vectors)
            if report.outcome != "merged" or report.best is None:
                return self._keep(draft, digest, vectors, report)
            seen = report.best.memory
            stored = next(iter(lock([seen.id])), None)
            if stored is not None and (stored.revision, stored.updated_at) == (
                seen.revision,
                seen.updated_at,
            ):
                return self._merge(stored, draft, vectors, report)
        return self._keep(draft, digest, vectors, gate.GateReport())

    def _examine(self, draft: Draft, digest: str, vectors: np.ndarray) -> gate.GateReport:
        statement = gate.Statement(
            draft.content, digest, draft.scope, draft.project, draft.provenance
        )
        config = self.workspace.config
        return gate.examine(
            statement, vectors, self.model, config,
            actor=self.actor, now=self.now, size=self.size,
        )  # fmt: skip

    def _keep(
        self, draft: Draft, digest: str, vectors: np.ndarray | None, report: gate.GateReport
    ) -> Committed:
        """Write a memory of its own; one that contradicts its neighbour is read first."""
        memory, links = self._create(draft, digest, vectors, report)
        if report.outcome == "suggested" and report.best is not None:
            self._suggest(memory, [report.best, *report.also])
        if report.outcome == "kept_apart":
            self.kept_apart.add(memory.id)
            self._suggest(memory, report.also)
        return Committed(report.outcome, memory, report, links=links)

    def _suggest(self, memory: Memory, known: Iterable[gate.Judged]) -> None:
        """Ask a person about neighbours that probably say the same."""
        for judged in known:
            suggest(
                judged.memory, memory,
                relation=judged.comparison.relation, similarity=judged.similarity,
                reasons=judged.decision.reasons, detected_by="gate",
                actor=self.actor, now=self.now,
            )  # fmt: skip

    def _state_again(self, memory: Memory, draft: Draft) -> Committed:
        """Count what is known; said anew after something else, it is news to the story."""
        replaced = self._replaced(draft)
        if replaced is not None and replaced.id != memory.id:
            hide([replaced], "superseded_at", actor=self.actor, now=self.now, successor=memory)
        self._observe(memory, draft, "duplicate")
        if (draft.observed_at or self.now) > memory.observed_at:
            self.written.append(memory.id)
        return Committed("duplicate", memory)

    def _revive(self, memory: Memory, draft: Draft) -> Committed | None:
        """Bring a forgotten memory back; None when it was retired or replaced as well."""
        replaced = self._to_replace(draft)
        locked = lock([memory.id])[0]
        demand_all(  # one review for both: who accepts it decides both
            lambda: self._demand_trust(replaced, draft),
            lambda: demand_leave(locked, actor=self.actor),
        )
        put_back(locked, {"forgotten_at": None}, actor=self.actor, now=self.now)
        if locked.state(self.now) != State.ACTIVE:
            return None
        if replaced is not None:
            hide([replaced], "superseded_at", actor=self.actor, now=self.now, successor=locked)
        self._observe(locked, draft, "revived")
        self.written.append(locked.id)
        return Committed("created", locked)

    def _merge(
        self, stored: Memory, draft: Draft, vectors: np.ndarray, report: gate.GateReport
    ) -> Committed:
        """Keep the better wording in the locked row; what was sent stays as an observation.

        A reworded survivor says what the gate has just compared with all neighbours: those that
        probably say the same are put to a person, and nothing is merged further.
        """
        assert report.best is not None  # noqa: S101
        self._sources(draft)
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
        self, draft: Draft, digest: str, vectors: np.ndarray | None, report: gate.GateReport
    ) -> tuple[Memory, Links]:
        """Write a memory of its own, with what was sent; supersede what it replaces."""
        replaced = self._replaced(draft)
        memory_id = uuid4()
        memory = Memory(
            id=memory_id,
            lineage=replaced.lineage if replaced else memory_id,
            content=draft.content,
            content_hash=digest,
            scope=draft.scope,
            project=draft.project,
            kind=draft.kind,
            provenance=draft.provenance,
            confidence=draft.stated_confidence,
            importance=draft.importance,
            is_pinned=draft.is_pinned,
            metadata=dict(draft.metadata),
            source=draft.source,
            agent=draft.agent,
            session_key=draft.session_key,
            key_id=self.actor.key_id,
            observed_at=draft.observed_at or self.now,
            expires_at=draft.expires_at,
            created_at=self.now,
            updated_at=self.now,
        )
        observation, told = self._observation(memory, draft, report.outcome, report)
        links = Links(
            tags=sorted(set(draft.tags)),
            sources=self._sources(draft),
            replaced=replaced.id if replaced else None,
        )
        create(memory, links, vectors, self.model, words=self.words, beside=[observation, told])
        send(told)
        if replaced:
            hide([replaced], "superseded_at", actor=self.actor, now=self.now, successor=memory)
        self.written.append(memory.id)
        self.created.add(memory.id)
        return memory, links

    def _replaced(self, draft: Draft) -> Memory | None:
        """Return the locked memory that a draft replaces and is trusted to replace."""
        replaced = self._to_replace(draft)
        self._demand_trust(replaced, draft)
        return replaced

    def _demand_trust(self, replaced: Memory | None, draft: Draft) -> None:
        if replaced is not None:
            kind, provenance = ReviewKind.SUPERSEDE, draft.provenance
            demand_trust(replaced, kind=kind, provenance=provenance, actor=self.actor)

    def _to_replace(self, draft: Draft) -> Memory | None:
        if draft.supersedes is None:
            return None
        found = [m for m in lock([draft.supersedes]) if m.forgotten_at is None]
        if not found:
            raise InvalidError("supersedes", "There is no such memory.")
        if found[0].superseded_at is not None:
            raise StaleError(
                "supersedes: that memory was superseded already; name its successor.",
                [found[0].superseded_by_id] if found[0].superseded_by_id else [],
            )
        return found[0]

    def _sources(self, draft: Draft) -> list[UUID]:
        """Return the memories that a draft is derived from; refuse unknown ones."""
        if not draft.derived_from:
            return []
        known = set(
            Memory.objects.filter(pk__in=draft.derived_from, forgotten_at=None).values_list(
                "pk", flat=True
            )
        )
        missing = [str(i) for i in draft.derived_from if i not in known]
        if missing:
            raise InvalidError("derived_from", f"There is no memory {missing[0]}.")
        return sorted(known)

    def _observe(
        self,
        memory: Memory,
        draft: Draft,
        outcome: str,
        report: gate.GateReport | None = None,
    ) -> Observation:
        """Keep what was sent, and tell history."""
        observation, told = self._observation(memory, draft, outcome, report)
        insert([observation, told])
        send(told)
        return observation

    def _observation(
        self, memory: Memory, draft: Draft, outcome: str, report: gate.GateReport | None
    ) -> tuple[Observation, Event]:
        """Return the rows that keep what was sent and tell history of it."""
        observation = Observation(
            memory=memory,
            content=draft.content,
            content_hash=content_hash(draft.content),
            fields=draft.other_fields,
            outcome=outcome,
            provenance=draft.provenance,
            confidence=draft.stated_confidence,
            agent=draft.agent,
            session_key=draft.session_key,
            key_id=self.actor.key_id,
            observed_at=draft.observed_at or self.now,
            created_at=self.now,
            gate=report.as_record() | {"triggered": report.is_triggered} if report else {},
        )
        told = event(
            "memory.committed",
            of=("memory", memory.id),
            actor=self.actor,
            now=self.now,
            session_key=draft.session_key,
            data={
                "outcome": outcome,
                "observation": str(observation.id),
                "scope": draft.scope,
                "agent": draft.agent,
            },
        )
        return observation, told


def _is_twin(memory: Memory, draft: Draft, now: datetime) -> bool:
    """Tell whether a live memory already says exactly this in the same place."""
    return (
        memory.state(now) == State.ACTIVE
        and memory.scope == draft.scope
        and memory.project == draft.project
    )
