"""What each revision of a memory changed, in words: the fields before and after it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import JSONObject

from engram.console.templatetags.memories import FIELDS
from engram.kernel.models import Event
from memories.models import Memory, MemoryTag, Revision
from memories.serializers.review_words import field_title, value_in_words
from memories.services.lifecycle.answers import answers_of
from memories.services.lifecycle.fields import revision_fields
from memories.services.lifecycle.repeated import REPEATED
from memories.services.lifecycle.take_back import REVISED

# Revisions keep the tags only where they replace them; those of other reasons may change them too.
_TAGS_SAFE: Final = (REVISED, REPEATED)
_STORED: Final = {"is_pinned": "pinned"}  # names in revisions, where events have another
_UNKNOWN: Final = object()


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a revision; `before` and `after` are None where nothing kept tells the value."""

    title: str
    before: str | None = None
    after: str | None = None


def changes_by_revision(
    memory: Memory, events: Sequence[Event]
) -> Mapping[int, Sequence[FieldChange]]:
    """Return the changed fields by revision, but for the wording; three queries at most."""
    named = {
        event.data["revision"]: event.data["fields"]
        for event in events
        if event.data.get("fields") and "revision" in event.data
    }
    if not named:
        return {}
    kept = _states(memory, {*named, *(number - 1 for number in named)})
    return {
        number: _changes(fields, kept.get(number - 1, {}), kept.get(number, {}))
        for number, fields in named.items()
    }


def _states(memory: Memory, numbers: Collection[int]) -> dict[int, Mapping[str, Any]]:
    """Return the fields of a memory at some of its revisions; `tags` only where they are known."""
    later = Revision.objects.filter(memory=memory, number__gte=OuterRef("number"))
    telling = later.filter(Q(fields__has_key="tags") | ~Q(reason__in=_TAGS_SAFE))
    rows = Revision.objects.filter(memory=memory, number__in=numbers).annotate(
        telling=Subquery(
            telling.order_by("number").values(row=JSONObject(tags=F("fields__tags")))[:1]
        )
    )
    tags = list(MemoryTag.objects.filter(memory=memory).values_list("tag", flat=True))
    found: dict[int, Mapping[str, Any]] = {}
    for number, fields, told in rows.values_list("number", "fields", "telling"):
        kept = tags if told is None else told["tags"]
        found[number] = fields if kept is None else {**fields, "tags": sorted(kept)}
    if memory.revision in numbers:
        present = revision_fields(memory, answers_of(memory))
        found[memory.revision] = present | {"tags": sorted(tags)}
    return found


def _changes(
    names: Sequence[str], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[FieldChange]:
    """Return the fields that differ, and those of which a value is not known."""
    found = []
    for name in names:
        stored = _STORED.get(name, name)
        old, new = before.get(stored, _UNKNOWN), after.get(stored, _UNKNOWN)
        if name != "content" and (old != new or old is _UNKNOWN):
            title = field_title(FIELDS.get(name, name))
            found.append(FieldChange(title, _in_words(name, old), _in_words(name, new)))
    return found


def _in_words(name: str, value: Any) -> str | None:
    """Return a value as the page's facts show it; None if it is not known."""
    if value is _UNKNOWN:
        return None
    if name == "expires_at" and value is None:
        return "never"
    return value_in_words(name, value)
