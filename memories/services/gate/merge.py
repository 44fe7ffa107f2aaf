"""Merge an observed statement into a memory; keep the better wording and a record for the undo."""

from __future__ import annotations

from datetime import datetime

from engram.kernel.actors import Actor
from engram.kernel.history import record
from memories.core.merging import fold, keep_as_witness
from memories.models import Memory, Merge, Observation
from memories.services.gate.report import JudgedNeighbour
from memories.services.index.search_index import WordIndex
from memories.services.index.statement_hashes import live_twins
from memories.services.lifecycle.fields import fields_of, sent_fields, write_fields


def merge_into(
    stored: Memory,
    observation: Observation,
    judged: JudgedNeighbour,
    *,
    words: WordIndex,
    actor: Actor,
    now: datetime,
    absorbed: Memory | None = None,
) -> bool:
    """Merge an observation into a locked memory; return whether its wording changed.

    `absorbed` is the memory that the observation was copied from, if it had a row.
    """
    before = fields_of(stored)
    is_reworded = False
    if judged.decision.folds:
        takes_wording = judged.decision.survivor == "incoming"
        after = fold(before, sent_fields(observation), takes_wording=takes_wording)
        if before["expires_at"] and not after["expires_at"] and _has_lasting_twin(stored, now):
            after["expires_at"] = before[
                "expires_at"
            ]  # the same statement without an expiry exists
        is_reworded = write_fields(
            stored, before, after, words=words, reason="merge", actor=actor, now=now
        )
    else:
        after = keep_as_witness(before)
    Merge.objects.create(
        memory=stored,
        observation=observation,
        absorbed=absorbed,
        similarity=judged.similarity,
        relation=judged.comparison.relation,
        reasons=list(judged.decision.reasons),
        before=before,
        after=after,
        actor_label=actor.label,
        created_at=now,
    )
    record(
        "memory.merged",
        of=("memory", stored.id),
        actor=actor,
        now=now,
        data={
            "revision": stored.revision,
            "reworded": is_reworded,
            "merged": str(observation.id),
            **({"absorbed": str(absorbed.id)} if absorbed else {}),
        },
    )
    return is_reworded


def _has_lasting_twin(memory: Memory, now: datetime) -> bool:
    same = live_twins(memory.content_hash, scope=memory.scope, project=memory.project, now=now)
    return same.filter(expires_at=None).exclude(pk=memory.pk).exists()
