"""Confine what agents judged to its workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("conflicts", "0005_narrative_and_judgements")]
    operations = [force_row_security("conflicts_judgement")]
