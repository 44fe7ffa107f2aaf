from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('predictor', '0006_chance_of_labels'),
    ]

    operations = [
        migrations.AddField(
            model_name='predictorstate',
            name='relevance',
            field=models.JSONField(db_default={}, default=dict),
        ),
    ]
