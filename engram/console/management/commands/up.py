"""`manage.py up` runs everything; `up --prepare` is its part that needs Django."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from engram import supervisor
from engram.console import static_files
from engram.console.demo import ensure_demo
from engram.console.doctor.servers import connect
from engram.console.health import without_passwords


class Command(BaseCommand):
    """Run database, broker, web, worker and scheduler as one process tree."""

    help = (
        "Run everything: database and broker (unless DATABASE_URL and BROKER_URL name real ones), "
        "migrations, static files, demo workspace, web, worker and scheduler."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the supervisor's options and our own."""
        supervisor.add_arguments(parser)
        parser.add_argument(
            "--prepare",
            action="store_true",
            help="only migrate, collect static files and make the demo workspace",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare; `manage.py` starts the supervisor itself, before Django is loaded."""
        if not options["prepare"]:
            raise CommandError("run `python manage.py up` from a shell")
        try:
            connect().close()
        except psycopg.Error as error:
            message = without_passwords(str(error))
            raise CommandError(f"the database does not answer: {message}") from error
        call_command("migrate", verbosity=0, interactive=False)
        if not static_files.are_collected():
            static_files.collect()
            self.stdout.write("static files collected")
        if not (options["no_demo"] or settings.IS_PRODUCTION):
            ensure_demo()
        sys.stdout.flush()
