"""Keep answers as they were sent, and find those that show a thing."""

import django.db.models.deletion
from django.db import migrations, models

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):
    dependencies = [("kernel", "0006_workspace_embedding_model")]
    operations = [
        migrations.AlterField("idempotentanswer", "body", models.TextField(null=True)),
        migrations.CreateModel(
            name="AnsweredThing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("thing_id", models.UUIDField()),
                (
                    "answer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="things",
                        to="kernel.idempotentanswer",
                    ),
                ),
                (
                    "workspace",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="kernel.workspace",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["workspace", "thing_id"], name="answered_thing")]
            },
        ),
        force_row_security("kernel_answeredthing"),
    ]
