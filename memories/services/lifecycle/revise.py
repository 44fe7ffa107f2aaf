"""Revise a memory in place: store a revision and reindex the new wording at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError

from engram.kernel.actors import Actor
from engram.kernel.causes import CHANGED_MEANWHILE
from engram.kernel.credentials import refuse_credentials, strings_in
from engram.kernel.embedding import EmbeddingUnavailableError, embed_first_windows
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer, as_records, from_records, still_told
from memories.core.content import content_hash
from memories.core.text import terms
from memories.core.typed_answers import typed_answers
from memories.models import Memory, MemoryTag, Provenance, Review, ReviewKind, State
from memories.services.causes import FORGOTTEN_BEFORE, NOT_LIVE, SAME_STATEMENT
from memories.services.index.search_index import WordIndex, reindex_vectors
from memories.services.index.statement_hashes import forgotten_memory, lock_statements
from memories.services.lifecycle.answers import (
    answers_of,
    forgotten_quotes,
    refuse_quotes,
    texts_to_check,
    write_answers,
)
from memories.services.lifecycle.fields import keep_revision
from memories.services.lifecycle.model_answers import (
    are_by_model,
    are_set_by_writer,
    note_read_by_rule,
    note_set_by_writer,
)
from memories.services.locks import lock
from memories.services.review.ask import lapse_reviews, request_review
from memories.services.review.trust import ReviewNeededError, demand_all, demand_pin, demand_trust
from memories.signals import memories_written

# The fields that a caller may change; the others identify who stated it, and stay.
CHANGEABLE = frozenset(
    {
        "content",
        "scope",
        "project",
        "kind",
        "confidence",
        "importance",
        "is_pinned",
        "metadata",
        "expires_at",
        "source",
        "tags",
        "answers",
    }
)


def revise(
    workspace: Workspace,
    memory_id: UUID,
    changes: Mapping[str, Any],
    *,
    revision: int | None = None,
    actor: Actor,
    now: datetime,
) -> Memory | Review:
    """Apply changes (names from CHANGEABLE) to a memory, or return the review that it needs.

    With `revision`, raise `StaleError` unless the memory still has it.
    """
    for name, value in _as_json(changes).items():
        for text in strings_in(value):
            refuse_credentials({name: text})
    for text in texts_to_check(changes.get("answers", ())):
        refuse_credentials({"answers": text})
    vectors = embed_wording(changes.get("content"), workspace.embedding_model)
    try:
        with in_workspace(workspace):
            memory = _lock_changeable(memory_id, changes, revision, now)
            return _revise(workspace, memory, changes, vectors, actor=actor, now=now)
    except IntegrityError:
        raise StaleError(
            "Another live memory says exactly this in the same place.", cause=SAME_STATEMENT
        ) from None


def embed_wording(content: str | None, model: str) -> Any:
    """Refuse credentials and return the vectors of a wording; None when embedding fails."""
    if content is None:
        return None
    refuse_credentials({"content": content})
    try:
        return embed_first_windows([content], model)[0]
    except EmbeddingUnavailableError:
        return None


def _lock_changeable(
    memory_id: UUID, changes: Mapping[str, Any], revision: int | None, now: datetime
) -> Memory:
    """Lock the new wording and the memory, and demand the revision."""
    if (content := changes.get("content")) is not None:
        lock_statements([content_hash(content)])
    memory = _changeable(memory_id, now)
    if revision is not None and memory.revision != revision:
        raise StaleError("It was changed meanwhile.", [memory_id], cause=CHANGED_MEANWHILE)
    return memory


def _revise(
    workspace: Workspace,
    memory: Memory,
    changes: Mapping[str, Any],
    vectors: Any,
    *,
    actor: Actor,
    now: datetime,
) -> Memory | Review:
    try:
        demand_all(
            lambda: demand_trust(
                memory, kind=ReviewKind.REVISE, provenance=Provenance.ASSISTANT_DERIVED, actor=actor
            ),
            lambda: demand_pin(memory, changes, actor=actor),
        )
    except ReviewNeededError as needed:
        return request_review(workspace, needed, _as_json(changes), actor=actor, now=now)
    return apply_revision(workspace, memory, changes, vectors, actor=actor, now=now)


def apply_revision(
    workspace: Workspace,
    memory: Memory,
    changes: Mapping[str, Any],
    vectors: Any,
    *,
    actor: Actor,
    now: datetime,
) -> Memory:
    """Write changes to a locked memory; the caller has locked the new wording and embedded it."""
    if (content := changes.get("content")) is not None and forgotten_memory(content_hash(content)):
        raise InvalidError(
            "content",
            "Exactly this was forgotten before; restore it instead.",
            cause=FORGOTTEN_BEFORE,
        )
    answers: Sequence[Answer] = changes.get("answers", ())
    refuse_quotes(answers, forgotten_quotes(answers))
    keep_revision(memory, "revise", replaced=_replaced_tags(memory, changes), actor=actor, now=now)
    before, hash_before = memory.content, memory.content_hash
    for name, value in changes.items():
        if name in CHANGEABLE - {"tags", "answers"}:
            setattr(memory, name, value)
    is_reworded = memory.content != before
    words = WordIndex()
    if is_reworded:
        memory.content_hash = content_hash(memory.content)
        memory.word_count = terms(memory.content).total()
    memory.revision += 1
    memory.updated_at = now
    memory.save()
    if "tags" in changes:
        MemoryTag.objects.filter(memory=memory).delete()
        MemoryTag.objects.bulk_create(
            MemoryTag(memory=memory, tag=tag) for tag in dict.fromkeys(changes["tags"])
        )
    if "answers" in changes:
        write_answers(memory, answers)
        note_set_by_writer(memory)
    elif is_reworded:
        write_answers(memory, _answers_of_wording(memory, before, hash_before))
    if is_reworded:
        reindex_vectors(memory, vectors, workspace.embedding_model)
        words.reword(memory.id, before, memory.content)
    record(
        "memory.revised",
        of=("memory", memory.id),
        actor=actor,
        now=now,
        data={"revision": memory.revision, "fields": sorted(changes)},
    )
    lapse_reviews([memory.id], now=now)
    words.write()
    if is_reworded or "answers" in changes:
        memories_written.send(
            Memory,
            workspace=workspace,
            memory_ids=[memory.id],
            reworded=words.reworded,
            respelled=words.respelled,
            linking=words.linking,
            actor=actor,
            now=now,
        )
    return memory


def _replaced_tags(memory: Memory, changes: Mapping[str, Any]) -> dict[str, Any]:
    if "tags" not in changes:
        return {}
    tags = MemoryTag.objects.filter(memory=memory)
    return {"tags": sorted(tags.values_list("tag", flat=True))}


def _answers_of_wording(memory: Memory, before: str, hash_before: str) -> tuple[Answer, ...]:
    """Return what a reworded memory answers: what it still tells, else what rules read from it.

    Where a writer has set that it answers nothing, it stays so.
    """
    present, is_set = answers_of(memory), are_set_by_writer(memory)
    if is_set and not present:
        return ()
    is_derived = not is_set and _are_derived(memory, present, before, hash_before)
    kept = () if is_derived else still_told(present, memory.content)
    typed = () if kept else typed_answers(memory.content)
    if is_set and typed:
        note_read_by_rule(memory)
    return kept or typed


def _are_derived(
    memory: Memory, present: tuple[Answer, ...], before: str, hash_before: str
) -> bool:
    """Return whether a reworded memory's answers are of rules or a model, by its former wording."""
    if present == typed_answers(before):
        return True
    return memory.content_hash != hash_before and are_by_model(memory, present)


def _changeable(memory_id: UUID, now: datetime) -> Memory:
    """Return the locked memory; raise `StaleError` with its successor if it is not live."""
    found = [memory for memory in lock([memory_id]) if memory.forgotten_at is None]
    if not found:
        raise MissingError("There is no such memory.")
    memory = found[0]
    state = memory.state(now)
    if state not in {State.ACTIVE, State.EXPIRED}:
        successor = [memory.superseded_by_id] if memory.superseded_by_id else []
        raise StaleError(
            f"This memory is {state} and is not changed any more.", successor, cause=NOT_LIVE
        )
    return memory


def _as_json(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes, JSON serialisable."""
    plain: dict[str, Any] = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in changes.items()
    }
    return plain | {"answers": as_records(plain["answers"])} if "answers" in plain else plain


def revision_of(kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changes that a review stored."""
    changes = dict(kept)
    if changes.get("expires_at") is not None:
        changes["expires_at"] = datetime.fromisoformat(changes["expires_at"])
    if "answers" in changes:
        changes["answers"] = from_records(changes["answers"])
    return changes
