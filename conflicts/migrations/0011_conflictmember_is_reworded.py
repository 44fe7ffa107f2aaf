from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("conflicts", "0010_detectionrun_left_unread"),
    ]

    operations = [
        migrations.AddField(
            model_name="conflictmember",
            name="is_reworded",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
