"""Invite a person into a workspace."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.invitations import DAYS_MAX, LASTS, invite, revoke
from engram.kernel.models import Invitation, Role, Workspace
from engram.kernel.refusals import InvalidError


class Command(BaseCommand):
    """`manage.py invite USERNAME --workspace W [--role R]`."""

    help = (
        "Invite a person and print the link, alone, on standard output. It is never shown again; "
        "whoever is signed in under that name becomes a member by accepting it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("username")
        parser.add_argument("--workspace", required=True, help="slug of the workspace")
        parser.add_argument("--role", choices=Role.values, default=Role.REVIEWER)
        parser.add_argument("--expires-in-days", type=int, default=LASTS.days, metavar="DAYS")
        parser.add_argument(
            "--url",
            default=f"http://127.0.0.1:{settings.ENGRAM_PORT}",
            help="where people reach this service (default: %(default)s)",
        )
        parser.add_argument(
            "--revoke", action="store_true", help="revoke the person's open invitation instead"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Invite, or revoke."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        if options["revoke"]:
            self._revoke(workspace, options["username"])
            return
        try:
            UnicodeUsernameValidator()(options["username"])
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        if not 1 <= options["expires_in_days"] <= DAYS_MAX:
            raise CommandError(f"--expires-in-days must lie between 1 and {DAYS_MAX}.")
        try:
            _, token = invite(
                workspace,
                username=options["username"],
                role=Role(options["role"]),
                actor=SYSTEM,
                now=timezone.now(),
                lasts=timedelta(days=options["expires_in_days"]),
            )
        except InvalidError as error:
            raise CommandError(error.message) from None
        path = reverse("console:invitation", args=[token])
        self.stdout.write(options["url"].rstrip("/") + path)

    def _revoke(self, workspace: Workspace, username: str) -> None:
        mine = Invitation.objects.filter(workspace=workspace, username=username)
        now = timezone.now()
        if not sum(revoke(one, actor=SYSTEM, now=now) for one in mine):
            raise CommandError(f"There is no open invitation of {username!r}.")
        self.stdout.write("Revoked.")
