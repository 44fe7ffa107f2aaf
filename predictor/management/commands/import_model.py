"""Import a model's weights from a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.refusals import RefusalError
from predictor.management.commands.train import BAD_INPUT, workspace_of
from predictor.services.models import checkpoint_file, transfer


class Command(BaseCommand):
    """`manage.py import_model --workspace W [--base] [--learned-elsewhere] FILE`."""

    help = (
        "Serve the model of a file in a workspace from the next session on. It must read vectors"
        " of the width of the workspace's embedding model. It begins in cold start, without the"
        " influence of the model served before."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path, help="written by export_model")
        parser.add_argument("--workspace", required=True, help="its slug")
        parser.add_argument(
            "--base",
            action="store_true",
            help="do not serve it: trainings start from it instead of from initial weights",
        )
        parser.add_argument(
            "--learned-elsewhere",
            action="store_true",
            help="it contains nothing of this workspace: no erasure drops it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import."""
        workspace = workspace_of(options["workspace"])
        try:
            version = transfer.import_checkpoint(
                workspace,
                checkpoint_file.read(options["file"]).to_bytes(),
                is_base=options["base"],
                is_learned_here=not options["learned_elsewhere"],
                actor=SYSTEM,
                now=timezone.now(),
            )
        except RefusalError as error:
            raise CommandError(
                f"Nothing was changed. {error.detail}", returncode=BAD_INPUT
            ) from None
        role = "is what trainings start from" if options["base"] else "serves"
        self.stdout.write(f"{version} {role}: sha256 {version.sha256}")
