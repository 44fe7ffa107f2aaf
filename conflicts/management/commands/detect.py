"""Run detection in this process."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from conflicts.services.detection.detect import detect_due
from conflicts.services.detection.narrate import narrate_due
from conflicts.services.due import queue_memories
from engram.kernel.models import Workspace
from engram.kernel.refusals import RefusalError


class Command(BaseCommand):
    """`manage.py detect --workspace W [--memory ID]`."""

    help = "Read one memory, or the whole story of a workspace, again and file what is found."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--workspace", required=True, help="slug of the workspace")
        parser.add_argument("--memory", type=UUID, default=None, metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        """Queue memories, then run detection unless a worker is already running it."""
        workspace = Workspace.objects.filter(slug=options["workspace"]).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {options['workspace']!r}.")
        try:
            queued = queue_memories(workspace, options["memory"], now=timezone.now())
        except RefusalError as error:
            raise CommandError(error.detail) from None
        runs = detect_due(workspace, clock=timezone.now)
        # The rules read again what the model answers; then it reads the story.
        while by_model := narrate_due(workspace, clock=timezone.now):
            runs += [*by_model, *detect_due(workspace, clock=timezone.now)]
        if failed := [run for run in runs if run.status == "failed"]:
            raise CommandError(failed[0].error)
        if not runs and queued:
            self.stdout.write(f"{queued} memories are queued; a worker reads them.")
            return
        opened, joined = sum(r.opened for r in runs), sum(r.joined for r in runs)
        self.stdout.write(f"{queued} memories read: {opened} conflicts opened, {joined} joined.")
