"""Let keys carry what their calls may claim; the defaults of those that exist go by their role."""

from django.db import migrations, models

CLASSES = [
    ("user_stated", "User stated"),
    ("episode_summary", "Episode summary"),
    ("assistant_derived", "Assistant derived"),
]
# Row-level security shows one workspace at a time.
BY_ROLE = """
DO $$
DECLARE
    served uuid;
BEGIN
    FOR served IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', served::text, true);
        UPDATE kernel_apikey SET provenance_ceiling = 'user_stated', may_pin = true
        WHERE workspace_id = served AND role IN ('reviewer', 'admin');
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
END
$$;
"""
DROP = "DROP FUNCTION engram_find_key(text)"
FIND_KEY = """
CREATE FUNCTION engram_find_key(presented text)
RETURNS TABLE (
    id uuid, workspace_id uuid, name varchar, role varchar,
    expires_at timestamptz, revoked_at timestamptz, is_exempt_from_throttle boolean{types}
)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM set_config('engram.key_digest', presented, true);
    RETURN QUERY
        SELECT id, workspace_id, name, role, expires_at, revoked_at, is_exempt_from_throttle{names}
        FROM kernel_apikey WHERE digest = presented;
    PERFORM set_config('engram.key_digest', '', true);
END
$$;
"""
WITH_CLAIMS = FIND_KEY.format(
    types=",\n    provenance_ceiling varchar, may_relay boolean, may_pin boolean, agent varchar",
    names=",\n            provenance_ceiling, may_relay, may_pin, agent",
)
WITHOUT = FIND_KEY.format(types="", names="")


class Migration(migrations.Migration):
    dependencies = [("kernel", "0016_membership_chosen")]
    operations = [
        migrations.AddField(
            "apikey",
            "provenance_ceiling",
            models.CharField(choices=CLASSES, default="assistant_derived", max_length=20),
        ),
        migrations.AddField(
            "apikey", "may_relay", models.BooleanField(default=False, verbose_name="relay")
        ),
        migrations.AddField("apikey", "may_pin", models.BooleanField(default=False)),
        migrations.AddField("apikey", "agent", models.CharField(blank=True, max_length=200)),
        migrations.RunSQL(BY_ROLE, migrations.RunSQL.noop),
        migrations.RunSQL(DROP, WITHOUT),
        migrations.RunSQL(WITH_CLAIMS, DROP),
    ]
