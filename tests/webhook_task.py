"""The task that sends webhooks, in a process where loopback may be called."""

from __future__ import annotations

from django.conf import settings

from engram.console.tasks import send_webhooks


def send(workspace_id: str) -> None:
    """Send what is due in a workspace."""
    settings.ENGRAM_WEBHOOK_NETWORKS = ["127.0.0.1"]
    send_webhooks(workspace_id)
