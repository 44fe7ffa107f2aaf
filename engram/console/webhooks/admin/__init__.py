"""The admin of webhooks and of their deliveries."""

from engram.console.webhooks.admin.deliveries import WebhookDeliveryAdmin
from engram.console.webhooks.admin.endpoints import WebhookEndpointAdmin

__all__ = ["WebhookDeliveryAdmin", "WebhookEndpointAdmin"]
