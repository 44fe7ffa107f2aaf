"""A run of the tests that has only so much time says which it did not begin."""

from __future__ import annotations

import time

import pytest

from tests import plugin


def test_no_test_begins_after_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    monkeypatch.setattr(plugin, "TESTS_UNTIL", now + 3600)
    plugin.pytest_runtest_setup()
    monkeypatch.setattr(plugin, "TESTS_UNTIL", now - 1)
    with pytest.raises(pytest.skip.Exception, match="not run"):
        plugin.pytest_runtest_setup()
