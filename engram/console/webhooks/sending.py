"""Send the deliveries that are due: take one by its lease, send it, record what came back.

Nothing is locked while it is sent. A worker that dies between sending and recording has sent what
its successor sends again, under the same id. One delivery of an endpoint is sent at a time, in the
order of their due times: a target that stalls holds up itself alone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Final
from uuid import uuid4

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from engram.console.models import DeliveryStatus, WebhookDelivery, WebhookEndpoint
from engram.console.webhooks import schedule
from engram.console.webhooks.enqueue import SEND_TASK
from engram.console.webhooks.events import body_of
from engram.console.webhooks.posting import Answer, post
from engram.console.webhooks.signals import webhooks_changed
from engram.console.webhooks.signing import headers_of
from engram.kernel import lease
from engram.kernel.actors import SYSTEM
from engram.kernel.due import due_workspaces
from engram.kernel.history import record
from engram.kernel.jobs import wake
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace

Clock = Callable[[], datetime]
Draw = Callable[[], float]
Post = Callable[[str, bytes, dict[str, str]], Answer]

TURN_SECONDS: Final = 20.0  # then the next workspace is served
AGENT: Final = "engram-webhooks/1"
LATE: Final = "It could not be sent within three days."


def send_due(
    workspace: Workspace, *, clock: Clock, draw: Draw, send: Post = post, seconds: float
) -> int:
    """Send what is due in a workspace for some seconds; return the number of attempts.

    `draw` returns random numbers from 0 to 1. A worker is woken for what is left.
    """
    until, attempts = monotonic() + seconds, 0
    while (delivery := acquire(workspace, clock())) is not None:
        attempts += 1
        answer = _send(workspace, delivery, send, clock())
        settle(workspace, delivery, answer, spread=draw(), now=clock())
        if monotonic() > until:
            wake_for(workspace)
            break
    return attempts


def wake_for(workspace: Workspace) -> None:
    """Wake a worker for a workspace."""
    with in_workspace(workspace):
        wake(SEND_TASK, workspace.pk)


def sweep(now: datetime) -> None:
    """Wake workers where something is due: after a pause, a lost wake-up or a dead worker."""
    for workspace in due_workspaces(lambda: select_due(now), "due_at"):
        wake_for(workspace)


def select_due(now: datetime) -> QuerySet[WebhookDelivery]:
    """Return the deliveries that can be sent now, and those that must be given up."""
    due = lease.stalled(WebhookDelivery.objects.exclude(due_at=None), now)
    return due.filter(_is_open("endpoint__", now) | Q(queued_at__lt=now - schedule.SENT_WITHIN))


def acquire(workspace: Workspace, now: datetime) -> WebhookDelivery | None:
    """Take the delivery that has been due longest of the endpoint that was served longest ago.

    What waits too long is given up first. None when nothing can be sent now.
    """
    with in_workspace(workspace):
        give_up_late(now)
        deliveries = WebhookDelivery.objects.filter(endpoint=OuterRef("pk"))
        can_send = WebhookEndpoint.objects.filter(
            _is_open("", now),
            Exists(lease.stalled(deliveries.exclude(due_at=None), now)),
            ~Exists(deliveries.filter(lease.match_held(deliveries, now))),
        ).order_by(F("attempted_at").asc(nulls_first=True), "pk")
        endpoint = can_send.select_for_update(skip_locked=True, no_key=True).first()
        if endpoint is None:
            return None
        waiting = endpoint.deliveries.exclude(due_at=None)
        delivery = lease.stalled(waiting, now).select_related("endpoint").first()
        if delivery is None or endpoint.deliveries.filter(lease.match_held(waiting, now)).exists():
            return None  # somebody was faster, between the choice and the lock
        delivery.holder, delivery.endpoint = uuid4(), endpoint
        mine = WebhookDelivery.objects.filter(pk=delivery.pk)
        if not lease.acquire(mine, delivery.holder, now):
            return None
        delivery.attempts, delivery.attempted_at = delivery.attempts + 1, now
        delivery.save(update_fields=["attempts", "attempted_at"])
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(attempted_at=now)
        return delivery


def give_up_late(now: datetime) -> int:
    """Give up what could not be sent for days, in the current workspace; return the number."""
    late = WebhookDelivery.objects.exclude(due_at=None).filter(
        queued_at__lt=now - schedule.SENT_WITHIN
    )
    unheld = late.filter(~lease.match_held(late, now))
    return unheld.update(due_at=None, status=DeliveryStatus.GIVEN_UP, note=LATE)


def settle(
    workspace: Workspace, delivery: WebhookDelivery, answer: Answer, *, spread: float, now: datetime
) -> None:
    """Record what came back; nothing when the delivery was taken over or the endpoint deleted."""
    done: dict[str, object] = {"status_code": answer.status, "note": answer.note}
    if answer.is_success:
        done |= {"due_at": None, "status": DeliveryStatus.DELIVERED, "delivered_at": now}
    elif (wait := schedule.pause(delivery.attempts, spread)) is None:
        done |= {"due_at": None, "status": DeliveryStatus.GIVEN_UP}
    else:
        asked = timedelta(seconds=min(answer.retry_after, 86_400))
        done |= {"due_at": now + max(wait, asked)}
    with in_workspace(workspace):
        found = WebhookEndpoint.objects.filter(pk=delivery.endpoint_id)
        endpoint = found.select_for_update(no_key=True).first()
        mine = WebhookDelivery.objects.filter(pk=delivery.pk)
        assert delivery.holder is not None  # noqa: S101  `acquire` has set it
        if lease.release(mine, delivery.holder, **done) and endpoint is not None:
            _note(endpoint, answer, now)


def _note(endpoint: WebhookEndpoint, answer: Answer, now: datetime) -> None:
    """Count a success or a failure of an endpoint; disable it when there is no hope."""
    if answer.is_success:
        endpoint.failures, endpoint.failing_since, endpoint.rests_until = 0, None, None
    else:
        endpoint.failures += 1
        endpoint.failing_since = endpoint.failing_since or now
        endpoint.rests_until = now + schedule.rest(endpoint.failures, answer.retry_after)
        failing_for = now - endpoint.failing_since
        if schedule.is_hopeless(endpoint.failures, failing_for, answer.status):
            _disable(endpoint, answer, now)
    endpoint.save(
        update_fields=["failures", "failing_since", "rests_until", "is_enabled", "disabled_reason"]
    )
    if not endpoint.is_enabled:
        webhooks_changed.send(WebhookEndpoint, workspace_id=endpoint.workspace_id, now=now)


def _disable(endpoint: WebhookEndpoint, answer: Answer, now: datetime) -> None:
    came = answer.note if answer.status is None else f"{answer.status} {answer.note}".strip()
    if answer.status == schedule.GONE:
        reason = "It answered 410: it wants nothing more."
    else:
        since = f"{endpoint.failing_since:%Y-%m-%d %H:%M} UTC"
        reason = f"It failed {endpoint.failures} times in a row since {since}, at last: {came}"
    endpoint.is_enabled, endpoint.disabled_reason = False, reason[:300]
    data = {"failures": endpoint.failures}
    record("webhook.disabled", of=("webhook", endpoint.pk), actor=SYSTEM, now=now, data=data)


def secrets_of(endpoint: WebhookEndpoint, now: datetime) -> list[str]:
    """Return the secrets that sign, the one in force first."""
    is_earlier_valid = endpoint.earlier_until is not None and now < endpoint.earlier_until
    return [endpoint.secret, *([endpoint.earlier_secret] if is_earlier_valid else [])]


def _is_open(prefix: str, now: datetime) -> Q:
    """Match endpoints that are enabled and do not rest; a rest beyond the longest is none."""
    rests = Q(
        **{
            f"{prefix}rests_until__gt": now,
            f"{prefix}rests_until__lte": now + 2 * schedule.LONGEST_REST,
        }
    )
    no_rest = Q(**{f"{prefix}rests_until__isnull": True})
    return Q(**{f"{prefix}is_enabled": True}) & (no_rest | ~rests)


def _send(workspace: Workspace, delivery: WebhookDelivery, send: Post, now: datetime) -> Answer:
    body = body_of(delivery, workspace)
    secrets = secrets_of(delivery.endpoint, now)
    headers = headers_of(secrets, str(delivery.pk), int(now.timestamp()), body)
    headers |= {"Content-Type": "application/json", "User-Agent": AGENT}
    return send(delivery.endpoint.url, body, headers)
