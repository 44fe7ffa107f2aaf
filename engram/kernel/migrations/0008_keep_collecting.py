"""Keep the mode of the learned ranking that workspaces have by default: new ones have another."""

from django.db import migrations

KEEP = """
UPDATE kernel_workspace SET settings = settings || '{"predictor_mode": "collect"}'::jsonb
WHERE NOT settings ? 'predictor_mode'
"""


class Migration(migrations.Migration):
    dependencies = [("kernel", "0007_key_name")]
    operations = [migrations.RunSQL(KEEP, migrations.RunSQL.noop)]
