"""Write whole workspaces into an archive, or the memories of one as JSON Lines or CSV."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.console.transfer.export import count_rows, export
from engram.console.transfer.json_lines import write_lines
from engram.console.transfer.spreadsheet import write_csv
from engram.kernel.models import Workspace


class Command(BaseCommand):
    """`manage.py export --workspace W`, `--csv OUT.csv`, or `--all OUT.zip [--vectors]`."""

    help = (
        "Write what a workspace remembers now to standard output: JSON Lines that "
        "`import_memories` reads. With --csv: the same as CSV for spreadsheets. With --all: all "
        "workspaces, or one, without loss, into an archive that `import` reads: a zip file of "
        "JSON Lines with a manifest. It holds no keys, passwords or members."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--all", type=Path, metavar="OUT.zip", help="everything, without loss")
        what.add_argument("--csv", type=Path, metavar="OUT.csv", help="memories, for people")
        parser.add_argument("--workspace", help="slug (with --all: default all)")
        parser.add_argument(
            "--vectors",
            action="store_true",
            help="with vectors, which an import would compute again; several times the size",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file."""
        chosen = Workspace.objects.order_by("slug")
        if options["workspace"]:
            chosen = chosen.filter(slug=options["workspace"])
            if not chosen:
                raise CommandError(f"There is no workspace {options['workspace']!r}.")
        if not options["all"] and not (options["workspace"] and not options["vectors"]):
            raise CommandError("Without --all, --workspace is needed and --vectors is not taken.")
        path: Path | None = options["all"] or options["csv"]
        if path is None:
            self._lines(chosen[0])
            return
        try:
            if options["csv"]:
                self._csv(chosen[0], path)
            else:
                self._archive(list(chosen), path, has_vectors=options["vectors"])
        except FileExistsError:
            raise CommandError(f"{path} exists; nothing was written.") from None
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted; nothing was written.") from None

    def _archive(self, workspaces: list[Workspace], path: Path, *, has_vectors: bool) -> None:
        if not workspaces:
            raise CommandError("There is no workspace.")
        is_hidden = not sys.stderr.isatty()
        total = None if is_hidden else count_rows(workspaces, has_vectors=has_vectors)
        with tqdm(total=total, unit=" rows", disable=is_hidden) as bar:
            rows = export(
                workspaces,
                path,
                has_vectors=has_vectors,
                now=timezone.now(),
                advance=bar.update,
            )
        names = ", ".join(workspace.slug for workspace in workspaces)
        self.stdout.write(f"{rows} rows of {names} written to {path}.")

    def _lines(self, workspace: Workspace) -> None:
        try:
            write_lines(workspace, self._write_line, now=timezone.now())
            self.stdout.flush()  # else what is left in the buffer is written, or not, at the exit
        except OSError as error:  # a full disk, or a reader such as `head` that has enough
            raise CommandError(f"standard output: {error.strerror}") from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted; not all of it was written.") from None

    def _write_line(self, line: str) -> None:
        self.stdout.write(line, ending="")

    def _csv(self, workspace: Workspace, path: Path) -> None:
        with tqdm(unit=" memories", disable=not sys.stderr.isatty()) as bar:
            count = write_csv(workspace, path, now=timezone.now(), advance=bar.update)
        self.stdout.write(f"{count} memories of {workspace.slug} written to {path}.")
