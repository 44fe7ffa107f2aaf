import unicodedata
from itertools import groupby

from django.db import migrations
from django.utils import timezone

from memories.core.spelling import collapse

SIGNAL = 'memory_external_signal'
SOURCE_MAX_CHARS = 60
ROWS_A_STEP = 500
FIELDS = ['source', 'occurrences', 'detected_at', 'last_seen_at']
CLOSED = ['resolved_at', 'resolution', 'resolved_by', 'resolution_note']


def lower_sources(apps, schema_editor):
    """Write the sources of open signals in lower case, as new ones are; the strongest stays open.

    Row-level security shows one workspace at a time. A second run finds nothing to change.
    """
    errors = apps.get_model('memories', 'PredictionError').objects
    now = timezone.now()
    with schema_editor.connection.cursor() as cursor:
        for workspace_id in list(
            apps.get_model('kernel', 'Workspace').objects.values_list('pk', flat=True)
        ):
            cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace_id)])
            lower_in(errors.filter(workspace=workspace_id), errors, now)
        cursor.execute("SELECT set_config('engram.workspace', '', true)")


def lower_in(mine, errors, now):
    found = mine.filter(error_type=SIGNAL, resolved_at=None).only(
        'pk', 'memory_id', 'weight', *FIELDS
    )
    kept, closed = [], []
    by_memory = found.order_by('memory_id').iterator(chunk_size=ROWS_A_STEP)
    for _, rows in groupby(by_memory, key=lambda row: row.memory_id):
        by_name = {}
        for row in sorted(rows, key=lambda row: (row.weight, row.last_seen_at), reverse=True):
            by_name.setdefault(stored_name(row.source), []).append(row)
        for name, (first, *others) in by_name.items():
            if not others and first.source == name:
                continue
            first.source = name
            first.occurrences += sum(row.occurrences for row in others)
            first.detected_at = min(row.detected_at for row in [first, *others])
            first.last_seen_at = max(row.last_seen_at for row in [first, *others])
            kept.append(first)
            for row in others:
                row.resolved_at, row.resolution, row.resolved_by = now, 'dismissed', 'engram'
                row.resolution_note = f'Joined with {first.pk}: the same source in other letters.'
                closed.append(row)
    errors.bulk_update(closed, CLOSED, batch_size=ROWS_A_STEP)  # first: one open row per source
    errors.bulk_update(kept, FIELDS, batch_size=ROWS_A_STEP)


def stored_name(source):
    """Return a source as it is stored; one that would be too long stays as it is."""
    name = collapse(unicodedata.normalize('NFC', source)).strip().lower()
    return name if 0 < len(name) <= SOURCE_MAX_CHARS else source


class Migration(migrations.Migration):

    dependencies = [
        ('kernel', '0004_jobs'),
        ('memories', '0030_note_hash'),
    ]

    operations = [
        migrations.RunPython(lower_sources, migrations.RunPython.noop),
    ]
