"""Keep margins of lists that both rankings drafted, and drop the influence earned by others.

What is shown is judged more relevant, so those margins favour the ranking that chose the list. They
stay as a description; models stay and go on being compared.
"""
from django.db import migrations, models

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
                'adopted_at', 0,
                'out_of_sample', 0,
                'active_sessions', 0,
                'drift_sum', 0.0,
                'is_reset', false,
                'shown', governor -> 'margins',
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

    dependencies = [
        ('predictor', '0004_another_baseline'),
    ]

    operations = [
        migrations.AddField(
            model_name='comparison',
            name='drafted_margin',
            field=models.FloatField(null=True),
        ),
        migrations.AddField(
            model_name='comparison',
            name='drafted_void_reason',
            field=models.CharField(blank=True, db_default='', max_length=60),
        ),
        migrations.AddField(
            model_name='comparison',
            name='is_drafted',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='predictorstate',
            name='draft_share',
            field=models.FloatField(db_default=1.0, default=1.0),
        ),
        migrations.RunSQL(DROP, migrations.RunSQL.noop),
    ]
