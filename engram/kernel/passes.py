"""Share the passes of a model among threads: small groups of texts that wait together run together.

A group is a few texts of similar length, as token ids. If the model is idle a group runs at once:
nothing waits for company. Otherwise it waits, and the thread of the group that has waited longest
runs the next pass, with the other waiting groups of similar length up to `shared_tokens`. Beyond
some hundred tokens a pass costs what its tokens cost, so long texts run by themselves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

R = TypeVar("R")
TokenIds = Sequence[Sequence[int]]

PADDING_RATIO = 1.25  # the longest text of a pass may be this much longer than its shortest


class TooManyWaitingError(Exception):
    """More groups wait than a caller should wait for."""


@dataclass(slots=True, eq=False)
class _Group(Generic[R]):
    """The texts of one caller, and their results once they ran."""

    token_ids: TokenIds
    results: Sequence[R] | None = None
    error: Exception | None = None
    company: list[_Group[R]] = field(default_factory=list)  # groups that its thread has to run
    woken: threading.Event = field(default_factory=threading.Event)

    def result(self) -> Sequence[R]:
        """Return the results, or raise what the pass raised."""
        if self.results is None:
            raise self.error or RuntimeError("the pass was interrupted")
        return self.results


class SharedPasses(Generic[R]):
    """Runs groups by `run_pass`, at most `slots` passes at a time.

    `run_pass` returns one result for each text, in order.
    """

    def __init__(
        self,
        run_pass: Callable[[TokenIds], Sequence[R]],
        *,
        slots: int,
        shared_tokens: int,
        max_waiting: int,
    ) -> None:
        self._run_pass = run_pass
        self._shared_tokens = shared_tokens
        self._max_waiting = max_waiting
        self._lock = threading.Lock()
        self._free_slots = slots
        self._waiting: list[_Group[R]] = []  # empty while a slot is free

    def run(self, token_ids: TokenIds) -> Sequence[R]:
        """Return the results of a group of texts, in order.

        Raises `TooManyWaitingError` if `max_waiting` groups wait already.
        """
        group: _Group[R] = _Group(token_ids)
        with self._lock:
            if self._free_slots:
                self._free_slots -= 1
                group.company = [group]
            elif len(self._waiting) < self._max_waiting:
                self._waiting.append(group)
            else:
                raise TooManyWaitingError(f"{self._max_waiting} groups of texts wait already")
        if not group.company:
            group.woken.wait()
        if group.company:  # otherwise another thread has run it
            self._run_company(group.company)
        return group.result()

    def _run_company(self, company: Sequence[_Group[R]]) -> None:
        """Run groups in this thread's slot, hand the slot on, wake the threads of the groups."""
        try:
            self._run_together(company)
        finally:
            self._hand_on()
            for group in company:
                group.woken.set()

    def _hand_on(self) -> None:
        """Give the slot to the thread of the group that has waited longest, or free it."""
        with self._lock:
            if not self._waiting:
                self._free_slots += 1
                return
            company = self._take_next()
        company[0].company = company
        company[0].woken.set()

    def _take_next(self) -> list[_Group[R]]:
        """Remove the first waiting group and those that fit into its pass, in order."""
        taken: list[_Group[R]] = []
        left: list[_Group[R]] = []
        lengths: list[int] = []
        for group in self._waiting:
            together = [*lengths, *map(len, group.token_ids)]
            if not taken or self._fits(together):
                taken.append(group)
                lengths = together
            else:
                left.append(group)
        self._waiting = left
        return taken

    def _fits(self, lengths: Sequence[int]) -> bool:
        """Return whether texts of these lengths are cheaper in one pass than in several."""
        longest = max(lengths)
        is_short = longest * len(lengths) <= self._shared_tokens
        return is_short and longest <= PADDING_RATIO * min(lengths)

    def _run_together(self, company: Sequence[_Group[R]]) -> None:
        """Run groups in one pass; if it fails, each by itself, so that only the bad one fails."""
        try:
            results = self._run_pass([ids for group in company for ids in group.token_ids])
        except Exception as error:  # noqa: BLE001  raised in the thread of the group
            if len(company) == 1:
                company[0].error = error
                return
            for group in company:
                self._run_together([group])
            return
        start = 0
        for group in company:
            group.results = results[start : start + len(group.token_ids)]
            start += len(group.token_ids)
