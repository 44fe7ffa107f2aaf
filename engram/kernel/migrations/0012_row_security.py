"""Confine latencies and errors to their workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("kernel", "0011_telemetry")]
    operations = [
        force_row_security(table)
        for table in (
            "kernel_latencyhour",
            "kernel_stageerror",
        )
    ]
