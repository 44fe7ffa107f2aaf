"""Confine sessions and their candidates to their workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("memories", "0010_sessions")]
    operations = [
        force_row_security(table)
        for table in (
            "memories_session",
            "memories_sessioncandidate",
        )
    ]
