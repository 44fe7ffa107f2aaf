"""Delete a workspace."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from time import sleep
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.kernel.actors import SYSTEM
from engram.kernel.deletion import close_workspace, delete_turn
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError
from engram.kernel.workspace_deletions import WorkspaceDeletion

SECONDS_A_STEP = 1.0
PAUSE_SECONDS = 0.5


class Command(BaseCommand):
    """`manage.py delete_workspace SLUG`."""

    help = (
        "Delete a workspace with everything in it, for good, in this process. Asks for the slug "
        "again, unless --confirm gives it. Interrupted, workers go on with it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("slug")
        parser.add_argument("--confirm", metavar="SLUG", help="the slug once more, for scripts")

    def handle(self, *args: Any, **options: Any) -> None:
        """Close the workspace, and delete its rows to the end."""
        workspace = Workspace.objects.filter(slug=options["slug"]).first()
        if workspace is None:
            known = ", ".join(Workspace.objects.values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no workspace {options['slug']!r} (known: {known}).")
        typed = options["confirm"]
        if typed is None:
            typed = self._ask(workspace)
        try:
            deletion = close_workspace(workspace, typed, actor=SYSTEM, now=timezone.now())
        except InvalidError as error:
            raise CommandError(f"Nothing was deleted: {error.message}") from None
        self._delete(deletion)

    def _ask(self, workspace: Workspace) -> str:
        if not sys.stdin.isatty():
            raise CommandError("Nothing was deleted: give --confirm with the slug.")
        self.stdout.write(
            f"Everything in {workspace.name} is deleted, for good. Type its slug to confirm:"
        )
        return input().strip()

    def _delete(self, deletion: WorkspaceDeletion) -> None:
        with tqdm(desc="Deleting", unit=" rows", disable=None) as bar:
            while not delete_turn(deletion.pk, clock=timezone.now, seconds=SECONDS_A_STEP):
                before = deletion.rows_deleted
                deletion.refresh_from_db()
                if deletion.rows_deleted == before:  # a worker has it
                    sleep(PAUSE_SECONDS)
                bar.total = deletion.rows_total
                bar.update(deletion.rows_deleted - bar.n)
                if deletion.error:
                    raise CommandError(
                        f"It failed ({deletion.error}); workers try again. The log says where."
                    )
        deletion.refresh_from_db()
        self.stdout.write(f"Deleted {deletion.rows_deleted} rows; nothing is left.")
