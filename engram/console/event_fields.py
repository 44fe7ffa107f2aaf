"""The data of an event of history as a table in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from django.db.models import TextChoices
from django.utils.html import format_html_join

from conflicts.models import JudgedRelation
from conflicts.models.card import ConflictKind, ConflictStatus, LapseReason, Severity
from conflicts.models.decision import Verdict
from conflicts.services.cards.naming import say_kept
from engram.console.event_objects import Names, name_objects
from engram.console.settings_form import CHOICES, LABELS
from engram.console.wording import VERDICTS
from engram.kernel.models import Event, Provenance, Role
from memories.models import Resolution, ReviewKind
from memories.models.drift import ErrorType
from memories.models.extraction import RefusalDecision
from memories.models.memory import Kind
from memories.serializers.review_words import field_title, value_in_words
from predictor.models import ComparisonOutcome, JudgeKind, TrainingStatus
from predictor.models.comparison import PHASE_WORDS
from predictor.services.training.due import WHY

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
    "undo": "Because something was undone",
    "is_relabelled": "Changed after the judge’s word was seen",
    "lapsed": "Closed by itself",
    "revived": "Because its memories came back",
    "reworded": "The wording changed",
    "correct": "The merge was right",
    "enabled": "Switched on",
    "vectors": "With embeddings",
    "observation": "Statement",
    "merged": "Merged statement",
    "absorbed": "Merged memory",
    "into": "Split off as",
    "was_by": "Superseded before by",
    "sample": "Sample of ratings",
    "run": "Run of the janitor",
    "error": "Memory in doubt",
    "refusal": "Refused statement",
    "suggestion": "Suggested merge",
    "demotions": "Times it lost weight",
    "culled": "Hidden",
}
# The labels of codes, by field; no two lists of one field share a code.
LABELLED: Final[dict[str, tuple[type[TextChoices], ...]]] = {
    "kind": (ReviewKind, JudgeKind, ConflictKind, Kind),
    "status": (ConflictStatus, TrainingStatus),
    "severity": (Severity,),
    "verdict": (Verdict,),
    "relation": (JudgedRelation,),
    "outcome": (ComparisonOutcome,),
    "reason": (LapseReason,),
    "decision": (RefusalDecision,),
    "resolution": (Resolution,),
    "error_type": (ErrorType,),
    "provenance": (Provenance,),
    "provenance_ceiling": (Provenance,),
    "role": (Role,),
}
WORDED: Final[dict[str, Mapping[str, str]]] = {
    "phase": PHASE_WORDS,
    "reason": WHY,  # of trainings
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
    "writer": "writer of memories",
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
    names = name_objects(data)
    return [
        (_title(event, name), _verdict_of(event, name) or _value(name, value, names))
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


def _title(event: Event, name: str) -> str:
    if name == "by" and event.object_type == "conflict":
        return "The wider conflict"
    if name == "from" and event.type == "memory.separated":
        return "Split off from"
    if name == "verdict" and event.type == "conflict.reopened":
        return "Verdict that was undone"
    return TITLES.get(name) or field_title(name)


def _verdict_of(event: Event, name: str) -> str:
    """Return what a verdict on a conflict did, if `name` is that field and more than its label is
    known: the side that it kept, where the event was read with the names of the sides.
    """
    if name != "verdict" or event.object_type != "conflict":
        return ""
    verdict, sides = str(event.data[name]), getattr(event, "card_names", None)
    if sides and (kept := say_kept(verdict, sides)):
        return f"kept {kept}"
    return "" if verdict in {Verdict.YES, Verdict.NO} else VERDICTS.get(verdict, "")


def _value(name: str, value: Any, names: Names) -> str:
    """Return a value in words; what it names by id is linked."""
    if isinstance(value, str):
        if (named := names.get(value)) is not None:
            return named
        return label_of(name, value) or _free(name, value)
    if not names or name == "answers":
        return _free(name, value)
    if isinstance(value, dict):
        parts = ((key.replace("_", " "), _value(key, one, names)) for key, one in value.items())
        return format_html_join(", ", "{}: {}", parts)
    if isinstance(value, list):
        return format_html_join(", ", "{}", ((_value("", one, names),) for one in value))
    return _free(name, value)


def label_of(name: str, code: str) -> str:
    """Return the label of a code of a field, "" where it has none."""
    if (words := WORDED.get(name, {}).get(code)) is not None:
        return words
    for choices in LABELLED.get(name, ()):
        if code in choices.values:
            return str(choices(code).label)
    return ""


def _free(name: str, value: Any) -> str:
    if isinstance(value, str) and _CODE.fullmatch(value):
        return value.replace("_", " ")
    return value_in_words(name, value)


def _change(value: Any) -> str:
    """Return a setting before and after a change."""
    if not isinstance(value, list) or len(value) != 2:
        return _setting(value)
    return f"{_setting(value[0])}, now {_setting(value[1])}"


def _setting(value: Any) -> str:
    return CHOICES.get(value) or _free("", value) if isinstance(value, str) else _free("", value)
