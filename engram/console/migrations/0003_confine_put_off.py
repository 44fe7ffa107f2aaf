"""Confine what was put off to its workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("console", "0002_put_off")]
    operations = [force_row_security("console_putoff")]
