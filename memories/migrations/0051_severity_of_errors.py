"""Store how harmful it is to go by a memory in doubt; of outside evidence its weight says so.

What notes speak against is rated in `conflicts`, which has the rules.
"""
from django.db import migrations, models
from django.db.models import Case, Value, When

HEAVY, LIGHT = 5.0, 1.0


def rate_signals(apps, schema_editor):
    """Rate outside evidence by its weight; workspace by workspace, as rows are seen."""
    errors = apps.get_model("memories", "PredictionError").objects
    with schema_editor.connection.cursor() as cursor:
        for workspace_id in list(
            apps.get_model("kernel", "Workspace").objects.values_list("pk", flat=True)
        ):
            cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace_id)])
            found = errors.filter(workspace=workspace_id, error_type="memory_external_signal")
            found.update(
                severity=Case(
                    When(weight__gte=HEAVY, then=Value("high")),
                    When(weight__gte=LIGHT, then=Value("medium")),
                    default=Value("low"),
                )
            )
        cursor.execute("SELECT set_config('engram.workspace', '', true)")


class Migration(migrations.Migration):

    dependencies = [("memories", "0050_session_knew_erased")]

    operations = [
        migrations.AddField(
            model_name="predictionerror",
            name="severity",
            field=models.CharField(
                choices=[("low", "Low"), ("medium", "Medium"), ("high", "High")],
                db_default="medium", default="medium", max_length=6,
            ),
        ),
        migrations.RunPython(rate_signals, migrations.RunPython.noop),
    ]
