"""Statements of other memory systems as bodies of commits: mem0's export, and plain JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engram.console.transfer.foreign.streams import ForeignError
from memories.models import Kind, Provenance

LISTS = ("results", "memories", "data", "items", "statements")
TEXTS = ("content", "memory", "text", "statement", "fact", "data")
MOMENTS = ("observed_at", "created_at", "timestamp", "date", "time")
TAGS = ("tags", "categories", "labels")
MARK = "imported_from"  # in the metadata: the format, and the id there
# Of a commit: taken over where an item has them.
FIELDS = ("confidence", "importance", "kind", "provenance", "project", "source", "session_key")
NOISE = {"hash", "score", "embedding", "vector", "id"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where imported statements go, and what they claim where an item does not say it."""

    scope: str = ""
    project: str = ""
    provenance: str = Provenance.ASSISTANT_DERIVED


def as_commit(item: Any, format_name: str, place: Place) -> dict[str, Any] | None:
    """Return the body of a commit; None for an item without a text. Raise `ForeignError`.

    Each user of another system has a scope, because what is true of one is not of another.
    """
    if isinstance(item, str):
        item = {"content": item}
    if not isinstance(item, Mapping):
        raise ForeignError("is neither a text nor an object")
    text = next((item[name] for name in TEXTS if isinstance(item.get(name), str)), None)
    if text is None:
        raise ForeignError(f"has no text: one of {', '.join(TEXTS)}")
    if not text.strip():
        return None
    known = {*TEXTS, *MOMENTS, *TAGS, *FIELDS, *NOISE, "metadata", "agent", "agent_id", "scope"}
    metadata = item.get("metadata")
    kept = dict(metadata) if isinstance(metadata, Mapping) else {}
    kept |= {n: v for n, v in item.items() if n not in known and v not in (None, "", [], {})}
    kept[MARK] = f"{format_name}:{_identity(item, text)}"
    body: dict[str, Any] = {"content": text.strip(), "metadata": kept}
    body["scope"] = _scope(item, place)
    body["project"] = _text(item, "project") or place.project
    body["agent"] = (_text(item, "agent") or _text(item, "agent_id"))[:200]
    body["provenance"] = _provenance(item, place)
    body["tags"] = _tags(item)
    for name in ("source", "session_key", "confidence", "importance"):
        if item.get(name) not in (None, ""):
            body[name] = item[name]
    if item.get("kind") in Kind.values:
        body["kind"] = item["kind"]
    if (moment := _moment(item)) is not None:
        body["observed_at"] = moment
    return body


def _identity(item: Mapping[str, Any], text: str) -> str:
    """Return the id of an item; without one, a digest of what it says and of whom."""
    given = item.get("id") or item.get("uuid")
    if isinstance(given, str | int) and len(str(given)) <= 100:
        return str(given)
    said = f"{item.get('user_id', '')}\n{text}"
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _scope(item: Mapping[str, Any], place: Place) -> str:
    parts = [place.scope, _text(item, "scope")]
    if user := _text(item, "user_id"):
        parts.append(f"users/{user.replace('/', '_')}")
    return "/".join(part for part in parts if part)


def _provenance(item: Mapping[str, Any], place: Place) -> str:
    if item.get("provenance") in Provenance.values:
        return str(item["provenance"])
    # mem0 keeps the role of the message where a statement is the message itself.
    return Provenance.USER_STATED if item.get("role") == "user" else place.provenance


def _tags(item: Mapping[str, Any]) -> list[str]:
    given: list[Any] = next((item[n] for n in TAGS if isinstance(item.get(n), list)), [])
    return list(dict.fromkeys(tag for tag in given if isinstance(tag, str) and tag.strip()))


def _moment(item: Mapping[str, Any]) -> str | None:
    """Return the first time of an item; a number is Unix time, in seconds or milliseconds."""
    for name in MOMENTS:
        value = item.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if value > 1e11 else value
            return unix_moment(seconds).isoformat()
        if isinstance(value, str) and value.strip():
            return iso_moment(value).isoformat()
    return None


def unix_moment(seconds: float) -> datetime:
    """Return a Unix time as a moment; raise `ForeignError` for one that is none."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise ForeignError(f"has a time that is none: {seconds!r}") from None


def iso_moment(text: str) -> datetime:
    """Return an ISO 8601 time, in UTC where it names no zone; raise `ForeignError`."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ForeignError(f"has a time that is none: {text[:40]!r}") from None


def _text(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    return value.strip() if isinstance(value, str) else ""
