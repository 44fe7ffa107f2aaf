"""Daily digests: when the next is due, what was made, who gets it by mail, and the mails."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models

from engram.kernel.labels import row_label
from engram.kernel.lease import Lease, WorkspaceLease
from engram.kernel.tenancy import WorkspaceModel


def _account() -> models.ForeignKey[Any, Any]:
    """Return a reference to an account that may be gone.

    Accounts are deleted outside of any workspace, where these rows cannot be seen. What is left of
    one goes when its next mail is due, as it does with members who leave.
    """
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_constraint=False
    )


class DigestLease(WorkspaceLease):
    """When the next digest of a workspace is due; null while nobody wants one."""

    silence = timedelta(seconds=60)
    planned_ahead = timedelta(days=2)


class DigestSubscription(WorkspaceModel):
    """A member who wants the digest by mail."""

    user = _account()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="digest_subscribed_once")
        ]

    def __str__(self) -> str:
        return row_label(self, self.created_at)


class Digest(WorkspaceModel):
    """The digest of a day, of which there is one: it is made once, whatever is repeated."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    day = models.DateField()  # in the workspace's time zone
    made_at = models.DateTimeField()
    open_count = models.PositiveIntegerField()  # 0: nothing was sent

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "day"], name="digest_once_a_day")
        ]

    def __str__(self) -> str:
        return row_label(self, self.made_at)


class MailStatus(models.TextChoices):
    """The status of a mail."""

    WAITING = "waiting", "Waiting"
    SENT = "sent", "Sent"
    SKIPPED = "skipped", "Skipped"  # no longer a member, or nothing is open
    GIVEN_UP = "given_up", "Given up"


class DigestMail(WorkspaceModel, Lease):
    """The mail of a digest to one member. Its text is written when it is sent, and not stored."""

    silence = timedelta(seconds=60)
    planned_ahead = timedelta(days=2)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    digest = models.ForeignKey(Digest, models.CASCADE, related_name="mails")
    user = _account()
    status = models.CharField(max_length=8, choices=MailStatus.choices, default=MailStatus.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    queued_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=300, blank=True)  # why it was skipped, or not sent

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["digest", "user"], name="digest_mailed_once")
        ]
        indexes = [
            models.Index(
                fields=["workspace", "due_at"],
                condition=models.Q(due_at__isnull=False),
                name="digest_mail_due",
            )
        ]

    def __str__(self) -> str:
        return row_label(self, self.queued_at)
