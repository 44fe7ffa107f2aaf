"""The tables of conflicts, each confined to its workspace.

The registries of leases are not: whoever looks for due work sees those of every workspace, and they
hold nobody's text.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.comparison
import uuid
from django.conf import settings
from django.db import migrations, models

from engram.kernel.tenancy import force_row_security

CONFINED = [
    "conflicts_conflict",
    "conflicts_conflictmember",
    "conflicts_conflictpair",
    "conflicts_conflictcomment",
    "conflicts_decision",
    "conflicts_detectiondue",
    "conflicts_detectionrun",
    "conflicts_judgement",
]


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('conflicts', '0001_initial'),
        ('conflicts', '0002_row_security'),
        ('conflicts', '0003_detection_attempts'),
        ('conflicts', '0004_answer_is_new'),
        ('conflicts', '0005_narrative_and_judgements'),
        ('conflicts', '0006_row_security'),
        ('conflicts', '0007_narrative_lease'),
        ('conflicts', '0008_hashes_of_effects'),
        ('conflicts', '0009_one_question'),
        ('conflicts', '0010_detectionrun_left_unread'),
        ('conflicts', '0011_conflictmember_is_reworded'),
    ]

    dependencies = [
        ('kernel', '0001_squashed_0019_known_addresses'),
        ('memories', '0001_squashed_0018_second_look'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Conflict',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('reversal', 'Reversal'), ('ambiguity', 'Ambiguity'), ('stale', 'Stale')], max_length=10)),
                ('status', models.CharField(choices=[('open', 'Open'), ('resolved', 'Resolved'), ('dismissed', 'Dismissed'), ('snoozed', 'Snoozed')], default='open', max_length=10)),
                ('question', models.CharField(max_length=400)),
                ('reasoning', models.TextField(blank=True)),
                ('severity', models.CharField(choices=[('low', 'Low'), ('medium', 'Medium'), ('high', 'High')], default='medium', max_length=6)),
                ('detected_by', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=12), default=list, size=None)),
                ('confidence', models.FloatField(default=0.5)),
                ('suggested_verdict', models.CharField(blank=True, max_length=12)),
                ('version', models.PositiveIntegerField(default=1)),
                ('is_lapsed', models.BooleanField(default=False)),
                ('lapse_reason', models.CharField(blank=True, choices=[('gone', 'Fewer than two of its memories are still recalled.'), ('reworded', 'One of its memories says something else now.'), ('absorbed', 'A wider card asks about all of its memories.')], max_length=10)),
                ('snoozed_until', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('assignee', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_before', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='conflicts.conflict')),
                ('reopened_from', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='conflicts.conflict')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', 'status', '-created_at', '-id'], name='card_queue'),
                    models.Index(fields=['workspace', '-created_at', '-id'], name='card_newest'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ConflictComment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('author', models.CharField(max_length=150)),
                ('text', models.CharField(max_length=2000)),
                ('created_at', models.DateTimeField()),
                ('conflict', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='conflicts.conflict')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['created_at'],
            },
        ),
        migrations.CreateModel(
            name='ConflictMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('lineage', models.UUIDField()),
                ('position', models.PositiveSmallIntegerField()),
                ('says_yes', models.BooleanField(default=False)),
                ('revision', models.PositiveIntegerField()),
                ('is_reworded', models.BooleanField(db_default=False, default=False)),
                ('conflict', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='conflicts.conflict')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='conflict_members', to='memories.memory')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['position'],
                'indexes': [
                    models.Index(fields=['workspace', 'memory'], name='member_memory'),
                    models.Index(fields=['workspace', 'lineage'], name='member_lineage'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('conflict', 'memory'), name='member_once_a_card'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ConflictPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('lineage_low', models.UUIDField()),
                ('lineage_high', models.UUIDField()),
                ('conflict', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='conflicts.conflict')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['workspace', 'lineage_high'], name='pair_high'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('workspace', 'lineage_low', 'lineage_high'), name='pair_once'),
                    models.CheckConstraint(condition=models.Q(('lineage_low__lt', models.F('lineage_high'))), name='pair_in_order'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('verdict', models.CharField(choices=[('yes', 'Yes, it still holds'), ('no', 'No, it no longer holds'), ('keep', 'Keep some'), ('both_valid', 'Both are valid'), ('none_valid', 'None is valid'), ('dismiss', 'Not a conflict')], max_length=12)),
                ('kept', models.JSONField(default=list)),
                ('note', models.CharField(blank=True, max_length=2000)),
                ('is_answer_new', models.BooleanField(default=False)),
                ('effects', models.JSONField(default=list)),
                ('aside', models.JSONField(default=list)),
                ('decided_by', models.CharField(max_length=150)),
                ('decided_by_kind', models.CharField(max_length=10)),
                ('decided_at', models.DateTimeField()),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('undone_by', models.CharField(blank=True, max_length=150)),
                ('answer', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='memories.memory')),
                ('conflict', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='conflicts.conflict')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-decided_at'],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('undone_at', None)), fields=('conflict',), name='one_standing_decision'),
                ],
            },
        ),
        migrations.CreateModel(
            name='DetectionLease',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='kernel.workspace')),
                ('due_since', models.DateTimeField(null=True)),
                ('holder', models.UUIDField(null=True)),
                ('heartbeat_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('due_since__isnull', False)), fields=['due_since'], name='lease_due')],
            },
        ),
        migrations.CreateModel(
            name='DetectionRun',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(default='running', max_length=8)),
                ('reason', models.CharField(max_length=12)),
                ('trigger_count', models.PositiveIntegerField(default=0)),
                ('facts_considered', models.PositiveIntegerField(default=0)),
                ('facts_forgotten', models.PositiveIntegerField(default=0)),
                ('left_unread', models.PositiveIntegerField(default=0)),
                ('batches', models.PositiveIntegerField(default=0)),
                ('model', models.CharField(blank=True, max_length=80)),
                ('tokens', models.PositiveIntegerField(default=0)),
                ('cost_usd', models.FloatField(default=0)),
                ('narrative', models.CharField(choices=[('off', 'Off: no model is configured, or the workspace does not want it'), ('not_needed', 'Nothing of what was new is for the model'), ('waiting', 'Handed on to the model'), ('done', 'Done'), ('capped', "Put off: the day's spend cap is reached"), ('failed', 'Failed, to be tried again')], default='off', max_length=10)),
                ('prompt_version', models.CharField(blank=True, max_length=20)),
                ('survivors', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('dropped', models.PositiveIntegerField(default=0)),
                ('opened', models.PositiveIntegerField(default=0)),
                ('joined', models.PositiveIntegerField(default=0)),
                ('skipped', models.PositiveIntegerField(default=0)),
                ('lag_seconds', models.FloatField(null=True)),
                ('duration_seconds', models.FloatField(null=True)),
                ('error', models.TextField(blank=True)),
                ('created_at', models.DateTimeField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', '-created_at', '-id'], name='run_newest'),
                    models.Index(condition=models.Q(('status', 'running')), fields=['workspace'], name='run_running'),
                ],
            },
        ),
        migrations.CreateModel(
            name='DetectionDue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('turn', models.PositiveIntegerField(default=1)),
                ('is_first_in_line', models.BooleanField(default=False)),
                ('awaits', models.CharField(choices=[('all', 'Rules and model'), ('model', 'The model only: rules have read it, the model could not be asked')], db_default='all', max_length=5)),
                ('since', models.DateTimeField()),
                ('read_with', models.PositiveSmallIntegerField(null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('not_before', models.DateTimeField(null=True)),
                ('memory', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='detection_due', to='memories.memory')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reads', to='conflicts.detectionrun')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['workspace', 'since'], name='due_oldest'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Judgement',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('relation', models.CharField(choices=[('same', 'Same'), ('refines', 'Refines'), ('contradicts', 'Contradicts'), ('different', 'Different')], max_length=11)),
                ('reason', models.CharField(blank=True, max_length=1000)),
                ('agent', models.CharField(max_length=200)),
                ('weight', models.FloatField(default=0.5)),
                ('created_at', models.DateTimeField()),
                ('conflict', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='judgements', to='conflicts.conflict')),
                ('key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='kernel.apikey')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='memories.memory')),
                ('other', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memories.memory')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', 'agent', '-created_at'], name='judgement_agent'),
                    models.Index(fields=['workspace', 'key', '-created_at'], name='judgement_key'),
                ],
                'constraints': [
                    models.UniqueConstraint(models.F('key'), django.db.models.functions.comparison.Least('memory', 'other'), django.db.models.functions.comparison.Greatest('memory', 'other'), name='judged_once_a_key'),
                ],
            },
        ),
        migrations.CreateModel(
            name='NarrativeLease',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='kernel.workspace')),
                ('due_since', models.DateTimeField(null=True)),
                ('holder', models.UUIDField(null=True)),
                ('heartbeat_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('due_since__isnull', False)), fields=['due_since'], name='narrative_lease_due')],
            },
        ),
        *(force_row_security(table) for table in CONFINED),
    ]
