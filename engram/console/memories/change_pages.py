"""The page of a change of many memories: how far it is, what was left out, and its undoing."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from engram.console.memories import changes
from engram.console.memories.done import ACTIONS
from engram.console.models import ItemStatus, MemoryChange
from engram.kernel.labels import Count
from engram.kernel.models import JobStatus, Role
from engram.kernel.pages import form_target, member_page, staff_of
from engram.kernel.refusals import RefusalError
from memories.api.memories import visible_to

SHOWN: Final = 20  # of the memories that were not changed
DOING: Final = {
    "forget": "Forgetting {n}",
    "restore": "Bringing {n} back",
    "pin": "Pinning {n}",
    "unpin": "Unpinning {n}",
    "tag": "Tagging {n}",
    "untag": "Taking the tag from {n}",
}
assert DOING.keys() == ACTIONS.keys()  # noqa: S101


def doing(change: MemoryChange) -> str:
    """Return what a change does, with its number, such as `Forgetting 1,234 memories`."""
    return DOING[change.action].format(n=f"{Count(change.total):memory|memories}")


def address_of(change_id: UUID, filters: str) -> str:
    """Return the address of a change, with the filters of the list to go back to."""
    query = QueryDict(filters).urlencode()
    return reverse("console:memory-changes", args=[change_id]) + (f"?{query}" if query else "")


@require_safe
@member_page(reads=Role.REVIEWER)
def memory_change(request: HttpRequest, change_id: UUID) -> HttpResponse:
    """Show how far a change is; while it goes on, the page comes again by itself."""
    change = MemoryChange.objects.select_related("job", "undone_by").filter(pk=change_id).first()
    if change is None:
        raise Http404
    job, progress = change.job, changes.progress_of(change)
    words, _ = ACTIONS[change.action]
    done = f"{Count(progress.done):memory|memories} {words}"
    is_done = job.status == JobStatus.DONE
    context = {
        "change": change,
        "job": job,
        "progress": progress,
        "heading": (f"Undone: {done}" if change.undoes_id else done) if is_done else doing(change),
        "done": done,
        "is_running": job.due_at is not None,
        "is_failed": job.status == JobStatus.FAILED,
        "filters": request.GET.urlencode(),
        "left": _left(request, change),
        "shown": SHOWN,
        "undone_by": getattr(change, "undone_by", None),
    }
    return render(request, "console/memories/change.html", context)


@form_target("console:memory-changes")
@member_page()
def undo_change(request: HttpRequest, change_id: UUID) -> HttpResponse:
    """Queue what reverts a change, and go to its page."""
    staff = staff_of(request)
    # Read before anything is queued: wrong filters are refused.
    filters = QueryDict(request.POST.get("filters", "")).urlencode()
    try:
        back = changes.undo(staff.workspace, change_id, actor=staff.actor, now=timezone.now())
    except RefusalError as error:
        messages.error(request, error.detail)
        return redirect("console:memory-changes", change_id)
    return redirect(address_of(back.pk, filters))


def _left(request: HttpRequest, change: MemoryChange) -> list[dict[str, Any]]:
    """Return the first memories that were not changed, with why; two queries."""
    apart = [ItemStatus.CHANGED, ItemStatus.REFUSED, ItemStatus.REVIEW]
    items = list(change.items.filter(status__in=apart).order_by("id")[:SHOWN])
    known = visible_to(staff_of(request).actor.role).in_bulk([one.memory_id for one in items])
    return [
        {
            "memory": known.get(one.memory_id),
            "why": one.reason or ItemStatus(one.status).label,
        }
        for one in items
    ]
