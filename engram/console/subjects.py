"""Say in a few words what events are about that speak of no memory, card or note.

Names and counts that the events record, and names of sessions; a memory in doubt is named by its
text, unless it was forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from engram.console.settings_form import LABELS
from engram.kernel.labels import Count
from engram.kernel.literals import row_id
from memories.models import PredictionError, Session
from predictor.models import TrainingStatus

MOST_NAMED: Final = 3  # settings of one change
OF_DOUBT: Final = frozenset({"drift", "prediction_error"})
OF_SESSIONS: Final = frozenset({"session", "comparison"})
# What events count, by type: their field, and the noun of its number.
_COUNTED: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "extraction.finished": (("kept", "kept|kept"), ("refused", "refused|refused")),
    "extraction.queued": (("chars", "character"),),
    "janitor.ran": (
        ("examined", "examined|examined"), ("demoted", "demoted|demoted"),
        ("culled", "hidden|hidden"),
    ),
    "calibration.drawn": (("size", "memory|memories"),),
}  # fmt: skip


def subjects_of(messages: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Return the words of each message that has some, by its number; two queries at most."""
    sessions = _sessions({id_ for one in messages if (id_ := _session_id(one))})
    doubts = _doubts({id_ for one in messages if (id_ := _doubt_id(one))})
    found = {
        one["seq"]: sessions.get(_session_id(one))
        or doubts.get(_doubt_id(one))
        or _recorded(one["type"], one["data"])
        for one in messages
    }
    return {seq: words for seq, words in found.items() if words}


def _session_id(message: Mapping[str, Any]) -> UUID | None:
    data, family = message["data"], _family(message)
    named = data.get("session") if family == "comparison" else data["object"]
    return row_id(str(named)) if family in OF_SESSIONS else None


def _doubt_id(message: Mapping[str, Any]) -> UUID | None:
    return row_id(str(message["data"]["object"])) if _family(message) in OF_DOUBT else None


def _family(message: Mapping[str, Any]) -> str:
    return str(message["type"]).partition(".")[0]


def _sessions(ids: set[UUID]) -> dict[UUID | None, str]:
    rows = Session.objects.filter(pk__in=ids) if ids else Session.objects.none()
    return dict(rows.values_list("pk", "session_key"))


def _doubts(ids: set[UUID]) -> dict[UUID | None, str]:
    """Return the text of the memory in doubt, or the path of the note."""
    if not ids:
        return {}
    rows = PredictionError.objects.filter(pk__in=ids).select_related("memory")
    return {
        row.pk: row.note_path
        if row.memory is None
        else ""
        if row.memory.forgotten_at
        else row.memory.content
        for row in rows
    }


def _recorded(kind: str, data: Mapping[str, Any]) -> str:
    """Return what an event itself records: counts, settings, a version or a name."""
    if kind == "settings.changed":
        names = [LABELS[name] for name in data if name in LABELS]
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        return ", ".join(names[:MOST_NAMED]) + more
    if kind.startswith(("training.", "predictor.")) and data.get("version"):
        return ", ".join([f"version {data['version']}", *_status(data.get("status"))])
    if kind.startswith("training."):
        return ", ".join(_status(data.get("status")))
    counts = [
        f"{Count(data[name]):{noun}}"
        for name, noun in _COUNTED.get(kind, ())
        if isinstance(data.get(name), int)
    ]
    return ", ".join(counts) or str(data.get("name") or data.get("username") or "")


def _status(code: object) -> list[str]:
    return [str(TrainingStatus(code).label).lower()] if code in TrainingStatus.values else []
