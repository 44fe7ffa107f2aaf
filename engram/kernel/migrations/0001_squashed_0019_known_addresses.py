"""The tables of the kernel, each confined to its workspace; functions that look across workspaces."""

import django.contrib.postgres.fields
import django.db.models.deletion
import engram.kernel.embedding
import uuid
from django.conf import settings
from django.db import migrations, models

from engram.kernel.migrations._functions import (
    CREATE_WORKSPACES_WITH,
    DROP_WORKSPACES_WITH,
)
from engram.kernel.tenancy import force_row_security

# A key row may also be seen by whoever presents its digest, and only through this function.
FIND_KEY = """
CREATE FUNCTION engram_find_key(presented text)
RETURNS TABLE (
    id uuid, workspace_id uuid, name varchar, role varchar,
    expires_at timestamptz, revoked_at timestamptz, is_exempt_from_throttle boolean,
    provenance_ceiling varchar, may_relay boolean, may_pin boolean, agent varchar
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('engram.key_digest', presented, true);
    RETURN QUERY
        SELECT id, workspace_id, name, role, expires_at, revoked_at, is_exempt_from_throttle,
            provenance_ceiling, may_relay, may_pin, agent
        FROM kernel_apikey WHERE digest = presented;
    PERFORM set_config('engram.key_digest', '', true);
END
$$;
"""
CONFINED = [
    "kernel_event",
    "kernel_idempotentanswer",
    "kernel_answeredthing",
    "kernel_modelspend",
    "kernel_latencyhour",
    "kernel_stageerror",
    "kernel_workertally",
]


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('kernel', '0001_initial'),
        ('kernel', '0002_row_security'),
        ('kernel', '0003_event_time'),
        ('kernel', '0004_idempotency_and_embedding_choice'),
        ('kernel', '0005_row_security'),
        ('kernel', '0006_workspace_embedding_model'),
        ('kernel', '0007_answered_things'),
        ('kernel', '0008_workspaces_with'),
        ('kernel', '0009_model_spend'),
        ('kernel', '0010_row_security'),
        ('kernel', '0011_telemetry'),
        ('kernel', '0012_row_security'),
        ('kernel', '0013_worker_tally'),
        ('kernel', '0014_row_security'),
        ('kernel', '0015_event_session'),
        ('kernel', '0016_membership_chosen'),
        ('kernel', '0017_key_claims'),
        ('kernel', '0018_invitations'),
        ('kernel', '0019_known_addresses'),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='WorkerPulse',
            fields=[
                ('name', models.CharField(max_length=120, primary_key=True, serialize=False)),
                ('started_at', models.DateTimeField()),
                ('beat_at', models.DateTimeField()),
                ('is_busy', models.BooleanField(default=False)),
                ('counts', models.JSONField(default=dict)),
                ('last_ms', models.FloatField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Workspace',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('slug', models.SlugField(max_length=64, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('embedding_model', models.CharField(default=engram.kernel.embedding.model_name, editable=False, max_length=120)),
                ('embedding_changed_at', models.DateTimeField(editable=False, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['slug'],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('username', models.CharField(max_length=150)),
                ('role', models.CharField(choices=[('reader', 'Reader'), ('agent', 'Agent'), ('reviewer', 'Reviewer'), ('admin', 'Admin')], default='reviewer', max_length=10)),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('invited_by', models.CharField(max_length=150)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(null=True)),
                ('declined_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='IdempotentAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('caller', models.CharField(max_length=80)),
                ('key', models.CharField(max_length=255)),
                ('path', models.CharField(max_length=300)),
                ('digest', models.CharField(max_length=64)),
                ('status', models.PositiveSmallIntegerField()),
                ('body', models.TextField(null=True)),
                ('created_at', models.DateTimeField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['workspace', 'created_at'], name='idempotency_age'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('workspace', 'caller', 'key'), name='idempotency_key'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('seq', models.BigAutoField(primary_key=True, serialize=False)),
                ('type', models.CharField(max_length=60)),
                ('object_type', models.CharField(max_length=40)),
                ('object_id', models.CharField(max_length=64)),
                ('actor_kind', models.CharField(max_length=10)),
                ('actor_id', models.CharField(blank=True, max_length=64)),
                ('actor_label', models.CharField(blank=True, max_length=150)),
                ('session_key', models.CharField(blank=True, max_length=200)),
                ('data', models.JSONField(default=dict)),
                ('at', models.DateTimeField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-seq'],
                'indexes': [
                    models.Index(fields=['workspace', '-seq'], name='event_newest'),
                    models.Index(fields=['workspace', 'object_id', '-seq'], name='event_object'),
                    models.Index(fields=['workspace', 'type', '-seq'], name='event_type'),
                    models.Index(fields=['workspace', 'type', 'at'], name='event_time'),
                    models.Index(condition=models.Q(('session_key', ''), _negated=True), fields=['workspace', 'session_key', '-seq'], name='event_session'),
                ],
            },
        ),
        migrations.CreateModel(
            name='ApiKey',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=120)),
                ('role', models.CharField(choices=[('reader', 'Reader'), ('agent', 'Agent'), ('reviewer', 'Reviewer'), ('admin', 'Admin')], default='agent', max_length=10)),
                ('provenance_ceiling', models.CharField(choices=[('user_stated', 'User stated'), ('episode_summary', 'Episode summary'), ('assistant_derived', 'Assistant derived')], default='assistant_derived', max_length=20)),
                ('may_relay', models.BooleanField(default=False, verbose_name='relay')),
                ('may_pin', models.BooleanField(default=False)),
                ('agent', models.CharField(blank=True, max_length=200)),
                ('prefix', models.CharField(editable=False, max_length=12)),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('is_exempt_from_throttle', models.BooleanField(default=False)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(editable=False, null=True)),
                ('use_count', models.BigIntegerField(default=0, editable=False)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='AnsweredThing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('thing_id', models.UUIDField()),
                ('answer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='things', to='kernel.idempotentanswer')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['workspace', 'thing_id'], name='answered_thing'),
                ],
            },
        ),
        migrations.CreateModel(
            name='KnownAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(editable=False, max_length=64)),
                ('used_on', models.DateField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'digest'), name='known_address_once')],
            },
        ),
        migrations.CreateModel(
            name='WorkerTally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.CharField(max_length=120)),
                ('stage', models.CharField(max_length=40)),
                ('count', models.PositiveBigIntegerField(default=0)),
                ('last_seconds', models.FloatField()),
                ('last_at', models.DateTimeField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('workspace', 'worker', 'stage'), name='tally_once')],
            },
        ),
        migrations.CreateModel(
            name='StageError',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('stage', models.CharField(max_length=40)),
                ('code', models.CharField(max_length=60)),
                ('detail', models.CharField(blank=True, max_length=300)),
                ('session_key', models.CharField(blank=True, max_length=200)),
                ('at', models.DateTimeField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['workspace', '-id'], name='stage_error_newest'), models.Index(fields=['workspace', 'stage', 'at'], name='stage_error_time')],
            },
        ),
        migrations.CreateModel(
            name='ModelSpend',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('calls', models.PositiveIntegerField(default=0)),
                ('tokens', models.PositiveIntegerField(default=0)),
                ('cost_usd', models.FloatField(default=0)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('workspace', 'day'), name='spend_once_a_day')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('reader', 'Reader'), ('agent', 'Agent'), ('reviewer', 'Reviewer'), ('admin', 'Admin')], default='reviewer', max_length=10)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('chosen_at', models.DateTimeField(editable=False, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='kernel.workspace')),
            ],
            options={
                'ordering': ['workspace__slug'],
                'constraints': [models.UniqueConstraint(fields=('workspace', 'user'), name='one_membership_a_person')],
            },
        ),
        migrations.CreateModel(
            name='LatencyHour',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stage', models.CharField(max_length=40)),
                ('hour', models.DateTimeField()),
                ('counts', django.contrib.postgres.fields.ArrayField(base_field=models.PositiveIntegerField(), size=None)),
                ('total_seconds', models.FloatField(default=0)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('workspace', 'stage', 'hour'), name='latency_once')],
            },
        ),
        force_row_security(
            "kernel_apikey",
            or_visible="digest = (SELECT nullif(current_setting('engram.key_digest', true), ''))",
        ),
        *(force_row_security(table) for table in CONFINED),
        migrations.RunSQL(FIND_KEY, "DROP FUNCTION engram_find_key(text)"),
        migrations.RunSQL(CREATE_WORKSPACES_WITH, DROP_WORKSPACES_WITH),
    ]
