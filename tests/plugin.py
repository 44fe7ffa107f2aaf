"""Gives tests their own database server and broker, before Django reads its settings.

They live in a home of their own: a test must not wake the workers of a running `make up`. Parallel
workers inherit what the controller exported, and two runs at once have databases of different
names; what a killed run left is dropped by the next.

Where a run has only so much time (`ENGRAM_TESTS_UNTIL`, in seconds as `date +%s` counts them),
tests that have not begun by then are skipped, and pytest says how many. Of a run that is killed
nothing is known.
"""

import gc
import os
import re
import sys
import time
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest

from engram import embedded
from engram.embedded.places import make_home
from engram.embedded.postgres import NO_FSYNC_FILE

PREFIX = "test_engram_"
# What is end to end, kills processes or needs large tables runs after all others.
SECOND_STAGE = re.compile(
    r"/e2e/|/test_(?:killed_\w+|judge_killed|plans|scale|embedded|heartbeat)\.py"
)
# After this time no test begins.
TESTS_UNTIL = float(os.environ.get("ENGRAM_TESTS_UNTIL", "inf"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Skip a test for which there is no time."""
    if time.time() > TESTS_UNTIL:
        pytest.skip("not run: the time of ENGRAM_TESTS_UNTIL was over")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the second stage, and put them last."""
    for item in items:
        if SECOND_STAGE.search(str(item.path)):
            item.add_marker("second_stage")
    items.sort(key=lambda item: item.get_closest_marker("second_stage") is not None)


def _drop_left_databases(url: str) -> None:
    """Drop the test databases of runs that are no more."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX]
        ).fetchall()
        for (name,) in rows:
            process = name.removeprefix(PREFIX).split("_")[0]
            if process.isdigit() and not Path(f"/proc/{process}").exists():
                connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage meanwhile: what is made stays, and passes through it all took long."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what all tests have in common: it never goes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)  # a full pass takes .4 s, and the usual ones come by hundreds


# Tests start hundreds of processes: each would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# No test asks anybody's model.
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EMBEDDING_PROVIDER", "ENGRAM_MODEL"):
    os.environ.pop(name, None)

if "PYTEST_XDIST_WORKER" not in os.environ:
    home = embedded.home_folder() / "test"
    make_home(home)
    (home / NO_FSYNC_FILE).touch()
    embedded.export_environment(home)
    _drop_left_databases(os.environ["DATABASE_URL"])
    os.environ["ENGRAM_TEST_DATABASE"] = f"{PREFIX}{os.getpid()}"
    # Never collected in tests; the server of static files wants the folder to exist.
    (embedded.home_folder() / "static").mkdir(parents=True, exist_ok=True)
