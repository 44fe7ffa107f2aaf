"""Import an archive of workspaces."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.console.transfer.archive import open_archive
from engram.console.transfer.finishing import analyse
from engram.console.transfer.load import Imported, count_steps, import_archive
from engram.console.transfer.manifest import ArchiveError
from engram.kernel.embedding import model_name


class Command(BaseCommand):
    """`manage.py import ARCHIVE.zip [--workspace W]`."""

    help = (
        "Import an archive that `export --all` wrote, into workspaces that do not exist yet or "
        "hold nothing. It is checked whole before anything is written; an interrupted import goes "
        "on where it stopped, and a second one changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--workspace", default="", help="another name for the archive's only workspace"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the archive, then import it."""
        path: Path = options["file"]
        try:
            with open_archive(path) as archive:
                total = count_steps(archive)
                with tqdm(total=total, unit=" rows", disable=not sys.stderr.isatty()) as bar:
                    done = import_archive(
                        archive,
                        slug=options["workspace"],
                        clock=timezone.now,
                        advance=bar.update,
                    )
        except ArchiveError as error:
            raise CommandError(f"{path}: {error}") from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted; run the same command to go on.") from None
        if any(one.is_new for one in done):
            analyse()
        for one in done:
            self._tell(one)

    def _tell(self, done: Imported) -> None:
        workspace = done.workspace
        if not done.is_new:
            self.stdout.write(f"{workspace.slug} was imported before; nothing was changed.")
            return
        before = f", {done.rows_before} before" if done.rows_before else ""
        self.stdout.write(f"{workspace.slug}: {done.rows} rows imported{before}.")
        if workspace.embedding_model != model_name():
            self.stdout.write(
                f"{workspace.slug} uses the embedding model {workspace.embedding_model}, not "
                f"{model_name()}: `manage.py reembed` changes it."
            )
