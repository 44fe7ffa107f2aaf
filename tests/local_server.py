"""Runs the servers that stand in for others' in a thread of the test's process."""

from __future__ import annotations

import threading
from socketserver import BaseServer

# How often a server looks whether it is to end, which each test waits for; usually .5 s.
POLL_SECONDS = 0.02


def serve(server: BaseServer) -> threading.Thread:
    """Let a server answer until `stop`; return its thread."""
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": POLL_SECONDS}, daemon=True
    )
    thread.start()
    return thread


def stop(server: BaseServer, thread: threading.Thread) -> None:
    """End a server and close its socket."""
    server.shutdown()
    thread.join()
    server.server_close()
