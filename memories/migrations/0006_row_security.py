"""Confine the new tables to their workspace; mark vectors of hidden memories as not live."""

from django.db import migrations

from engram.kernel.tenancy import force_row_security

TABLES = [
    "memories_janitoraction",
    "memories_janitorrun",
    "memories_memorytokens",
    "memories_merge",
    "memories_mergesuggestion",
    "memories_recallday",
    "memories_review",
]
# A migration serves no workspace: for its own update it steps out of the policies, which stay
# enforced for everybody else until it commits.
MARK_HIDDEN = """
ALTER TABLE memories_memory NO FORCE ROW LEVEL SECURITY;
ALTER TABLE memories_memoryvector NO FORCE ROW LEVEL SECURITY;
UPDATE memories_memoryvector AS vector SET is_live = false
FROM memories_memory AS memory
WHERE memory.id = vector.memory_id
  AND num_nonnulls(
      memory.forgotten_at, memory.culled_at, memory.retired_at, memory.superseded_at
  ) > 0;
ALTER TABLE memories_memory FORCE ROW LEVEL SECURITY;
ALTER TABLE memories_memoryvector FORCE ROW LEVEL SECURITY;
"""


class Migration(migrations.Migration):
    dependencies = [("memories", "0005_gate_reviews_janitor")]
    operations = [
        *(force_row_security(table) for table in TABLES),
        migrations.RunSQL(MARK_HIDDEN, migrations.RunSQL.noop),
    ]
