"""Fixtures of the predictor's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.predictor import trainings


@pytest.fixture(scope="module")
def trainings_run_once() -> Iterator[None]:
    """Give what came of a training that ran before in this process."""
    with pytest.MonkeyPatch.context() as patch:
        trainings.run_once(patch)
        yield
