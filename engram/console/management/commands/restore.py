"""Restore a backup."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error, connection
from tqdm import tqdm

from engram.console.backup.archive import Backup, open_backup
from engram.console.backup.home_files import put_files
from engram.console.backup.load import load
from engram.console.backup.manifest import BackupError
from engram.console.backup.scratch import refuse_other_than_scratch, verify
from engram.console.backup.target import (
    database_name,
    has_rows,
    leave_pool,
    refuse_company,
    refuse_late_changes,
    refuse_rows,
)
from engram.supervisor.plan import CannotStartError, claim_home


class Command(BaseCommand):
    """`manage.py restore PATH [--replace | --verify]`."""

    help = (
        "Restore what `backup` wrote, into an empty database that nobody uses. The file is checked "
        "whole first, and everything is restored or nothing. Afterwards the database is migrated "
        "to this version."
    )
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Accept whole names of options only: none that deletes may be reached by a shorter one."""
        return super().create_parser(prog_name, subcommand, allow_abbrev=False, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("path", type=Path, metavar="PATH")
        how = parser.add_mutually_exclusive_group()
        how.add_argument(
            "--replace",
            action="store_true",
            help="delete what the database holds; asks for the database's name",
        )
        how.add_argument(
            "--verify",
            action="store_true",
            help="only restore into a scratch database and compare every row; changes nothing",
        )
        how.add_argument("--scratch", action="store_true", help=SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the file and the database, then restore."""
        path: Path = options["path"]
        try:
            with open_backup(path) as backup:
                self._check(backup)
                if options["verify"]:
                    verify(path)
                    self.stdout.write("Verified: every row is equal in a scratch database.")
                elif options["scratch"]:
                    refuse_other_than_scratch()
                    self._restore(backup, refuse_rows)
                else:
                    with self._alone():
                        may_delete = self._agree(is_replacing=options["replace"])
                        agree = partial(refuse_late_changes, may_delete_rows=may_delete)
                        self._restore(backup, agree)
                        self._put_files(backup)
        except BackupError as error:
            raise CommandError(f"{path}: {error}") from None
        except KeyboardInterrupt:
            raise CommandError(
                "Interrupted: the database is as it was, unless it was restored whole already."
            ) from None

    def _check(self, backup: Backup) -> None:
        with _bar(backup.manifest.bytes, "check") as bar:
            backup.check(bar.update)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the supervisor's lock of this home, and refuse other users of the database."""
        try:
            lock = claim_home(settings.ENGRAM_HOME)
        except CannotStartError as error:
            raise BackupError(f"{error}. Stop it first; nothing was changed.") from None
        with lock:
            lock.write("a backup is being restored")
            lock.flush()
            leave_pool()
            refuse_company()
            yield

    def _agree(self, *, is_replacing: bool) -> bool:
        """Return whether a person agrees to the loss of rows; refuse rows that nobody gives up."""
        if not is_replacing:
            refuse_rows()
            return False
        if not has_rows():
            return False
        name = database_name()
        self.stdout.write(f"Everything in the database {name} will be replaced.")
        try:
            typed = input("Type the database's name to go on: ")
        except EOFError:
            typed = ""
        if typed.strip() != name:
            raise BackupError("That is not its name; nothing was changed.")
        return True

    def _restore(self, backup: Backup, agree: Callable[[], object]) -> None:
        manifest = backup.manifest
        with _bar(2 * sum(table.bytes for table in manifest.tables), "restore") as bar:
            load(backup, agree=agree, advance=bar.update)
        connection.close()
        try:
            call_command("migrate", verbosity=0, interactive=False)
        except Error as error:
            message = str(error).strip().splitlines()[0]
            raise BackupError(
                f"It is restored, but cannot be migrated to this version: {message}"
            ) from None
        self.stdout.write(
            f"{manifest.rows} rows of {len(manifest.tables)} tables restored and compared; "
            f"the backup is of {manifest.created_at:%Y-%m-%d %H:%M} UTC."
        )
        self.stdout.write(
            "Started, it sends the webhooks and digests that waited in it; ENGRAM_OUTGOING=0 "
            "prevents that in a copy."
        )

    def _put_files(self, backup: Backup) -> None:
        for name in put_files(backup):
            self.stdout.write(f"{name} of the backup was not put back: the environment decides it.")


def _bar(total: int, what: str) -> Any:
    is_hidden = not total or not sys.stderr.isatty()
    return tqdm(total=total, unit="B", unit_scale=True, desc=what, disable=is_hidden)
