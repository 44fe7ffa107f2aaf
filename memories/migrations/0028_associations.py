"""Tables of what memories have in common; a sweep reads the entities of existing memories."""
import django.db.models.deletion
from django.db import migrations, models

from engram.kernel.tenancy import force_row_security

# Row-level security shows one workspace at a time.
MARK_DUE = """
DO $$
DECLARE
    each_one uuid;
BEGIN
    FOR each_one IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', each_one::text, true);
        INSERT INTO memories_entitydue (workspace_id, memory_id, since)
        SELECT workspace_id, id, now() FROM memories_memory WHERE workspace_id = each_one
        ON CONFLICT (memory_id) DO NOTHING;
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
END
$$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('kernel', '0003_functions_of_the_owner'),
        ('memories', '0027_prediction_errors'),
    ]

    operations = [
        migrations.CreateModel(
            name='EntityCount',
            fields=[
                ('pk', models.CompositePrimaryKey('workspace_id', 'key', blank=True, editable=False, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=64)),
                ('memories', models.IntegerField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='EntityDue',
            fields=[
                ('memory', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='entity_due', serialize=False, to='memories.memory')),
                ('since', models.DateTimeField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='MemoryEntity',
            fields=[
                ('pk', models.CompositePrimaryKey('workspace_id', 'key', 'memory_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('key', models.CharField(max_length=64)),
                ('is_subject', models.BooleanField(default=False)),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entities', to='memories.memory')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='CoRecall',
            fields=[
                ('pk', models.CompositePrimaryKey('workspace_id', 'first_id', 'second_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('weight', models.FloatField()),
                ('since', models.DateTimeField()),
                ('reinforced_at', models.DateTimeField()),
                ('first', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memories.memory')),
                ('second', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memories.memory')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('first__lt', models.F('second'))), name='co_recall_of_two_in_order'), models.CheckConstraint(condition=models.Q(('weight__gt', 0)), name='co_recall_weight_positive')],
            },
        ),
        force_row_security("memories_corecall"),
        force_row_security("memories_entitycount"),
        force_row_security("memories_entitydue"),
        force_row_security("memories_memoryentity"),
        migrations.RunSQL(MARK_DUE, migrations.RunSQL.noop),
    ]
