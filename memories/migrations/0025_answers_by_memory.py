from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0024_asked_answers")]

    operations = [
        migrations.AddIndex(
            "memoryanswer",
            models.Index(fields=["memory", "model"], name="answer_of_memory"),
        ),
    ]
