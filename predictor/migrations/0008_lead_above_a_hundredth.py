"""Keep what bets against 0 have won from counting as enough for bets against a hundredth.

A wealth of 46 was enough then, 30 is now: what was won so far is counted in the same proportion, so
that no ranking gets a say by the change alone. Those that have one keep it.
"""
from django.db import migrations

# Row-level security shows one workspace at a time.
SCALE = """
DO $$
DECLARE
    each_one uuid;
BEGIN
    FOR each_one IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', each_one::text, true);
        UPDATE predictor_predictorstate SET
            governor = jsonb_set(
                governor, '{betting,wealth}',
                to_jsonb((governor #>> '{betting,wealth}')::float8 * 30 / 46)
            )
        WHERE workspace_id = each_one AND phase NOT IN ('ramp', 'active')
            AND governor #> '{betting,wealth}' IS NOT NULL;
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
END
$$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('predictor', '0007_learned_relevance'),
    ]

    operations = [
        migrations.RunSQL(SCALE, migrations.RunSQL.noop),
    ]
