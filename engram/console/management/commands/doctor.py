"""`manage.py doctor`: report problems of this installation, and how to fix them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from engram.console.doctor.check import CheckResult, Level, as_json, as_lines
from engram.console.doctor.examine import examine


class Command(BaseCommand):
    """Check the installation; exit with 1 when something has to be mended."""

    help = "Check this installation, and say how to mend what is wrong. Exit code 1: something is."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Examine and print."""
        findings: list[CheckResult] = []
        for finding in examine():
            findings.append(finding)
            if not options["json"]:
                self.stdout.write("\n".join(as_lines([finding], self._paint)))
        if options["json"]:
            self.stdout.write(as_json(findings))
        if any(finding.level == "fail" for finding in findings):
            sys.exit(1)

    def _paint(self, text: str, level: Level) -> str:
        styles = {"ok": self.style.SUCCESS, "warn": self.style.WARNING, "fail": self.style.ERROR}
        painted: str = styles[level](text)
        return painted
