"""Move workspaces to another embedding model while they go on answering."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from time import sleep
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import EmbeddingUnavailableError, embed, use_processors
from engram.kernel.models import Workspace
from memories.services.index import reembed
from memories.services.index.answers import embed_questions
from memories.services.index.search_index import ensure_vector_index


class Command(BaseCommand):
    """`manage.py reembed --model M [--workspace W] [--keep-old]`."""

    help = (
        "Embed every memory with another model, then compare its vectors instead of the old ones. "
        "The service goes on answering from the old vectors until the new ones are all there; an "
        "interrupted run goes on where it stopped. A name other than the built-in model's is asked "
        "of the endpoint OPENAI_BASE_URL; NAME@512 asks for vectors of 512 dimensions."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--model", required=True, help="such as text-embedding-3-small")
        parser.add_argument("--workspace", help="slug of one workspace (default: all)")
        parser.add_argument(
            "--keep-old", action="store_true", help="keep the old vectors, for a quick way back"
        )
        parser.add_argument(
            "--settle-seconds",
            type=float,
            default=15.0,
            help="how long requests that began before the change may still write (default 15)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Try the model, then move one workspace after the other."""
        model: str = options["model"]
        use_processors()
        chosen = Workspace.objects.order_by("slug")
        if options["workspace"]:
            chosen = chosen.filter(slug=options["workspace"])
            if not chosen:
                raise CommandError(f"There is no workspace {options['workspace']!r}.")
        try:
            width = embed(["Is anybody there?"], model).shape[1]
        except EmbeddingUnavailableError as error:
            raise CommandError(f"Nothing was changed: {error}") from None
        ensure_vector_index(model, width)
        moved: list[Workspace] = []
        try:
            for workspace in chosen:
                before = self._move(workspace, model)
                if before != model:
                    moved.append(workspace)
            if moved:
                sleep(options["settle_seconds"])
            for workspace in chosen:
                self._finish(workspace, keep_old=options["keep_old"])
        except EmbeddingUnavailableError as error:
            raise CommandError(f"{error}. Run the same command to go on.") from None
        except KeyboardInterrupt:
            raise CommandError("Interrupted; run the same command to go on.") from None
        if moved:
            self.stdout.write(
                "The thresholds of a workspace belong to its model: measure them anew with "
                "`evaluate --gate` and look at gate_threshold, forget_min_relevance, min_relevance "
                "and session_min_relevance."
            )

    def _move(self, workspace: Workspace, model: str) -> str:
        """Embed what is missing, then let the workspace use it; return the model before."""
        missing = reembed.count_missing(workspace, model)
        with tqdm(
            total=missing, desc=workspace.slug, unit=" memories", disable=not sys.stderr.isatty()
        ) as bar:
            written = reembed.embed_missing(workspace, model, advance=bar.update)
            while reembed.embed_missing(workspace, model, advance=bar.update):
                pass  # what was committed or reworded meanwhile
        before = reembed.switch(workspace, model, actor=SYSTEM, now=timezone.now())
        verb = "uses" if before == model else "now uses"
        self.stdout.write(f"{workspace.slug} {verb} {model}: {written} memories embedded.")
        return before

    def _finish(self, workspace: Workspace, *, keep_old: bool) -> None:
        """Embed what late writers added, and let the old vectors go."""
        reembed.embed_missing(workspace, workspace.embedding_model, advance=lambda _: None)
        embed_questions(workspace)
        if not keep_old and (dropped := reembed.drop_other_vectors(workspace)):
            self.stdout.write(f"{workspace.slug}: {dropped} old vectors removed.")
