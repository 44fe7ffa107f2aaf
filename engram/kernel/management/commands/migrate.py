"""Migrate, unless the database is older than the migrations know."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate

from engram.kernel.garbage import rare_collections
from engram.kernel.squashed import missing_migrations


class Command(migrate.Command):
    """`manage.py migrate`."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Refuse a database that lacks steps, and name the remedy; Django would fail half-way."""
        if problem := missing_migrations():
            raise CommandError(problem)
        with rare_collections():
            super().handle(*args, **options)
