"""Ask every workspace the same question in one call: since when has something been due there?

Row-level security shows one workspace at a time; asking a thousand of them from outside, each in
a transaction of its own, would keep a sweep busy for half a minute. No policy is loosened: the
function runs with the rights of its caller and looks at each workspace as anybody in it would.
"""

from django.db import migrations

from engram.kernel.migrations._functions import (
    CREATE_WORKSPACES_WITH,
    DROP_WORKSPACES_WITH,
)

CREATE = """
CREATE FUNCTION engram_due_workspaces(question text, most integer)
RETURNS TABLE (workspace uuid, since timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    served text := current_setting('engram.workspace', true);
    found integer := 0;
BEGIN
    FOR workspace IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', workspace::text, true);
        EXECUTE question INTO since;
        IF since IS NOT NULL THEN
            RETURN NEXT;
            found := found + 1;
            EXIT WHEN found >= most;
        END IF;
    END LOOP;
    PERFORM set_config('engram.workspace', coalesce(served, ''), true);
END
$$;
"""
DROP = "DROP FUNCTION engram_due_workspaces(text, integer)"


class Migration(migrations.Migration):
    dependencies = [("kernel", "0001_squashed_0019_known_addresses")]
    operations = [
        migrations.RunSQL(DROP_WORKSPACES_WITH, CREATE_WORKSPACES_WITH),
        migrations.RunSQL(CREATE, DROP),
    ]
