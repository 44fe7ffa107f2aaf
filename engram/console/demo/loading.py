"""Loading the recorded story into a workspace: all of it or nothing, its end being now."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.apps import apps
from django.db.models import Count, Field, Sum
from django.db.models.functions import TruncDate

from engram.console.demo.codec import codec
from engram.console.demo.outside import find_making, make_webhook
from engram.console.demo.tables import ID_TAIL, WORKSPACE_ID, id_tail
from engram.console.rows.insert import insert_rows
from engram.console.rows.tables import columns
from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import model_name
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import PastRecall, PastResult, RecallDay
from memories.models.recall import RecallOrigin
from memories.services.index import entities, reembed

RECORDING = Path(__file__).with_name("recording.jsonl.gz")


def read_recording(path: Path = RECORDING) -> str:
    """Return a recording's lines: first what it was made of, then a table a line."""
    return gzip.decompress(path.read_bytes()).decode("utf-8")


def load(workspace: Workspace, now: datetime, *, by: str = "") -> bool:
    """Load the recorded story into a workspace in which nothing has happened yet.

    Returns False, and changes nothing, in any other workspace. One transaction: whoever is killed
    meanwhile leaves an empty workspace, which the next one finds. `by` makes the demo's webhook in
    the course of the story; nobody does where it is "".
    """
    with in_workspace(workspace):
        row = Workspace.objects.select_for_update().get(pk=workspace.pk)
        if Event.objects.exists():  # the history is never emptied, whatever people erase
            return False
        text = read_recording().replace(WORKSPACE_ID, str(row.pk)).replace(ID_TAIL, id_tail(row))
        head, *tables = (json.loads(line) for line in text.splitlines())
        for table in tables:
            if by and table["table"] == Event._meta.label:
                _insert_with_webhook(table, now, row, by)
            else:
                _insert(table, now)
        _count_recalls(row)
        row.embedding_model = head["embedding_model"]
        row.save(update_fields=["embedding_model"])
        entities.mark_due()
        _embed_anew(row, now)
    workspace.refresh_from_db()
    return True


def _insert(table: dict[str, Any], now: datetime) -> None:
    """Insert a table's rows."""
    model = apps.get_model(table["table"])
    fields = columns(model)
    decoded = [_decode_column(field, table["columns"][field.attname], now) for field in fields]
    names = [str(field.column) for field in fields]
    rows = [dict(zip(names, values, strict=True)) for values in zip(*decoded, strict=True)]
    insert_rows(model, fields, rows)


def _insert_with_webhook(
    table: dict[str, Any], now: datetime, workspace: Workspace, by: str
) -> None:
    """Insert the events, whose order is that of the history, and make the webhook among them."""
    columns = table["columns"]
    place, at = find_making(columns["type"], columns["at"])
    _insert(table | {"columns": {name: rows[:place] for name, rows in columns.items()}}, now)
    make_webhook(workspace, by=by, now=now + timedelta(seconds=at))
    _insert(table | {"columns": {name: rows[place:] for name, rows in columns.items()}}, now)


def _count_recalls(workspace: Workspace) -> None:
    """Count the recalls of each day, as the sweep did: shifted, they may lie in other days."""
    day = TruncDate("at", tzinfo=UTC)
    noise = dict(
        PastResult.objects.filter(score__lt=workspace.config.noise_score)
        .order_by()
        .values_list(day)
        .annotate(below=Count("pk"))
    )
    counted = (
        PastRecall.objects.filter(origin=RecallOrigin.RECALL)
        .order_by()
        .values_list(day)
        .annotate(recalls=Count("pk"), memories=Sum("returned"))
    )
    RecallDay.objects.bulk_create(
        RecallDay(
            workspace=workspace, day=on, recalls=recalls, returned=returned, noise=noise.get(on, 0)
        )
        for on, recalls, returned in counted
    )


def _decode_column(field: Field[Any, Any], recorded: list[Any], now: datetime) -> list[Any]:
    decode = codec(field, now).decode
    return [decode(value) for value in recorded]


def _embed_anew(workspace: Workspace, now: datetime) -> None:
    """Switch to the embedding model that is configured; the sweep embeds the memories later."""
    if workspace.embedding_model == model_name():
        return
    reembed.switch(workspace, model_name(), actor=SYSTEM, now=now)
    reembed.drop_other_vectors(workspace)
    reembed.mark_stragglers(workspace, now=now)
