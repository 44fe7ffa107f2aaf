"""The tables of the console."""

import django.db.models.deletion
from django.db import migrations, models

from engram.kernel.tenancy import force_row_security


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('console', '0001_initial'),
        ('console', '0002_put_off'),
        ('console', '0003_confine_put_off'),
        ('console', '0004_telling_holder'),
    ]

    dependencies = [
        ('kernel', '0001_squashed_0019_known_addresses'),
    ]

    operations = [
        migrations.CreateModel(
            name='Telling',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='kernel.workspace')),
                ('steps', models.PositiveIntegerField()),
                ('told', models.PositiveIntegerField(default=0)),
                ('labels', models.JSONField(default=dict)),
                ('began_at', models.DateTimeField()),
                ('finished_at', models.DateTimeField(null=True)),
                ('holder', models.UUIDField(null=True)),
                ('heartbeat_at', models.DateTimeField(null=True)),
            ],
        ),
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
        force_row_security("console_putoff"),
    ]
