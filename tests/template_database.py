"""A migrated database that test databases are copied from, made once for each set of migrations.

Its name holds a digest of everything that decides what the migrations make. A copy takes a tenth
of a second, the migrations about ten.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import django
import psycopg
from django.apps import apps
from django.conf import settings
from django.db import connection

from engram.kernel import tenancy

PREFIX = "template_engram_"
KEPT = 3  # templates of other branches or releases that stay for the next run
LOCK = 4_107_301  # one process at a time makes templates


def use_template() -> None:
    """Have the test database copied from the template, which is made when there is none."""
    name = PREFIX + digest_of_migrations()
    url = settings.DATABASE_URL
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        if name not in _templates(server):
            _create(name, server)
        _drop_old(name, server)
    connection.settings_dict["TEST"]["TEMPLATE"] = name


def digest_of_migrations() -> str:
    """Return a digest of all migrations, and of the code that some of them run."""
    files = [Path(tenancy.__file__)]
    for app in apps.get_app_configs():
        files += sorted(Path(app.path, "migrations").glob("*.py"))
    digest = hashlib.sha256(django.__version__.encode())
    for file in files:
        digest.update(f"{file.parent.parent.name}/{file.name}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def _templates(server: psycopg.Connection) -> list[str]:
    """Return the names of the templates, newest first."""
    rows = server.execute(
        "SELECT datname FROM pg_database WHERE starts_with(datname, %s) ORDER BY oid DESC", [PREFIX]
    ).fetchall()
    return [name for (name,) in rows]


def _create(name: str, server: psycopg.Connection) -> None:
    """Migrate an empty database; it gets its name when that is done."""
    test = connection.settings_dict["TEST"]
    usual, draft = connection.settings_dict["NAME"], f"new_{name}"
    before = test["NAME"]
    test["NAME"] = draft
    try:
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    finally:
        connection.close()
        connection.close_pool()
        test["NAME"], connection.settings_dict["NAME"] = before, usual
        settings.DATABASES["default"]["NAME"] = usual
    server.execute(f'ALTER DATABASE "{draft}" RENAME TO "{name}"')


def _drop_old(name: str, server: psycopg.Connection) -> None:
    """Drop all templates but ours and the newest others."""
    others = [other for other in _templates(server) if other != name]
    for other in others[KEPT:]:
        server.execute(f'DROP DATABASE IF EXISTS "{other}"')
