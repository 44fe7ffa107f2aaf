"""The fields of a memory as its form shows them, and what a sent form changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.utils import timezone
from rest_framework.serializers import Serializer

from engram.kernel.literals import decimal_number
from memories.models import Memory
from memories.serializers import RevisionSerializer

FIELDS: Final = (
    "content", "kind", "scope", "project", "tags", "pinned", "expires_at", "confidence",
    "importance",
)  # fmt: skip
MINUTES = "%Y-%m-%dT%H:%M"
YES, NO = "yes", "no"
SHARES: Final = frozenset({"confidence", "importance"})  # in percent, as every page writes them
NO_SHARE: Final = "Give a percentage from 0 to 100."
LARGE = 1e9  # the serializer knows the bounds; larger numbers are not read as numbers


def present_of(memory: Memory, tags: Sequence[str]) -> dict[str, str]:
    """Return the fields as texts of the form.

    Tags are one a line, shares in percent, the expiry in the page's zone.
    """
    expires_at = memory.expires_at
    return {
        "content": _lines(memory.content),
        "kind": str(memory.kind),
        "scope": memory.scope,
        "project": memory.project,
        "tags": "\n".join(tags),
        "pinned": YES if memory.is_pinned else NO,
        "expires_at": f"{timezone.localtime(expires_at):{MINUTES}}" if expires_at else "",
        "confidence": _in_percent(memory.confidence),
        "importance": _in_percent(memory.importance),
    }


def changes_in(sent: Mapping[str, str], present: Mapping[str, str]) -> RevisionSerializer | None:
    """Return the fields that a form changes, to be validated as the API does; None if none.

    A field that the form does not have stays as it is.
    """
    changed = {name: text for name, text in _texts_in(sent).items() if text != present[name]}
    return RevisionSerializer(data=_read(changed)) if changed else None


def read_fields(sent: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a form of a new memory that say something, as the API takes them."""
    return _read({name: text for name, text in _texts_in(sent).items() if text})


def errors_in(body: Serializer[Any]) -> dict[str, str]:
    """Return the errors of a form by field; those of no field as `form`."""
    found = {}
    for name, told in body.errors.items():
        messages = told.values() if isinstance(told, dict) else told
        plain = (" ".join(map(str, one)) if isinstance(one, list) else str(one) for one in messages)
        said = NO_SHARE if name in SHARES else " ".join(plain)
        found[name if name in FIELDS else "form"] = said
    return found


def _texts_in(sent: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the fields that a form has; tags without empty lines."""
    texts = {name: _lines(sent[name]) for name in FIELDS if name in sent}
    if "tags" in texts:
        tags = (line.strip() for line in texts["tags"].split("\n"))
        texts["tags"] = "\n".join(tag for tag in tags if tag)
    return texts


def _read(texts: Mapping[str, str]) -> dict[str, Any]:
    return {name: _READ[name](text) for name, text in texts.items()}


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _in_percent(share: float) -> str:
    """Return a share in percent, with all digits that it was given."""
    return f"{100 * share:.10g}"


def _share(text: str) -> float | str:
    """Return the share of a percentage; what is no number is left for the serializer."""
    try:
        return decimal_number(text.replace("%", " ").strip(), least=-LARGE, most=LARGE) / 100
    except ValueError:
        return text


def _moment(text: str) -> str | None:
    """Return the moment of a local time as RFC 3339; what is none is left for the serializer."""
    if not text.strip():
        return None
    try:
        local = datetime.strptime(text.strip()[: len("2026-05-31T10:00")], MINUTES)  # noqa: DTZ007
        return timezone.make_aware(local).isoformat()
    except (ValueError, OverflowError):
        return text


_READ: Final[dict[str, Callable[[str], Any]]] = {
    "content": str,
    "kind": str,
    "scope": str,
    "project": str,
    "tags": lambda text: text.split("\n") if text else [],
    "pinned": lambda text: {YES: True, NO: False}.get(text, text),
    "expires_at": _moment,
    "confidence": _share,
    "importance": _share,
}
