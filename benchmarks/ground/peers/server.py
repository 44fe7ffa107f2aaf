"""A database for a peer, on the same PostgreSQL server as Engram's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection
from psycopg import sql
from psycopg.conninfo import make_conninfo


@contextmanager
def peer_database(name: str) -> Iterator[str]:
    """Create an empty database with pgvector, yield how to connect to it, drop it."""
    database = f"bench_{name}_{os.getpid()}"
    named = sql.Identifier(database)
    _run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(named))
    _run(sql.SQL("CREATE DATABASE {}").format(named))
    try:
        yield connect_to(database)
    finally:
        _run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(named))


def analyze(conninfo: str) -> None:
    """Vacuum and analyse a database, as autovacuum would a minute after a load."""
    with psycopg.connect(conninfo, autocommit=True) as peer:
        peer.execute("VACUUM ANALYZE")


def connect_to(database: str) -> str:
    """Return the connection string of a database on the server."""
    given = connection.get_connection_params()
    wanted = {name: given[name] for name in ("host", "port", "user", "password") if given.get(name)}
    return make_conninfo("", dbname=database, **wanted)


def _run(statement: sql.Composed) -> None:
    with psycopg.connect(connect_to("postgres"), autocommit=True) as server:
        server.execute(statement)
