"""Tell whether a decision's answer was committed by it: undo retires no memory of before."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conflicts", "0003_detection_attempts")]
    operations = [
        migrations.AddField("decision", "is_answer_new", models.BooleanField(default=False)),
    ]
