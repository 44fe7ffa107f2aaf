"""Causes of refusals about webhooks."""

from __future__ import annotations

from engram.kernel.causes import Cause

DISABLED = Cause(
    "webhook-disabled",
    409,
    "Webhook disabled",
    "The webhook is disabled, so nothing is sent to it.",
    "Enable it first.",
)
