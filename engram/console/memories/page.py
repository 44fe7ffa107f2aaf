"""The page of one memory: its statement, why it was recalled, its life, and changes in place."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from engram.console.memories.done import changed_in, done_in, without_done
from engram.console.memories.editing import present_of
from engram.console.memories.factors import Bar, bars_of_candidate
from engram.console.memories.forms import DayForm
from engram.console.memories.life import life_of, read_position
from engram.console.memories.recalls import last_recalls
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, staff_of
from memories.api.memories import visible_to
from memories.models import Kind, Memory, ReviewStatus, SessionCandidate, State, SuggestionStatus
from memories.serializers.memory import present_answers
from memories.services.associations.draw import draw
from memories.services.disputes import disputes_of
from memories.services.drift.find import leanings_of
from memories.services.gate.suggestions import in_status
from memories.services.lifecycle import attached
from memories.services.lifecycle.take_back import revisions_to_take_back
from memories.services.notes.links import links_of_memory
from memories.services.recall.past import turn_back
from memories.services.sessions.uses import times_misled, times_of_use

ENTRIES = 20
SESSIONS_SHOWN = 5
CHANGEABLE = {State.ACTIVE, State.EXPIRED}


@require_safe
@member_page()
def memory(request: HttpRequest, memory_id: UUID) -> HttpResponse:
    """Show one memory, as of a day if the address names one."""
    return memory_page(request, find_memory(request, memory_id))


def find_memory(request: HttpRequest, memory_id: UUID) -> Memory:
    """Return a memory that the member may see."""
    found: Memory | None = visible_to(staff_of(request).actor.role).filter(pk=memory_id).first()
    if found is None:
        raise Http404
    return found


def memory_page(
    request: HttpRequest, found: Memory, *, status: int = 200, **more: Any
) -> HttpResponse:
    """Render the page; `more` are the values of a form that was refused."""
    now = timezone.now()
    day = DayForm(request.GET if request.method != "POST" else None)
    then = day.then
    former = _former(found, then) if then else None
    until = then if former else None  # what could not be recalled then is shown as it is now
    links = attached.links_of([found.pk])[found.pk]
    state = found.state(now)
    may_act = has_role(request, Role.REVIEWER)
    context = {
        "memory": found,
        "state": state,
        "tags": links.tags,
        "conflicts": disputes_of([found.pk]).get(found.pk, []),
        "answers": present_answers(found.content, links),
        "day": day,
        "then": then,
        "former": former,
        "statement": (former or found).content,
        "life": life_of(
            found, read_position(request.GET.get("before", "")), size=ENTRIES, until=until
        ),
        "given": _given(found, until),
        "recalls": last_recalls(found, until),
        "uses": times_of_use([found.pk])[found.pk],
        "misled": times_misled(found.pk),
        **_notes(found),
        "drawing": draw(found, now),
        "may_act": may_act and then is None,
        "may_change": may_act and then is None and state in CHANGEABLE,
        "kinds": Kind.choices,
        "present": present_of(found, links.tags),
        "done": done_in(request),
        "changed": changed_in(request, found.revision) if may_act else "",
        "undoable": bool(may_act and revisions_to_take_back([found])),
        "here": without_done(request.get_full_path()),
        "typed": {},
        "errors": {},
        **_related(found, now),
        **more,
    }
    return render(request, "console/memories/one.html", context, status=status)


def _former(found: Memory, then: datetime) -> Memory | None:
    """Return the memory as it was at a time; None if it could not be recalled then."""
    was = Memory.objects.recallable_then(then, whatever_expiry=True).filter(pk=found.pk).first()
    if was is None:
        return None
    turn_back([was], then)
    return None if was.expires_at is not None and was.expires_at <= then else was


def _given(found: Memory, until: datetime | None) -> Sequence[tuple[SessionCandidate, list[Bar]]]:
    """Return the last sessions until a time that were given the memory, each with its factors."""
    rows = SessionCandidate.objects.filter(memory=found, was_injected=True)
    if until is not None:
        rows = rows.filter(created_at__lte=until)
    plain = rows.select_related("session").defer(
        "signals", "session__context", "session__context_embedding", "session__transcript",
        "session__prompt_digests",
    )  # fmt: skip
    return [
        (row, bars_of_candidate(row))
        for row in plain.order_by("-created_at", "-pk")[:SESSIONS_SHOWN]
    ]


def _notes(found: Memory) -> dict[str, Any]:
    """Return the notes that a memory links, with what it leans on in each."""
    leanings = leanings_of(found) if found.forgotten_at is None else {}
    links = links_of_memory(found)
    noted = [leanings.get(link.note_id) if link.note_id else None for link in links]
    return {
        "targets": {(link.target, link.heading): link for link in links},
        "note_links": list(zip(links, noted, strict=True)),
        "doubts": [one.error for one in leanings.values() if one.is_drifted and one.error],
    }


def _related(found: Memory, now: datetime) -> dict[str, Any]:
    """Return what leads on: its chain, its sources, and what people are asked about it."""
    open_suggestions = in_status(SuggestionStatus.OPEN, now)
    return {
        "successor": found.superseded_by if found.superseded_by_id else None,
        "replaced": list(Memory.objects.filter(superseded_by=found).order_by("-observed_at")[:20]),
        "sources": [row.source for row in found.derived_from.select_related("source")[:50]],
        "derived": [row.derived for row in found.derivations.select_related("derived")[:50]],
        "suggestions": open_suggestions.filter(Q(memory=found) | Q(other=found)).count(),
        "reviews": found.reviews.filter(status=ReviewStatus.PENDING).count(),
    }
