from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('kernel', '0005_retention'),
    ]

    operations = [
        migrations.AddField(
            model_name='membership',
            name='seen_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='membership',
            name='seen_before_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
