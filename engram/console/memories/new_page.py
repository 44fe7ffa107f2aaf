"""Write a memory by hand: what a person says, committed as an agent's statement is."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from engram.console.memories.editing import errors_in, read_fields
from engram.kernel.models import Provenance, Role
from engram.kernel.pages import member_page, staff_of
from engram.kernel.refusals import InvalidError, RefusalError
from memories.core.content import CONTENT_MAX_CHARS
from memories.models import Kind
from memories.serializers import DraftSerializer
from memories.services.commit.commit import commit

WRITTEN: Final = ("content", "kind", "scope", "project", "tags")
TOLD: Final = {
    "created": "Kept. Agents can recall it from now on.",
    "kept_apart": "Kept beside a similar memory that it contradicts; a question may follow.",
    "suggested": "Kept. Another memory may say the same: the inbox asks whether to merge them.",
    "merged": "This memory said it already, and counts one statement more now.",
    "duplicate": "This memory says exactly that already.",
}
NOT_KEPT: Final = {
    "suppressed": "Exactly this was forgotten before. It can be brought back in the list of"
    " memories, among those that are forgotten.",
    "pending": "It waits for a review; nothing is kept yet.",
}


@member_page(reads=Role.REVIEWER)
def new_memory(request: HttpRequest) -> HttpResponse:
    """Show the form of a new memory, filled from the address; keep what it says."""
    if request.method != "POST":
        return _form(request, {name: request.GET.get(name, "") for name in WRITTEN})
    sent = {name: request.POST.get(name, "") for name in WRITTEN}
    body = DraftSerializer(data=read_fields(sent) | {"provenance": Provenance.USER_STATED})
    if not body.is_valid():
        return _form(request, sent, errors=errors_in(body))
    staff = staff_of(request)
    try:
        done = commit(staff.workspace, body.as_draft(), actor=staff.actor, now=timezone.now())
    except InvalidError as error:
        return _form(request, sent, errors={error.field: error.message})
    except RefusalError as error:
        return _form(request, sent, refusal=error.detail)
    if done.memory is None:
        return _form(request, sent, refusal=NOT_KEPT[done.outcome])
    messages.success(request, TOLD[done.outcome])
    return redirect("console:memory", done.memory.pk)


def _form(request: HttpRequest, typed: dict[str, str], **more: Any) -> HttpResponse:
    """Show the form with what was typed, and why it was refused."""
    context = {"now": typed, "kinds": Kind.choices, "most": CONTENT_MAX_CHARS, **more}
    return render(request, "console/memories/new.html", context, status=422 if more else 200)
