"""Confine every table of memories to its workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security

TABLES = [
    "memories_memory",
    "memories_derivation",
    "memories_memoryvector",
    "memories_posting",
    "memories_termcount",
    "memories_corpussize",
    "memories_memorytag",
    "memories_observation",
    "memories_revision",
    "memories_recallrecord",
    "memories_importprogress",
]


class Migration(migrations.Migration):
    dependencies = [("memories", "0001_initial")]
    operations = [force_row_security(table) for table in TABLES]
