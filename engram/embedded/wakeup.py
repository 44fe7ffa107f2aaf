"""Wake an event loop that waits in a selector by signals."""

import selectors
import signal
import socket
from collections.abc import Callable, Iterable


def wake_on_signals(
    selector: selectors.BaseSelector,
    stop: Callable[[], None],
    stop_signals: Iterable[signal.Signals],
) -> tuple[socket.socket, socket.socket]:
    """Call `stop` on the given signals, and wake the selector on these and on a child's exit.

    The returned sockets must stay referenced as long as the loop runs.
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
