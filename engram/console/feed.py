"""Build live events: ids from history, texts looked up when sent.

Texts are never sent through the broker, but read when they are shown. Forgotten memories have none;
those that were retired or replaced do, as on their own page, so that a line says what it is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from conflicts.models import Conflict
from conflicts.services.cards.naming import WITHHELD, CardNames, name_cards
from engram.console.feed_groups import WITH_TEXT, Line, joined_from, line_of, newest_lines
from engram.console.inbox.addresses import address_of
from engram.console.subjects import OF_DOUBT, subjects_of
from engram.console.wording import glyph_for, is_shown, words_for
from engram.kernel.models import Event
from memories.models import Memory
from memories.models.drift import OF_NOTES

TEXT_MAX_CHARS = 240
OF_MEMORIES: Final = ("memory.", "merge.", "review.")  # events whose object is a memory
ABOUT_CHARS: Final = 8  # of an id, the last: to tell apart what a line is about
CATCH_UP_ROWS = 500
OVERLAP = timedelta(seconds=60)
# Sequence numbers are assigned before commit: how far back late events are searched.
OVERLAP_ROWS = 10_000
# The pages of what events speak of: of one type, else of a family; "" for none.
PAGES: Final = {
    "memory": "console:memory",
    "memory.erased": "",
    "conflict": "console:conflict",
    "note.created": "console:note",
    "note.changed": "console:note",
    "merge.suggested": "console:memory",
    "merge.audited": "console:memory",
    "merge.audit_undone": "console:memory",
    "session": "admin:memories_session_change",
    "session.deleted": "",
    "training": "admin:predictor_training_change",
    "comparison": "admin:predictor_comparison_change",
    "janitor": "admin:memories_janitorrun_change",
}
# Those of events that speak of no one object, for all members.
OVERVIEWS: Final = {
    "calibration": "console:calibration",
    "digest": "console:digest",
    "muting": "console:detective",
    "predictor": "console:learning",
}


def as_message(event: Event) -> dict[str, Any]:
    """Return an event of history as a live message."""
    return {
        "type": event.type,
        "seq": event.seq,
        "at": event.at.isoformat(),
        "data": {"object": event.object_id, "actor": event.actor_label, **event.data},
    }


def latest(limit: int) -> list[dict[str, Any]]:
    """Return the newest lines to show, newest first, with the texts of their newest events.

    A line of several events has their number as `count` and theirs as `seqs`.
    """
    lines = {line.seq: line for line in newest_lines(limit)}
    rows = Event.objects.filter(seq__in=list(lines)).order_by("-seq")
    told = with_texts([as_message(event) for event in rows])
    for message in told:
        line = lines[message["seq"]]
        if len(line.seqs) > 1:  # what was kept is of the newest alone
            message["data"]["words"] = words_for(message["type"], message["data"])
            _say_of_all(message["data"], line)
    return [
        {
            **message,
            "seqs": lines[message["seq"]].seqs,
            "count": len(lines[message["seq"]].seqs),
            "about": [one[-ABOUT_CHARS:] for one in lines[message["seq"]].about],
        }
        for message in told
    ]


def _say_of_all(data: dict[str, Any], line: Line) -> None:
    """Say of a line of several what it is about: the newest, and how many others."""
    many = WITH_TEXT.get(line.family)
    if many and len(line.about) == 1:
        return
    if not many:
        data.pop("text", None)
    elif data.get("text"):
        data["others"] = f"and {len(line.about) - 1} other {many}"
    else:
        data["text"] = f"{len(line.about)} {many}"


def last_seq() -> int:
    """Return the sequence number of the workspace's newest event; 0 if there is none."""
    return Event.objects.values_list("seq", flat=True).first() or 0


def since(seq: int) -> tuple[list[dict[str, Any]], bool]:
    """Return the events after `seq`, oldest first, and whether some of them are left out.

    An event can become visible after one with a greater number, so the last minute before `seq` is
    sent again, as far as there is room; clients drop known events by `seq`.
    """
    seen_at = Event.objects.filter(pk=seq).values_list("at", flat=True).first()
    recent = Q(at__gte=(seen_at or timezone.now()) - OVERLAP)
    rows = Event.objects.filter(Q(seq__gt=seq) | recent, seq__gt=max(seq - OVERLAP_ROWS, 0))[
        : CATCH_UP_ROWS + 1
    ]
    newest = list(rows)
    # Of the minute before, the page that asks has all but what became visible late.
    is_truncated = len(newest) > CATCH_UP_ROWS and newest[CATCH_UP_ROWS].seq > seq
    messages = [as_message(event) for event in reversed(newest[:CATCH_UP_ROWS])]
    return with_texts(messages), is_truncated


def with_texts(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add labels and texts to messages, in a constant number of queries."""
    memories = memory_texts(_ids(messages, OF_MEMORIES))
    names = names_of(_ids(messages, ("conflict.",)))
    cards = card_texts(names)
    subjects = subjects_of(messages)
    told = [_display(message, memories, cards, names) for message in messages]
    for message, shown in zip(messages, told, strict=True):
        if "words" in shown and not shown.get("text") and message["seq"] in subjects:
            shown["text"] = shorten(subjects[message["seq"]])
    return [
        {**message, "data": {**message["data"], **shown}}
        for message, shown in zip(messages, told, strict=True)
    ]


def _ids(messages: Sequence[dict[str, Any]], families: tuple[str, ...]) -> set[UUID]:
    return {
        UUID(message["data"]["object"])
        for message in messages
        if message["type"].startswith(families)
    }


def memory_texts(ids: set[UUID]) -> dict[str, dict[str, Any]]:
    """Return text, scope and agent of the memories that may be shown, by id."""
    if not ids:
        return {}
    known = Memory.objects.filter(pk__in=ids, forgotten_at=None)
    rows = known.values("id", "content", "scope", "agent")
    return {
        str(row["id"]): {
            "text": shorten(row["content"]),
            "scope": row["scope"],
            "agent": row["agent"],
        }
        for row in rows
    }


def card_texts(names: Mapping[str, CardNames]) -> dict[str, dict[str, Any]]:
    """Return heading, kind, severity and version of conflicts; "" for a withheld heading."""
    if not names:
        return {}
    shown = {pk: "" if one.heading == WITHHELD else one.heading for pk, one in names.items()}
    rows = Conflict.objects.filter(pk__in=names).values("id", "kind", "severity", "version")
    return {
        str(row["id"]): {
            "text": shown[str(row["id"])],
            "kind": row["kind"],
            "severity": row["severity"],
            "version": row["version"],
        }
        for row in rows
    }


def names_of(ids: set[UUID]) -> dict[str, CardNames]:
    """Return the names of cards and their sides, by id."""
    if not ids:
        return {}
    return {str(pk): names for pk, names in name_cards(Conflict.objects.filter(pk__in=ids)).items()}


def shorten(text: str) -> str:
    """Return a text in one line, cut to what a list shows."""
    line = " ".join(text.split())
    return line if len(line) <= TEXT_MAX_CHARS else f"{line[: TEXT_MAX_CHARS - 1]}…"


def _display(
    message: dict[str, Any],
    memories: dict[str, dict[str, Any]],
    cards: dict[str, dict[str, Any]],
    names: dict[str, CardNames],
) -> dict[str, Any]:
    kind, data = message["type"], message["data"]
    found: dict[str, Any] = {}
    if kind.startswith(OF_MEMORIES):
        found = memories.get(data["object"], {})
    elif kind.startswith("conflict."):
        found = cards.get(data["object"], {})
    elif kind.startswith("note."):
        found = {"text": shorten(data.get("path", ""))}
    if is_shown(kind):
        words = words_for(kind, data, names.get(data["object"]))
        found = {**found, "words": words, "glyph": glyph_for(kind)}
        if line := line_of(kind, data, data.get("actor", "")):
            many = WITH_TEXT.get(kind.partition(".")[0], "")
            found |= {"joins": line, "joined_from": joined_from(kind), "many": many}
        is_told = found.get("text") or kind.partition(".")[0] not in WITH_TEXT
        if is_told and (url := _link(kind, data)):
            found["url"] = url
    return found


def _link(kind: str, data: Mapping[str, Any]) -> str:
    """Return the page of what an event speaks of; "" where it has none for all who see the feed."""
    if kind.startswith("review."):
        return address_of({}, item=f"reviews:{data['review']}") if "review" in data else ""
    family = kind.partition(".")[0]
    if family in OF_DOUBT:
        if data.get("error_type") in OF_NOTES:
            return reverse("admin:memories_predictionerror_change", args=[data["object"]])
        return address_of({}, item=f"drift:{data['object']}")
    if family in OVERVIEWS:
        return reverse(OVERVIEWS[family])
    page = PAGES[kind] if kind in PAGES else PAGES.get(family, "")
    return reverse(page, args=[data["object"]]) if page else ""
