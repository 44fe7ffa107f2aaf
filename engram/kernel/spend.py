"""What language models cost a workspace in a day (UTC), and the cap on it.

A call is reserved before it is made and settled after, each in a transaction of its own, so that
calls at the same time do not pass the cap together. A process that dies in between leaves what it
reserved counted: the account errs to the dear side.
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
    """What was set aside on a day for calls about to be made."""

    day: date
    usd: float


def reserve(workspace: Workspace, usd: float, *, now: datetime) -> Reservation | None:
    """Set money of the day aside; None when that would pass the workspace's cap."""
    day = now.astimezone(UTC).date()
    cap = workspace.config.narrative_daily_usd
    with in_workspace(workspace):
        ModelSpend.objects.get_or_create(day=day)
        room = ModelSpend.objects.filter(day=day, cost_usd__lte=cap - usd)
        is_reserved = room.update(cost_usd=F("cost_usd") + usd)
    return Reservation(day, usd) if is_reserved else None


def settle(
    workspace: Workspace, reservation: Reservation, *, usage: Usage, cost_usd: float
) -> None:
    """Put what calls have cost in the place of what was set aside for them."""
    with in_workspace(workspace):
        ModelSpend.objects.filter(day=reservation.day).update(
            cost_usd=Greatest(F("cost_usd") - reservation.usd + cost_usd, Value(0.0)),
            tokens=F("tokens") + usage.tokens,
            calls=F("calls") + usage.calls,
        )


def spent_usd(workspace: Workspace, *, now: datetime) -> float:
    """Return what the day of `now` has cost so far, what is set aside included."""
    with in_workspace(workspace):
        row = ModelSpend.objects.filter(day=now.astimezone(UTC).date()).first()
    return row.cost_usd if row else 0.0


def next_day(now: datetime) -> datetime:
    """Return when the next day's account begins."""
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(0), UTC)
