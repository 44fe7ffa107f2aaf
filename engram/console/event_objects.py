"""Name the objects that events hold by their ids, with the addresses of their pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html

from engram.console.feed import memory_texts, names_of
from engram.kernel.literals import row_id
from engram.kernel.models import ApiKey, Event
from engram.kernel.staff import format_moment
from memories.models import (
    JanitorRun,
    Memory,
    Merge,
    MergeSuggestion,
    Note,
    Observation,
    PredictionError,
    Review,
    Session,
)
from memories.models.extraction import ExtractionRefusal
from predictor.models import CalibrationSample, Comparison, Judgement, Training

GONE: Final = "no longer stored"
FORGOTTEN: Final = "a memory that is forgotten"
# The pages of objects, by the kind that events name; keys and members are behind a role.
PAGES: Final = {
    "memory": "console:memory",
    "conflict": "console:conflict",
    "note": "console:note",
    "session": "admin:memories_session_change",
    "comparison": "admin:predictor_comparison_change",
    "training": "admin:predictor_training_change",
    "prediction_error": "admin:memories_predictionerror_change",
    "judgement": "admin:predictor_judgement_change",
    "janitor_run": "admin:memories_janitorrun_change",
    "merge": "admin:memories_merge_change",
    "merge_suggestion": "admin:memories_mergesuggestion_change",
    "event": "admin:kernel_event_change",
}
Names = dict[str, str]


class _Stored(NamedTuple):
    """How one kind of rows is named without the texts of memories."""

    model: type[Model]
    reads: tuple[str, ...]
    name: Callable[..., str]
    page: str = ""  # a kind of `PAGES`; "" for none
    about: str = "pk"  # what the page is of


_STORED: Final = (
    _Stored(Observation, ("created_at",), lambda at: f"stated {format_moment(at)}",
            "memory", "memory_id"),
    _Stored(Session, ("session_key",), str, "session"),
    _Stored(Note, ("path",), str, "note"),
    _Stored(Judgement, ("session__session_key",), "of session {}".format, "judgement"),
    _Stored(Comparison, ("session__session_key",), "of session {}".format, "comparison"),
    _Stored(Training, ("started_at",), format_moment, "training"),
    _Stored(JanitorRun, ("started_at",), format_moment, "janitor_run"),
    _Stored(Merge, ("created_at",), format_moment, "merge"),
    _Stored(MergeSuggestion, ("created_at",), format_moment, "merge_suggestion"),
    _Stored(PredictionError, ("detected_at",), format_moment, "prediction_error"),
    # People below the role of an agent may not see the page of a review.
    _Stored(Review, ("created_at",), lambda at: f"asked {format_moment(at)}"),
    _Stored(ExtractionRefusal, ("created_at",), format_moment),
    _Stored(CalibrationSample, ("drawn_at",), lambda at: f"drawn {format_moment(at)}"),
    _Stored(ApiKey, ("name",), str),
)  # fmt: skip


def name_objects(data: Any) -> Names:
    """Return links to all that an event's data hold by id, by one query for each kind at most."""
    left = set(_ids_in(data))
    found: Names = {}
    for find in (_memories, _conflicts, *map(_finder, _STORED), _rollbacks):
        if left:
            named = find(left)
            found |= named
            left -= {UUID(one) for one in named}
    return found | {str(one): GONE for one in left}


def _ids_in(data: Any) -> Iterator[UUID]:
    parts = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    for part in parts:
        if isinstance(part, str) and (found := row_id(part)) and str(found) == part:
            yield found
        yield from _ids_in(part)


def _link(kind: str, key: object, words: str) -> str:
    if not kind:
        return words
    return format_html('<a href="{}">{}</a>', reverse(PAGES[kind], args=[key]), words)


def _memories(ids: set[UUID]) -> Names:
    texts = {key: shown["text"] for key, shown in memory_texts(ids).items()}
    hidden = Memory.objects.filter(pk__in=ids).exclude(forgotten_at=None)
    texts |= {str(key): FORGOTTEN for key in hidden.values_list("pk", flat=True)}
    return {key: _link("memory", key, words) for key, words in texts.items()}


def _conflicts(ids: set[UUID]) -> Names:
    named = names_of(ids)
    return {key: _link("conflict", key, names.heading) for key, names in named.items()}


def _finder(kind: _Stored) -> Callable[[set[UUID]], Names]:
    def find(ids: set[UUID]) -> Names:
        rows = kind.model._default_manager.filter(pk__in=ids)
        return {
            str(key): _link(kind.page, about, kind.name(*values))
            for key, about, *values in rows.values_list("pk", kind.about, *kind.reads)
        }

    return find


def _rollbacks(ids: set[UUID]) -> Names:
    """Return links to the events of rollbacks, which have no rows."""
    rows = Event.objects.filter(type="writer.rolled_back", object_id__in=map(str, ids))
    return {
        one: _link("event", seq, format_moment(at))
        for one, seq, at in rows.values_list("object_id", "pk", "at")
    }
