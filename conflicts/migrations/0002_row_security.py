"""Confine every table of conflicts to its workspace; the lease registry holds no one's text."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security

TABLES = [
    "conflicts_conflict",
    "conflicts_conflictmember",
    "conflicts_conflictpair",
    "conflicts_conflictcomment",
    "conflicts_decision",
    "conflicts_detectiondue",
    "conflicts_detectionrun",
]


class Migration(migrations.Migration):
    dependencies = [("conflicts", "0001_initial")]
    operations = [force_row_security(table) for table in TABLES]
