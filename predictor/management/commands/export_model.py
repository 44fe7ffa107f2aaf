"""Export a model's weights to a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from engram.kernel.refusals import RefusalError
from predictor.management.commands.train import BAD_INPUT, workspace_of
from predictor.services.models import checkpoint_file, transfer


class Command(BaseCommand):
    """`manage.py export_model --workspace W [--number N] FILE`."""

    help = "Write the served model of a workspace into a file, as `import_model` reads it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, help="where to; replaced if it is a checkpoint")
        parser.add_argument("--workspace", required=True, help="its slug")
        parser.add_argument(
            "--number", type=int, help="of another version than the served one, such as 3"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Export."""
        workspace = workspace_of(options["workspace"])
        try:
            version, raw = transfer.export_checkpoint(workspace, options["number"])
            checkpoint_file.write(options["file"], raw)
        except RefusalError as error:
            raise CommandError(error.detail, returncode=BAD_INPUT) from None
        self.stdout.write(f"{version}: {len(raw)} bytes, sha256 {version.sha256}")
        self.stdout.write(f"It reads vectors of {version.embedding_model}.")
