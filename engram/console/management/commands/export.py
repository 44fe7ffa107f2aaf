"""Write whole workspaces into an archive."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.console.transfer.export import count_rows, export
from engram.kernel.models import Workspace


class Command(BaseCommand):
    """`manage.py export --all OUT.zip [--workspace W] [--vectors]`."""

    help = (
        "Write all workspaces, or one, into an archive that `import` reads: a zip file of JSON "
        "Lines with a manifest. It holds no keys, passwords or members."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--all", type=Path, metavar="OUT.zip", help="everything, without loss")
        parser.add_argument("--workspace", help="slug of one workspace (default: all)")
        parser.add_argument(
            "--vectors",
            action="store_true",
            help="with vectors, which an import would compute again; several times the size",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the archive."""
        chosen = Workspace.objects.order_by("slug")
        if options["workspace"]:
            chosen = chosen.filter(slug=options["workspace"])
            if not chosen:
                raise CommandError(f"There is no workspace {options['workspace']!r}.")
        self._archive(list(chosen), options["all"], has_vectors=options["vectors"])

    def _archive(self, workspaces: list[Workspace], path: Path, *, has_vectors: bool) -> None:
        if not workspaces:
            raise CommandError("There is no workspace.")
        is_hidden = not sys.stderr.isatty()
        total = None if is_hidden else count_rows(workspaces, has_vectors=has_vectors)
        try:
            with tqdm(total=total, unit=" rows", disable=is_hidden) as bar:
                rows = export(
                    workspaces,
                    path,
                    has_vectors=has_vectors,
                    now=timezone.now(),
                    advance=bar.update,
                )
        except FileExistsError:
            raise CommandError(f"{path} exists; nothing was written.") from None
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted; nothing was written.") from None
        names = ", ".join(workspace.slug for workspace in workspaces)
        self.stdout.write(f"{rows} rows of {names} written to {path}.")
