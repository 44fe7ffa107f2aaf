"""Account for the daily cost (UTC) of language models per workspace, with a cap.

The cost of a call is reserved before it and settled after it, in separate transactions, so that
concurrent calls cannot exceed the cap together. If a process dies in between, the reserved amount
stays counted, so the account may overestimate the cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import F, Value
from django.db.models.functions import Greatest

from engram.kernel.llm import Usage
from engram.kernel.models import ModelSpend, Workspace
from engram.kernel.tenancy import in_workspace


@dataclass(frozen=True, slots=True)
class Reservation:
    """The amount reserved on a day for calls."""

    day: date
    usd: float


def reserve(
    workspace: Workspace, usd: float, *, now: datetime, share: float = 1.0
) -> Reservation | None:
    """Reserve an amount of the day; None when that would exceed the workspace's cap.

    With a `share` below 1 only that part of the cap: for what leaves the rest to other calls.
    """
    day = now.astimezone(UTC).date()
    cap = share * workspace.config.narrative_daily_usd
    with in_workspace(workspace):
        ModelSpend.objects.get_or_create(day=day)
        room = ModelSpend.objects.filter(day=day, cost_usd__lte=cap - usd)
        is_reserved = room.update(cost_usd=F("cost_usd") + usd)
    return Reservation(day, usd) if is_reserved else None


def settle(
    workspace: Workspace, reservation: Reservation, *, usage: Usage, cost_usd: float
) -> None:
    """Replace a reservation by the actual usage and cost."""
    with in_workspace(workspace):
        ModelSpend.objects.filter(day=reservation.day).update(
            cost_usd=Greatest(F("cost_usd") - reservation.usd + cost_usd, Value(0.0)),
            tokens=F("tokens") + usage.tokens,
            calls=F("calls") + usage.calls,
        )


def spent_usd(workspace: Workspace, *, now: datetime) -> float:
    """Return the cost of the day of `now` so far, including reservations."""
    with in_workspace(workspace):
        row = ModelSpend.objects.filter(day=now.astimezone(UTC).date()).first()
    return row.cost_usd if row else 0.0


def next_day(now: datetime) -> datetime:
    """Return the start of the next day (UTC)."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(0), UTC)
