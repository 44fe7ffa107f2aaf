"""A person's answer to a merge suggestion: one memory from now on, or two for good."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE, WRITTEN_MEANWHILE
from engram.kernel.collisions import AGAIN
from engram.kernel.embedding import EmbeddingUnavailableError, embed_first_windows
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.tenancy import before_writing, in_workspace
from memories.core.claims import Comparison, compare, leave_uncompared, missing
from memories.core.gate import Decision, Side, better_wording, surviving_wording
from memories.core.lengths import too_long_together
from memories.core.reading import read_cached
from memories.models import Memory, MergeSuggestion, Observation, SuggestionStatus
from memories.services.causes import IN_OPEN_CONFLICT, SUGGESTION_CLOSED
from memories.services.disputes import shared_conflicts
from memories.services.gate import examine
from memories.services.gate.merge import merge_into
from memories.services.gate.split import COUNTERS
from memories.services.gate.suggestions import in_status, suggest
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import lock_statements
from memories.services.lifecycle.fields import fields_of
from memories.services.lifecycle.states import hide
from memories.services.locks import lock
from memories.signals import memories_written


def reject(
    workspace: Workspace, suggestion_id: UUID, *, actor: Actor, now: datetime
) -> MergeSuggestion:
    """Keep two memories apart: these wordings are neither merged nor suggested again."""
    with in_workspace(workspace):
        suggestion = _read_suggestion(suggestion_id)
        lock([suggestion.memory_id, suggestion.other_id])
        suggestion = _answerable(suggestion_id, SuggestionStatus.REJECTED, now)
        if suggestion.status == SuggestionStatus.OPEN:
            _close(suggestion, SuggestionStatus.REJECTED, actor=actor, now=now)
            data = {"suggestion": str(suggestion.id), "other": str(suggestion.other_id)}
            of = ("memory", suggestion.memory_id)
            record("merge.rejected", of=of, actor=actor, now=now, data=data)
        return suggestion


def accept(
    workspace: Workspace,
    suggestion_id: UUID,
    *,
    keep: UUID | None = None,
    actor: Actor,
    now: datetime,
) -> MergeSuggestion:
    """Merge two stored memories; the older one stays, the other is superseded by it.

    `keep` names the memory whose wording survives; without it the gate's rules choose. Refused
    while people are asked which of the two holds: that conflict is answered first.
    """
    with before_writing(workspace):
        suggestion = _read_suggestion(suggestion_id)
        texts = {m.id: m.content for m in (suggestion.memory, suggestion.other)}
        digests = [suggestion.memory.content_hash, suggestion.other.content_hash]
    if keep is not None and keep not in texts:
        raise InvalidError("keep", "Name one of the two memories.")
    vectors = _embed_texts(texts, workspace.embedding_model)
    try:
        with in_workspace(workspace):
            lock_statements(digests)
            locked = lock(list(texts))
            _demand_no_conflict(*texts)
            suggestion = _answerable(suggestion_id, SuggestionStatus.ACCEPTED, now)
            if suggestion.status == SuggestionStatus.OPEN:
                _unite(workspace, suggestion, locked, vectors, keep=keep, actor=actor, now=now)
            return suggestion
    except IntegrityError:
        raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from None


def _demand_no_conflict(one: UUID, other: UUID) -> None:
    """Refuse to merge two locked memories of which people are asked which one holds."""
    if conflicts := shared_conflicts(one, other):
        raise StaleError(
            f"Conflict {conflicts[0]} asks which of the two holds; answer it first. A merge would "
            "take one side away without an answer.",
            conflicts,
            cause=IN_OPEN_CONFLICT,
        )


def _read_suggestion(suggestion_id: UUID) -> MergeSuggestion:
    both = MergeSuggestion.objects.select_related("memory", "other")
    suggestion = both.filter(pk=suggestion_id).first()
    if suggestion is None:
        raise MissingError("There is no such merge suggestion.")
    return suggestion


def _embed_texts(texts: dict[UUID, str], model: str) -> dict[UUID, Any]:
    try:
        return dict(zip(texts, embed_first_windows(list(texts.values()), model), strict=True))
    except EmbeddingUnavailableError:
        return {}


def _answerable(suggestion_id: UUID, answer: SuggestionStatus, now: datetime) -> MergeSuggestion:
    """Return the locked suggestion, open or with the same answer; its memories are locked."""
    rows = MergeSuggestion.objects.filter(pk=suggestion_id).select_for_update()
    suggestion = rows.first()
    if suggestion is None:
        raise MissingError("There is no such merge suggestion.")
    if suggestion.status == answer:
        return suggestion
    if suggestion.status != SuggestionStatus.OPEN:
        raise StaleError(
            f"This suggestion was {suggestion.status} already.", cause=SUGGESTION_CLOSED
        )
    # A conflict about the two is no reason not to keep them apart.
    standing = in_status(SuggestionStatus.OPEN, now, with_disputed=True)
    if not standing.filter(pk=suggestion_id).exists():
        raise StaleError(
            "One of the two memories was changed or hidden meanwhile.",
            [suggestion.memory_id, suggestion.other_id],
            cause=CHANGED_MEANWHILE,
        )
    return suggestion


def _close(
    suggestion: MergeSuggestion, status: SuggestionStatus, *, actor: Actor, now: datetime
) -> None:
    suggestion.status = status
    suggestion.decided_at = now
    suggestion.decided_by = actor.label
    suggestion.save(update_fields=["status", "decided_at", "decided_by"])


def _unite(
    workspace: Workspace,
    suggestion: MergeSuggestion,
    locked: list[Memory],
    vectors: dict[UUID, Any],
    *,
    keep: UUID | None,
    actor: Actor,
    now: datetime,
) -> None:
    """1. Keep what the newer one says. 2. Hide it. 3. Merge. 4. Gate the new wording again."""
    older, newer = sorted(locked, key=lambda memory: (memory.created_at, memory.id))
    judged = _judge_pair(suggestion, older, newer, keep)
    observation = _copy_observation(older, newer, now)
    because = {"reason": "merge", "suggestion": str(suggestion.id)}
    hide([newer], "superseded_at", actor=actor, now=now, successor=older, because=because)
    words = WordIndex()
    is_reworded = merge_into(
        older, observation, judged, words=words, actor=actor, now=now, absorbed=newer
    )
    _add_counters(older, newer)
    contradicted = False
    if is_reworded:
        found = vectors.get(newer.id)
        reindex_vectors(older, found, workspace.embedding_model)
        if found is not None:
            contradicted = _gate_again(workspace, older, found, actor=actor, now=now)
    _close(suggestion, SuggestionStatus.ACCEPTED, actor=actor, now=now)
    words.write()
    memories_written.send(
        Memory,
        workspace=workspace,
        memory_ids=[older.id],
        first_in_line={older.id} if contradicted else set(),
        now=now,
    )


@dataclass(frozen=True, slots=True)
class _Weighed:
    """Two memories set side by side: whose wording a merge keeps, and what either would drop."""

    comparison: Comparison
    survivor: Side
    dropped_by_older: tuple[str, ...]
    dropped_by_newer: tuple[str, ...]


def _weigh(older: Memory, newer: Memory) -> _Weighed:
    """Compare two memories and choose whose wording a merge of them keeps by the gate's rules.

    Where either says what the other does not, the later statement is the better wording. Texts
    that are too long to compare claim by claim count as such: all of the other is dropped.
    """
    is_later = newer.observed_at >= older.observed_at
    if reason := too_long_together((older.content, newer.content)):
        comparison = leave_uncompared(reason)
        drops: tuple[tuple[str, ...], tuple[str, ...]] = ((newer.content,), (older.content,))
        is_newer_better = is_later
    else:
        a, b = read_cached(older.content), read_cached(newer.content)
        comparison = compare(a, b)
        drops = (missing(a, b), missing(b, a))
        is_newer_better = (
            is_later if all(drops) else better_wording(older.content, newer.content, a, b) == "b"
        )
    better: Side = "incoming" if is_newer_better else "stored"
    survivor = surviving_wording(comparison, older.provenance, newer.provenance, better)
    return _Weighed(comparison, survivor, *drops)


@dataclass(frozen=True, slots=True)
class Merging:
    """What a merge in the wording of one of two memories would leave unsaid."""

    keep: UUID
    is_default: bool  # the wording that the gate's rules choose
    drops: tuple[str, ...]  # claims of the other that this wording does not make


def preview_merging(suggestion: MergeSuggestion) -> tuple[Merging, Merging]:
    """Return what accepting would drop, in the wording of the older memory and of the newer."""
    older, newer = sorted(
        (suggestion.memory, suggestion.other), key=lambda memory: (memory.created_at, memory.id)
    )
    weighed = _weigh(older, newer)
    return (
        Merging(older.id, weighed.survivor == "stored", weighed.dropped_by_older),
        Merging(newer.id, weighed.survivor == "incoming", weighed.dropped_by_newer),
    )


def _judge_pair(
    suggestion: MergeSuggestion, older: Memory, newer: Memory, keep: UUID | None
) -> examine.JudgedNeighbour:
    weighed = _weigh(older, newer)
    survivor = weighed.survivor
    if keep is not None:
        survivor = "incoming" if keep == newer.id else "stored"
    comparison = weighed.comparison
    if too_long_together((older.content, newer.content)):
        # What they are to each other was found when they were suggested.
        comparison = replace(comparison, relation=cast(Any, suggestion.relation))
    reasons = (*suggestion.reasons, "a person merged them")
    decision = Decision("merged", survivor, reasons)
    return examine.JudgedNeighbour(older, suggestion.similarity, comparison, decision)


def _copy_observation(older: Memory, newer: Memory, now: datetime) -> Observation:
    """Keep the newer memory's statement with the older one, as if it had been sent to it."""
    fields = fields_of(newer)
    return Observation.objects.create(
        memory=older,
        content=newer.content,
        content_hash=newer.content_hash,
        fields={
            **{k: v for k, v in fields.items() if k not in {"content", "provenance", "confidence"}},
            "scope": newer.scope,
            "project": newer.project,
            "supersedes": None,
        },
        outcome="absorbed",
        provenance=newer.provenance,
        confidence=newer.confidence,
        agent=newer.agent,
        session_key=newer.session_key,
        key_id=newer.key_id,
        observed_at=newer.observed_at,
        created_at=now,
    )


def _add_counters(older: Memory, newer: Memory) -> None:
    for name in COUNTERS:
        setattr(older, name, getattr(older, name) + getattr(newer, name))
    recalled = [at for at in (older.last_recalled_at, newer.last_recalled_at) if at]
    older.last_recalled_at = max(recalled, default=None)
    older.save(update_fields=[*COUNTERS, "last_recalled_at"])


def _gate_again(
    workspace: Workspace, memory: Memory, vectors: Any, *, actor: Actor, now: datetime
) -> bool:
    """Look at a reworded survivor's neighbours: suggest, never merge; tell of contradictions."""
    statement = examine.NewStatement(
        memory.content, memory.content_hash, memory.scope, memory.project, memory.provenance
    )
    report = examine.examine(
        statement, vectors, workspace.embedding_model, workspace.config,
        actor=actor, now=now, besides={memory.id},
    )  # fmt: skip
    known = [*report.also]
    if report.best is not None and report.outcome in {"merged", "suggested"}:
        known.insert(0, report.best)
    for judged in known:
        suggest(
            judged.memory, memory,
            relation=judged.comparison.relation, similarity=judged.similarity,
            reasons=judged.decision.reasons, detected_by="gate", actor=actor, now=now,
        )  # fmt: skip
    return report.outcome == "kept_apart"
