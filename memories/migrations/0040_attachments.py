"""Tell links to attachments from links that lead to no note."""
from django.db import migrations, models

from memories.core.note_paths import ATTACHMENT, UNRESOLVED, reason_of_missing

LINKS_A_STEP = 1_000


def tell_attachments(apps, schema_editor):
    """Set the reason of links that were stored before; workspace by workspace, as rows are seen."""
    links = apps.get_model("memories", "NoteLink").objects
    with schema_editor.connection.cursor() as cursor:
        for workspace_id in list(
            apps.get_model("kernel", "Workspace").objects.values_list("pk", flat=True)
        ):
            cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace_id)])
            dead = links.filter(workspace=workspace_id, reason=UNRESOLVED, target__contains=".")
            found = [
                pk
                for pk, target in dead.values_list("pk", "target")
                if reason_of_missing(target) == ATTACHMENT
            ]
            for start in range(0, len(found), LINKS_A_STEP):
                step = found[start : start + LINKS_A_STEP]
                links.filter(pk__in=step).update(reason=ATTACHMENT)
        cursor.execute("SELECT set_config('engram.workspace', '', true)")


class Migration(migrations.Migration):

    dependencies = [("memories", "0039_live_note_links")]

    operations = [
        migrations.AlterField(
            model_name="notelink",
            name="reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("unresolved", "No note has this name"),
                    ("ambiguous", "Several notes have this name"),
                    ("self", "The note links itself"),
                    ("attachment", "A file that is no note"),
                ],
                max_length=10,
            ),
        ),
        migrations.RunPython(tell_attachments, migrations.RunPython.noop),
    ]
