"""Check that a database is not older than the squashed migrations."""

from __future__ import annotations

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# The last version that has the migrations replaced by the squashed ones.
LAST_WITH_ALL_STEPS = "d409f45"


def missing_migrations() -> str:
    """Return instructions if only some of the replaced migrations are applied, else ""."""
    applied = MigrationRecorder(connection).applied_migrations()
    loader = MigrationLoader(None)
    for (app, _), migration in sorted(loader.disk_migrations.items()):
        missing = [name for step_app, name in migration.replaces if (step_app, name) not in applied]
        if 0 < len(missing) < len(migration.replaces):
            return (
                f"the database was made by an earlier version of Engram, and the step {app}."
                f"{missing[0]} is not part of this one any more. Nothing was changed. Migrate it "
                f"once by that version (git checkout {LAST_WITH_ALL_STEPS}, then "
                "`manage.py migrate`), then start this one again."
            )
    return ""
