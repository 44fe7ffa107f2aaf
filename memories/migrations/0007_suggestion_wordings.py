"""Let a merge suggestion say which wordings it is about."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0006_row_security")]
    operations = [
        migrations.AddField(
            model_name="mergesuggestion",
            name="wordings",
            field=models.CharField(default="", editable=False, max_length=129),
        ),
        migrations.AddIndex(
            model_name="mergesuggestion",
            index=models.Index(fields=["workspace", "wordings"], name="suggestion_wordings"),
        ),
    ]
