"""Webhooks and their deliveries."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models

from engram.kernel.labels import row_label
from engram.kernel.lease import Lease
from engram.kernel.tenancy import WorkspaceModel


class WebhookEndpoint(WorkspaceModel):
    """An address to which the chosen events of a workspace are sent.

    `secret` signs what is sent, so it is stored as it is, and shown once. After it was replaced the
    one before signs, too, until `earlier_until`, so that receivers have time to change it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    url = models.CharField("URL", max_length=2000)
    secret = models.CharField(max_length=80, editable=False)
    earlier_secret = models.CharField(max_length=80, blank=True, editable=False)
    earlier_until = models.DateTimeField(null=True, editable=False)
    events = ArrayField(models.CharField(max_length=60))
    is_enabled = models.BooleanField("enabled", default=True)
    disabled_reason = models.CharField(max_length=300, blank=True)
    failures = models.PositiveIntegerField(default=0)  # since something was delivered
    failing_since = models.DateTimeField(null=True)
    rests_until = models.DateTimeField(null=True)  # after a failure
    attempted_at = models.DateTimeField("last attempt", null=True)
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "webhook"
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return row_label(self, self.created_at)


class DeliveryStatus(models.TextChoices):
    """The status of a delivery."""

    WAITING = "waiting", "Waiting"
    DELIVERED = "delivered", "Delivered"
    GIVEN_UP = "given_up", "Given up"


class WebhookDelivery(WorkspaceModel, Lease):
    """One event for one endpoint, sent until it is delivered or given up.

    It has ids and numbers and no text of a memory, so that forgetting and erasing have nothing to
    take back. Written in the transaction of the event; without a foreign key in the database, so
    that no writer waits for (or fails with) somebody who deletes the endpoint.
    """

    silence = timedelta(seconds=45)  # an attempt lasts ten seconds at most
    planned_ahead = timedelta(days=2)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        models.CASCADE,
        related_name="deliveries",
        db_constraint=False,
        db_index=False,
        verbose_name="webhook",
    )
    kind = models.CharField(max_length=60)
    event_seq = models.BigIntegerField("event", null=True)  # null: no event of the history
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64)
    data = models.JSONField(default=dict)  # of a digest: numbers, names of kinds, ids
    at = models.DateTimeField()  # when it happened
    queued_at = models.DateTimeField()  # or queued again
    status = models.CharField(
        max_length=9, choices=DeliveryStatus.choices, default=DeliveryStatus.WAITING
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    attempted_at = models.DateTimeField("last attempt", null=True)
    delivered_at = models.DateTimeField("delivered", null=True)
    status_code = models.PositiveSmallIntegerField(null=True)  # of the last answer
    note = models.CharField(max_length=300, blank=True)  # its first line, or why there was none

    class Meta:
        verbose_name = "delivery"
        verbose_name_plural = "deliveries"
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(
                fields=["workspace", "endpoint", "due_at"],
                condition=models.Q(due_at__isnull=False),
                name="delivery_due",
            ),
            models.Index(fields=["workspace", "queued_at"], name="delivery_queued"),
            models.Index(fields=["workspace", "-at", "-id"], name="delivery_newest"),
            models.Index(fields=["workspace", "endpoint", "-at", "-id"], name="delivery_endpoint"),
        ]

    def __str__(self) -> str:
        return row_label(self, self.at)
