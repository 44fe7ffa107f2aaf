"""Give the wordings of one question a group; at first each wording is a group of its own."""

from django.db import migrations, models

# As `first_group` of memories/core/answers.py. Row-level security shows one workspace at a time.
FILL = """
DO $$
DECLARE
    each_one uuid;
BEGIN
    FOR each_one IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', each_one::text, true);
        UPDATE memories_memoryanswer
        SET question_group = left(encode(sha256(convert_to(
            workspace_id::text || ':' || question_hash, 'UTF8')), 'hex'), 32)::uuid
        WHERE workspace_id = each_one AND question_group IS NULL;
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0022_asks")]

    operations = [
        migrations.AddField(
            "memoryanswer", "question_group", models.UUIDField(editable=False, null=True)
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.AlterField(
            "memoryanswer", "question_group", models.UUIDField(editable=False)
        ),
        migrations.AddIndex(
            "memoryanswer",
            models.Index(fields=["workspace", "question_group"], name="answer_group"),
        ),
    ]
