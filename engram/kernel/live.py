"""The only sender of live events: after commit, to everybody who watches the workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

from engram.kernel.broker import Knocker

SEND_TIMEOUT_SECONDS = 1.0
_knock = Knocker("live events")


def group_name(workspace_id: UUID) -> str:
    """Return the channel group that carries a workspace's live events."""
    return f"workspace.{workspace_id.hex}"


def publish(
    workspace_id: UUID,
    type: str,  # noqa: A002  the contract's word
    data: Mapping[str, Any],
    *,
    seq: int | None,
    at: datetime,
) -> None:
    """Send an event once the surrounding transaction has committed.

    `data` holds ids, never memory text: readers look the text up, so that nothing forgotten
    travels through (or stays in) the broker. A dead broker costs the live event, not the write:
    clients that reconnect ask for what they missed by `seq`.
    """
    message = {
        "type": "live.event",
        "event": {"type": type, "seq": seq, "at": at.isoformat(), "data": dict(data)},
    }

    layer = get_channel_layer()
    if layer is None:
        return

    async def send() -> None:
        async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
            await layer.group_send(group_name(workspace_id), message)

    transaction.on_commit(lambda: _knock(async_to_sync(send), type))
