"""Keep the probability with which a label's memory was chosen to be judged.

Labels of earlier releases that were presumed, because nobody had judged them, are not trained on any
more: nothing is known of them.
"""
from django.db import migrations, models

# Row-level security shows one workspace at a time.
UNKNOWN = """
DO $$
DECLARE
    each_one uuid;
BEGIN
    FOR each_one IN SELECT id FROM kernel_workspace LOOP
        PERFORM set_config('engram.workspace', each_one::text, true);
        UPDATE predictor_label SET chance = 1.0
        WHERE workspace_id = each_one AND relevance IS NOT NULL;
        UPDATE predictor_label SET raw = NULL, final = NULL, reasons = '{not known}'
        WHERE workspace_id = each_one AND reasons IN
            ('{presumed irrelevant}', '{"presumed: near the context"}');
    END LOOP;
    PERFORM set_config('engram.workspace', '', true);
END
$$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('predictor', '0005_drafted_evidence'),
    ]

    operations = [
        migrations.AddField(
            model_name='label',
            name='chance',
            field=models.FloatField(null=True),
        ),
        migrations.RunSQL(UNKNOWN, migrations.RunSQL.noop, elidable=True),
    ]
