"""Write the deliveries of events in the transaction, and by the statement, that writes the events.

So an event and its deliveries are both stored or neither, without a further query in requests.
Events that an archive or a recording brings are written otherwise, and sent to nobody.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from engram.console.models import DeliveryStatus, WebhookDelivery, WebhookEndpoint
from engram.console.webhooks.events import DIGEST
from engram.kernel.inserting import Companion, accompany, insert
from engram.kernel.jobs import wake
from engram.kernel.models import Event
from engram.kernel.tenancy import current_workspace_id

SEND_TASK: Final = "console.send_webhooks"
_STATEMENT: Final = f"""
    INSERT INTO {WebhookDelivery._meta.db_table} (
        id, workspace_id, endpoint_id, kind, event_seq, object_type, object_id, data, at,
        queued_at, due_at, status, attempts, note
    )
    SELECT gen_random_uuid(), fresh.workspace_id, endpoint.id, fresh.type, fresh.seq,
        fresh.object_type, fresh.object_id,
        CASE fresh.type WHEN '{DIGEST}' THEN fresh.data ELSE '{{}}' END, fresh.at,
        fresh.at, fresh.at, '{DeliveryStatus.WAITING.value}', 0, ''
    FROM fresh JOIN {WebhookEndpoint._meta.db_table} AS endpoint
        ON endpoint.workspace_id = fresh.workspace_id AND endpoint.is_enabled
        AND fresh.type = ANY(endpoint.events)
"""  # noqa: S608  names only


def wake_sender() -> None:
    """Wake a worker for the deliveries of the current workspace, after the commit."""
    wake(SEND_TASK, current_workspace_id())


def follow_events() -> None:
    """Write deliveries with every event from now on."""
    accompany(Event, Companion(_STATEMENT, wake_sender))


def enqueue(
    endpoint: WebhookEndpoint,
    kind: str,
    *,
    of: tuple[str, str],
    now: datetime,
) -> WebhookDelivery:
    """Write a delivery that tells of no event of the history, in the caller's transaction."""
    delivery = WebhookDelivery(
        endpoint=endpoint,
        kind=kind,
        object_type=of[0],
        object_id=of[1],
        at=now,
        queued_at=now,
        due_at=now,
    )
    insert([delivery])
    wake_sender()
    return delivery
