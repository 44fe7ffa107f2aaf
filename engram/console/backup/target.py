"""The database that a backup is restored into: whether it is free and empty, and emptying it."""

from __future__ import annotations

from django.db import connection

from engram.console.backup.manifest import BackupError
from engram.console.backup.tables import foreign_tables, our_tables

# What migrations leave in tables, and nobody has entered.
MADE_BY_MIGRATIONS = {"django_migrations", "django_content_type", "auth_permission"}
OTHERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
      AND coalesce(backend_type, 'client backend') = 'client backend'
"""
FUNCTIONS = """
    SELECT p.oid::regprocedure::text FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND starts_with(p.proname, 'engram_')
"""


def database_name() -> str:
    """Return the name of the database, as the server calls it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        return str(cursor.fetchone()[0])


def leave_pool() -> None:
    """Let this process have one connection and no pool, so that all others are somebody else's."""
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's has pools
    connection.settings_dict["OPTIONS"]["pool"] = False


def refuse_company() -> None:
    """Raise `BackupError` while anybody else is connected to the database; see `leave_pool`."""
    with connection.cursor() as cursor:
        cursor.execute(OTHERS)
        others = cursor.fetchone()[0]
    if others:
        raise BackupError(
            f"The database is in use ({others} other connections): stop web, worker, beat and "
            "every other program that uses it. Nothing was changed."
        )


def has_rows() -> bool:
    """Return whether somebody's rows are in the database.

    Rows that row-level security hides need a workspace, whose own row is not hidden.
    """
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        for table in our_tables():
            if table.name not in MADE_BY_MIGRATIONS:
                cursor.execute(f"SELECT EXISTS (SELECT FROM {quote(table.name)})")  # noqa: S608
                if cursor.fetchone()[0]:
                    return True
    return False


def refuse_rows() -> None:
    """Raise `BackupError` where somebody's rows are in the database."""
    if has_rows():
        raise BackupError(
            f"The database {database_name()} is not empty, and nothing was changed. `--replace` "
            "deletes what it holds."
        )


def refuse_late_changes(*, may_delete_rows: bool) -> None:
    """Look again who is connected, and for rows unless they may be deleted; in a transaction.

    A person may have taken an hour to answer since it was looked first. The tables are locked
    before rows are looked for: what is written after that waits for the end of the restore.
    """
    refuse_company()
    if may_delete_rows:
        return
    lock_tables()
    refuse_rows()


def lock_tables() -> None:
    """Keep others from reading and writing our tables until the end of the transaction."""
    names = ", ".join(connection.ops.quote_name(table.name) for table in our_tables())
    if names:  # an empty database has none
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")


def remove_everything() -> None:
    """Drop all tables and functions of Engram; only within the transaction of a restore."""
    if strangers := foreign_tables():
        raise BackupError(
            f"The database holds tables that are not Engram's ({', '.join(strangers[:3])}): "
            "restore into a database of its own. Nothing was changed."
        )
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        for table in our_tables():
            cursor.execute(f"DROP TABLE IF EXISTS {quote(table.name)} CASCADE")
        cursor.execute(FUNCTIONS)
        for (signature,) in cursor.fetchall():
            cursor.execute(f"DROP FUNCTION IF EXISTS {signature} CASCADE")
