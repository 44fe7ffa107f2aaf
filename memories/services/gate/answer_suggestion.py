"""Accept or reject merge suggestions, and preview what a merge would drop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.causes import WRITTEN_MEANWHILE
from engram.kernel.collisions import AGAIN
from engram.kernel.embedding import EmbeddingUnavailableError, embed_first_windows
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.tenancy import before_writing, in_workspace
from memories.core.claims import ClaimComparison, compare, find_missing_claims, skip_comparison
from memories.core.comparing import too_long_together
from memories.core.gate import GateDecision, Side, choose_better_wording, choose_surviving_wording
from memories.core.reading import read_cached
from memories.models import Memory, MergeSuggestion, Observation, SuggestionStatus
from memories.services.causes import IN_OPEN_CONFLICT, SUGGESTION_CLOSED
from memories.services.disputes import shared_conflicts
from memories.services.gate import examine
from memories.services.gate.merge import merge_into
from memories.services.gate.report import JudgedNeighbour, NewStatement
from memories.services.gate.split import COUNTERS
from memories.services.gate.suggestions import demand_unchanged, suggest
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import lock_statements
from memories.services.lifecycle.fields import fields_of
from memories.services.lifecycle.states import hide
from memories.services.locks import lock
from memories.signals import memories_written


def reject(
    workspace: Workspace, suggestion_id: UUID, *, actor: Actor, now: datetime
) -> MergeSuggestion:
    """Reject a suggestion: these two wordings are neither merged nor suggested again."""
    with in_workspace(workspace):
        suggestion = _read_suggestion(suggestion_id)
        lock([suggestion.memory_id, suggestion.other_id])
        suggestion = _lock_answerable(suggestion_id, SuggestionStatus.REJECTED, now)
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
    """Accept a suggestion: the older memory stays, the newer is superseded by it.

    `keep` is the memory whose wording survives; by default the gate's rules choose. Refused while
    both are in one open conflict, which must be answered first.
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
            demand_no_conflict(*texts)
            suggestion = _lock_answerable(suggestion_id, SuggestionStatus.ACCEPTED, now)
            if suggestion.status == SuggestionStatus.OPEN:
                _merge(workspace, suggestion, locked, vectors, keep=keep, actor=actor, now=now)
            return suggestion
    except IntegrityError:
        raise StaleError(AGAIN, cause=WRITTEN_MEANWHILE) from None


def demand_no_conflict(one: UUID, other: UUID) -> None:
    """Raise `StaleError` if two locked memories are in one open conflict."""
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


def _lock_answerable(
    suggestion_id: UUID, answer: SuggestionStatus, now: datetime
) -> MergeSuggestion:
    """Return the locked suggestion if it is open or has this answer; its memories are locked."""
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
    demand_unchanged(suggestion, now)
    return suggestion


def _close(
    suggestion: MergeSuggestion, status: SuggestionStatus, *, actor: Actor, now: datetime
) -> None:
    suggestion.status = status
    suggestion.decided_at = now
    suggestion.decided_by = actor.label
    suggestion.save(update_fields=["status", "decided_at", "decided_by"])


def _merge(
    workspace: Workspace,
    suggestion: MergeSuggestion,
    locked: list[Memory],
    vectors: dict[UUID, Any],
    *,
    keep: UUID | None,
    actor: Actor,
    now: datetime,
) -> None:
    """Merge the newer memory into the older, both locked.

    1. Copy the newer's observation. 2. Supersede it. 3. Merge fields. 4. Run the gate for a new
    wording.
    """
    older, newer = sorted(locked, key=lambda memory: (memory.created_at, memory.id))
    judged = _judge_pair(suggestion, older, newer, keep)
    observation = _copy_observation(older, newer, now)
    because = {"reason": "merge", "suggestion": str(suggestion.id)}
    hide([newer], "superseded_at", actor=actor, now=now, successor=older, because=because)
    words = WordIndex()
    is_reworded = merge_into(
        older, observation, judged, words=words, actor=actor, now=now, absorbed=newer
    )
    add_counters(older, newer)
    contradicted = False
    if is_reworded:
        found = vectors.get(newer.id)
        reindex_vectors(older, found, workspace.embedding_model)
        if found is not None:
            contradicted = _suggest_for_survivor(workspace, older, found, actor=actor, now=now)
    _close(suggestion, SuggestionStatus.ACCEPTED, actor=actor, now=now)
    words.write()
    memories_written.send(
        Memory,
        workspace=workspace,
        memory_ids=[older.id],
        first_in_line={older.id} if contradicted else set(),
        reworded=words.reworded,
        respelled=words.respelled,
        linking=words.linking,
        actor=actor,
        now=now,
    )


@dataclass(frozen=True, slots=True)
class _WordingChoice:
    """The comparison of two memories: whose wording a merge keeps, and what each wording drops."""

    comparison: ClaimComparison
    survivor: Side
    dropped_by_older: tuple[str, ...]
    dropped_by_newer: tuple[str, ...]


def _choose_wording(older: Memory, newer: Memory) -> _WordingChoice:
    """Compare two memories and choose whose wording the gate's rules keep.

    If either makes claims that the other does not, the later wording is kept. For texts too long to
    compare by claims, the whole other text counts as dropped.
    """
    is_later = newer.observed_at >= older.observed_at
    if reason := too_long_together((older.content, newer.content)):
        comparison = skip_comparison(reason)
        drops: tuple[tuple[str, ...], tuple[str, ...]] = ((newer.content,), (older.content,))
        is_newer_better = is_later
    else:
        a, b = read_cached(older.content), read_cached(newer.content)
        comparison = compare(a, b)
        drops = (find_missing_claims(a, b), find_missing_claims(b, a))
        is_newer_better = (
            is_later
            if all(drops)
            else choose_better_wording(older.content, newer.content, a, b) == "b"
        )
    better: Side = "incoming" if is_newer_better else "stored"
    survivor = choose_surviving_wording(comparison, older.provenance, newer.provenance, better)
    return _WordingChoice(comparison, survivor, *drops)


@dataclass(frozen=True, slots=True)
class MergePreview:
    """What a merge that keeps one of two wordings would drop."""

    keep: UUID
    is_default: bool  # the gate's rules choose this wording
    drops: tuple[str, ...]  # claims that only the other wording makes


def preview_merge(suggestion: MergeSuggestion) -> tuple[MergePreview, MergePreview]:
    """Return what accepting would drop, for the older wording and for the newer."""
    older, newer = sorted(
        (suggestion.memory, suggestion.other), key=lambda memory: (memory.created_at, memory.id)
    )
    choice = _choose_wording(older, newer)
    return (
        MergePreview(older.id, choice.survivor == "stored", choice.dropped_by_older),
        MergePreview(newer.id, choice.survivor == "incoming", choice.dropped_by_newer),
    )


def _judge_pair(
    suggestion: MergeSuggestion, older: Memory, newer: Memory, keep: UUID | None
) -> JudgedNeighbour:
    choice = _choose_wording(older, newer)
    survivor = choice.survivor
    if keep is not None:
        survivor = "incoming" if keep == newer.id else "stored"
    comparison = choice.comparison
    if too_long_together((older.content, newer.content)):
        # The relation was stored with the suggestion.
        comparison = replace(comparison, relation=cast(Any, suggestion.relation))
    reasons = (*suggestion.reasons, "a person merged them")
    decision = GateDecision("merged", survivor, reasons)
    return JudgedNeighbour(older, suggestion.similarity, comparison, decision)


def _copy_observation(older: Memory, newer: Memory, now: datetime) -> Observation:
    """Add the newer memory's statement to the older as an observation."""
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


def add_counters(older: Memory, newer: Memory) -> None:
    """Add the counters of a memory to those of the one that it was merged into."""
    for name in COUNTERS:
        setattr(older, name, getattr(older, name) + getattr(newer, name))
    recalled = [at for at in (older.last_recalled_at, newer.last_recalled_at) if at]
    older.last_recalled_at = max(recalled, default=None)
    older.save(update_fields=[*COUNTERS, "last_recalled_at"])


def _suggest_for_survivor(
    workspace: Workspace, memory: Memory, vectors: Any, *, actor: Actor, now: datetime
) -> bool:
    """Run the gate for a reworded survivor: suggest merges, never merge; report contradictions."""
    statement = NewStatement(
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
