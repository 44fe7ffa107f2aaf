"""Admin page of failed sign-ins, with an action to unlock."""

from __future__ import annotations

from typing import Any

from axes.models import AccessAttempt
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.decorators import action

from engram.kernel.staff import ReadOnlyAdmin, moment_column

SHOWN = ["username", "ip_address", "failures_since_start", "attempt_time", "user_agent"]


@admin.register(AccessAttempt)
class AccessAttemptAdmin(ReadOnlyAdmin):
    """Failed sign-ins of the installation, for superusers; typed passwords are never shown."""

    list_display = ["username", "ip_address", "failures_since_start", "failed_at", "user_agent"]
    fields = SHOWN
    readonly_fields = SHOWN
    search_fields = ["username", "ip_address"]
    noun = "failed sign-in|failed sign-ins"
    actions = ["unlock"]
    empty_text = "Names and addresses of failed sign-ins are listed here for 15 minutes."

    failed_at = moment_column("attempt_time", "last failed")

    def _may(self, request: HttpRequest, what: str) -> bool:
        is_superuser = request.user.is_active and request.user.is_superuser
        return is_superuser and what in {"view", "act"}

    def name_of(self, row: Any) -> str:
        """Return the account and the address."""
        return f"{row.username} from {row.ip_address}"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Make all fields read-only."""
        return SHOWN

    @action(description="Unlock", permissions=["act"])
    def unlock(self, request: HttpRequest, rows: QuerySet[AccessAttempt]) -> HttpResponse | None:
        """Delete failures, so that signing in is possible at once."""
        return self.confirm(
            request,
            rows,
            question="Unlock {n} sign-ins?",
            consequence="Their failures are forgotten: passwords can be tried again from there at"
            " once.",
            button="Unlock",
            done="{n} unlocked.",
            work=lambda chosen: chosen.delete()[0],
        )
