"""One hook event: the agent's JSON on standard input, text for the agent on standard output.

`python3 -I -S hook.py` ends with 0 `DEADLINE_SECONDS` after its start, whatever the service, the
name server, the disk or the standard input do: a child process does all the work, and this one
takes from it what is there in time. The child goes on for some seconds without anybody
waiting: what came too late is kept for the next prompt. `hook.py --send` sends what waits on disk.

Modules are imported where they are used: on a slow machine imports take most of the time.
"""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import sys
import time

# Of the process, the start of the interpreter included; its end takes some more on a busy machine.
DEADLINE_SECONDS = 0.22
DEADLINE_VARIABLE = "ENGRAM_HOOKS_DEADLINE_MS"
CHILD_SECONDS = 8
CHILD_ENDS_SECONDS = 12  # what a call into the system does not let the first limit end
INTERPRETER_SECONDS = 0.03  # how long it takes to start, where the system does not say
LENGTH_BYTES = 4

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Progress:
    """What the child has for the agent so far."""

    def __init__(self, pipe: int, deadline: float):
        self._pipe, self._deadline = pipe, deadline
        self._is_closed = False

    @property
    def is_late(self) -> bool:
        """Whether nobody waits any longer."""
        return self._is_closed or time.monotonic() >= self._deadline

    def give(self, output: bytes) -> bool:
        """Replace what the agent gets; return whether it still waits."""
        try:
            os.write(self._pipe, len(output).to_bytes(LENGTH_BYTES, "big") + output)
        except OSError:
            self._is_closed = True
        return not self.is_late


def work(progress: Progress) -> None:
    """Handle the event; every failure is silent, because an agent must not notice any."""
    try:
        from engram_hooks import events

        events.handle(sys.stdin.buffer.read(), progress)
    except BaseException as error:  # noqa: BLE001  the agent goes on in any case
        _note(error)


def _note(error: BaseException) -> None:
    try:
        from engram_hooks import state

        state.log("failed: " + type(error).__name__)
    except BaseException:  # noqa: BLE001, S110  there is nothing left to tell
        pass


def _give_up(*_: object) -> None:
    raise TimeoutError


def _be_child(pipe: int, deadline: float) -> None:
    """Work apart from the agent, and without its output, which it reads to the end."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(CHILD_SECONDS)
    faulthandler.dump_traceback_later(CHILD_ENDS_SECONDS, exit=True, file=nothing)
    work(Progress(pipe, deadline))


def _output(pipe: int, deadline: float) -> bytes:
    """Return what the child gave last before the deadline."""
    received, output = b"", b""
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([pipe], [], [], left)
        piece = os.read(pipe, 65_536) if ready else b""
        if not piece:
            break
        received += piece
        while len(received) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(received[:LENGTH_BYTES], "big")
            if len(received) < end:
                break
            output, received = received[LENGTH_BYTES:end], received[end:]
    return output


def _deadline() -> float:
    """Return when this process must end, by the monotonic clock."""
    said = os.environ.get(DEADLINE_VARIABLE, "")
    allowed = int(said[:6]) / 1000 if said.isascii() and said.isdigit() else DEADLINE_SECONDS
    return time.monotonic() - _age() + allowed


def _age() -> float:
    """Return how many seconds ago this process started."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        now = time.clock_gettime(time.CLOCK_BOOTTIME)
        age = now - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return INTERPRETER_SECONDS
    return min(max(age, 0.0), DEADLINE_SECONDS)


def main() -> None:
    """Run one event, or send what waits."""
    if sys.argv[1:] == ["--send"]:
        from engram_hooks import sending

        sending.run()
        return
    try:
        deadline = _deadline()
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(reader)
            _be_child(writer, deadline)
        else:
            os.close(writer)
            output = _output(reader, deadline)
            while output:
                output = output[os.write(1, output) :]
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
