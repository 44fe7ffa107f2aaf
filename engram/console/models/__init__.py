"""Models of the console: the inbox, webhooks and digests."""

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
    "MailStatus",
    "PutOff",
    "Reservation",
    "WebhookDelivery",
    "WebhookEndpoint",
]
