"""Take the demo's users, keys, webhook and invitation away."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from engram.console.demo import shut_out


class Command(BaseCommand):
    """`manage.py remove_demo`."""

    help = (
        "Remove the demo's users, webhook and invitation, revoke its keys and delete demo.json. "
        "Its workspace stays, without anybody in it."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Shut the demo out."""
        found = shut_out(timezone.now())
        self.stdout.write(f"Removed: {', '.join(found)}." if found else "There is no demo here.")
