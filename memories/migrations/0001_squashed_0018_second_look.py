"""The tables of memories, each confined to its workspace, and the indexes that Django cannot say."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pgvector.django.vector
import uuid
from django.db import migrations, models
from pgvector.django import VectorExtension

from engram.kernel.tenancy import force_row_security

# As `memories.services.index.search_index.ensure_vector_index` makes it for other models.
NEAREST = """
CREATE INDEX vector_nearest_8deee326a9 ON memories_memoryvector
USING hnsw ((embedding::vector(384)) vector_cosine_ops)
WHERE is_live AND model = 'all-MiniLM-L6-v2';
"""
# Token states in the row itself: noise is not compressed, and rows of up to a page stay whole.
# A recall reads those of sixty memories: 6 ms from the side table, 3 ms from the rows.
TOKENS_IN_ROW = """
ALTER TABLE memories_memorytokens
    ALTER COLUMN states SET STORAGE EXTERNAL,
    SET (toast_tuple_target = 8160);
"""
# Session start reads the best by importance · 0.95^days in the order of an index. That order does
# not change with time: ln(importance) + 5.9367e-7 · seconds. Which pins hold depends on the
# session, so none stands above the others.
# Constraints and pins have an index of their own (in the order above, the planner may read all
# memories to find the few of them), by provenance, then by importance: of more than a session is
# given in any case, what an agent concluded is left out before what a user said.
SESSION_START = """
CREATE INDEX memory_standing ON memories_memory (
    workspace_id,
    (ln(greatest(importance, 1e-9::float8))
        + 5.936723887447983e-07::float8 * date_part('epoch', observed_at AT TIME ZONE 'UTC')) DESC,
    id
) WHERE forgotten_at IS NULL AND culled_at IS NULL AND retired_at IS NULL
    AND superseded_at IS NULL;
CREATE INDEX memory_always ON memories_memory (
    workspace_id,
    (CASE provenance WHEN 'user_stated' THEN 3 WHEN 'episode_summary' THEN 2
        WHEN 'assistant_derived' THEN 1 END) DESC,
    importance DESC,
    id
) WHERE forgotten_at IS NULL AND culled_at IS NULL AND retired_at IS NULL
    AND superseded_at IS NULL AND (kind = 'constraint' OR is_pinned);
"""
CONFINED = [
    "memories_memory",
    "memories_derivation",
    "memories_memoryvector",
    "memories_memorytokens",
    "memories_posting",
    "memories_termcount",
    "memories_corpussize",
    "memories_memorytag",
    "memories_observation",
    "memories_revision",
    "memories_recallrecord",
    "memories_recallday",
    "memories_importprogress",
    "memories_merge",
    "memories_mergesuggestion",
    "memories_review",
    "memories_janitorrun",
    "memories_janitoraction",
    "memories_session",
    "memories_sessioncandidate",
]


class Migration(migrations.Migration):

    initial = True

    replaces = [
        ('memories', '0001_initial'),
        ('memories', '0002_row_security'),
        ('memories', '0003_statement_hashes'),
        ('memories', '0004_place_index'),
        ('memories', '0005_gate_reviews_janitor'),
        ('memories', '0006_row_security'),
        ('memories', '0007_suggestion_wordings'),
        ('memories', '0008_search_indexes'),
        ('memories', '0009_token_storage'),
        ('memories', '0010_sessions'),
        ('memories', '0011_row_security'),
        ('memories', '0012_session_course'),
        ('memories', '0013_baseline_order'),
        ('memories', '0014_always_order'),
        ('memories', '0015_pins_where_they_hold'),
        ('memories', '0016_hashes_of_statements'),
        ('memories', '0017_review_claims'),
        ('memories', '0018_second_look'),
    ]

    dependencies = [
        ('kernel', '0001_squashed_0019_known_addresses'),
    ]

    operations = [
        VectorExtension(),
        migrations.CreateModel(
            name='CorpusSize',
            fields=[
                ('workspace', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='kernel.workspace')),
                ('memories', models.IntegerField()),
                ('words', models.BigIntegerField()),
                ('writes', models.BigIntegerField(db_default=0)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='JanitorRun',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('started_at', models.DateTimeField()),
                ('actor_label', models.CharField(blank=True, max_length=150)),
                ('may_cull', models.BooleanField(default=False)),
                ('examined', models.PositiveIntegerField(default=0)),
                ('demoted', models.PositiveIntegerField(default=0)),
                ('culled', models.PositiveIntegerField(default=0)),
                ('reported', models.PositiveIntegerField(default=0)),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-started_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', '-started_at', '-id'], name='janitor_newest'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Memory',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('lineage', models.UUIDField(default=uuid.uuid4, editable=False)),
                ('content', models.TextField()),
                ('content_hash', models.CharField(editable=False, max_length=64)),
                ('word_count', models.PositiveIntegerField(default=0, editable=False)),
                ('scope', models.CharField(blank=True, max_length=300)),
                ('project', models.CharField(blank=True, max_length=200)),
                ('kind', models.CharField(choices=[('semantic', 'Semantic'), ('episodic', 'Episodic'), ('procedural', 'Procedural'), ('decision', 'Decision'), ('constraint', 'Constraint')], default='semantic', max_length=12)),
                ('provenance', models.CharField(choices=[('user_stated', 'User stated'), ('episode_summary', 'Episode summary'), ('assistant_derived', 'Assistant derived')], default='assistant_derived', max_length=20)),
                ('confidence', models.FloatField(default=0.7)),
                ('importance', models.FloatField(default=0.5)),
                ('is_pinned', models.BooleanField(default=False)),
                ('metadata', models.JSONField(blank=True, default=dict)),
                ('source', models.CharField(blank=True, max_length=2000, null=True)),
                ('agent', models.CharField(blank=True, max_length=200)),
                ('session_key', models.CharField(blank=True, max_length=200)),
                ('observed_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('revision', models.PositiveIntegerField(default=1)),
                ('is_embedding_due', models.BooleanField(default=False)),
                ('unseen_from', models.BigIntegerField(blank=True, editable=False, null=True)),
                ('weight_factor', models.FloatField(default=1.0)),
                ('confidence_factor', models.FloatField(default=1.0)),
                ('demotion_count', models.PositiveSmallIntegerField(default=0)),
                ('demoted_at', models.DateTimeField(blank=True, null=True)),
                ('forgotten_at', models.DateTimeField(blank=True, null=True)),
                ('culled_at', models.DateTimeField(blank=True, null=True)),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('superseded_at', models.DateTimeField(blank=True, null=True)),
                ('recall_count', models.PositiveIntegerField(default=0)),
                ('injected_count', models.PositiveIntegerField(default=0)),
                ('hit_count', models.PositiveIntegerField(default=0)),
                ('used_count', models.PositiveIntegerField(default=0)),
                ('last_recalled_at', models.DateTimeField(blank=True, null=True)),
                ('key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='kernel.apikey')),
                ('superseded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='supersedes', to='memories.memory')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'verbose_name_plural': 'memories',
                'ordering': ['-created_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', '-created_at', '-id'], name='memory_newest'),
                    models.Index(condition=models.Q(('culled_at', None), ('forgotten_at', None), ('retired_at', None), ('superseded_at', None)), fields=['workspace', 'observed_at'], name='memory_story'),
                    models.Index(condition=models.Q(('culled_at', None), ('forgotten_at', None), ('retired_at', None), ('superseded_at', None)), fields=['workspace', 'scope', 'project'], name='memory_place'),
                    models.Index(fields=['workspace', 'content_hash'], name='memory_hash'),
                    models.Index(fields=['workspace', 'lineage'], name='memory_lineage'),
                    models.Index(condition=models.Q(('culled_at', None), ('forgotten_at', None), ('retired_at', None), ('superseded_at', None), models.Q(('session_key', ''), _negated=True)), fields=['workspace', 'session_key', 'observed_at', 'created_at', 'id'], name='memory_session_order'),
                    models.Index(fields=['workspace', 'key', 'created_at'], name='memory_writer'),
                    models.Index(condition=models.Q(('is_embedding_due', True)), fields=['workspace'], name='memory_embedding_due'),
                    models.Index(condition=models.Q(('unseen_from__isnull', False)), fields=['workspace'], name='memory_second_look_due'),
                ],
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('confidence__gte', 0), ('confidence__lte', 1)), name='memory_confidence_range'),
                    models.CheckConstraint(condition=models.Q(('importance__gte', 0), ('importance__lte', 1)), name='memory_importance_range'),
                    models.CheckConstraint(condition=models.Q(('superseded_by', None), models.Q(('superseded_by', models.F('id')), _negated=True), _connector='OR'), name='memory_never_supersedes_itself'),
                    models.CheckConstraint(condition=models.Q(('confidence_factor__gt', 0), ('confidence_factor__lte', 1), ('weight_factor__gt', 0), ('weight_factor__lte', 1)), name='memory_factor_range'),
                    models.UniqueConstraint(condition=models.Q(('culled_at', None), ('forgotten_at', None), ('retired_at', None), ('superseded_at', None), ('expires_at', None)), fields=('workspace', 'scope', 'project', 'content_hash'), name='memory_one_live_row_a_statement'),
                ],
            },
        ),
        migrations.CreateModel(
            name='JanitorAction',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('verb', models.CharField(choices=[('demote', 'Demote'), ('cull', 'Cull')], max_length=8)),
                ('before', models.JSONField(default=dict)),
                ('after', models.JSONField(default=dict)),
                ('at', models.DateTimeField()),
                ('undone_at', models.DateTimeField(blank=True, null=True)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='actions', to='memories.janitorrun')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='janitor_actions', to='memories.memory')),
            ],
            options={
                'ordering': ['-at', '-id'],
                'indexes': [
                    models.Index(condition=models.Q(('undone_at', None)), fields=['workspace', 'memory', '-at'], name='janitor_action_standing'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('run', 'memory'), name='janitor_once_a_run'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Derivation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
                ('derived', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='derived_from', to='memories.memory')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='derivations', to='memories.memory')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('source', 'derived'), name='derivation_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='MemoryTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tag', models.CharField(max_length=100)),
                ('memory', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='memories.memory')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['tag'],
                'indexes': [
                    models.Index(fields=['workspace', 'tag'], name='tag_lookup'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('memory', 'tag'), name='tag_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='MemoryTokens',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=120)),
                ('count', models.PositiveSmallIntegerField()),
                ('width', models.PositiveSmallIntegerField()),
                ('states', models.BinaryField()),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='memories.memory')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('memory', 'model'), name='tokens_once_a_model'),
                ],
            },
        ),
        migrations.CreateModel(
            name='MemoryVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(max_length=120)),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('embedding', pgvector.django.vector.VectorField()),
                ('is_live', models.BooleanField(default=True)),
                ('memory', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='memories.memory')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'indexes': [
                    models.Index(condition=models.Q(('is_live', True)), fields=['workspace', 'model'], name='vector_live'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('memory', 'model', 'position'), name='vector_once_a_window'),
                ],
            },
        ),
        migrations.CreateModel(
            name='MergeSuggestion',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('pair', models.CharField(editable=False, max_length=73)),
                ('wordings', models.CharField(default='', editable=False, max_length=129)),
                ('similarity', models.FloatField(blank=True, null=True)),
                ('relation', models.CharField(choices=[('same', 'Same'), ('refines', 'Refines'), ('contradicts', 'Contradicts'), ('different', 'Different')], max_length=12)),
                ('reasons', models.JSONField(blank=True, default=list)),
                ('detected_by', models.CharField(default='gate', max_length=10)),
                ('status', models.CharField(choices=[('open', 'Open'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('lapsed', 'Lapsed')], default='open', max_length=10)),
                ('created_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('decided_by', models.CharField(blank=True, max_length=150)),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merge_suggestions', to='memories.memory')),
                ('other', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merge_suggestions_as_other', to='memories.memory')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', 'status', '-created_at', '-id'], name='suggestion_newest'),
                    models.Index(fields=['workspace', 'pair'], name='suggestion_pair'),
                    models.Index(fields=['workspace', 'wordings'], name='suggestion_wordings'),
                ],
                'constraints': [
                    models.UniqueConstraint(condition=models.Q(('status', 'open')), fields=('workspace', 'pair'), name='suggestion_open_once_a_pair'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Observation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('content', models.TextField()),
                ('content_hash', models.CharField(default='', editable=False, max_length=64)),
                ('fields', models.JSONField(default=dict)),
                ('outcome', models.CharField(max_length=12)),
                ('provenance', models.CharField(choices=[('user_stated', 'User stated'), ('episode_summary', 'Episode summary'), ('assistant_derived', 'Assistant derived')], max_length=20)),
                ('confidence', models.FloatField()),
                ('agent', models.CharField(blank=True, max_length=200)),
                ('session_key', models.CharField(blank=True, max_length=200)),
                ('observed_at', models.DateTimeField()),
                ('created_at', models.DateTimeField()),
                ('gate', models.JSONField(default=dict)),
                ('key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='kernel.apikey')),
                ('memory', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='observations', to='memories.memory')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-created_at'],
                'indexes': [
                    models.Index(fields=['memory', '-created_at'], name='observation_newest'),
                    models.Index(fields=['workspace', 'content_hash'], name='observation_hash'),
                    models.Index(fields=['workspace', 'created_at'], name='observation_time'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Merge',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('similarity', models.FloatField(blank=True, null=True)),
                ('relation', models.CharField(choices=[('same', 'Same'), ('refines', 'Refines'), ('contradicts', 'Contradicts'), ('different', 'Different')], max_length=12)),
                ('reasons', models.JSONField(blank=True, default=list)),
                ('before', models.JSONField(default=dict)),
                ('after', models.JSONField(default=dict)),
                ('actor_label', models.CharField(blank=True, max_length=150)),
                ('created_at', models.DateTimeField()),
                ('split_at', models.DateTimeField(blank=True, null=True)),
                ('is_correct', models.BooleanField(blank=True, null=True)),
                ('audited_by', models.CharField(blank=True, max_length=150)),
                ('audited_at', models.DateTimeField(blank=True, null=True)),
                ('absorbed', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='merged_into', to='memories.memory')),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merges', to='memories.memory')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
                ('observation', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='merges', to='memories.observation')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', '-created_at', '-id'], name='merge_newest'),
                    models.Index(condition=models.Q(('is_correct', None), ('split_at', None)), fields=['workspace', 'id'], name='merge_unaudited'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Posting',
            fields=[
                ('pk', models.CompositePrimaryKey('workspace_id', 'term', 'memory_id', blank=True, editable=False, primary_key=True, serialize=False)),
                ('term', models.CharField(max_length=64)),
                ('frequency', models.PositiveSmallIntegerField()),
                ('words', models.PositiveIntegerField(default=0)),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='postings', to='memories.memory')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['workspace', 'term', '-frequency', 'words', 'memory'], name='posting_best'),
                ],
            },
        ),
        migrations.CreateModel(
            name='RecallDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('recalls', models.PositiveIntegerField(default=0)),
                ('returned', models.PositiveIntegerField(default=0)),
                ('noise', models.PositiveIntegerField(default=0)),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('workspace', 'day'), name='recall_day_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='RecallRecord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('memory_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ('session_key', models.CharField(blank=True, max_length=200)),
                ('noise_count', models.PositiveSmallIntegerField(default=0)),
                ('at', models.DateTimeField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('supersede', 'Replace a more trusted memory'), ('revise', 'Change a more trusted memory'), ('forget', 'Forget a more trusted memory'), ('revive', 'Bring back what a person forgot'), ('claim', 'Claim more than the key may'), ('source_forgotten', 'A source of this summary was forgotten')], max_length=20)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('accepted', 'Accepted'), ('rejected', 'Rejected'), ('lapsed', 'Lapsed')], default='pending', max_length=10)),
                ('request', models.JSONField(default=dict)),
                ('reason', models.CharField(max_length=300)),
                ('actor_kind', models.CharField(max_length=10)),
                ('actor_id', models.CharField(blank=True, max_length=64)),
                ('actor_label', models.CharField(blank=True, max_length=150)),
                ('created_at', models.DateTimeField()),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('decided_by', models.CharField(blank=True, max_length=150)),
                ('note', models.CharField(blank=True, max_length=1000)),
                ('key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='kernel.apikey')),
                ('memory', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='reviews', to='memories.memory')),
                ('result', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reviews_that_made_it', to='memories.memory')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', 'status', '-created_at', '-id'], name='review_newest'),
                    models.Index(condition=models.Q(('status', 'pending')), fields=['workspace', 'memory'], name='review_pending'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Revision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.TextField()),
                ('content_hash', models.CharField(default='', editable=False, max_length=64)),
                ('fields', models.JSONField(default=dict)),
                ('reason', models.CharField(max_length=20)),
                ('actor_label', models.CharField(blank=True, max_length=150)),
                ('created_at', models.DateTimeField()),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='revisions', to='memories.memory')),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-number'],
                'indexes': [
                    models.Index(fields=['workspace', 'content_hash'], name='revision_hash'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('memory', 'number'), name='revision_number_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('session_key', models.CharField(max_length=200)),
                ('project', models.CharField(blank=True, max_length=200)),
                ('scope', models.CharField(blank=True, max_length=300)),
                ('agent', models.CharField(blank=True, max_length=200)),
                ('context', models.TextField(blank=True)),
                ('context_embedding', pgvector.django.vector.VectorField(null=True)),
                ('embedding_model', models.CharField(blank=True, max_length=120)),
                ('caller', models.CharField(blank=True, max_length=80)),
                ('k', models.PositiveSmallIntegerField()),
                ('budget_chars', models.PositiveIntegerField()),
                ('gap_hours', models.FloatField(null=True)),
                ('started_at', models.DateTimeField()),
                ('active_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('is_abandoned', models.BooleanField(default=False)),
                ('judged_at', models.DateTimeField(null=True)),
                ('transcript', models.TextField(blank=True)),
                ('transcript_digest', models.CharField(blank=True, max_length=64)),
                ('prompt_count', models.PositiveIntegerField(default=0)),
                ('prompt_digests', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=32), default=list, size=None)),
                ('alpha', models.FloatField(default=1.0)),
                ('phase', models.CharField(blank=True, max_length=20)),
                ('model_version', models.PositiveIntegerField(null=True)),
                ('has_opinion', models.BooleanField(default=False)),
                ('no_opinion_reason', models.CharField(blank=True, max_length=60)),
                ('status_line', models.CharField(blank=True, max_length=200)),
                ('key', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='kernel.apikey')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['-started_at', '-id'],
                'indexes': [
                    models.Index(fields=['workspace', '-started_at', '-id'], name='session_newest'),
                    models.Index(fields=['workspace', 'caller', '-started_at'], name='session_of_caller'),
                    models.Index(condition=models.Q(('ended_at', None)), fields=['workspace', 'started_at'], name='session_open'),
                ],
                'constraints': [
                    models.UniqueConstraint(fields=('workspace', 'session_key'), name='session_key_once'),
                ],
            },
        ),
        migrations.CreateModel(
            name='SessionCandidate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(choices=[('effective', 'The baseline ranks it among its best'), ('predictor', 'The learned ranker ranks it among its best'), ('both', 'Both rank it among their best'), ('exploration', 'Injected because the two disagree on it most'), ('fts_only', 'A prompt matched it; it was no candidate')], max_length=11)),
                ('baseline_score', models.FloatField(null=True)),
                ('baseline_rank', models.PositiveSmallIntegerField(null=True)),
                ('cosine', models.FloatField(null=True)),
                ('predictor_score', models.FloatField(null=True)),
                ('predictor_rank', models.PositiveSmallIntegerField(null=True)),
                ('fused_score', models.FloatField(null=True)),
                ('diversity', models.FloatField(default=1.0)),
                ('final_score', models.FloatField(default=0.0)),
                ('rank', models.PositiveSmallIntegerField(null=True)),
                ('was_injected', models.BooleanField(default=False)),
                ('is_always', models.BooleanField(default=False)),
                ('revision', models.PositiveIntegerField(default=1)),
                ('fts_hit_count', models.PositiveIntegerField(default=0)),
                ('feedback', models.FloatField(null=True)),
                ('feedback_at', models.DateTimeField(null=True)),
                ('signals', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), default=list, size=None)),
                ('created_at', models.DateTimeField()),
                ('memory', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memories.memory')),
                ('session', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='candidates', to='memories.session')),
                ('workspace', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'ordering': ['session', 'rank', 'pk'],
                'constraints': [
                    models.UniqueConstraint(fields=('session', 'memory'), name='candidate_once_a_session'),
                    models.CheckConstraint(condition=models.Q(('feedback', None), models.Q(('feedback__gte', -1), ('feedback__lte', 1)), _connector='OR'), name='candidate_feedback_range'),
                ],
            },
        ),
        migrations.CreateModel(
            name='TermCount',
            fields=[
                ('pk', models.CompositePrimaryKey('workspace_id', 'term', blank=True, editable=False, primary_key=True, serialize=False)),
                ('term', models.CharField(max_length=64)),
                ('memories', models.IntegerField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ImportProgress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('file_digest', models.CharField(max_length=64)),
                ('lines_done', models.PositiveIntegerField(default=0)),
                ('updated_at', models.DateTimeField()),
                ('workspace', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('workspace', 'file_digest'), name='import_once_a_file')],
            },
        ),
        migrations.RunSQL(NEAREST, migrations.RunSQL.noop),
        migrations.RunSQL(TOKENS_IN_ROW, migrations.RunSQL.noop),
        migrations.RunSQL(SESSION_START, migrations.RunSQL.noop),
        *(force_row_security(table) for table in CONFINED),
    ]
