#!/usr/bin/env python
"""Engram's command line.

Commands find a database and a broker without being told: unless DATABASE_URL and BROKER_URL
name real servers, embedded ones are started for as long as the command runs, or those of a
running `manage.py up` are used.
"""

import os
import sys

from engram import embedded

# Commands that need neither a database nor a broker start in a fraction of the time.
WITHOUT_SERVICES = {
    "audit",  # stores nothing
    "check",
    "collectstatic",
    "compilemessages",
    "diffsettings",
    "findstatic",
    "help",
    "makemessages",
    "predictor_rpc",  # opens the database itself, when a frame asks for it
    "spectacular",
    "startapp",
    "startproject",
    "version",
}


def needs_services(arguments: list[str]) -> bool:
    """Return whether a command line is one that talks to the database."""
    if not arguments or arguments[0].startswith("-") or arguments[0] in WITHOUT_SERVICES:
        return False
    return not {"-h", "--help", "--version"} & set(arguments)


def calls_url(arguments: list[str]) -> bool:
    """Return whether a command line is `mcp` for a running Engram, or only tells how to call it."""
    if arguments[:1] != ["mcp"] or {"-h", "--help", "--version"} & set(arguments):
        return False
    named = any(one.partition("=")[0] in {"--url", "--snippets"} for one in arguments)
    return named or bool(os.environ.get("ENGRAM_URL"))


def main() -> None:
    """Run a command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "engram.settings")
    os.environ["ENGRAM_HOME"] = str(embedded.home_folder())
    if sys.argv[1:2] == ["up"] and "--prepare" not in sys.argv:
        from engram import supervisor

        sys.exit(supervisor.main(sys.argv[2:]))
    if calls_url(sys.argv[1:]):
        from engram.console.mcp import process

        sys.exit(process.main(sys.argv[2:]))
    if needs_services(sys.argv[1:]):
        try:
            embedded.export_environment()
        except embedded.EmbeddedServicesError as error:
            if sys.argv[1] != "doctor":  # which says what is wrong
                sys.exit(f"engram: {error}")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import ProgrammingError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:  # a variable with a wrong value, which it names
        sys.exit(f"engram: {error}")
    except ProgrammingError as error:
        if not is_not_migrated(error):
            raise
        sys.exit(
            "engram: the database lacks tables that this version of Engram needs "
            f"({str(error).splitlines()[0]}); run `manage.py up` or `manage.py migrate` first."
        )


def is_not_migrated(error: Exception) -> bool:
    """Return whether something is missing in the database, and migrations are."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor
    from psycopg.errors import UndefinedColumn, UndefinedFunction, UndefinedTable

    from engram.kernel.squashed import missing_migrations

    if not isinstance(error.__cause__, UndefinedTable | UndefinedColumn | UndefinedFunction):
        return False
    if missing_migrations():
        return True
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


if __name__ == "__main__":
    main()
