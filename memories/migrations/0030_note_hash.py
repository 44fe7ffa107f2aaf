from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0029_extraction'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='note',
            index=models.Index(fields=['workspace', 'content_hash'], name='note_hash'),
        ),
    ]
