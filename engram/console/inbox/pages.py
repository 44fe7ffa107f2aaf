"""The pages of the inbox: one item of any kind at a time, with the same keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from conflicts.forms import SnoozeForm
from conflicts.services.cards.show import newest_seq
from engram.console.inbox import queue
from engram.console.inbox.addresses import address_of
from engram.console.inbox.counts import count_matching
from engram.console.inbox.forms import FILTERS, ActionForm, InboxForm, named_item
from engram.console.inbox.groups import ONE, PAGE, Looked, Steps, group_context
from engram.console.inbox.last import decided, toast_of
from engram.console.inbox.put_off import find_put_off, put_off, take_up
from engram.console.inbox.registry import source_named, sources_for
from engram.console.inbox.reservations import reserve
from engram.console.inbox.source import InboxEntry, InboxFilter, Source
from engram.kernel.labels import one_of
from engram.kernel.last_decision import forget_one, keep_last
from engram.kernel.pages import View, has_role, member_page, name_done, return_address, staff_of
from engram.kernel.refusals import RefusalError, StaleError

NEXT_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Chosen:
    """The item on screen, with its source."""

    source: Source
    row: Any
    entry: InboxEntry


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue that a member sees: the sources with waiting items, and the filters."""

    sources: list[Source]
    wanted: InboxFilter
    filters: dict[str, str]


def item_target(view: View) -> View:
    """Accept forms about an item; redirect a GET to the item. Use inside `member_page`."""

    @wraps(view)
    def run(request: HttpRequest, source: str, item: UUID) -> HttpResponse:
        if request.method != "POST":
            return redirect(f"{reverse('console:inbox')}?item={source}:{item}")
        found = source_named(source, staff_of(request).actor.role)
        if found is None or not found.rows().filter(pk=item).exists():
            raise Http404
        return view(request, found, item)

    return run


@require_safe
@member_page()
def inbox(request: HttpRequest) -> HttpResponse:
    """Show the waiting items, the most urgent first, one at a time."""
    return _inbox(request, request.GET)


def _inbox(
    request: HttpRequest, here: Mapping[str, Any], *, status: int = 200, **more: Any
) -> HttpResponse:
    now = timezone.now()
    staff = staff_of(request)
    sources = sources_for(staff.actor.role)
    form = InboxForm(here)
    wanted = form.to_filter(known={source.name for source in sources}, user_id=staff.actor.user_id)
    filters = {name: here[name] for name in FILTERS if here.get(name)}
    tallies = queue.tallies_for(request)
    nonempty = [source for source in sources if tallies[source.name].count]
    is_filtered = any(name != "source" for name in filters)
    matching = (
        count_matching(nonempty, replace(wanted, source=""), now)
        if is_filtered and nonempty
        else {name: tally.count for name, tally in tallies.items()}
    )
    chosen = _item_in_address(here.get("item", ""), sources, wanted)
    mark = chosen.entry.mark if chosen else None
    following = queue.entries(nonempty, wanted, now, mark=mark, limit=NEXT_SHOWN + 1)
    if chosen is None and following:
        chosen = _item_in_address(following[0].key, sources, wanted)
        following = following[1:]
    context: dict[str, Any] = {
        "form": form,
        "wanted": wanted,
        "filters": filters,
        "sources": [
            (source, tallies[source.name], matching.get(source.name, 0)) for source in sources
        ],
        "is_filtered": is_filtered,
        "matching": sum(matching.values()),
        "tabs": urlencode({k: v for k, v in filters.items() if k != "source"}),
        "only_kind": next((s for s in sources if filters == {"source": s.name}), None),
        "waiting": sum(tally.count for tally in tallies.values()),
        "opens": " ".join(sorted({e for s in sources for e in s.announced_by})),
        "settles": " ".join(sorted({e for s in sources for e in s.settled_by})),
        "seq": newest_seq(),
        "done": toast_of(request, here.get("done", ""), sources),
        "chosen": chosen,
        **more,
    }
    if chosen is not None:
        looked_at = Queue(nonempty, wanted, filters)
        context |= _item_context(request, here, chosen, looked_at, following)
        is_other_kind = context["done"] and context["done"]["kind"] != chosen.source.name
        context["next_kind"] = one_of(chosen.source.noun) if is_other_kind else ""
    return render(request, "console/inbox/inbox.html", context, status=status)


def _shown(following: Sequence[InboxEntry], looked_at: Queue) -> list[tuple[InboxEntry, str, str]]:
    """Return entries with their titles in few words and their addresses."""
    short: dict[UUID, str] = {}
    for source in looked_at.sources:
        own = [entry.mark.id for entry in following if entry.mark.source == source.name]
        short |= source.short_titles(own) if own else {}
    return [
        (entry, short.get(entry.mark.id, entry.title), _address(looked_at.filters, entry))
        for entry in following
    ]


def _item_context(
    request: HttpRequest,
    here: Mapping[str, Any],
    chosen: Chosen,
    looked_at: Queue,
    following: list[InboxEntry],
) -> dict[str, Any]:
    now = timezone.now()
    mark, filters = chosen.entry.mark, looked_at.filters
    previous = queue.entries(
        looked_at.sources, looked_at.wanted, now, mark=mark, limit=1, is_back=True
    )
    place = queue.find_position(looked_at.sources, looked_at.wanted, mark, now)
    onward = _address(filters, following[0] if following else None)
    source, row = chosen.source, chosen.row
    group = source.group_of(row, looked_at.wanted, now)
    looked = Looked(source, row, filters, here, onward)
    actions = source.actions(row, now)
    snooze = find_put_off(mark.source, mark.id, now)
    return {
        **source.context(request, row, now),
        "role": staff_of(request).actor.role,
        "may_decide": has_role(request, source.acts),
        "actions": actions,
        "reserved_by": _reserve(request, source, row, now) if actions else "",
        "put_off": snooze,
        "decision": None if actions or source.has_own_snooze else decided(source, row.pk, now),
        "steps": Steps(
            place.total,
            place.position,
            _address(filters, previous[0]) if previous else "",
            onward if following else "",
            "snoozed" if snooze and actions else source.standing(row, is_open=bool(actions)),
        ),
        "following": _shown(following[:NEXT_SHOWN], looked_at),
        "back": _address(filters, chosen.entry),
        "onward": onward,
        **(group_context(request, group, looked, now) if group else {}),
    }


def _reserve(request: HttpRequest, source: Source, row: Any, now: datetime) -> str:
    """Reserve an item for the member who looks at it; return who has it on screen already."""
    staff = staff_of(request)
    user_id = staff.actor.user_id
    if not source.is_reserved or user_id is None or not has_role(request, source.acts):
        return ""
    name = staff.actor.label
    return reserve(source.name, row.pk, user_id=user_id, name=name, now=now)


def _address(filters: dict[str, str], entry: InboxEntry | None) -> str:
    return address_of(filters, entry.key if entry else "")


def _item_in_address(text: str, sources: list[Source], wanted: InboxFilter) -> Chosen | None:
    """Return the item that the address names, None unless the member may see it."""
    named = named_item(text)
    source = next((s for s in sources if named and s.name == named[0]), None)
    if named is None or source is None:
        return None
    row = source.rows().filter(pk=named[1]).first()
    if row is None:
        return None
    return Chosen(source, row, source.as_entries([row], wanted, timezone.now())[0])


@member_page()
@item_target
def act(request: HttpRequest, source: Source, item: UUID) -> HttpResponse:
    """Apply an answer; show a refusal together with what was typed."""
    form = ActionForm(request.POST)
    if not form.is_valid():
        return _show_refusal(request, source, item, "Choose one of the answers.", 422)
    staff = staff_of(request)
    sent, together = form.cleaned_data, form.cleaned_data["ids"]
    by: dict[str, Any] = {"actor": staff.actor, "now": timezone.now()}
    try:
        if together:
            answered = source.answer_together(staff.workspace, together, sent, **by)
        else:
            source.answer(staff.workspace, item, sent, **by)
            answered = item
    except RefusalError as error:
        return _show_refusal(request, source, item, _message(error), _status_of(error))
    return redirect(_add_decision(request, source, answered))


@member_page()
@item_target
def snooze(request: HttpRequest, source: Source, item: UUID) -> HttpResponse:
    """Snooze an item."""
    form = SnoozeForm(request.POST)
    if not form.is_valid():
        errors_text = " ".join(
            str(message) for errors in form.errors.values() for message in errors
        )
        return _show_refusal(request, source, item, errors_text, 422)
    if source.has_own_snooze:
        raise Http404
    staff = staff_of(request)
    put_off(
        staff.workspace,
        source.name,
        item,
        until=form.cleaned_data["moment"],
        actor=staff.actor,
        now=timezone.now(),
    )
    return redirect(_add_decision(request, source, item))


@member_page()
@item_target
def take_back(request: HttpRequest, source: Source, item: UUID) -> HttpResponse:
    """Undo what was decided about an item, or end its snooze."""
    staff = staff_of(request)
    now = timezone.now()
    forget_one(request, source.name, item)
    try:
        if _is_only_put_off(source, item, now):
            take_up(staff.workspace, source.name, item, actor=staff.actor, now=now)
            told = None
        else:
            told = source.undo(staff.workspace, item, actor=staff.actor, now=now)
    except RefusalError as error:
        return _show_refusal(request, source, item, _message(error), 409)
    messages.success(request, told or "Undone: it waits again.")
    return redirect(return_address(request, reverse("console:inbox")))


def _is_only_put_off(source: Source, item: UUID, now: datetime) -> bool:
    """Return whether an item is snoozed, and not answered since."""
    if source.has_own_snooze or find_put_off(source.name, item, now) is None:
        return False
    return source.find_decision(item, now) is None


@require_safe
@member_page()
def counts(request: HttpRequest) -> HttpResponse:
    """Return the counts of waiting items, for the pages that show them live."""
    tallies = queue.tallies_for(request)
    by_source = {name: tally.count for name, tally in tallies.items()}
    return JsonResponse({"inbox": queue.count_waiting(request), **by_source})


def _show_refusal(
    request: HttpRequest, source: Source, item: UUID, detail: str, status: int
) -> HttpResponse:
    """Show the item's current state, with the refusal and everything that was typed."""
    parameters = dict(parse_qsl(urlsplit(return_address(request, reverse("console:inbox"))).query))
    kept = (*FILTERS, ONE, PAGE)
    here = {name: parameters[name] for name in kept if name in parameters}
    here["item"] = f"{source.name}:{item}"
    return _inbox(
        request,
        here,
        status=status,
        refusal=detail,
        is_stale=status == 409,
        typed=request.POST,
    )


def _message(error: RefusalError) -> str:
    return str(getattr(error, "message", error.detail))


def _status_of(error: RefusalError) -> int:
    return 409 if isinstance(error, StaleError) else 422


def _add_decision(request: HttpRequest, source: Source, item: UUID) -> str:
    """Keep the answered item, and return an address with it, so that the next page undoes it."""
    keep_last(request, source.name, item, timezone.now())
    back = return_address(request, reverse("console:inbox"))
    return name_done(back, f"{source.name}:{item}")
