"""What one memory holds after another statement was merged into it, and how to take it out again.

A memory's fields are those of its first statement with each merged one folded in, in order
(`fold`). Taking a statement out is therefore the same fold without it (`without`): exact, whatever
was merged before and after, as long as nobody changed the memory by hand in between. What somebody
did change stays as they left it.

Fields are plain JSON: content, provenance, confidence, importance, kind, pinned, metadata, source,
expires_at (RFC 3339 in UTC, or None), tags, derived_from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memories.core.gate import PROVENANCE_RANK

Fields = Mapping[str, Any]
MAX_METADATA_BYTES = 8192


def fold(stored: Fields, incoming: Fields, *, takes_wording: bool) -> dict[str, Any]:
    """Return the fields of a memory after a statement was merged into it.

    The wording is the incoming one when `takes_wording`. The more trusted class stays, with that
    statement's confidence (the higher one on a tie). Nothing else that was said is lost: tags and
    sources of derivation add up, a constraint stays a constraint, what is pinned stays pinned, the
    greater importance and the later end count, metadata join (the stored value of a name stays).
    """
    provenance, confidence = _most_trusted(stored, incoming)
    return {
        "content": incoming["content"] if takes_wording else stored["content"],
        "provenance": provenance,
        "confidence": confidence,
        "importance": max(stored["importance"], incoming["importance"]),
        "kind": "constraint" if incoming["kind"] == "constraint" else stored["kind"],
        "pinned": stored["pinned"] or incoming["pinned"],
        "metadata": _joined(stored["metadata"], incoming["metadata"]),
        "source": stored["source"] or incoming["source"],
        "expires_at": _later(stored["expires_at"], incoming["expires_at"]),
        "tags": sorted({*stored["tags"], *incoming["tags"]}),
        "derived_from": sorted({*stored["derived_from"], *incoming["derived_from"]}),
    }


def keep_as_witness(stored: Fields) -> dict[str, Any]:
    """Return the fields of a memory after a statement was merged that changes nothing of it."""
    return {**stored, "folded": False}


def _most_trusted(stored: Fields, incoming: Fields) -> tuple[str, float]:
    old = PROVENANCE_RANK.get(stored["provenance"], 0)
    new = PROVENANCE_RANK.get(incoming["provenance"], 0)
    if old == new:
        return stored["provenance"], max(stored["confidence"], incoming["confidence"])
    higher = stored if old > new else incoming
    return higher["provenance"], higher["confidence"]


def _joined(stored: Fields, incoming: Fields) -> dict[str, Any]:
    both = {**incoming, **stored}
    is_too_large = len(json.dumps(both, ensure_ascii=False).encode()) > MAX_METADATA_BYTES
    return dict(stored) if is_too_large else both


def _later(a: str | None, b: str | None) -> str | None:
    return None if a is None or b is None else max(a, b)


@dataclass(frozen=True, slots=True)
class Step:
    """One merge: the memory's fields on either side of it, and what was merged."""

    before: Fields
    incoming: Fields
    after: Fields

    @property
    def takes_wording(self) -> bool:
        """Tell whether the memory took the incoming wording."""
        took = self.after["content"] == self.incoming["content"]
        return bool(took and self.after["content"] != self.before["content"])

    @property
    def folds(self) -> bool:
        """Tell whether the statement's fields went into the memory (else see `keep_as_witness`)."""
        return bool(self.after.get("folded", True))


@dataclass(frozen=True, slots=True)
class Undone:
    """A memory without one of its merges.

    `fields` are what it holds now, `later` the steps that stand, replayed, and `kept` the names of
    the fields that somebody changed after the merge and that therefore stay as they are.
    """

    fields: dict[str, Any]
    later: tuple[Step, ...]
    kept: tuple[str, ...]


def without(step: Step, later: Sequence[Step], current: Fields) -> Undone:
    """Take `step` out of a memory that holds `current` after the merges `later`, oldest first."""
    fields = dict(step.before)
    held = step.after  # what the memory really held where `fields` is what it would have held
    kept: set[str] = set()
    replayed = []
    for following in later:
        kept |= _take_changes(fields, held, following.before)
        before = dict(fields)
        if following.folds:
            fields = fold(before, following.incoming, takes_wording=following.takes_wording)
        after = dict(fields) if following.folds else keep_as_witness(fields)
        replayed.append(Step(before, following.incoming, after))
        held = following.after
    kept |= _take_changes(fields, held, current)
    return Undone(fields, tuple(replayed), tuple(sorted(kept)))


def _take_changes(fields: dict[str, Any], held: Fields, found: Fields) -> set[str]:
    """Take over what was changed by hand between two merges; name what the undoing spares."""
    spared = set()
    for name, value in list(fields.items()):
        if found[name] != held[name]:
            if value != held[name]:
                spared.add(name)
            fields[name] = found[name]
    return spared
