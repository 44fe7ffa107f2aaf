"""Confine what models cost to its workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("kernel", "0009_model_spend")]
    operations = [force_row_security("kernel_modelspend")]
