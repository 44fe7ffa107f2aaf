"""Mark all memories for their entities to be read again: times and frequencies are none now."""
from django.db import migrations

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

    dependencies = [("memories", "0045_words_of_provenance")]

    operations = [migrations.RunSQL(MARK_DUE, migrations.RunSQL.noop)]
