"""A database of a benchmark's own, on the embedded server, as the application's role."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.test.utils import setup_test_environment, teardown_test_environment

from tests.template_database import use_template

IS_FULL = os.environ.get("BENCH_SIZE", "full") == "full"


@contextmanager
def own_database(*, is_migrated: bool = False) -> Iterator[None]:
    """Create a database by copying a migrated one, use it within the block, drop it.

    Migrations take longer than a benchmark of toy size; tests and benchmarks share what they made.
    Where the home's own database is migrated and empty, that is copied.
    """
    setup_test_environment(debug=False)
    if is_migrated:
        connection.settings_dict["TEST"]["TEMPLATE"] = connection.settings_dict["NAME"]
    else:
        use_template()
    before = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)
        teardown_test_environment()
