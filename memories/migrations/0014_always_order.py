"""Constraints and pins by importance, an order that no other index has.

In the order of the baseline the planner may read all memories to find the few constraints.
"""

from typing import ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

LIVE = "forgotten_at IS NULL AND culled_at IS NULL AND retired_at IS NULL AND superseded_at IS NULL"


class Migration(migrations.Migration):
    """One index in another order."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("memories", "0013_baseline_order")]
    operations: ClassVar[list[Operation]] = [
        migrations.RunSQL(
            sql=f"""
                DROP INDEX memory_always;
                CREATE INDEX memory_always ON memories_memory (workspace_id, importance DESC, id)
                    WHERE {LIVE} AND (kind = 'constraint' OR is_pinned);
            """,
            reverse_sql=migrations.RunSQL.noop,
        )
    ]
