"""Make a key."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Provenance, Role, Workspace
from engram.kernel.refusals import InvalidError

NAME_MAX_CHARS = 120
AGENT_MAX_CHARS = 200


def default_name(role: Role, agent: str) -> str:
    """Return what a key without a name of its own is called: its agent, or else its role."""
    return agent[:NAME_MAX_CHARS] or f"{role} key"


class Command(BaseCommand):
    """`manage.py create_key --workspace W --role R`."""

    help = "Make a key and print it, alone, on standard output. It is never shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--workspace", required=True, help="slug of the workspace")
        parser.add_argument("--role", choices=Role.values, default=Role.AGENT)
        parser.add_argument(
            "--name",
            default="",
            help="what history calls the key (default: the name given by --agent, or else its"
            " role: 'agent key')",
        )
        parser.add_argument(
            "--provenance-ceiling",
            choices=Provenance.values,
            default=None,
            help="the most trusted class that its calls may claim without asking a person"
            " (default: assistant_derived; of reviewers and admins user_stated)",
        )
        parser.add_argument(
            "--relay", action="store_true", help="it passes on a user's own words (user_stated)"
        )
        parser.add_argument(
            "--may-pin",
            action="store_true",
            help="it may write and change pins and constraints; reviewers and admins always may",
        )
        parser.add_argument(
            "--agent", default="", metavar="NAME", help="the name under which it writes, always"
        )
        parser.add_argument("--expires-in-days", type=int, default=None, metavar="DAYS")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the key."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            known = ", ".join(Workspace.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no workspace {options['workspace']!r} (known: {known}).")
        days = options["expires_in_days"]
        if days is not None and not 1 <= days <= 36_500:
            raise CommandError("--expires-in-days must lie between 1 and 36500.")
        role = Role(options["role"])
        name = options["name"].strip() or default_name(role, options["agent"].strip())
        if len(name) > NAME_MAX_CHARS:
            raise CommandError(f"--name takes up to {NAME_MAX_CHARS} characters.")
        if len(options["agent"]) > AGENT_MAX_CHARS:
            raise CommandError(f"--agent takes up to {AGENT_MAX_CHARS} characters.")
        now = timezone.now()
        try:
            claims = keys.claims_of(
                role,
                provenance_ceiling=options["provenance_ceiling"],
                may_relay=options["relay"],
                may_pin=options["may_pin"] or None,
                agent=options["agent"],
            )
            _, token = keys.issue(
                workspace,
                name=name,
                role=role,
                actor=SYSTEM,
                now=now,
                expires_at=now + timedelta(days=days) if days else None,
                claims=claims,
            )
        except InvalidError as error:
            option = error.field.replace("_", "-")
            raise CommandError(f"--{option}: {error.message}") from None
        self.stdout.write(token)
