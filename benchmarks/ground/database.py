"""A database of a benchmark's own, on the embedded server, as the application's role."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.test.utils import setup_test_environment, teardown_test_environment

IS_FULL = os.environ.get("BENCH_SIZE", "full") == "full"


@contextmanager
def own_database() -> Iterator[None]:
    """Create and migrate a database, use it within the block, drop it.

    BENCH_TEMPLATE names a migrated database of the same server to copy: migrations take longer than
    a benchmark of toy size.
    """
    setup_test_environment(debug=False)
    connection.settings_dict["TEST"]["TEMPLATE"] = os.environ.get("BENCH_TEMPLATE")
    before = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)
        teardown_test_environment()
