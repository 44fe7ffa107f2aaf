"""What the demo's workspace has for others: a webhook with its deliveries, and an invitation.

Both have secrets, so they are made anew for each workspace, by the services. Nothing is sent: the
webhook is disabled before anybody sees it, its host is of a domain that is reserved for examples
and has no address, and what its receiver answered is given to the sender instead of being asked.
The token of the invitation is kept nowhere, so its link opens nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from engram.console.models import WebhookDelivery, WebhookEndpoint
from engram.console.webhooks import endpoints
from engram.console.webhooks.posting import Answer
from engram.console.webhooks.sending import send_due
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.invitations import invite, revoke
from engram.kernel.models import Event, Invitation, Role, Workspace
from engram.kernel.tenancy import in_workspace

URL: Final = "https://hooks.harbour.example/engram"
TOLD_OF: Final = ("conflict.resolved", "review.opened")
INVITED: Final = "yusuf"
TAKEN: Final = Answer(200, "ok")
# What came back for each of the newest events, by attempt.
ANSWERS: Final = (
    (TAKEN,),
    (Answer(503, "The service restarts; try again soon."), TAKEN),
    (TAKEN,),
    (TAKEN,),
    (TAKEN,),
)
PAUSE: Final = timedelta(seconds=15)  # more than after a first failure
EARLIER: Final = timedelta(hours=1)  # the webhook is made before the first event that it is told of


def find_making(types: Sequence[str], ages: Sequence[float]) -> tuple[int, float]:
    """Return before which of a story's events the webhook is made, and when.

    `types` and `ages` are those of the events in the order of the history, ages and the returned
    time in seconds from the end of the story, negative before it.
    """
    told = [place for place, name in enumerate(types) if name in TOLD_OF][-len(ANSWERS) :]
    if not told:
        return len(types), 0.0
    at = ages[told[0]] - EARLIER.total_seconds()
    places = range(told[0], 0, -1)
    return next((place for place in places if ages[place - 1] <= at), 0), at


def make_webhook(workspace: Workspace, *, by: str, now: datetime) -> None:
    """Make the webhook: its event is the newest of the history."""
    endpoints.make(workspace, url=URL, events=TOLD_OF, actor=_admin(by), now=now)


def add_outside(workspace: Workspace, *, by: str, now: datetime) -> None:
    """Have the webhook told of the newest events, disable it, and add an open invitation."""
    admin = _admin(by)
    with in_workspace(workspace):
        newest = Event.objects.filter(type__in=TOLD_OF).order_by("-seq")[: len(ANSWERS)]
        told = sorted(newest, key=lambda event: event.seq)
        endpoint = WebhookEndpoint.objects.get(url=URL)
        for event, answers in zip(told, ANSWERS, strict=False):
            _deliver(workspace, endpoint, event, answers)
        lasts = timedelta(days=30)
        invite(workspace, username=INVITED, role=Role.REVIEWER, actor=admin, now=now, lasts=lasts)
        endpoints.change(workspace, endpoint.pk, is_enabled=False, actor=admin, now=now)


def _admin(name: str) -> Actor:
    return Actor(kind="system", id="", label=name, role=Role.ADMIN)


def _deliver(
    workspace: Workspace, endpoint: WebhookEndpoint, event: Event, answers: tuple[Answer, ...]
) -> None:
    """Write an event's delivery and what its attempts brought, some seconds after the event."""
    WebhookDelivery.objects.create(
        endpoint=endpoint,
        kind=event.type,
        event_seq=event.seq,
        object_type=event.object_type,
        object_id=event.object_id,
        at=event.at,
        queued_at=event.at,
        due_at=event.at,
    )
    for number, answer in enumerate(answers):
        _attempt(workspace, event.at + timedelta(seconds=1) + number * PAUSE, answer)


def _attempt(workspace: Workspace, at: datetime, answer: Answer) -> None:
    send_due(workspace, clock=lambda: at, draw=lambda: 0.5, send=lambda *_: answer, seconds=60)


def remove_outside(workspace: Workspace, *, now: datetime) -> list[str]:
    """Delete what `add_outside` made, as far as it is there; return what it was."""
    removed = []
    with in_workspace(workspace):
        for endpoint in WebhookEndpoint.objects.filter(url=URL):
            endpoints.delete(workspace, endpoint.pk, actor=SYSTEM, now=now)
            removed.append("a webhook")
        for invitation in Invitation.objects.filter(workspace=workspace, username=INVITED):
            revoke(invitation, actor=SYSTEM, now=now)
            invitation.delete()
            removed.append("an invitation")
    return removed
