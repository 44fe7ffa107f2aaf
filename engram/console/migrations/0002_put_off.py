import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('console', '0001_initial'),
        ('kernel', '0010_row_security'),
    ]

    operations = [
        migrations.CreateModel(
            name='PutOff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=20)),
                ('item', models.UUIDField()),
                ('until', models.DateTimeField()),
                ('by', models.CharField(max_length=150)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('workspace', 'source', 'item'), name='put_off_once')],
            },
        ),
    ]
