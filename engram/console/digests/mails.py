"""Send the mails of digests that are due: take one by its lease, send it, record what came of it.

Who may see what is asked when a mail is sent: nobody gets one who is no member any more, and
nobody reads of what their role may not see.
"""

from __future__ import annotations

import smtplib
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings
from django.core.mail import EmailMessage

from engram.console.digests.sweeps import MAIL_TASK, select_due_mails
from engram.console.digests.text import PAGE, one_line, subject_of, text_of
from engram.console.digests.waiting import find_waiting
from engram.console.models import DigestMail, DigestSubscription, MailStatus
from engram.kernel import lease
from engram.kernel.jobs import wake
from engram.kernel.models import Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace

Clock = Callable[[], datetime]
Draw = Callable[[], float]

PAUSES: Final = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))
NO_MEMBER: Final = "Is no member any more."
NO_ADDRESS: Final = "The account has no e-mail address."
NOTHING_OPEN: Final = "Nothing was open any more."


def send_due(workspace: Workspace, *, clock: Clock, draw: Draw, seconds: float) -> int:
    """Send the mails that are due in a workspace for some seconds; return the number of attempts.

    `draw` returns random numbers from 0 to 1.
    """
    until, attempts = monotonic() + seconds, 0
    while (mail := acquire(workspace, clock())) is not None:
        attempts += 1
        with lease.renewing(partial(_renew, workspace, mail, clock)):  # a slow server takes minutes
            done = _try(workspace, mail, clock(), draw())
        with in_workspace(workspace):
            assert mail.holder is not None  # noqa: S101  `acquire` has set it
            lease.release(DigestMail.objects.filter(pk=mail.pk), mail.holder, **done)
            if monotonic() > until:
                wake(MAIL_TASK, workspace.pk)
                break
    return attempts


def acquire(workspace: Workspace, now: datetime) -> DigestMail | None:
    """Take the mail that has been due longest; None when there is none."""
    with in_workspace(workspace):
        for mail in select_due_mails(now)[:10]:
            holder = uuid4()
            still_due = DigestMail.objects.filter(pk=mail.pk).exclude(due_at=None)
            if lease.acquire(still_due, holder, now):
                mail.holder, mail.attempts = holder, mail.attempts + 1
                mail.save(update_fields=["attempts"])
                return mail
    return None


def _renew(workspace: Workspace, mail: DigestMail, clock: Clock) -> None:
    with in_workspace(workspace):
        assert mail.holder is not None  # noqa: S101  `acquire` has set it
        lease.renew_or_raise(DigestMail.objects.filter(pk=mail.pk), mail.holder, clock())


def write(workspace: Workspace, mail: DigestMail, now: datetime) -> EmailMessage | str:
    """Return a mail with what its reader may see now, or why there is none to send.

    Who is no member any more loses the subscription, too.
    """
    with in_workspace(workspace):
        members = Membership.objects.filter(workspace=workspace, user__is_active=True)
        member = members.filter(user_id=mail.user_id).select_related("user").first()
        if member is None:
            DigestSubscription.objects.filter(user_id=mail.user_id).delete()
            return NO_MEMBER
        if not member.user.email:
            return NO_ADDRESS
        found = find_waiting(Role(member.role), now)
        if not found.total:
            return NOTHING_OPEN
        subject, text = subject_of(workspace, found), text_of(workspace, found)
    host = urlsplit(settings.ENGRAM_PUBLIC_URL).hostname
    headers = {
        "Message-ID": f"<digest-{mail.pk}@{host}>",  # the same if it is sent twice
        "Auto-Submitted": "auto-generated",
        "List-Unsubscribe": f"<{settings.ENGRAM_PUBLIC_URL}{PAGE}>",
    }
    return EmailMessage(subject, text, to=[member.user.email], headers=headers)


def _try(workspace: Workspace, mail: DigestMail, now: datetime, spread: float) -> dict[str, object]:
    """Send a mail; return the changes of its row."""
    ended: dict[str, object] = {"due_at": None}
    written = write(workspace, mail, now)
    if isinstance(written, str):
        return ended | {"status": MailStatus.SKIPPED, "note": written}
    try:
        written.send()
    except (OSError, smtplib.SMTPException, ValueError) as error:
        note = one_line(f"{type(error).__name__}: {error}")
        if _is_final(error) or mail.attempts > len(PAUSES):
            return ended | {"status": MailStatus.GIVEN_UP, "note": note}
        return {"due_at": now + PAUSES[mail.attempts - 1] * (1 + 0.2 * spread), "note": note}
    return ended | {"status": MailStatus.SENT, "sent_at": now, "note": ""}


def _is_final(error: Exception) -> bool:
    """Return whether another attempt would fail, too: a bad address, or a refusal for good."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, ValueError)
