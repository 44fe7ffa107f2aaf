from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('kernel', '0008_keep_collecting'),
    ]

    operations = [
        migrations.AddField(
            model_name='membership',
            name='tour_closed_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
