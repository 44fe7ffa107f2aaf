"""Keep what bets against a hundredth have won from counting as enough for bets against .036.

A wealth of 30 was enough then, 26 is now: what was won so far is counted in the same proportion, so
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
                to_jsonb((governor #>> '{betting,wealth}')::float8 * 26 / 30)
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
        ('predictor', '0009_words_of_judges'),
    ]

    operations = [
        migrations.RunSQL(SCALE, migrations.RunSQL.noop),
    ]
