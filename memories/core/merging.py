"""Merge a statement into a memory's fields, and undo such a merge.

A memory's fields are those of its first statement with each merged one folded in, in order
(`fold`). Undoing a merge is therefore the same fold without that statement (`without`). The result
is exact, whatever was merged before and after, except for fields that somebody changed by hand in
between: those keep the changed value.

Fields are plain JSON: content, provenance, confidence, importance, kind, pinned, metadata, source,
expires_at (RFC 3339 in UTC, or None), tags, derived_from, answers (records).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from memories.core.answers import as_records, carry_over, from_records, unite
from memories.core.gate import PROVENANCE_RANK

Fields = Mapping[str, Any]
MAX_METADATA_BYTES = 8192


def fold(stored: Fields, incoming: Fields, *, takes_wording: bool) -> dict[str, Any]:
    """Return the fields of a memory after a statement was merged into it.

    The wording is the incoming one when `takes_wording`. The more trusted class stays, with that
    statement's confidence (the higher one on a tie). No other field is lost: tags and sources of
    derivation are united, a constraint stays a constraint and a pin a pin, the greater importance
    and the later expiry are kept, and metadata and answers are united (of one name, and of one
    question, the stored one wins).
    """
    provenance, confidence = _choose_trusted(stored, incoming)
    return {
        "content": incoming["content"] if takes_wording else stored["content"],
        "provenance": provenance,
        "confidence": confidence,
        "importance": max(stored["importance"], incoming["importance"]),
        "kind": "constraint" if incoming["kind"] == "constraint" else stored["kind"],
        "pinned": stored["pinned"] or incoming["pinned"],
        "metadata": _join(stored["metadata"], incoming["metadata"]),
        "source": stored["source"] or incoming["source"],
        "expires_at": _later(stored["expires_at"], incoming["expires_at"]),
        "tags": sorted({*stored["tags"], *incoming["tags"]}),
        "derived_from": sorted({*stored["derived_from"], *incoming["derived_from"]}),
        "answers": as_records(
            unite(from_records(stored["answers"]), from_records(incoming["answers"]))
        ),
    }


def keep_as_witness(stored: Fields) -> dict[str, Any]:
    """Return the fields of a memory after a merge that does not fold the statement in."""
    return {**stored, "folded": False}


def _choose_trusted(stored: Fields, incoming: Fields) -> tuple[str, float]:
    old = PROVENANCE_RANK.get(stored["provenance"], 0)
    new = PROVENANCE_RANK.get(incoming["provenance"], 0)
    if old == new:
        return stored["provenance"], max(stored["confidence"], incoming["confidence"])
    higher = stored if old > new else incoming
    return higher["provenance"], higher["confidence"]


def _join(stored: Fields, incoming: Fields) -> dict[str, Any]:
    both = {**incoming, **stored}
    is_too_large = len(json.dumps(both, ensure_ascii=False).encode()) > MAX_METADATA_BYTES
    return dict(stored) if is_too_large else both


def _later(a: str | None, b: str | None) -> str | None:
    return None if a is None or b is None else max(a, b)


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge: the memory's fields before and after it, and the statement's."""

    before: Fields
    incoming: Fields
    after: Fields

    @classmethod
    def stored(cls, before: Fields, incoming: Fields, after: Fields) -> Self:
        """Return a merge as it was stored; one of before answers existed has none."""
        return cls({"answers": [], **before}, incoming, {"answers": [], **after})

    @property
    def takes_wording(self) -> bool:
        """Return whether the memory took the incoming wording."""
        took = self.after["content"] == self.incoming["content"]
        return bool(took and self.after["content"] != self.before["content"])

    @property
    def folds(self) -> bool:
        """Return whether the statement's fields were folded in (else see `keep_as_witness`)."""
        return bool(self.after.get("folded", True))


@dataclass(frozen=True, slots=True)
class Undone:
    """A memory without one of its merges.

    `fields` are its fields now, `later` the later steps, replayed, and `kept` the names of the
    fields that somebody changed after the merge and that therefore keep their values.
    """

    fields: dict[str, Any]
    later: tuple[MergeStep, ...]
    kept: tuple[str, ...]


def without(step: MergeStep, later: Sequence[MergeStep], current: Fields) -> Undone:
    """Undo `step` in a memory whose fields are `current` after the merges `later`, oldest first."""
    fields = dict(step.before)
    recorded = step.after  # the memory's real fields; `fields` are those without the step
    kept: set[str] = set()
    replayed = []
    for following in later:
        kept |= _apply_changes(fields, recorded, following.before)
        before = dict(fields)
        if following.folds:
            fields = fold(before, following.incoming, takes_wording=following.takes_wording)
        after = dict(fields) if following.folds else keep_as_witness(fields)
        replayed.append(MergeStep(before, following.incoming, after))
        recorded = following.after
    kept |= _apply_changes(fields, recorded, current)
    return Undone(fields, tuple(replayed), tuple(sorted(kept)))


def with_again(step: MergeStep, later: Sequence[MergeStep], current: Fields) -> Undone:
    """Merge a step again that `without` has undone: the same replay the other way round."""
    merged = {name: value for name, value in step.after.items() if name != "folded"}
    return without(MergeStep(merged, step.incoming, step.before), later, current)


def _apply_changes(fields: dict[str, Any], recorded: Fields, found: Fields) -> set[str]:
    """Apply the changes by hand between two merges; return the fields that cannot be undone."""
    kept = set()
    for name, value in list(fields.items()):
        if found[name] != recorded[name]:
            if name == "answers":
                carried = (from_records(one) for one in (value, recorded[name], found[name]))
                answers, is_mixed = carry_over(*carried)
                fields[name] = as_records(answers)
                kept |= {name} if is_mixed else set()
                continue
            if value != recorded[name]:
                kept.add(name)
            fields[name] = found[name]
    return kept
