"""The draft of a memory: the fields of a commit as the caller sent them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.credentials import strings_in
from memories.core.answers import Answer, as_records, from_records
from memories.models import Kind, Memory, Provenance
from memories.services.lifecycle.answers import texts_to_check

DEFAULT_CONFIDENCE = {Provenance.USER_STATED: 1.0}
OTHER_CONFIDENCE = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The fields of a commit; `None` means a default that depends on other fields."""

    content: str
    scope: str = ""
    project: str = ""
    kind: str = Kind.SEMANTIC
    provenance: str = Provenance.ASSISTANT_DERIVED
    confidence: float | None = None
    importance: float = 0.5
    tags: tuple[str, ...] = ()
    agent: str = ""
    session_key: str = ""
    supersedes: UUID | None = None
    is_pinned: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)
    observed_at: datetime | None = None
    expires_at: datetime | None = None
    source: str | None = None
    derived_from: tuple[UUID, ...] = ()
    is_revival: bool = False
    answers: tuple[Answer, ...] = ()

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and text of each text field."""
        for name in ("content", "source", "scope", "project", "agent", "session_key"):
            yield name, getattr(self, name) or ""
        for name in ("tags", "metadata"):
            for text in strings_in(getattr(self, name)):
                yield name, text
        for text in texts_to_check(self.answers):
            yield "answers", text

    @property
    def other_fields(self) -> dict[str, Any]:
        """Return the fields that an observation stores besides the content, JSON serialisable."""
        return {
            "scope": self.scope,
            "project": self.project,
            "kind": str(self.kind),
            "importance": self.importance,
            "tags": list(self.tags),
            "pinned": self.is_pinned,
            "metadata": dict(self.metadata),
            "source": self.source,
            "expires_at": self.expires_at.isoformat() if self.expires_at else None,
            "supersedes": str(self.supersedes) if self.supersedes else None,
            "derived_from": [str(source) for source in self.derived_from],
            "answers": as_records(self.answers),
        }

    def as_json(self) -> dict[str, Any]:
        """Return all fields, JSON serialisable; `from_json` reads them back."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """Return the draft that `as_json` wrote; unknown fields are ignored."""
        values = {f.name: kept[f.name] for f in fields(cls) if f.name in kept}
        for name in ("observed_at", "expires_at"):
            if values.get(name) is not None:
                values[name] = datetime.fromisoformat(values[name])
        if values.get("supersedes") is not None:
            values["supersedes"] = UUID(values["supersedes"])
        values["tags"] = tuple(values.get("tags", ()))
        values["answers"] = from_records(values.get("answers", ()))
        values["derived_from"] = tuple(UUID(i) for i in values.get("derived_from", ()))
        return cls(**values)

    @property
    def stated_confidence(self) -> float:
        """Return the confidence (0..1); the default depends on the provenance."""
        if self.confidence is not None:
            return self.confidence
        return DEFAULT_CONFIDENCE.get(Provenance(self.provenance), OTHER_CONFIDENCE)


def _plain(value: Any) -> Any:
    """Return a field's value, JSON serialisable."""
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Answer):
        return value.as_record()
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return dict(value) if isinstance(value, Mapping) else value


def without_known_claims(draft: Draft, memory: Memory, *, actor: Actor) -> Draft:
    """Return the draft with claims above the key's limit lowered to that limit.

    A claim (provenance, pin, kind) is lowered only where the repeated memory already has it,
    because the commit would then change nothing and needs no review. Other claims stay and need a
    review.
    """
    claimed = Provenance(draft.provenance)
    if not actor.may_claim(claimed) and claimed.trust <= Provenance(memory.provenance).trust:
        draft = replace(draft, provenance=actor.claims.provenance_ceiling)
    if not actor.may_pin and draft.is_pinned and memory.is_pinned:
        draft = replace(draft, is_pinned=False)
    if not actor.may_pin and draft.kind == memory.kind == Kind.CONSTRAINT:
        draft = replace(draft, kind=Kind.SEMANTIC)
    return draft
