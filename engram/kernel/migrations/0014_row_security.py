"""Confine the tallies of processes to their workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("kernel", "0013_worker_tally")]
    operations = [force_row_security("kernel_workertally")]
