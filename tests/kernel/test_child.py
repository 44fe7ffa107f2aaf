"""What a supervisor says of child processes that it stops."""

from __future__ import annotations

import selectors
import sys
import time
from collections.abc import Iterator

import pytest

from engram.embedded.child import Child

ORDERLY = "print('ready', flush=True); import time; time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {ORDERLY}"


@pytest.fixture
def selector() -> Iterator[selectors.BaseSelector]:
    with selectors.DefaultSelector() as selector:
        yield selector


def start(name: str, code: str, selector: selectors.BaseSelector, said: list[str]) -> Child:
    """Start a child and wait until it runs."""
    child = Child(
        name,
        prepare=lambda: ([sys.executable, "-c", code], {"start_new_session": True}),
        report=lambda line, is_ours: said.append(f"{name}: [{line}]" if is_ours else name),
        selector=selector,
    )
    child.look_after()
    while name not in said:
        for key, _ in selector.select():
            key.data()
    return child


def test_only_who_did_not_stop_in_time_is_said_to_be_killed_and_once(
    selector: selectors.BaseSelector,
) -> None:
    said: list[str] = []
    deaf, orderly = (
        start("deaf", DEAF, selector, said),
        start("orderly", ORDERLY, selector, said),
    )
    assert deaf.process is not None
    assert orderly.process is not None
    killed, ended = deaf.process, orderly.process
    said.clear()
    for child in (deaf, orderly):
        child.ask_to_stop()
    ended.wait()
    deadline = time.monotonic()  # waiting for the first one used up all the time
    for child in (deaf, orderly):
        child.wait_for_end(deadline)
    assert said == [f"deaf: [did not stop in time, killed (process {killed.pid})]"]
    assert (killed.returncode, ended.returncode) == (-9, -15)
    assert [child.process for child in (deaf, orderly)] == [None, None]
