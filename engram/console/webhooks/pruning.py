"""Drop deliveries that ended long ago."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet

from engram.console.models import WebhookDelivery
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace

KEPT_FOR: Final = timedelta(days=30)
ROWS_AT_A_TIME: Final = 5000


def old_deliveries(now: datetime) -> QuerySet[WebhookDelivery]:
    """Return the deliveries that are kept no longer: delivered, given up, or without a webhook."""
    return WebhookDelivery.objects.filter(queued_at__lte=now - KEPT_FOR)


def drop_old(workspace: Workspace, *, now: datetime) -> int:
    """Delete the deliveries that were queued 30 days ago or earlier; return their number."""
    dropped = 0
    while True:
        with in_workspace(workspace):
            ids = list(old_deliveries(now).order_by().values_list("pk", flat=True)[:ROWS_AT_A_TIME])
            dropped += WebhookDelivery.objects.filter(pk__in=ids).delete()[0]
        if len(ids) < ROWS_AT_A_TIME:
            return dropped
