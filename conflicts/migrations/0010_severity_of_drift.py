"""Rate what notes spoke against before it was rated, by its words alone."""
from django.db import migrations

from conflicts.core.drift_severity import rate_change
from conflicts.core.facts import Fact
from conflicts.core.severity import severity_of
from memories.core.drift.passages import without_links

ROWS_A_STEP = 500


def rate_drift(apps, schema_editor):
    """Rate open errors and what checks found; workspace by workspace, as rows are seen."""
    errors = apps.get_model("memories", "PredictionError").objects
    supports = apps.get_model("memories", "NoteSupport").objects
    with schema_editor.connection.cursor() as cursor:
        for workspace_id in list(
            apps.get_model("kernel", "Workspace").objects.values_list("pk", flat=True)
        ):
            cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace_id)])
            waiting = errors.filter(
                workspace=workspace_id, error_type="memory_drift", resolved_at=None
            )
            found = []
            for error in waiting.select_related("memory").iterator(ROWS_A_STEP):
                error.severity = severity_of_verdict(error.memory, error.context)
                found.append(error)
            errors.bulk_update(found, ["severity"], batch_size=ROWS_A_STEP)
            drifted = supports.filter(workspace=workspace_id, is_drifted=True)
            found = []
            for support in drifted.select_related("memory").iterator(ROWS_A_STEP):
                severity = severity_of_verdict(support.memory, support.verdict)
                support.verdict = {**support.verdict, "severity": severity}
                found.append(support)
            supports.bulk_update(found, ["verdict"], batch_size=ROWS_A_STEP)
        cursor.execute("SELECT set_config('engram.workspace', '', true)")


def severity_of_verdict(memory, verdict):
    """Return the severity of a stored verdict on a memory."""
    passage = None if verdict.get("is_removed") else verdict.get("passage")
    after = passage["text"] if passage else None
    stated = _fact(memory, without_links(memory.content) or memory.content, memory.kind)
    facts = [stated, *([_fact(memory, after, "semantic")] if after else [])]
    return rate_change(stated, after, severity_of(facts), is_pinned=memory.is_pinned)


def _fact(memory, content, kind):
    return Fact(
        id="", lineage="", content=content, scope="", project="", agent="", session_key="",
        observed_at=memory.observed_at, provenance="", kind=kind,
    )


class Migration(migrations.Migration):

    dependencies = [
        ("conflicts", "0009_assignee_set_null"),
        ("memories", "0051_severity_of_errors"),
    ]

    operations = [migrations.RunPython(rate_drift, migrations.RunPython.noop)]
