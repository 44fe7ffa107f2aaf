"""Let verdicts given before be undone: their effects name statements by the hash of today."""

import hashlib
import json
import re
import unicodedata
from typing import Any, ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

_SPACE = re.compile(r"\s+")
BATCH = 500


def former_hash(content: str) -> str:
    """Return the hash that a statement had before."""
    text = _SPACE.sub(" ", unicodedata.normalize("NFC", content)).strip().casefold()
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def rehash(cursor: Any, workspace: Any) -> None:
    """Rename the statements of a workspace's decisions, in the caller's transaction."""
    cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace)])
    cursor.execute(
        "SELECT id, effects FROM conflicts_decision WHERE workspace_id = %s AND effects <> '[]'",
        [workspace],
    )
    decisions = [(i, e if isinstance(e, list) else json.loads(e)) for i, e in cursor.fetchall()]
    for start in range(0, len(decisions), BATCH):
        _rename(cursor, workspace, decisions[start : start + BATCH])


def _rename(cursor: Any, workspace: Any, decisions: list[tuple[Any, list[Any]]]) -> None:
    memories = {effect["memory"] for _, effects in decisions for effect in effects}
    cursor.execute(
        "SELECT id::text, content, content_hash FROM memories_memory"
        " WHERE workspace_id = %s AND id = ANY(%s::uuid[])",
        [workspace, list(memories)],
    )
    found = {i: (former_hash(content), digest) for i, content, digest in cursor.fetchall()}
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


def rehash_all(apps: Any, schema_editor: Any) -> None:
    """Rename the statements of the decisions of every workspace."""
    workspaces = apps.get_model("kernel", "Workspace")
    with schema_editor.connection.cursor() as cursor:
        for workspace in workspaces._base_manager.values_list("pk", flat=True):
            rehash(cursor, workspace)
        cursor.execute("SELECT set_config('engram.workspace', '', true)")


class Migration(migrations.Migration):
    """Data only."""

    dependencies: ClassVar[list[tuple[str, str]]] = [
        ("conflicts", "0007_narrative_lease"),
        ("memories", "0016_hashes_of_statements"),
    ]
    operations: ClassVar[list[Operation]] = [
        migrations.RunPython(rehash_all, migrations.RunPython.noop)
    ]
