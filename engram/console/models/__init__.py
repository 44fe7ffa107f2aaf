"""Models of the console: the inbox, changes of many memories, webhooks and digests."""

from engram.console.models.changes import ItemStatus, MemoryChange, MemoryChangeItem
from engram.console.models.digests import (
    Digest,
    DigestLease,
    DigestMail,
    DigestSubscription,
    MailStatus,
)
from engram.console.models.inbox import PutOff, Reservation
from engram.console.models.webhooks import DeliveryStatus, WebhookDelivery, WebhookEndpoint

__all__ = [
    "DeliveryStatus",
    "Digest",
    "DigestLease",
    "DigestMail",
    "DigestSubscription",
    "ItemStatus",
    "MailStatus",
    "MemoryChange",
    "MemoryChangeItem",
    "PutOff",
    "Reservation",
    "WebhookDelivery",
    "WebhookEndpoint",
]
