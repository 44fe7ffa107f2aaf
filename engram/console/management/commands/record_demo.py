"""Record the demo's story anew."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from engram.console.demo.loading import RECORDING
from engram.console.demo.recording import record_story
from engram.kernel import llm


class Command(BaseCommand):
    """`manage.py record_demo`."""

    help = (
        "Play the demo's story through the services in a workspace that is rolled back, and write "
        "what it left into the file that `up` loads. Takes a minute or two."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare where to write."""
        parser.add_argument(
            "out", nargs="?", type=Path, default=RECORDING, help="default: the file of the package"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Record, with the models that come with the package alone."""
        if settings.ENGRAM_EMBEDDING["provider"] != "local" or llm.model_name():
            raise CommandError(
                "the demo is recorded without an endpoint: unset OPENAI_* and ENGRAM_MODEL"
            )
        recorded = record_story()
        options["out"].write_bytes(recorded)
        self.stdout.write(f"{options['out']}: {len(recorded):,} bytes")
