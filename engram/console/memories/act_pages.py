"""Do something to many memories at once, after saying what it will do; all of it can be undone."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from engram.console.memories.done import ACTIONS, MOST_AT_ONCE, add_done
from engram.kernel.labels import Count
from engram.kernel.literals import row_id
from engram.kernel.middleware import StaffWorkspace
from engram.kernel.pages import member_page, return_address, staff_of
from engram.kernel.refusals import RefusalError
from memories.models import Memory, MemoryTag, Review
from memories.serializers import RevisionSerializer
from memories.services.lifecycle import forget
from memories.services.lifecycle.revise import revise

ASKED = {
    "forget": (
        "Forget {n}?",
        "No recall, search, prompt or question shows them any more, and the same statements are "
        "refused when somebody commits them again. They can be brought back.",
    ),
    "restore": ("Bring {n} back?", "Agents recall them again, unless something else hides them."),
    "pin": ("Pin {n}?", "Pins lead the sessions of their project and scope, whatever is asked."),
    "unpin": ("Unpin {n}?", "They are recalled by what is asked, as all others."),
    "tag": ("Tag {n}?", "Each gets one more revision; its other tags stay."),
    "untag": ("Take the tag from {n}?", "Each gets one more revision; its other tags stay."),
}
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Result:
    """The memories that were changed, and why others were not."""

    changed: tuple[UUID, ...]
    refusals: tuple[str, ...] = ()
    waiting: int = 0  # they wait for a reviewer


@member_page()
def act(request: HttpRequest) -> HttpResponse:
    """Ask before an action on many memories; with `confirmed` do it, and offer to undo it."""
    back = return_address(request, reverse("console:memories"))
    if request.method != "POST":
        return redirect("console:memories")
    action, ids = request.POST.get("do", ""), _ids(request)
    tag = request.POST.get("tag", "").replace("\0", "").strip()
    problem = _why_not(action, ids, tag)
    if problem:
        messages.error(request, problem)
        return redirect(back)
    if request.POST.get("confirmed") != "yes":
        return _ask(request, action, ids, tag, back)
    result = _perform(staff_of(request), action, ids, tag)
    for refusal in dict.fromkeys(result.refusals):
        messages.error(request, refusal)
    if result.waiting:
        messages.info(request, f"{Count(result.waiting):memory waits|memories wait} for a review.")
    if not result.changed:
        messages.info(request, "Nothing was changed.")
        return redirect(back)
    return redirect(add_done(back, action, result.changed, tag))


def _ids(request: HttpRequest) -> list[UUID]:
    found = (row_id(text) for text in request.POST.getlist("ids"))
    return list(dict.fromkeys(one for one in found if one is not None))


def _why_not(action: str, ids: Collection[UUID], tag: str) -> str:
    if action not in ACTIONS:
        return "Choose what to do."
    if not ids:
        return "Tick the memories first."
    if len(ids) > MOST_AT_ONCE:
        return f"At most {MOST_AT_ONCE} memories at once."
    if action in {"tag", "untag"}:
        sent = RevisionSerializer(data={"tags": [tag]})
        if not sent.is_valid():
            return "Write a tag of up to 100 characters."
    return ""


def _affected(action: str, ids: Collection[UUID], tag: str) -> list[Memory]:
    """Return those of the memories that the action would change."""
    rows = Memory.objects.filter(pk__in=ids)
    if action == "restore":
        return list(rows.exclude(forgotten_at=None))
    rows = rows.filter(forgotten_at=None)
    if action in {"pin", "unpin"}:
        rows = rows.filter(is_pinned=action == "unpin")
    tagged = MemoryTag.objects.filter(tag=tag).values("memory")
    if action == "tag":
        rows = rows.exclude(pk__in=tagged)
    elif action == "untag":
        rows = rows.filter(pk__in=tagged)
    return list(rows)


def _ask(
    request: HttpRequest, action: str, ids: Collection[UUID], tag: str, back: str
) -> HttpResponse:
    """Show what the action would do, with the counts."""
    staff = staff_of(request)
    rows = _affected(action, ids, tag)
    along = 0
    if action == "forget":
        would = forget.preview(staff.workspace, [row.pk for row in rows], actor=staff.actor)
        along = len(would.memories) - len(rows)
    question, consequence = ASKED[action]
    context = {
        "action": action,
        "tag": tag,
        "back": back,
        "rows": rows,
        "shown": rows[:SHOWN],
        "beyond": len(rows) - SHOWN,
        "untouched": len(ids) - len(rows),
        "along": along,
        "question": question.format(n=f"{Count(len(rows)):memory|memories}"),
        "consequence": consequence,
    }
    return render(request, "console/memories/confirm.html", context)


def _perform(staff: StaffWorkspace, action: str, ids: Collection[UUID], tag: str) -> Result:
    now = timezone.now()
    if action == "forget":
        gone = forget.forget(staff.workspace, ids, actor=staff.actor, now=now)
        return Result(tuple(one.pk for one in gone.memories), waiting=len(gone.pending))
    if action == "restore":
        try:
            back = forget.restore(staff.workspace, ids, actor=staff.actor, now=now)
        except RefusalError as error:
            return Result((), (error.detail,))
        return Result(tuple(one.pk for one in back.memories), waiting=len(back.pending))
    return _revise_each(staff, _affected(action, ids, tag), _change_of(action, ids, tag))


def _change_of(
    action: str, ids: Collection[UUID], tag: str
) -> Callable[[Memory], dict[str, object]]:
    """Return what gives the changes of an action that revises each memory."""
    if action in {"pin", "unpin"}:
        return lambda _: {"is_pinned": action == "pin"}
    known, new = _tags_of(ids), [tag] if action == "tag" else []
    return lambda row: {"tags": [*(one for one in known.get(row.pk, ()) if one != tag), *new]}


def _tags_of(ids: Collection[UUID]) -> dict[UUID, list[str]]:
    found: dict[UUID, list[str]] = {}
    rows = MemoryTag.objects.filter(memory__in=ids).order_by("tag")
    for memory_id, tag in rows.values_list("memory_id", "tag"):
        found.setdefault(memory_id, []).append(tag)
    return found


def _revise_each(
    staff: StaffWorkspace,
    rows: Collection[Memory],
    changes: Callable[[Memory], dict[str, object]],
) -> Result:
    """Give each memory a revision; one that is refused leaves the others as they are."""
    changed, refusals, waiting = [], [], 0
    for row in rows:
        sent = changes(row)
        try:
            done = revise(
                staff.workspace, row.pk, sent,
                revision=row.revision, actor=staff.actor, now=timezone.now(),
            )  # fmt: skip
        except RefusalError as error:
            refusals.append(error.detail)
            continue
        waiting += isinstance(done, Review)
        if isinstance(done, Memory):
            changed.append(row.pk)
    return Result(tuple(changed), tuple(refusals), waiting)
