"""Leave comments out of the passages of notes that were stored before they were left out."""
from django.db import migrations

from memories.core.front_matter import read_properties
from memories.core.markdown import without_comments
from memories.core.note_chunks import chunk_note

CHUNKS_A_STEP = 200


def leave_comments_out(apps, schema_editor):
    """Cut notes with comments anew; workspace by workspace, as rows are seen.

    Passages that stay keep their vectors, others are embedded in the background.
    """
    notes = apps.get_model("memories", "Note").objects
    with schema_editor.connection.cursor() as cursor:
        for workspace_id in list(
            apps.get_model("kernel", "Workspace").objects.values_list("pk", flat=True)
        ):
            cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace_id)])
            marked = notes.filter(workspace=workspace_id, content__regex="%%|<!--")
            for note_id in list(marked.values_list("pk", flat=True)):
                _cut_anew(apps, notes.only("content", "title", "workspace_id").get(pk=note_id))
        cursor.execute("SELECT set_config('engram.workspace', '', true)")


def _cut_anew(apps, note):
    body = read_properties(note.content).body
    shown = without_comments(body)
    if shown == body:
        return
    rows = apps.get_model("memories", "NoteChunk").objects
    stored = {row.text_hash: row for row in rows.filter(note=note)}
    chunks = chunk_note(shown, note.title)
    fresh = []
    for position, chunk in enumerate(chunks):
        known = stored.get(chunk.text_hash)
        fresh.append(
            rows.model(
                workspace_id=note.workspace_id,
                note_id=note.pk,
                position=position,
                heading=chunk.heading,
                text=chunk.text,
                text_hash=chunk.text_hash,
                model=known.model if known else "",
                embedding=known.embedding if known else None,
            )
        )
    rows.filter(note=note).delete()
    rows.bulk_create(fresh, batch_size=CHUNKS_A_STEP)


class Migration(migrations.Migration):

    dependencies = [("memories", "0043_missing_notes_resolved")]

    operations = [migrations.RunPython(leave_comments_out, migrations.RunPython.noop)]
