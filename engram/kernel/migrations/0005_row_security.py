"""Confine stored answers to their workspace."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("kernel", "0004_idempotency_and_embedding_choice")]
    operations = [force_row_security("kernel_idempotentanswer")]
