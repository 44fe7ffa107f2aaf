"""Let the database clear the assignee of a card when the account is deleted.

Accounts are deleted outside of any workspace, where row security hides the cards from Django, and
the foreign key then refused the deletion. Actions of foreign keys are not subject to row security.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

REFERENCE = """
DO $$
DECLARE
    named name;
BEGIN
    SELECT conname INTO STRICT named FROM pg_constraint
    WHERE contype = 'f' AND conrelid = 'conflicts_conflict'::regclass
    AND confrelid = 'auth_user'::regclass;
    EXECUTE format('ALTER TABLE conflicts_conflict DROP CONSTRAINT %I', named);
    EXECUTE format(
        'ALTER TABLE conflicts_conflict ADD CONSTRAINT %I FOREIGN KEY (assignee_id) '
        'REFERENCES auth_user (id) {action} DEFERRABLE INITIALLY DEFERRED', named
    );
END
$$
"""


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("conflicts", "0008_awaits_answers"),
    ]

    operations = [
        migrations.AlterField(
            model_name="conflict",
            name="assignee",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RunSQL(
            REFERENCE.format(action="ON DELETE SET NULL"), REFERENCE.format(action="")
        ),
    ]
