"""Session start reads the best by importance · 0.95^days in the order of an index.

That order does not change with time: ln(importance) + 5.9367e-7 · seconds. Pins stand above.
"""

from typing import ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

STANDING = """
    (CASE WHEN is_pinned THEN 'Infinity'::float8
    ELSE ln(greatest(importance, 1e-9::float8))
        + 5.936723887447983e-07::float8 * date_part('epoch', observed_at AT TIME ZONE 'UTC') END)
"""
LIVE = "forgotten_at IS NULL AND culled_at IS NULL AND retired_at IS NULL AND superseded_at IS NULL"


class Migration(migrations.Migration):
    """Two partial indexes: all that is live, and of it the constraints and pins."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("memories", "0012_session_course")]
    operations: ClassVar[list[Operation]] = [
        migrations.RunSQL(
            sql=f"""
                CREATE INDEX memory_standing ON memories_memory
                    (workspace_id, {STANDING} DESC, id) WHERE {LIVE};
                CREATE INDEX memory_always ON memories_memory
                    (workspace_id, {STANDING} DESC, id)
                    WHERE {LIVE} AND (kind = 'constraint' OR is_pinned);
            """,
            reverse_sql="DROP INDEX memory_standing; DROP INDEX memory_always;",
        )
    ]
