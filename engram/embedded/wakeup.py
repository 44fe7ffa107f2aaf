"""Signals for an event loop that sleeps in a selector."""

import selectors
import signal
import socket
from collections.abc import Callable, Iterable


def wake_on_signals(
    selector: selectors.BaseSelector,
    stop: Callable[[], None],
    stop_signals: Iterable[signal.Signals],
) -> tuple[socket.socket, socket.socket]:
    """Call `stop` on the named signals, and wake the selector by these and by a child's end.

    The returned sockets have to live as long as the loop.
    """
    reader, writer = socket.socketpair()
    for end in (reader, writer):
        end.setblocking(False)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for one in stop_signals:
        signal.signal(one, lambda *_: stop())
    selector.register(reader, selectors.EVENT_READ, lambda: reader.recv(4096))
    return reader, writer
