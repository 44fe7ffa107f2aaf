"""Commands name a variable with a wrong value in one line, without a traceback."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.homes import PATIENCE_SECONDS, SOURCE


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ENGRAM_ENV", "prod"),
        ("ENGRAM_EMAIL_PORT", "abc"),
        ("ENGRAM_POOL_SIZE", "0"),
        ("EMBEDDING_TIMEOUT_SECONDS", "-1"),
        ("ENGRAM_LOG_LEVEL", "loud"),
        ("ENGRAM_OUTGOING", "yes"),
    ],
)
def test_a_wrong_value_is_named(variable: str, value: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=SOURCE,
        env={**os.environ, variable: value},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"engram: {variable} must be ")
    assert repr(value) in done.stderr
    assert done.stderr.count("\n") == 1
