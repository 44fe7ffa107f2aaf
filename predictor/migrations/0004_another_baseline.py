"""Drop the evidence against the former baseline, which ignored a session's context.

What was earned against it says nothing about the baseline that serves now: models stay and go on
being compared, without influence until they earn it again.
"""

from django.db import migrations

# Row-level security shows one workspace at a time.
DROP = """
DO $$
DECLARE
    each_one uuid;
BEGIN
    FOR each_one IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', each_one::text, true);
        UPDATE predictor_predictorstate SET
            phase = replace(replace(phase, 'ramp', 'warming'), 'active', 'warming'),
            alpha = 1.0,
            governor = (governor - '{mean_margin,z,n_eff,wealth,reason}'::text[]) || jsonb_build_object(
                'phase', replace(replace(phase, 'ramp', 'warming'), 'active', 'warming'),
                'alpha', 1.0,
                'out_of_sample', 0,
                'active_sessions', 0,
                'drift_sum', 0.0,
                'is_reset', false,
                'margins', '{"weight": 0.0, "weight_squared": 0.0, "total": 0.0, "squares": 0.0,
                    "steps": 0.0, "last": 0.0}'::jsonb,
                'betting', '{"wealth": 0.0, "count": 0, "total": 0.0, "squares": 0.0,
                    "products": 0.0, "last": 0.0}'::jsonb
            )
        WHERE workspace_id = each_one AND governor <> '{}'::jsonb;
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
END
$$;
"""


class Migration(migrations.Migration):
    dependencies = [("predictor", "0003_agents_as_judges")]
    operations = [migrations.RunSQL(DROP, migrations.RunSQL.noop)]
