"""Run the janitor in one workspace or all, or preview what it would do."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.refusals import RefusalError
from memories.core.janitor import ActionKind
from memories.services.janitor import run
from memories.services.janitor.scan import JanitorFinding

LISTED = 20


def line(finding: JanitorFinding) -> str:
    """Return one line about a memory: its id and numbers, never its text."""
    memory, verdict = finding.memory, finding.verdict
    if verdict.action != ActionKind.DEMOTE:
        return f"  {verdict.action:7} {memory.pk}  {verdict.reason.replace('_', ' ')}"
    return (
        f"  {verdict.action:7} {memory.pk}"
        f"  weight {memory.weight_factor:.2f} → {verdict.weight_factor:.2f},"
        f" confidence {memory.confidence_factor:.2f} → {verdict.confidence_factor:.2f}"
    )


class Command(BaseCommand):
    """`manage.py janitor [--workspace W] [--dry-run] [--cull]`."""

    help = (
        "Lower the weight of memories that were not recalled, matched or used for longer than"
        " their class allows. Every step can be undone in the admin or by"
        " POST /janitor/runs/{id}/undo."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--workspace", help="slug of one workspace; else all whose settings enable the janitor"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="print what would be done, change nothing"
        )
        parser.add_argument(
            "--cull",
            action="store_true",
            help="also hide what was demoted three times (else as each workspace's settings say)",
        )
        parser.add_argument(
            "--list",
            type=int,
            default=LISTED,
            metavar="N",
            help=f"with --dry-run: name the first N memories (default: {LISTED})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run, or preview, workspace by workspace."""
        for workspace in self._workspaces(options["workspace"]):
            now = timezone.now()
            total = run.count_candidates(workspace, now=now)
            may_cull = True if options["cull"] else None
            with tqdm(
                total=total, unit=" memories", desc=workspace.slug, disable=not sys.stderr.isatty()
            ) as bar:
                if options["dry_run"]:
                    found = run.preview(
                        workspace,
                        now=now,
                        may_cull=may_cull,
                        limit=max(0, options["list"]),
                        advance=bar.update,
                    )
                else:
                    try:
                        done = run.run(
                            workspace, actor=SYSTEM, now=now, may_cull=may_cull, advance=bar.update
                        )
                    except RefusalError as error:
                        raise CommandError(f"{workspace.slug}: {error.detail}") from None
            if options["dry_run"]:
                self._show(workspace, found)
            else:
                self._write_counts(workspace, done, "")
                if done.demoted or done.culled:
                    self.stdout.write(f"  run {done.pk}")

    def _workspaces(self, slug: str | None) -> list[Workspace]:
        if slug is None:
            return [w for w in Workspace.objects.all() if w.config.janitor_enabled]
        workspace = Workspace.objects.filter(slug=slug).first()
        if workspace is None:
            raise CommandError(f"There is no workspace {slug!r}.")
        return [workspace]

    def _show(self, workspace: Workspace, found: run.RunPreview) -> None:
        self._write_counts(workspace, found, "would be ")
        for finding in found.findings:
            self.stdout.write(line(finding))
        more = found.demoted + found.culled + found.reported - len(found.findings)
        if more and found.findings:
            self.stdout.write(f"  and {more} more")

    def _write_counts(self, workspace: Workspace, numbers: Any, would: str) -> None:
        self.stdout.write(
            f"{workspace.slug}: {numbers.examined} unused memories examined,"
            f" {numbers.demoted} {would}demoted, {numbers.culled} {would}hidden,"
            f" {numbers.reported} reported only."
        )
