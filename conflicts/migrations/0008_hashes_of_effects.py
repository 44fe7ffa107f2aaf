"""Let verdicts given before be undone: their effects name statements by the hash of today."""

import json
from functools import partial
from importlib import import_module
from typing import Any, ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

# The rules of before are those of the statements themselves.
statements = import_module("memories.migrations.0016_hashes_of_statements")
BATCH = 500

PAGE = """
    SELECT id, effects FROM conflicts_decision
    WHERE workspace_id = %(workspace)s AND effects <> '[]' AND id > %(after)s
    ORDER BY id LIMIT %(batch)s
"""


def rehash(cursor: Any, workspace: Any) -> None:
    """Rename the statements of a workspace's decisions, in its transaction."""
    asked = {"workspace": workspace, "batch": BATCH, "after": statements.FIRST_ID}
    while True:
        cursor.execute(PAGE, asked)
        if not (rows := cursor.fetchall()):
            return
        asked["after"] = rows[-1][0]
        decisions = [(i, e if isinstance(e, list) else json.loads(e)) for i, e in rows]
        _rename(cursor, workspace, decisions)


def _rename(cursor: Any, workspace: Any, decisions: list[tuple[Any, list[Any]]]) -> None:
    memories = {effect["memory"] for _, effects in decisions for effect in effects}
    cursor.execute(
        "SELECT id::text, content, content_hash FROM memories_memory"
        " WHERE workspace_id = %s AND id = ANY(%s::uuid[])",
        [workspace, list(memories)],
    )
    found = {i: (statements.former_hash(content), digest) for i, content, digest in cursor.fetchall()}
    for decision, effects in decisions:
        renamed = [_renamed(effect, found) for effect in effects]
        if renamed != effects:
            cursor.execute(
                "UPDATE conflicts_decision SET effects = %s WHERE id = %s",
                [json.dumps(renamed), decision],
            )


def _renamed(effect: dict[str, Any], found: dict[str, tuple[str, str]]) -> dict[str, Any]:
    former, today = found.get(effect["memory"], ("", ""))
    is_unchanged = effect["content_hash"] == former
    return effect | {"content_hash": today} if former and is_unchanged else effect


class Migration(migrations.Migration):
    """Data only."""

    dependencies: ClassVar[list[tuple[str, str]]] = [
        ("conflicts", "0007_narrative_lease"),
        ("memories", "0016_hashes_of_statements"),
    ]
    operations: ClassVar[list[Operation]] = [
        migrations.RunPython(
            partial(statements.in_every_workspace, rehash), migrations.RunPython.noop
        )
    ]
