"""Find the notes that link a note without reading the memories that do."""
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("memories", "0040_attachments")]

    operations = [
        migrations.AddIndex(
            model_name="notelink",
            index=models.Index(
                condition=models.Q(("source__isnull", False)),
                fields=["note", "id"],
                name="note_link_from_notes",
            ),
        ),
    ]
