"""Pages of conflicts: triage, one card, the list."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from conflicts.bulk_done import done_in
from conflicts.forms import CommentForm, DecisionForm, QueueForm, SnoozeForm
from conflicts.models import Conflict
from conflicts.models.card import WAITING, ConflictStatus
from conflicts.services.cards import discuss, queue, show, snooze
from conflicts.services.cards.listed import listed
from conflicts.services.cards.naming import name_answer, name_cards
from conflicts.services.cards.snooze import wake
from conflicts.services.cards.verdict_previews import VERDICT_BUTTONS
from conflicts.services.verdicts.resolve import resolve
from conflicts.services.verdicts.undo import undo
from engram.kernel.last_decision import forget_one, keep_last
from engram.kernel.literals import MAX_BIGINT, row_id, whole_number
from engram.kernel.models import Membership, Role
from engram.kernel.pages import (
    form_target,
    has_role,
    member_page,
    name_done,
    return_address,
    staff_of,
)
from engram.kernel.pagination import page_of
from engram.kernel.refusals import RefusalError, StaleError

FILTERS = ("q", "status", "kind", "severity", "rule", "scope", "mine")


def _card(conflict_id: UUID) -> Conflict:
    card = Conflict.objects.select_related("assignee").filter(pk=conflict_id).first()
    if card is None:
        raise Http404
    return card


def _filters(query: QueryDict) -> dict[str, str]:
    """Return the filters that the query of an address sets."""
    return {name: str(query[name]) for name in FILTERS if query.get(name)}


def _card_in_address(request: HttpRequest, name: str = "card") -> Conflict | None:
    """Return the card named in the address, or None."""
    card_id = row_id(request.GET.get(name, ""))
    if card_id is None:
        return None
    return Conflict.objects.select_related("assignee").filter(pk=card_id).first()


def card_context(request: HttpRequest, card: Conflict, **more: Any) -> dict[str, Any]:
    """Return the context of the card's template."""
    staff = staff_of(request)
    return {
        "view": show.show(card, now=timezone.now()),
        "may_decide": has_role(request, Role.REVIEWER),
        "role": staff.actor.role,
        "members": Membership.objects.filter(workspace=staff.workspace).select_related("user"),
        "typed": {},
        "kept": set(),
        **more,
    }


@require_safe
@member_page()
def triage(request: HttpRequest) -> HttpResponse:
    """Show one open card at a time."""
    return _triage(request, request.GET, _card_in_address(request))


def _triage(
    request: HttpRequest, query: QueryDict, card: Conflict | None, *, status: int = 200, **more: Any
) -> HttpResponse:
    """Show a card, or the first one, in the queue that the query of an address filters."""
    form = QueueForm(query)
    wanted = form.to_filter(
        default_status=ConflictStatus.OPEN, user_id=staff_of(request).actor.user_id
    )
    waiting = queue.cards(wanted)
    card = card or waiting.select_related("assignee").first()
    filters = _filters(query)
    context: dict[str, Any] = {
        "form": form,
        "wanted": wanted,
        "filters": filters,
        "query": urlencode(filters),
        "counts": queue.counts(),
        "done": _last_decision(request),
        "seq": show.newest_seq(),
        "may_decide": has_role(request, Role.REVIEWER),
        "view": None,
    }
    if card is not None:
        place = queue.position_of(waiting, card)
        context |= card_context(
            request,
            card,
            steps={
                "total": place.total,
                "position": place.position,
                "standing": queue.standing_of(card),
                "previous": place.previous_id and _queue_url(filters, place.previous_id),
                "next": place.next_id and _queue_url(filters, place.next_id),
            },
            back=_queue_url(filters, card.pk),
            **{"onward": _queue_url(filters, place.next_id), **more},
        )
    return render(request, "conflicts/triage.html", context, status=status)


def _queue_url(filters: dict[str, str], card_id: UUID | None) -> str:
    """Return the URL of the queue, with a card selected."""
    query = {**filters, **({"card": str(card_id)} if card_id else {})}
    return f"{reverse('console:triage')}?{urlencode(query)}"


def _last_decision(request: HttpRequest) -> dict[str, Any] | None:
    """Return the card and text of the last decision, for the undo bar."""
    card = _card_in_address(request, "done")
    if card is None:
        return None
    if card.status == ConflictStatus.SNOOZED and card.snoozed_until:
        return {"card": card, "words": f"Snoozed until {show.local_time(card.snoozed_until)}."}
    words = show.describe_decision(card)
    return {"card": card, "words": words} if words else None


@require_safe
@member_page()
def conflict(request: HttpRequest, conflict_id: UUID) -> HttpResponse:
    """Show one card with the history of its decisions."""
    return _one(request, _card(conflict_id))


def _one(request: HttpRequest, card: Conflict, *, status: int = 200, **more: Any) -> HttpResponse:
    here = reverse("console:conflict", args=[card.pk])
    more = {
        "back": here,
        "onward": here,
        "done": _last_decision(request),
        "seq": show.newest_seq(),
        **more,
    }
    return render(
        request, "conflicts/conflict.html", card_context(request, card, **more), status=status
    )


@require_safe
@member_page()
def conflict_list(request: HttpRequest) -> HttpResponse:
    """List cards, newest first."""
    form = QueueForm(request.GET)
    wanted = form.to_filter(default_status=queue.ALL, user_id=staff_of(request).actor.user_id)
    filters = _filters(request.GET)
    page = page_of(queue.cards(wanted).select_related("assignee"), request)
    return render(
        request,
        "conflicts/list.html",
        {
            "form": form,
            "wanted": wanted,
            "filters": filters,
            "counts": queue.counts(),
            "page": page,
            "listed": listed(page.rows),
            "has_waiting": any(card.status in WAITING for card in page.rows),
            "matching": queue.cards(wanted).order_by().count(),
            "here": request.get_full_path(),
            "done": done_in(request),
            "may_decide": has_role(request, Role.REVIEWER),
        },
    )


@form_target("console:conflict")
@member_page()
def decide(request: HttpRequest, conflict_id: UUID) -> HttpResponse:
    """Apply a verdict; on a refusal show the card with the reason and the typed input."""
    card = _card(conflict_id)
    staff = staff_of(request)
    members = list(card.members.values_list("memory_id", flat=True))
    form = DecisionForm(request.POST, choices=members)
    if not form.is_valid():
        return _show_refusal(request, card, _errors(form), 422)
    fields = form.cleaned_data
    try:
        resolve(
            staff.workspace,
            card.pk,
            verdict=fields["verdict"],
            keep=fields["keep"],
            answer=fields["answer"],
            note=fields["note"],
            version=fields["version"],
            listing=fields["listing"],
            actor=staff.actor,
            now=timezone.now(),
        )
    except StaleError as error:
        return _show_refusal(request, card, error.detail, 409)
    except RefusalError as error:
        return _show_refusal(request, card, getattr(error, "message", error.detail), 422)
    return _go_on(request, card)


def _go_on(request: HttpRequest, card: Conflict) -> HttpResponse:
    """Keep the card as what was decided last, and go where the form leads, to its undo."""
    keep_last(request, "conflicts", card.pk, timezone.now())
    return redirect(name_done(return_address(request, _permalink(card)), str(card.pk)))


def _show_refusal(request: HttpRequest, card: Conflict, detail: str, status: int) -> HttpResponse:
    """Show the current card, with the reason of the refusal and the typed input."""
    return _show_typed(
        request,
        card,
        status=status,
        refusal=detail,
        is_stale=status == 409,
        changes=_changes(card, request.POST.get("seen", "")),
        chosen=_choice_in_words(card, request.POST.get("verdict", "")),
        onward=return_address(request, _permalink(card)),
    )


def _show_typed(request: HttpRequest, card: Conflict, **more: Any) -> HttpResponse:
    """Show the current card with the typed input, in Triage if the form is from there."""
    card.refresh_from_db()
    more = {"typed": request.POST, "kept": set(request.POST.getlist("keep")), **more}
    back = urlsplit(return_address(request, ""))
    if back.path != reverse("console:triage"):
        return _one(request, card, **more)
    return _triage(request, QueryDict(back.query), card, **more)


def _after_remark(request: HttpRequest, card: Conflict, fragment: str = "") -> HttpResponse:
    """Go back to the card; where an answer is half typed, show the card with it instead."""
    back = return_address(request, _permalink(card))
    is_typed = any(request.POST.get(name) for name in ("note", "answer", "keep"))
    if not is_typed:
        return redirect(return_address(request, back, field="here") + fragment)
    kept = request.POST.copy()
    kept.pop("text", None)  # it is a remark of the card by now
    return _show_typed(request, card, typed=kept, onward=back)


def _choice_in_words(card: Conflict, verdict: str) -> str:
    """Return the label of the answer that a person chose."""
    named = name_answer(verdict, name_cards([card])[card.pk])
    return named or next((label for name, label, _ in VERDICT_BUTTONS if name == verdict), "")


def _changes(card: Conflict, seen: str) -> list[Any]:
    """Return the card's events since the event number of the page."""
    try:
        return show.changed_since(card, whole_number(seen, least=0, most=MAX_BIGINT))
    except ValueError:
        return []


def _errors(form: Form) -> str:
    return " ".join(str(message) for errors in form.errors.values() for message in errors)


def _permalink(card: Conflict) -> str:
    return reverse("console:conflict", args=[card.pk])


@form_target("console:conflict")
@member_page()
def undo_or_wake(request: HttpRequest, conflict_id: UUID) -> HttpResponse:
    """Undo the decision, or end the snooze, and show the card again."""
    card = _card(conflict_id)
    staff = staff_of(request)
    undoing = wake if card.status == ConflictStatus.SNOOZED else undo
    forget_one(request, "conflicts", card.pk)
    try:
        undoing(staff.workspace, card.pk, actor=staff.actor, now=timezone.now())
    except RefusalError as error:
        return _show_refusal(request, card, error.detail, 409)
    messages.success(request, "Undone: the question is open again.")
    return redirect(return_address(request, _permalink(card)))


@form_target("console:conflict")
@member_page()
def snooze_card(request: HttpRequest, conflict_id: UUID) -> HttpResponse:
    """Snooze a card."""
    card = _card(conflict_id)
    staff = staff_of(request)
    form = SnoozeForm(request.POST)
    if not form.is_valid():
        return _show_refusal(request, card, _errors(form), 422)
    try:
        snooze.snooze(
            staff.workspace,
            card.pk,
            until=form.cleaned_data["moment"],
            actor=staff.actor,
            now=timezone.now(),
        )
    except RefusalError as error:
        return _show_refusal(request, card, error.detail, 409)
    return _go_on(request, card)


@form_target("console:conflict")
@member_page()
def assign(request: HttpRequest, conflict_id: UUID) -> HttpResponse:
    """Assign a card to a member, or to nobody."""
    card = _card(conflict_id)
    staff = staff_of(request)
    username = request.POST.get("assignee", request.POST.get("member", "")) or None
    try:
        discuss.assign(
            staff.workspace, card.pk, username=username, actor=staff.actor, now=timezone.now()
        )
    except RefusalError as error:
        return _show_refusal(request, card, getattr(error, "message", error.detail), 422)
    return _after_remark(request, card)


@form_target("console:conflict")
@member_page()
def comment(request: HttpRequest, conflict_id: UUID) -> HttpResponse:
    """Add a comment."""
    card = _card(conflict_id)
    staff = staff_of(request)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return _show_refusal(request, card, _errors(form), 422)
    discuss.comment(
        staff.workspace,
        card.pk,
        text=form.cleaned_data["text"],
        actor=staff.actor,
        now=timezone.now(),
    )
    return _after_remark(request, card, "#discussion")
