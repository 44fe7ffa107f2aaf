"""Give the training of a workspace a lease of its own, and leases the columns that all have."""

import django.db.models.deletion
from django.db import migrations, models

# Row-level security shows one workspace at a time. Who trains while this runs begins again.
COPY = """
DO $$
DECLARE
    each_one uuid;
BEGIN
    FOR each_one IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', each_one::text, true);
        INSERT INTO predictor_traininglease (workspace_id, due_at, reason)
        SELECT workspace_id, training_due_since, training_reason FROM predictor_predictorstate
        WHERE workspace_id = each_one AND training_due_since IS NOT NULL;
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("kernel", "0002_due_workspaces"),
        ("predictor", "0001_squashed_0006_erased_versions"),
    ]
    operations = [
        migrations.RemoveIndex("judgement", "predictor_judging_due"),
        migrations.RenameField("judgement", "due_since", "due_at"),
        migrations.AddIndex(
            "judgement",
            models.Index(
                condition=models.Q(("status", "due")),
                fields=["workspace", "due_at"],
                name="predictor_judging_due",
            ),
        ),
        migrations.CreateModel(
            "TrainingLease",
            [
                ("due_at", models.DateTimeField(null=True)),
                ("holder", models.UUIDField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                (
                    "workspace",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="kernel.workspace",
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=20)),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        condition=models.Q(("due_at__isnull", False)),
                        fields=["due_at"],
                        name="traininglease_due",
                    )
                ],
            },
        ),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
        migrations.DeleteModel("TrainingSlot"),
        migrations.RemoveField("predictorstate", "training_due_since"),
        migrations.RemoveField("predictorstate", "training_heartbeat_at"),
        migrations.RemoveField("predictorstate", "training_holder"),
        migrations.RemoveField("predictorstate", "training_reason"),
    ]
