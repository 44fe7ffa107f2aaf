"""Let only the owner execute the functions, and pin the schemas that their names are looked up in.

PostgreSQL lets every role execute a new function. `engram_find_key` runs with its owner's rights
and reads keys that row-level security hides from everybody else. `engram_due_workspaces` runs with
its caller's rights, but a caller's `search_path` could put another `kernel_workspace` before ours.
"""

from django.db import migrations

FIND_KEY = "FUNCTION engram_find_key(text)"
DUE_WORKSPACES = "FUNCTION engram_due_workspaces(text, integer)"


class Migration(migrations.Migration):
    dependencies = [("kernel", "0002_due_workspaces")]
    operations = [
        *(
            migrations.RunSQL(
                f"REVOKE EXECUTE ON {function} FROM PUBLIC",
                f"GRANT EXECUTE ON {function} TO PUBLIC",
            )
            for function in (FIND_KEY, DUE_WORKSPACES)
        ),
        migrations.RunSQL(
            f"ALTER {DUE_WORKSPACES} SET search_path = pg_catalog, public, pg_temp",
            f"ALTER {DUE_WORKSPACES} RESET search_path",
        ),
    ]
