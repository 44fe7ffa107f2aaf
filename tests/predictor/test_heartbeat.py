"""The heartbeat thread survives what the database may do to its connection."""

from __future__ import annotations

from threading import Event

import pytest
from django.db import DatabaseError, InterfaceError
from psycopg_pool import PoolTimeout

from predictor.services import heartbeat
from tests.homes import PATIENCE_SECONDS


@pytest.mark.parametrize("error", [DatabaseError, InterfaceError, PoolTimeout])
def test_a_heartbeat_that_fails_is_followed_by_the_next(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)
    beats: list[int] = []
    is_second = Event()

    def beat() -> None:
        beats.append(1)
        if len(beats) == 1:
            raise error("the connection is lost")
        is_second.set()

    with heartbeat.beating(beat):
        assert is_second.wait(timeout=PATIENCE_SECONDS)
