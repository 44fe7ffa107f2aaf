"""Rows of an archive as they belong here: its people, its keys, its unfinished work."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.console.transfer.manifest import ArchiveError
from engram.console.transfer.tables import NAMED, Row, Table
from engram.kernel.models import ApiKey, JobStatus, Membership, Workspace

KEYS = "kernel.ApiKey"
JOBS = "kernel.Job"
NOT_FINISHED = "It was not finished when the workspace was exported."


@dataclass(frozen=True, slots=True)
class Owners:
    """The workspace that was exported, the one that is imported into, and its members by name."""

    exported_id: str
    workspace_id: str
    members: Mapping[str, int]

    @classmethod
    def of(cls, workspace: Workspace, exported_id: UUID) -> Owners:
        """Return those of a workspace."""
        people = Membership.objects.filter(workspace=workspace)
        members = dict(people.values_list("user__username", "user_id"))
        return cls(str(exported_id), str(workspace.pk), members)


def own_rows(table: Table, owners: Owners, rows: Sequence[Row], now: datetime) -> list[Row]:
    """Return rows as they are written here.

    The exported workspace's id becomes the new one's, a person who is no member becomes none, a key
    opens nothing, and work that a caller had asked for has failed.
    """
    if owners.exported_id != owners.workspace_id:
        text = json.dumps(list(rows)).replace(owners.exported_id, owners.workspace_id)
        rows = json.loads(text)
    changed = [dict(row) for row in rows]
    for row in changed:
        for name in row.keys() & {column for label, column in NAMED if label == table.label}:
            row[name] = owners.members.get(row[name]) if isinstance(row[name], str) else None
        if table.label == KEYS:
            # No token has such a digest, which is no hexadecimal number.
            revoked = row["revoked_at"] or now.isoformat()
            row.update(prefix="", digest=f"imported:{row['id']}", revoked_at=revoked)
        if table.label == JOBS and row["due_at"] is not None:
            row.update(_ended(now))
    return changed


def refuse_keys_of_others(rows: Sequence[Row]) -> None:
    """Raise `ArchiveError` when a key that was left out as existing is another workspace's."""
    ids = [row["id"] for row in rows]
    if ApiKey.objects.filter(pk__in=ids).count() < len(ids):
        raise ArchiveError("A key of the archive exists in another workspace of this database.")


def _ended(now: datetime) -> dict[str, Any]:
    return {
        "status": JobStatus.FAILED,
        "error": NOT_FINISHED,
        "due_at": None,
        "holder": None,
        "heartbeat_at": None,
        "finished_at": now.isoformat(),
    }
