"""Make a workspace."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from engram.kernel.models import Membership, Role, Workspace


class Command(BaseCommand):
    """`manage.py create_workspace SLUG [--name NAME] [--admin USER]`."""

    help = "Make a workspace and, with --admin, let an existing user administer it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("slug")
        parser.add_argument("--name", default="")
        parser.add_argument("--admin", metavar="USER", default=None)

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the workspace."""
        workspace = Workspace(slug=options["slug"], name=options["name"] or options["slug"])
        try:
            workspace.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        user = None
        if options["admin"]:
            user = get_user_model().objects.filter(username=options["admin"]).first()
            if user is None:
                raise CommandError(f"There is no user {options['admin']!r}.")
        workspace.save()
        if user:
            Membership.objects.create(workspace=workspace, user=user, role=Role.ADMIN)
        self.stdout.write(f"Workspace {workspace.slug} is ready.")
