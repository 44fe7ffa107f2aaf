"""Which tables of a workspace an archive holds, in which order, and what it changes in rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any

from django.db import models
from django.db.models import NOT_PROVIDED, Field, Q

from engram.console.rows.codec import Codec, as_it_is, codec
from engram.console.rows.tables import columns, workspace_models
from engram.kernel.tenancy import WorkspaceModel
from memories.services.commit.second_look import SAW_NOTHING

Row = dict[str, Any]

# Tables of a workspace that no archive holds, and why.
LEFT_OUT = {
    "kernel.Membership": "belongs to people, who are added by whoever imports",
    "kernel.Invitation": "belongs to people, and opens the workspace",
    "kernel.IdempotentAnswer": "answers to callers, kept for a day",
    "kernel.AnsweredThing": "answers to callers, kept for a day",
    "kernel.LatencyHour": "measured on one machine",
    "kernel.WorkerTally": "measured on one machine",
    "console.Digest": "was sent to people of one installation",
    "console.DigestMail": "was sent to people of one installation",
    "console.DigestSubscription": "belongs to people of one installation",
    "console.DigestLease": "says who works right now",
    "console.MemoryChange": "of a job, kept for a month",
    "console.MemoryChangeItem": "of a job, kept for a month",
    "console.Reservation": "says what people have on screen right now",
    "console.WebhookEndpoint": "holds a secret, and sends to addresses of one installation",
    "console.WebhookDelivery": "of a webhook",
    "memories.EntityCount": "read from the memories after an import",
    "memories.EntityDue": "read from the memories after an import",
    "memories.MemoryEntity": "read from the memories after an import",
    "conflicts.DetectionLease": "says who works right now",
    "conflicts.NarrativeLease": "says who works right now",
    "predictor.TrainingLease": "says who works right now; the manifest says what is due",
}
# Only in archives with vectors; without them memories are embedded again.
OF_VECTORS = {"memories.MemoryTokens", "memories.MemoryVector"}
WITHOUT_VECTORS: dict[str, Row] = {
    "memories.MemoryAnswer": {"model": "", "embedding": None},
    "memories.NoteChunk": {"model": "", "embedding": None},
}
# What opens something: never in an archive.
CREDENTIALS = {"kernel.ApiKey": {"prefix", "digest"}}
# Rows on which background work acts come after all that it reads or writes.
LAST = (
    "memories.RecallRecord",
    "memories.NoteSupport",
    "predictor.Judgement",
    "conflicts.DetectionDue",
)
# Columns that are written after all rows, and their value until then: they refer to rows of the
# same table, or say that background work is due on a row.
LATER: dict[str, Row] = {
    "memories.Memory": {"superseded_by_id": None, "is_embedding_due": False, "unseen_from": None},
    "conflicts.Conflict": {"reopened_from_id": None, "decided_before_id": None},
}
# A person is named, because accounts belong to an installation.
NAMED = {("conflicts.Conflict", "assignee_id"): "assignee__username"}
# Transaction ids of one database say nothing in another: everything is compared.
CHANGED: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("memories.Memory", "unseen_from"): lambda value: None if value is None else SAW_NOTHING
}
IMPORTS = "archive:"  # begins the digests that the progress of imports of archives is kept under
EXCLUDED = {"memories.ImportProgress": Q(file_digest__startswith=IMPORTS)}
ROWS_A_READ = {"memories.Session": 20, "memories.Extraction": 20, "memories.Note": 50}
ROWS_A_READ |= {"predictor.ModelVersion": 2}


class Table:
    """One table of an archive: its rows as JSON objects by the names of attributes."""

    def __init__(self, model: type[WorkspaceModel], *, has_vectors: bool = True) -> None:
        self.model = model
        self.label = model._meta.label
        credentials = CREDENTIALS.get(self.label, set())
        self.all_fields = columns(model)
        self.names = [f.attname for f in self.all_fields if f.attname not in credentials]
        self.later = LATER.get(self.label, {})
        self._emptied = {} if has_vectors else WITHOUT_VECTORS.get(self.label, {})

    @cached_property
    def codecs(self) -> dict[str, Codec]:
        """Return how each column is written."""
        return {field.attname: self._codec(field) for field in self.all_fields}

    @cached_property
    def defaults(self) -> Row:
        """Return what archives of earlier versions say of columns that they lack."""
        found = {f.attname: f.get_default() for f in self.all_fields if f.has_default() or f.null}
        found |= {
            f.attname: f.db_default
            for f in self.all_fields
            if f.db_default is not NOT_PROVIDED and not hasattr(f.db_default, "as_sql")
        }
        return {name: self.codecs[name].encode(value) for name, value in found.items()}

    @property
    def key(self) -> str:
        """Return the column by which rows ascend and occur once; "" without such a column."""
        key = self.model._meta.pk
        is_uuid = isinstance(getattr(key, "target_field", key), models.UUIDField)
        return str(key.attname) if is_uuid and key in self.all_fields else ""

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the current workspace in their order, without holding them all."""
        rows = self.model.objects.order_by("pk")
        if (excluded := EXCLUDED.get(self.label)) is not None:
            rows = rows.exclude(excluded)
        read = [NAMED.get((self.label, name), name) for name in self.names]
        encoders = [self.codecs[name].encode for name in self.names]
        size = ROWS_A_READ.get(self.label, 500)
        for values in rows.values_list(*read).iterator(chunk_size=size):
            row = {
                name: encode(value)
                for name, encode, value in zip(self.names, encoders, values, strict=True)
            }
            yield row | self._emptied

    def decode(self, row: Row) -> Row:
        """Return a row as PostgreSQL reads it, by attributes; raise ValueError for bad base64."""
        decoded = dict(row)
        for name, decode in self._decoders.items():
            if name in decoded:
                decoded[name] = decode(decoded[name])
        return decoded

    @cached_property
    def _decoders(self) -> dict[str, Callable[[Any], Any]]:
        """Return what must be decoded: most columns are plain JSON."""
        found = {name: one.decode for name, one in self.codecs.items()}
        return {name: decode for name, decode in found.items() if decode is not as_it_is}

    def _codec(self, field: Field[Any, Any]) -> Codec:
        place = self.label, field.attname
        if place in NAMED:
            return Codec(as_it_is, as_it_is)
        change = CHANGED.get(place)
        return Codec(change, change) if change else codec(field, _archived())


def tables(*, has_vectors: bool = True) -> list[Table]:
    """Return the tables of an archive in the order in which their rows can be inserted."""
    left = () if has_vectors else OF_VECTORS
    return [
        Table(model, has_vectors=has_vectors)
        for model in _in_order(_archived())
        if model._meta.label not in left
    ]


def _archived() -> list[type[WorkspaceModel]]:
    return workspace_models(LEFT_OUT)


def _in_order(found: list[type[WorkspaceModel]]) -> list[type[WorkspaceModel]]:
    """Return models with those that they refer to before them, those of LAST at the end.

    Token states come before vectors: a sweep writes those that are missing beside a vector.
    """
    sorter: TopologicalSorter[str] = TopologicalSorter()
    by_label = {model._meta.label: model for model in found}
    for label, model in by_label.items():
        targets = [f.related_model for f in columns(model) if isinstance(f, models.ForeignKey)]
        before = {target._meta.label for target in targets} & set(by_label) - {label}
        sorter.add(label, *sorted(before))
    sorter.add("memories.MemoryVector", "memories.MemoryTokens")
    ordered = [by_label[label] for label in sorter.static_order()]
    return sorted(ordered, key=lambda model: model._meta.label in LAST)
