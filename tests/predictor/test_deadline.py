"""Work that must not hold up who waits for it."""

from __future__ import annotations

import threading
import time

import pytest

from predictor.services.deadline import Deadline, TooSlowError


def test_answers_and_errors_come_through() -> None:
    deadline = Deadline(1)
    assert deadline.run(lambda: 42, 1) == 42
    with pytest.raises(KeyError):
        deadline.run(lambda: {}["gone"], 1)
    assert deadline.run(lambda: 43, 1) == 43


def test_late_work_is_left_behind_and_gives_its_place_back_when_it_ends() -> None:
    deadline = Deadline(2)
    go_on = threading.Event()
    for _ in range(2):
        with pytest.raises(TooSlowError):
            deadline.run(lambda: go_on.wait(30), 0.02)
    begun = []
    with pytest.raises(TooSlowError):  # no place is free: it is not begun
        deadline.run(lambda: begun.append(1), 0.02)
    assert begun == []
    go_on.set()
    for _ in range(100):
        if sum(thread.name == "scoring" for thread in threading.enumerate()) == 0:
            break
        time.sleep(0.01)
    assert deadline.run(lambda: 42, 1) == 42


def test_no_time_left_means_late() -> None:
    with pytest.raises(TooSlowError):
        Deadline(1).run(lambda: 42, 0)
