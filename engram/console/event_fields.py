"""The data of an event of history as a table in words."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from engram.console.settings_form import LABELS
from engram.kernel.models import Event
from memories.serializers.review_words import field_title, value_in_words

_CODE: Final = re.compile(r"[a-z]{1,40}(?:_[a-z]{1,40}){1,8}")  # such as both_valid
# What pages call fields of events, where the words of the API say little.
TITLES: Final = {
    "alpha": "Weight of the baseline",
    "other": "Other memory",
    "by": "Superseded by",
    "injected": "Memories given",
    "candidates": "Memories considered",
    "prompts": "Prompts",
    "matched": "Matched by prompts",
    "chunks": "Passages",
    "void_reason": "Does not count because",
    "overall": "How well the memories served",
    "provenance_ceiling": "May claim at most",
    "may_relay": "May pass on what users say",
}
EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
# What pages call the objects of events, where the API has another name.
KINDS: Final = {
    "calibration_item": "rating",
    "calibration_sample": "memories to rate",
    "prediction_error": "memory in doubt",
    "merge_suggestion": "duplicate",
    "extraction_refusal": "refused statement",
    "muting": "rule to mute",
}


def kind_in_words(object_type: str) -> str:
    """Return what pages call a kind of object."""
    return KINDS.get(object_type, object_type.replace("_", " "))


def fields_of(event: Event) -> list[tuple[str, str]]:
    """Return the title and value of each field of an event's data that is not empty."""
    data = event.data if isinstance(event.data, dict) else {}
    if event.type == "settings.changed":
        return [
            (LABELS.get(name, field_title(name)), _change(value)) for name, value in data.items()
        ]
    return [
        (TITLES.get(name) or field_title(name), _value(name, value))
        for name, value in data.items()
        if value not in EMPTY
    ]


def as_stored(event: Event) -> str:
    """Return an event as the API has it."""
    found = {
        "type": event.type, "object_type": event.object_type, "object_id": event.object_id,
        "data": event.data,
    }  # fmt: skip
    return json.dumps(found, indent=2, ensure_ascii=False)


def _value(name: str, value: Any) -> str:
    if isinstance(value, str) and _CODE.fullmatch(value):
        return value.replace("_", " ")
    return value_in_words(name, value)


def _change(value: Any) -> str:
    """Return a setting before and after a change."""
    if not isinstance(value, list) or len(value) != 2:
        return _value("", value)
    return f"{_value('', value[0])}, now {_value('', value[1])}"
