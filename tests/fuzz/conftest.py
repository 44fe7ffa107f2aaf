"""Make the calls that cover an operation's description when its test runs.

Schemathesis makes those of all operations while tests are collected: more than half of the time
that collecting takes, in every process, and for operations that another process tests.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from schemathesis.generation.hypothesis import builder

ADD_COVERAGE = builder.add_coverage
COVER = "_engram_cover"  # of a test: the function that adds the calls to it


def _cover_later(test: Callable[..., Any], *args: Any, **options: Any) -> Callable[..., Any]:
    setattr(test, COVER, partial(ADD_COVERAGE, test, *args, **options))
    return test


builder.add_coverage = _cover_later


@pytest.fixture(autouse=True)
def cover(request: pytest.FixtureRequest) -> None:
    """Add the calls to the test, which is this very function."""
    test = request.node.obj
    assert getattr(test, COVER)() is test
    assert test.hypothesis_explicit_examples
    delattr(test, COVER)
