"""Indexes that search needs, without those that nothing uses; postings know their memory's length."""

import django.db.models.deletion
from django.db import migrations, models


# A migration serves no workspace: for its own update it steps out of the policies.
FILL_WORDS = """
ALTER TABLE memories_memory NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memories_posting NO FORCE ROW LEVEL SECURITY;
UPDATE memories_posting AS posting SET words = memory.word_count
FROM memories_memory AS memory WHERE memory.id = posting.memory_id;
ALTER TABLE memories_memory FORCE ROW LEVEL SECURITY;
ALTER TABLE memories_posting FORCE ROW LEVEL SECURITY;
"""
# As `memories.services.index.search_index.ensure_vector_index` makes it for other models.
NEAREST = """
CREATE INDEX vector_nearest_8deee326a9 ON memories_memoryvector
USING hnsw ((embedding::vector(384)) vector_cosine_ops)
WHERE is_live AND model = 'all-MiniLM-L6-v2';
"""


class Migration(migrations.Migration):

    dependencies = [
        ('kernel', '0007_answered_things'),
        ('memories', '0007_suggestion_wordings'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='memoryvector',
            name='vector_model',
        ),
        migrations.AddField(
            model_name='posting',
            name='words',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name='memory',
            name='workspace',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace'),
        ),
        migrations.AlterField(
            model_name='memorytag',
            name='memory',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='memories.memory'),
        ),
        migrations.AlterField(
            model_name='memorytag',
            name='workspace',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace'),
        ),
        migrations.AlterField(
            model_name='memoryvector',
            name='memory',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='vectors', to='memories.memory'),
        ),
        migrations.AlterField(
            model_name='memoryvector',
            name='workspace',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace'),
        ),
        migrations.AlterField(
            model_name='observation',
            name='memory',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='observations', to='memories.memory'),
        ),
        migrations.AlterField(
            model_name='observation',
            name='workspace',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace'),
        ),
        migrations.AlterField(
            model_name='posting',
            name='workspace',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='kernel.workspace'),
        ),
        migrations.AddIndex(
            model_name='posting',
            index=models.Index(fields=['workspace', 'term', '-frequency', 'words', 'memory'], name='posting_best'),
        ),
        migrations.RunSQL(FILL_WORDS, migrations.RunSQL.noop),
        migrations.RunSQL(NEAREST, "DROP INDEX IF EXISTS vector_nearest_8deee326a9"),
    ]
