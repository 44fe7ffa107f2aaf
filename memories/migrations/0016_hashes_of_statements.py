"""Hash stored statements again: typography and closing marks no longer make another statement.

Where two live memories of one place turn out to say the same, the older one takes the new hash and
the other keeps its old one, because one live row a statement may have it.
"""

from typing import Any, ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

from memories.core.content import content_hash

BATCH = 2000
TABLES = ("memories_memory", "memories_observation", "memories_revision")

PAGE = """
    SELECT id, content, content_hash FROM {table}
    WHERE workspace_id = %(workspace)s AND content_hash <> '' {beyond}
    ORDER BY id LIMIT %(batch)s
"""
NOTE = """
    INSERT INTO rehashed (old, new) SELECT * FROM unnest(%s::text[], %s::text[])
    ON CONFLICT DO NOTHING
"""
UPDATE = """
    UPDATE {table} AS row SET content_hash = rehashed.new
    FROM rehashed WHERE row.workspace_id = %(workspace)s AND row.content_hash = rehashed.old
"""
# Of several live rows that would say the same in one place, the oldest. A row that has the new hash
# already stays as it is.
ONE_A_PLACE = """
    AND (
        NOT {live} OR row.id IN (
            SELECT DISTINCT ON (m.scope, m.project, r.new) m.id
            FROM memories_memory AS m JOIN rehashed AS r ON r.old = m.content_hash
            WHERE m.workspace_id = %(workspace)s AND {live_m} AND NOT EXISTS (
                SELECT 1 FROM memories_memory AS same
                WHERE same.workspace_id = %(workspace)s AND same.scope = m.scope
                    AND same.project = m.project AND same.content_hash = r.new AND {live_same}
            )
            ORDER BY m.scope, m.project, r.new, m.created_at, m.id
        )
    )
"""
WORDINGS = """
    UPDATE memories_mergesuggestion AS row SET wordings = found.wordings
    FROM (
        SELECT one.id, least(one.hash, two.hash) || ':' || greatest(one.hash, two.hash) AS wordings
        FROM (
            SELECT s.id, coalesce(r.new, split_part(s.wordings, ':', 1)) AS hash
            FROM memories_mergesuggestion AS s
            LEFT JOIN rehashed AS r ON r.old = split_part(s.wordings, ':', 1)
            WHERE s.workspace_id = %(workspace)s AND s.wordings <> ''
        ) AS one
        JOIN (
            SELECT s.id, coalesce(r.new, split_part(s.wordings, ':', 2)) AS hash
            FROM memories_mergesuggestion AS s
            LEFT JOIN rehashed AS r ON r.old = split_part(s.wordings, ':', 2)
            WHERE s.workspace_id = %(workspace)s AND s.wordings <> ''
        ) AS two USING (id)
    ) AS found
    WHERE row.id = found.id AND row.wordings <> found.wordings
"""


def _live(name: str) -> str:
    stamps = ("forgotten_at", "culled_at", "retired_at", "superseded_at", "expires_at")
    return "(" + " AND ".join(f"{name}.{stamp} IS NULL" for stamp in stamps) + ")"


def rehash(cursor: Any, workspace: Any) -> None:
    """Hash all statements of a workspace again, in the caller's transaction."""
    cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace)])
    cursor.execute(
        "CREATE TEMPORARY TABLE rehashed (old text PRIMARY KEY, new text NOT NULL) ON COMMIT DROP"
    )
    for table in TABLES:
        _note_changes(cursor, table, workspace)
    asked = {"workspace": workspace}
    places = ONE_A_PLACE.format(
        live=_live("row"), live_m=_live("m"), live_same=_live("same")
    )  # fmt: skip
    cursor.execute(UPDATE.format(table="memories_memory") + places, asked)
    for table in TABLES[1:]:
        cursor.execute(UPDATE.format(table=table), asked)
    cursor.execute(WORDINGS, asked)
    cursor.execute("DROP TABLE rehashed")


def _note_changes(cursor: Any, table: str, workspace: Any) -> None:
    asked = {"workspace": workspace, "batch": BATCH}
    while True:
        beyond = "AND id > %(after)s" if "after" in asked else ""
        cursor.execute(PAGE.format(table=table, beyond=beyond), asked)
        rows = cursor.fetchall()
        if not rows:
            return
        asked["after"] = rows[-1][0]
        changed = {old: new for _, text, old in rows if (new := content_hash(text)) != old}
        cursor.execute(NOTE, [list(changed), list(changed.values())])


def rehash_all(apps: Any, schema_editor: Any) -> None:
    """Hash the statements of every workspace again."""
    workspaces = apps.get_model("kernel", "Workspace")
    with schema_editor.connection.cursor() as cursor:
        for workspace in workspaces._base_manager.values_list("pk", flat=True):
            rehash(cursor, workspace)
        cursor.execute("SELECT set_config('engram.workspace', '', true)")


class Migration(migrations.Migration):
    """Data only; what was hashed before is found by the former rules alone."""

    dependencies: ClassVar[list[tuple[str, str]]] = [
        ("memories", "0015_pins_where_they_hold"),
        ("kernel", "0008_workspaces_with"),
    ]
    operations: ClassVar[list[Operation]] = [
        migrations.RunPython(rehash_all, migrations.RunPython.noop)
    ]
