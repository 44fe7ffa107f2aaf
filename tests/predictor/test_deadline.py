"""Work that must not hold up who waits for it."""

from __future__ import annotations

import os
import threading

import pytest

from predictor.services.serving.deadline import Deadline, TooSlowError
from tests.homes import PATIENCE_SECONDS, eventually


def test_answers_and_errors_come_through() -> None:
    deadline = Deadline(1)
    assert deadline.run(lambda: 42, PATIENCE_SECONDS) == 42
    with pytest.raises(KeyError):
        deadline.run(lambda: {}["gone"], PATIENCE_SECONDS)
    assert deadline.run(lambda: 43, PATIENCE_SECONDS) == 43


def test_late_work_is_left_behind_and_gives_its_place_back_when_it_ends() -> None:
    deadline = Deadline(2)
    go_on = threading.Event()
    for _ in range(2):
        with pytest.raises(TooSlowError, match=r"^not done after \d+ ms, 20 ms were left$"):
            deadline.run(lambda: go_on.wait(PATIENCE_SECONDS), 0.02)
    begun = []
    with pytest.raises(TooSlowError, match=r"^not begun after "):  # no place is free
        deadline.run(lambda: begun.append(1), 0.02)
    assert begun == []
    go_on.set()
    assert eventually(lambda: all(one.name != "scoring" for one in threading.enumerate()))
    assert deadline.run(lambda: 42, PATIENCE_SECONDS) == 42


def test_no_time_left_means_late() -> None:
    for seconds in (0, -1):
        with pytest.raises(TooSlowError, match=r"^not begun after \d+ ms, 0 ms were left$"):
            Deadline(1).run(lambda: 42, seconds)


def test_work_begun_behind_is_waited_for_by_nobody_and_takes_a_place() -> None:
    deadline = Deadline(1)
    go_on, is_done = threading.Event(), threading.Event()

    def work() -> None:
        go_on.wait(PATIENCE_SECONDS)
        is_done.set()

    assert deadline.begin(work)
    assert not deadline.begin(work)
    with pytest.raises(TooSlowError):
        deadline.run(lambda: 42, 0.02)
    go_on.set()
    assert is_done.wait(PATIENCE_SECONDS)
    assert deadline.run(lambda: 42, PATIENCE_SECONDS) == 42


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_all_places() -> None:
    deadline = Deadline(1)
    go_on = threading.Event()
    assert deadline.begin(lambda: go_on.wait(PATIENCE_SECONDS))
    if (child := os.fork()) == 0:
        os._exit(0 if deadline.begin(lambda: None) else 1)
    _, status = os.waitpid(child, 0)
    go_on.set()
    assert os.waitstatus_to_exitcode(status) == 0
