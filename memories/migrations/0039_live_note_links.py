"""Say of each link of a memory whether the memory is hidden."""
from django.db import migrations, models

# Row-level security shows one workspace at a time.
FILL = """
DO $$
DECLARE
    each_one uuid;
BEGIN
    FOR each_one IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', each_one::text, true);
        UPDATE memories_notelink AS link SET is_live = false FROM memories_memory AS memory
        WHERE link.workspace_id = each_one AND memory.id = link.memory_id AND NOT (
            memory.forgotten_at IS NULL AND memory.culled_at IS NULL
            AND memory.retired_at IS NULL AND memory.superseded_at IS NULL
        );
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
END
$$;
"""


class Migration(migrations.Migration):

    dependencies = [("memories", "0038_entities_again")]

    operations = [
        migrations.AddField(
            model_name="notelink",
            name="is_live",
            field=models.BooleanField(default=True),
        ),
        migrations.AddIndex(
            model_name="notelink",
            index=models.Index(
                condition=models.Q(("is_live", True), ("memory__isnull", False)),
                fields=["note", "id"],
                name="note_link_live",
            ),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
