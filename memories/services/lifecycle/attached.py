"""Read what belongs to memories beside their rows: tags, sources, answers, history."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from engram.kernel.binary import binary_cursor, pack_ids
from engram.kernel.models import Event
from engram.kernel.tenancy import current_workspace_id
from memories.core.answers import Answer
from memories.models import Observation, PredictionError, Revision

ERRORS_OF_HISTORY = 500  # the newest prediction errors whose events a memory's history has

_LINKS = """
    SELECT memory_id, 'tag' AS what, tag, NULL::timestamptz AS at, NULL::uuid AS other
    FROM memories_memorytag
    WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT derived_id, 'source', '', NULL, source_id
    FROM memories_derivation
    WHERE workspace_id = %(workspace)s AND derived_id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT superseded_by_id, 'replaced', '', observed_at, id
    FROM memories_memory
    WHERE workspace_id = %(workspace)s AND superseded_by_id = ANY(%(ids)s::uuid[])
    UNION ALL
    SELECT answer.memory_id, 'answer', json_build_array(
        position, question, answer, was, coalesce(asked.answers_hash, ''), asked.content_hash = ''
    )::text, NULL, NULL
    FROM memories_memoryanswer AS answer
    LEFT JOIN memories_askedanswers AS asked
        ON asked.memory_id = answer.memory_id AND asked.workspace_id = answer.workspace_id
    WHERE answer.workspace_id = %(workspace)s AND answer.memory_id = ANY(%(ids)s::uuid[])
    ORDER BY tag, at, other
"""


@dataclass(slots=True)
class Links:
    """The tags, sources, answers and superseded memory of one memory."""

    tags: list[str] = field(default_factory=list)  # sorted
    sources: list[UUID] = field(default_factory=list)
    replaced: UUID | None = None  # the newest memory that it superseded
    answers: list[Answer] = field(default_factory=list)
    model_digest: str = ""  # of the answers that a model wrote; see `core/answer_sources.py`
    has_set_answers: bool = False


def links_of(ids: Collection[UUID]) -> dict[UUID, Links]:
    """Return the links of each memory; empty links for a memory that has none."""
    found: dict[UUID, Links] = defaultdict(Links)
    numbered: dict[UUID, list[list[Any]]] = defaultdict(list)  # rows of _LINKS
    if not ids:
        return found
    with binary_cursor(prepares=True) as cursor:
        cursor.execute(_LINKS, {"workspace": current_workspace_id(), "ids": pack_ids(ids)})
        for memory_id, what, tag, _, other in cursor.fetchall():
            links = found[memory_id]
            if what == "tag":
                links.tags.append(tag)
            elif what == "source":
                links.sources.append(other)
            elif what == "answer":
                numbered[memory_id].append(json.loads(tag))
            else:
                links.replaced = other
    for memory_id, rows in numbered.items():
        links = found[memory_id]
        links.answers = [Answer(*row[1:4]) for row in sorted(rows, key=itemgetter(0))]
        links.model_digest, links.has_set_answers = rows[0][4], bool(rows[0][5])
    return found


def events_of(memory_id: UUID) -> QuerySet[Event]:
    """Return the events of a memory of this workspace, and of the prediction errors about it."""
    errors = PredictionError.objects.filter(memory=memory_id).order_by("-detected_at", "-pk")
    ids = errors.values_list("pk", flat=True)[:ERRORS_OF_HISTORY]
    return Event.objects.filter(object_id__in=[str(memory_id), *map(str, ids)])


def add_wordings(memory_id: UUID, events: Sequence[Event]) -> Sequence[Event]:
    """Set `content` of each event: the observed text, the wording before a change, or None.

    A change also gets the wording `after` it, None while that is the present one.
    The data of an event about a prediction error get its id as `error`.
    """
    observations = Observation.objects.filter(
        memory=memory_id, pk__in=[e.data["observation"] for e in events if "observation" in e.data]
    )
    sent = {str(row.pk): row.content for row in observations}
    made = [e.data["revision"] for e in events if "revision" in e.data]
    numbers = {*made, *(number - 1 for number in made)}
    replaced = dict(
        Revision.objects.filter(memory=memory_id, number__in=numbers).values_list(
            "number", "content"
        )
    )
    for event in events:
        wording = sent.get(event.data.get("observation", "")) or replaced.get(
            event.data.get("revision", 0) - 1
        )
        event.content = wording  # type: ignore[attr-defined]
        event.after = replaced.get(event.data.get("revision", 0))  # type: ignore[attr-defined]
        if event.object_type == "prediction_error":
            event.data = {**event.data, "error": event.object_id}
    return events
