"""Change a memory in place: each change is a revision, and the last one can be undone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from engram.console.memories.done import REVISED, add_changed
from engram.console.memories.editing import changes_in, errors_in, present_of
from engram.console.memories.page import find_memory, memory_page
from engram.kernel.literals import whole_number
from engram.kernel.pages import form_target, member_page, staff_of
from engram.kernel.refusals import InvalidError, MissingError, RefusalError, StaleError
from memories.core.answers import Answer
from memories.models import Memory, Review
from memories.services.lifecycle.answers import answers_of
from memories.services.lifecycle.attached import links_of
from memories.services.lifecycle.revise import revise
from memories.services.lifecycle.take_back import take_back

REVISIONS_MAX = 2**31 - 1
QUESTIONS_NAMED = 3  # in the message after a change
WAITS = "It waits for a review; nothing has changed yet."


@form_target("console:memory")
@member_page()
def change(request: HttpRequest, memory_id: UUID) -> HttpResponse:
    """Revise the fields that the form changes; a refused form is shown again as it was typed."""
    found, staff = find_memory(request, memory_id), staff_of(request)
    revision = _revision(request)
    if revision != found.revision:
        return _refuse(request, found, "It was changed meanwhile; this is how it is now.", 409)
    body = changes_in(request.POST, present_of(found, links_of([found.pk])[found.pk].tags))
    if body is None:
        messages.info(request, "Nothing was changed.")
        return redirect("console:memory", memory_id)
    if not body.is_valid():
        return _refuse(request, found, "", 422, errors=errors_in(body))
    before = answers_of(found)
    try:
        done = revise(
            staff.workspace, memory_id, body.validated_data,
            revision=revision, actor=staff.actor, now=timezone.now(),
        )  # fmt: skip
    except MissingError:
        return redirect("console:memories")
    except RefusalError as error:
        return _refuse(request, found, *_told(error))
    if isinstance(done, Memory):
        _tell_dropped(request, before, answers_of(done))
    return _lead_back(request, memory_id, done, _deed(body.validated_data))


def _deed(changed: Mapping[str, Any]) -> str:
    """Return the name of a revision in the address: of one that only pins or unpins, of others."""
    if set(changed) != {"is_pinned"}:
        return REVISED
    return "pin" if changed["is_pinned"] else "unpin"


@form_target("console:memory")
@member_page()
def undo(request: HttpRequest, memory_id: UUID) -> HttpResponse:
    """Take back the last revision."""
    found, staff = find_memory(request, memory_id), staff_of(request)
    try:
        done = take_back(
            staff.workspace, memory_id, _revision(request), actor=staff.actor, now=timezone.now()
        )
    except RefusalError as error:
        return _refuse(request, found, *_told(error))
    if isinstance(done, Memory):
        messages.success(request, "The last change is undone.")
    return _lead_back(request, memory_id, done, "")


def _tell_dropped(request: HttpRequest, before: Sequence[Answer], after: Sequence[Answer]) -> None:
    """Tell which questions a revised memory answers no longer."""
    kept = {answer.identity for answer in after}
    gone = [answer.question for answer in before if answer.identity not in kept]
    if gone:
        named = " ".join(gone[:QUESTIONS_NAMED])
        more = len(gone) - QUESTIONS_NAMED
        told = f"No longer answers: {named}{f' and {more} more' if more > 0 else ''}"
        messages.warning(request, told)


def _revision(request: HttpRequest) -> int:
    """Return the revision that the form was shown for; 0, which no memory has, for none."""
    try:
        return whole_number(request.POST.get("revision", ""), least=1, most=REVISIONS_MAX)
    except ValueError:
        return 0


def _told(error: RefusalError) -> tuple[str, int]:
    if isinstance(error, InvalidError):
        return error.message, 422
    return error.detail, 409 if isinstance(error, StaleError) else 422


def _lead_back(
    request: HttpRequest, memory_id: UUID, done: Memory | Review, action: str
) -> HttpResponse:
    page = reverse("console:memory", args=[memory_id])
    if isinstance(done, Review):
        messages.info(request, WAITS)
        return redirect(page)
    return redirect(add_changed(page, action, done.revision))


def _refuse(
    request: HttpRequest, found: Memory, refusal: str, status: int, **more: Any
) -> HttpResponse:
    """Show the current memory with the reason and what was typed."""
    current = find_memory(request, found.pk)  # it may be erased by now
    return memory_page(
        request, current, status=status, refusal=refusal, is_stale=status == 409,
        typed=request.POST, **more,
    )  # fmt: skip
