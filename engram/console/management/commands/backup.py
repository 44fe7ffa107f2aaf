"""Back up the whole installation."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.console.backup.home_files import note_backup
from engram.console.backup.manifest import BackupError
from engram.console.backup.scratch import verify
from engram.console.backup.write import back_up, digest_of


class Command(BaseCommand):
    """`manage.py backup PATH [--verify]`."""

    help = (
        "Write the database and the secrets of the home into one file that only you may read; the "
        "service may run meanwhile. It holds everything, also passwords' and keys' hashes: keep it "
        "as carefully as the database itself."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("path", type=Path, metavar="PATH", help="a new file")
        parser.add_argument(
            "--verify",
            action="store_true",
            help="then restore it into a scratch database and compare every row",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file."""
        path: Path = options["path"]
        try:
            with tqdm(unit="B", unit_scale=True, disable=not sys.stderr.isatty()) as bar:
                manifest = back_up(path, now=timezone.now(), advance=bar.update)
            digest = digest_of(path)
            self.stdout.write(
                f"{manifest.rows} rows of {len(manifest.tables)} tables written to {path} "
                f"({path.stat().st_size / 2**20:.1f} MB).\nsha256 {digest}"
            )
            if options["verify"]:
                verify(path)
                self.stdout.write("Verified: restored into a scratch database, every row is equal.")
            note_backup(path, manifest, digest)
        except FileExistsError:
            raise CommandError(f"{path} exists; nothing was written.") from None
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
        except BackupError as error:
            raise CommandError(str(error)) from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted.") from None
