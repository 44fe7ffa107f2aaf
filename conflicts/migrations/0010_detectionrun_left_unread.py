from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("conflicts", "0009_one_question"),
    ]

    operations = [
        migrations.AddField(
            model_name="detectionrun",
            name="left_unread",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
