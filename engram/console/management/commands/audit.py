"""Audit what a team already has: `manage.py audit PATH…`."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from engram.console.audit.as_html import as_html
from engram.console.audit.as_sarif import as_sarif
from engram.console.audit.as_text import as_json, as_text
from engram.console.audit.audit import Bar, run
from engram.console.audit.files import AuditError
from engram.console.audit.findings import KINDS
from engram.kernel.embedding import EmbeddingUnavailableError, use_processors

FOUND, USAGE = 1, 2
FORMATS = {"html": as_html, "json": as_json, "sarif": as_sarif}


class Command(BaseCommand):
    """Read files, report, and exit with 1 when something was found."""

    help = (
        "Tell what repeats, contradicts itself or stands on something that is gone in agents' "
        "notes, rules of editors, Markdown documents and exports of memories. Nothing is stored. "
        "Exit code 0: nothing found; 1: findings; 2: usage error."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the paths and the formats."""
        parser.add_argument("paths", nargs="+", metavar="PATH", help="a folder or a file")
        for name in FORMATS:
            parser.add_argument(
                f"--{name}",
                metavar="OUT",
                help=f"write {name.upper()} here; - prints it",
            )
        parser.add_argument(
            "--only", choices=KINDS, action="append", help="look for this kind alone; repeatable"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the audit, print and write."""
        use_processors()
        try:
            report = run(options["paths"], _bar, options["only"] or KINDS)
        except (AuditError, EmbeddingUnavailableError) as error:
            raise CommandError(str(error), returncode=USAGE) from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted; nothing was stored.", returncode=130) from None
        is_printed = False
        for name, write in FORMATS.items():
            if (out := options[name]) == "-":
                self.stdout.write(write(report), ending="")
                is_printed = True
            elif out:
                _write(out, write(report))
        if not is_printed:
            self.stdout.write(as_text(report), ending="")
        if report.findings:
            sys.exit(FOUND)


def _bar(unit: str, total: int) -> AbstractContextManager[Bar]:
    bar: AbstractContextManager[Bar] = tqdm(
        total=total or None, unit=f" {unit}", disable=not sys.stderr.isatty(), leave=False
    )
    return bar


def _write(path: str, content: str) -> None:
    try:
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.write(content)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}", returncode=USAGE) from error
