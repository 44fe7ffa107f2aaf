"""Name the columns of leases as `engram.kernel.lease` does."""

from django.db import migrations, models


def renamed(model: str, before: str, after: str) -> list[migrations.operations.base.Operation]:
    """Return what renames the column of what is due, and its index."""
    return [
        migrations.RemoveIndex(model, before),
        migrations.RenameField(model, "due_since", "due_at"),
        migrations.AddIndex(
            model,
            models.Index(
                condition=models.Q(("due_at__isnull", False)), fields=["due_at"], name=after
            ),
        ),
    ]


class Migration(migrations.Migration):
    dependencies = [("conflicts", "0001_squashed_0011_conflictmember_is_reworded")]
    operations = [
        *renamed("detectionlease", "lease_due", "detectionlease_due"),
        *renamed("narrativelease", "narrative_lease_due", "narrativelease_due"),
    ]
