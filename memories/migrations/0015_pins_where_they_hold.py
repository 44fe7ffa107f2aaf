"""Session start: pins fade like all others but where they hold, and trust comes first there.

Which pins hold depends on the session, so the order of all memories has none above the others.
Constraints and pins go by who said them, then by importance: of more than a session is given in any
case, what an agent concluded is left out before what a user said.
"""

from typing import ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

STANDING = """
    (ln(greatest(importance, 1e-9::float8))
        + 5.936723887447983e-07::float8 * date_part('epoch', observed_at AT TIME ZONE 'UTC'))
"""
TRUST = """
    (CASE provenance WHEN 'user_stated' THEN 3 WHEN 'episode_summary' THEN 2
        WHEN 'assistant_derived' THEN 1 END)
"""
LIVE = "forgotten_at IS NULL AND culled_at IS NULL AND retired_at IS NULL AND superseded_at IS NULL"


class Migration(migrations.Migration):
    """The same two partial indexes in other orders."""

    dependencies: ClassVar[list[tuple[str, str]]] = [("memories", "0014_always_order")]
    operations: ClassVar[list[Operation]] = [
        migrations.RunSQL(
            sql=f"""
                DROP INDEX memory_standing;
                DROP INDEX memory_always;
                CREATE INDEX memory_standing ON memories_memory
                    (workspace_id, {STANDING} DESC, id) WHERE {LIVE};
                CREATE INDEX memory_always ON memories_memory
                    (workspace_id, {TRUST} DESC, importance DESC, id)
                    WHERE {LIVE} AND (kind = 'constraint' OR is_pinned);
            """,
            reverse_sql=migrations.RunSQL.noop,
        )
    ]
