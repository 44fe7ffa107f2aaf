"""Gives tests their own database server and broker, before Django reads its settings.

They live in a home of their own: a test must not wake the workers of a running `make up`. Parallel
workers inherit what the controller exported, and two runs at once have databases of different
names.
"""

import os

from engram import embedded

if "PYTEST_XDIST_WORKER" not in os.environ:
    embedded.export_environment(embedded.home_folder() / "test")
    os.environ["ENGRAM_TEST_DATABASE"] = f"test_engram_{os.getpid()}"
    # Never collected in tests; the server of static files wants the folder to exist.
    (embedded.home_folder() / "static").mkdir(parents=True, exist_ok=True)
