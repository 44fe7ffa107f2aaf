from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("conflicts", "0008_hashes_of_effects"),
    ]

    operations = [
        migrations.AddField(
            model_name="detectionrun",
            name="left_unread",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
