"""The thread that renews a lease survives what the database may do to its connection."""

from __future__ import annotations

import threading
from threading import Event

import pytest
from django.db import DatabaseError, InterfaceError
from psycopg.errors import ForeignKeyViolation
from psycopg_pool import PoolTimeout

from engram.kernel import lease
from tests.homes import PATIENCE_SECONDS, eventually


@pytest.mark.parametrize("error", [DatabaseError, InterfaceError, PoolTimeout, ForeignKeyViolation])
def test_a_renewal_that_fails_is_followed_by_the_next(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    renewals: list[int] = []
    is_second = Event()

    def renew() -> None:
        renewals.append(1)
        if len(renewals) == 1:
            raise error("the connection is lost")
        is_second.set()

    with lease.renewing(renew):
        assert is_second.wait(timeout=PATIENCE_SECONDS)


def test_a_connection_that_fails_when_it_is_closed_ends_no_renewal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    closed: list[int] = []
    is_second = Event()

    def close() -> None:
        closed.append(1)
        if len(closed) == 1:
            raise ForeignKeyViolation("the workspace was deleted")
        is_second.set()

    monkeypatch.setattr(lease.connections, "close_all", close)
    with lease.renewing(lambda: None):
        assert is_second.wait(timeout=PATIENCE_SECONDS)


def test_a_holder_that_was_taken_over_is_not_renewed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    raised: list[object] = []
    monkeypatch.setattr(threading, "excepthook", raised.append)
    renewals: list[int] = []

    def renew() -> None:
        renewals.append(1)
        raise lease.TakenOverError("another process holds it")

    with lease.renewing(renew):
        assert eventually(lambda: renewals and not _renewing_threads())
    assert (renewals, raised) == ([1], [])


def _renewing_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "lease"]
