"""Keep one child process running: restart it when it ends, and read its output by lines."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

FIRST_RETRY_SECONDS = 0.2
LAST_RETRY_SECONDS = 15.0
STABLE_SECONDS = 30.0  # a child that lived this long starts again at once
READ_BYTES = 65536


class Child:
    """A child process in the event loop of its owner.

    Parameters ---------- prepare Called before each start; returns the command line and the `Popen`
    options. May raise. report Called with each line of the child's output, and with `(line,
    is_ours=True)` for its events.
    """

    def __init__(
        self,
        name: str,
        *,
        prepare: Callable[[], tuple[list[str], dict[str, Any]]],
        report: Callable[[str, bool], None],
        selector: selectors.BaseSelector,
        stop_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.failures = 0  # exits since it was last stable
        self.next_start_at = 0.0
        self._prepare, self._report, self._selector = prepare, report, selector
        self._stop_signal = stop_signal
        self._started_at = 0.0
        self._unfinished = b""
        self._leads_group = False

    def look_after(self) -> None:
        """Start the child if it is due, and handle its exit."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.next_start_at:
                self._start(now)
        elif self.process.poll() is not None:
            self._note_end(self.process, now)

    def seconds_to_next_start(self) -> float | None:
        """Return the seconds until the next start; None if none is due."""
        return max(0.0, self.next_start_at - time.monotonic()) if self.process is None else None

    def ask_to_stop(self) -> None:
        """Send the signal for a graceful stop."""
        if self.process is not None:
            self.process.send_signal(self._stop_signal)

    def wait_for_end(self, deadline: float) -> None:
        """Read its output until it ends; kill it at the deadline (monotonic)."""
        is_killed = False
        while self.process is not None:
            self._read()
            if self.process.poll() is not None:
                self._close(self.process)
                self._kill(self.process)
                self.process = None
            elif time.monotonic() >= deadline and not is_killed:
                is_killed = True
                self._report(f"did not stop in time, killed (process {self.process.pid})", True)
                self._kill(self.process)
            else:
                time.sleep(0.01)

    def _start(self, now: float) -> None:
        try:
            command, options = self._prepare()
            self.process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                **options,
            )
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            self._retry_later(f"cannot be started: {error}", now)
            return
        self._leads_group = bool(options.get("start_new_session"))
        self._started_at = now
        pipe = self._pipe(self.process)
        os.set_blocking(pipe, False)
        self._selector.register(pipe, selectors.EVENT_READ, self._read)

    def _note_end(self, process: subprocess.Popen[bytes], now: float) -> None:
        self._read()
        self._close(process)
        self._kill(process)
        self.process = None
        if now - self._started_at > STABLE_SECONDS:
            self.failures = 0
        self._retry_later(f"ended with {process.returncode}", now)

    def _retry_later(self, what: str, now: float) -> None:
        delay_seconds = min(FIRST_RETRY_SECONDS * 2**self.failures, LAST_RETRY_SECONDS)
        self.failures += 1
        self.next_start_at = now + delay_seconds
        self._report(f"{what}; again in {delay_seconds:.1f} s", True)

    def _read(self) -> None:
        if self.process is None:
            return
        pipe = self._pipe(self.process)
        try:
            received = os.read(pipe, READ_BYTES)
        except BlockingIOError:
            return
        if not received:
            self._forget(pipe)
        *lines, self._unfinished = (self._unfinished + received).split(b"\n")
        for line in lines:
            self._report(line.decode(errors="replace").rstrip(), False)

    def _close(self, process: subprocess.Popen[bytes]) -> None:
        if self._unfinished:
            self._report(self._unfinished.decode(errors="replace"), False)
            self._unfinished = b""
        self._forget(self._pipe(process))
        if process.stdout is not None:
            process.stdout.close()

    def _forget(self, pipe: int) -> None:
        if pipe in self._selector.get_map():
            self._selector.unregister(pipe)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the child, and its process group if it has one."""
        try:
            if self._leads_group:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        except ProcessLookupError:
            return

    @staticmethod
    def _pipe(process: subprocess.Popen[bytes]) -> int:
        if process.stdout is None:
            raise ValueError("a child is started with a pipe")
        return process.stdout.fileno()
