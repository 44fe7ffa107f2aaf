"""Confine keys and events to their workspace; let one function find a presented key."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security

# A key row may also be seen by whoever presents its digest, and only through this function.
FIND_KEY = """
CREATE FUNCTION engram_find_key(presented text)
RETURNS TABLE (
    id uuid, workspace_id uuid, name varchar, role varchar,
    expires_at timestamptz, revoked_at timestamptz, is_exempt_from_throttle boolean
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('engram.key_digest', presented, true);
    RETURN QUERY
        SELECT id, workspace_id, name, role, expires_at, revoked_at, is_exempt_from_throttle
        FROM kernel_apikey WHERE digest = presented;
    PERFORM set_config('engram.key_digest', '', true);
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("kernel", "0001_initial")]
    operations = [
        force_row_security(
            "kernel_apikey",
            or_visible="digest = (SELECT nullif(current_setting('engram.key_digest', true), ''))",
        ),
        force_row_security("kernel_event"),
        migrations.RunSQL(FIND_KEY, "DROP FUNCTION engram_find_key(text)"),
    ]
