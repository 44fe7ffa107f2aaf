"""The last step of an import: what is left to background work is due from here on."""

from __future__ import annotations

from datetime import datetime

from django.db import connection

from conflicts.models import Awaits, DetectionDue, DetectionLease, NarrativeLease
from engram.console.transfer.manifest import ArchivedWorkspace
from engram.console.transfer.tables import tables
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.lease import lease_of, note_due
from engram.kernel.models import Workspace
from memories.models import Extraction, Memory
from memories.models.extraction import WITHOUT_TRANSCRIPT
from memories.services.index import answers, entities, note_chunks
from predictor.models import PredictorState
from predictor.services.training.due import REASONS, note_training_due


def finish(
    workspace: Workspace, archived: ArchivedWorkspace, *, has_vectors: bool, now: datetime
) -> None:
    """Mark as due what an import leaves to sweeps, within its last transaction."""
    Workspace.objects.filter(pk=workspace.pk).update(
        embedding_changed_at=archived.embedding_changed_at if has_vectors else None
    )
    entities.mark_due()
    if not has_vectors:
        Memory.objects.filter(forgotten_at=None).update(is_embedding_due=True)
    answers.mark_due(workspace.embedding_model)
    note_chunks.mark_due(workspace.embedding_model)
    Extraction.objects.exclude(transcript="").update(**WITHOUT_TRANSCRIPT)  # their jobs have ended
    awaited = set(DetectionDue.objects.values_list("awaits", flat=True).distinct())
    if Awaits.ALL in awaited:
        note_due(lease_of(DetectionLease, workspace.pk), now)
    if awaited - {Awaits.ALL}:
        note_due(lease_of(NarrativeLease, workspace.pk), now)
    state = PredictorState.objects.select_for_update().first()
    if state is not None and archived.training_due in REASONS:
        note_training_due(state, archived.training_due, now)
    record(
        "workspace.imported",
        of=("workspace", workspace.pk),
        actor=SYSTEM,
        now=now,
        data={"rows": archived.rows, "vectors": has_vectors},
    )


def analyse() -> None:
    """Run ANALYZE on the tables that grew, without waiting for autovacuum."""
    with connection.cursor() as cursor:
        for table in tables():
            cursor.execute(f"ANALYZE {connection.ops.quote_name(table.model._meta.db_table)}")
