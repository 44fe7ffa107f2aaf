"""Hash stored statements again: typography and closing marks no longer make another statement.

Each row is hashed from its own text. Where two live memories of one place turn out to say the same,
the older one takes the new hash and the other keeps its old one, because one live row a statement
may have it.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

from memories.core.content import content_hash

_SPACE = re.compile(r"\s+")
BATCH = 2000
SUGGESTIONS = 200

PAGE = """
    SELECT id, content, content_hash FROM {table}
    WHERE workspace_id = %(workspace)s AND content_hash <> '' AND id > %(after)s
    ORDER BY id LIMIT %(batch)s
"""
MEMORIES = """
    SELECT id, content, content_hash, created_at FROM memories_memory
    WHERE workspace_id = %(workspace)s AND (created_at, id) > (%(since)s, %(after)s)
    ORDER BY created_at, id LIMIT %(batch)s
"""
UPDATE = """
    UPDATE {table} AS row SET content_hash = new.hash
    FROM unnest(%(ids)s::{key}[], %(hashes)s::text[]) AS new (id, hash)
    WHERE row.workspace_id = %(workspace)s AND row.id = new.id
"""
# Of several live rows that would say the same in one place, the oldest, and only where no other row
# has the new hash already.
ONE_A_PLACE = """
    AND (
        NOT {row} OR (
            row.id IN (
                SELECT DISTINCT ON (m.scope, m.project, n.hash) m.id
                FROM memories_memory AS m
                JOIN unnest(%(ids)s::uuid[], %(hashes)s::text[]) AS n (id, hash) ON n.id = m.id
                WHERE m.workspace_id = %(workspace)s AND {m}
                ORDER BY m.scope, m.project, n.hash, m.created_at, m.id
            )
            AND NOT EXISTS (
                SELECT 1 FROM memories_memory AS same
                WHERE same.workspace_id = %(workspace)s AND same.scope = row.scope
                    AND same.project = row.project AND same.content_hash = new.hash AND {same}
            )
        )
    )
"""
PAIRS = """
    SELECT id, memory_id, other_id, wordings FROM memories_mergesuggestion
    WHERE workspace_id = %(workspace)s AND wordings <> '' AND id > %(after)s
    ORDER BY id LIMIT %(batch)s
"""
WORDINGS = """
    UPDATE memories_mergesuggestion AS row SET wordings = new.wordings
    FROM unnest(%(ids)s::uuid[], %(wordings)s::text[]) AS new (id, wordings)
    WHERE row.workspace_id = %(workspace)s AND row.id = new.id
"""
# The texts of memories, the present one of each last.
TEXTS = """
    SELECT content FROM memories_observation
    WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s)
    UNION ALL
    SELECT content FROM memories_revision
    WHERE workspace_id = %(workspace)s AND memory_id = ANY(%(memories)s)
    UNION ALL
    SELECT content FROM memories_memory
    WHERE workspace_id = %(workspace)s AND id = ANY(%(memories)s)
"""
FIRST_ID = "00000000-0000-0000-0000-000000000000"
LONG_AGO = "-infinity"


def former_hash(content: str) -> str:
    """Return the hash that a statement had before."""
    text = _SPACE.sub(" ", unicodedata.normalize("NFC", content)).strip().casefold()
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def rehash(cursor: Any, workspace: Any) -> None:
    """Hash all statements of a workspace again, in its transaction."""
    while _rehash_memories(cursor, workspace):
        pass  # a hash that one row gave up is free for another
    for table in ("memories_observation", "memories_revision"):
        _rehash_rows(cursor, workspace, table)
    _rename_wordings(cursor, workspace)


def _rehash_memories(cursor: Any, workspace: Any) -> int:
    """Hash memories again, oldest first; return how many got another hash."""
    one_a_place = ONE_A_PLACE.format(**{name: _live(name) for name in ("row", "m", "same")})
    update = UPDATE.format(table="memories_memory", key="uuid") + one_a_place
    asked = {"workspace": workspace, "batch": BATCH, "since": LONG_AGO, "after": FIRST_ID}
    count = 0
    while True:
        cursor.execute(MEMORIES, asked)
        if not (rows := cursor.fetchall()):
            return count
        asked |= {"since": rows[-1][3], "after": rows[-1][0]}
        changed = _changed((row[:3] for row in rows))
        if changed:
            cursor.execute(update, asked | changed)
            count += cursor.rowcount


def _rehash_rows(cursor: Any, workspace: Any, table: str) -> None:
    cursor.execute("SELECT data_type FROM information_schema.columns WHERE table_name = %s"
                   " AND column_name = 'id'", [table])
    is_uuid = cursor.fetchone()[0] == "uuid"
    asked: dict[str, Any] = {"workspace": workspace, "batch": BATCH}
    asked["after"] = FIRST_ID if is_uuid else 0
    update = UPDATE.format(table=table, key="uuid" if is_uuid else "bigint")
    while True:
        cursor.execute(PAGE.format(table=table), asked)
        if not (rows := cursor.fetchall()):
            return
        asked["after"] = rows[-1][0]
        if changed := _changed(rows):
            cursor.execute(update, asked | changed)


def _changed(rows: Any) -> dict[str, list[Any]]:
    found = [(row, new) for row, text, old in rows if old and (new := content_hash(text)) != old]
    return {"ids": [row for row, _ in found], "hashes": [new for _, new in found]} if found else {}


def _rename_wordings(cursor: Any, workspace: Any) -> None:
    """Name the wordings of suggestions by the new hashes of their own memories' texts."""
    asked = {"workspace": workspace, "batch": SUGGESTIONS, "after": FIRST_ID}
    while True:
        cursor.execute(PAIRS, asked)
        if not (rows := cursor.fetchall()):
            return
        asked["after"] = rows[-1][0]
        renamed = dict(_renamed(cursor, workspace, rows))
        if renamed:
            new = {"ids": list(renamed), "wordings": list(renamed.values())}
            cursor.execute(WORDINGS, asked | new)


def _renamed(cursor: Any, workspace: Any, rows: Any) -> Iterator[tuple[Any, str]]:
    for suggestion, memory, other, wordings in rows:
        cursor.execute(TEXTS, {"workspace": workspace, "memories": [memory, other]})
        new = {former_hash(text): content_hash(text) for (text,) in cursor.fetchall()}
        names = ":".join(sorted(new.get(old, old) for old in wordings.split(":")))
        if names != wordings:
            yield suggestion, names


def _live(name: str) -> str:
    stamps = ("forgotten_at", "culled_at", "retired_at", "superseded_at", "expires_at")
    return "(" + " AND ".join(f"{name}.{stamp} IS NULL" for stamp in stamps) + ")"


def in_every_workspace(change: Callable[[Any, Any], None], apps: Any, schema_editor: Any) -> None:
    """Call ``change`` with a cursor and each workspace, whose rows the cursor may see meanwhile."""
    workspaces = apps.get_model("kernel", "Workspace")
    with schema_editor.connection.cursor() as cursor:
        for workspace in workspaces._base_manager.values_list("pk", flat=True):
            cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace)])
            change(cursor, workspace)
        cursor.execute("SELECT set_config('engram.workspace', '', true)")


class Migration(migrations.Migration):
    """Data only; what was hashed before is found by the former rules alone."""

    dependencies: ClassVar[list[tuple[str, str]]] = [
        ("memories", "0015_pins_where_they_hold"),
        ("kernel", "0008_workspaces_with"),
    ]
    operations: ClassVar[list[Operation]] = [
        migrations.RunPython(partial(in_every_workspace, rehash), migrations.RunPython.noop)
    ]
