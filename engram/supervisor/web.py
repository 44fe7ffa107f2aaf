"""Run one web process on an inherited listening socket: python -m engram.supervisor.web FD.

uvicorn's `--fd` treats every socket as a unix socket, without the TCP options for small responses.
"""

import socket
import sys

import uvicorn

GRACE_SECONDS = 3  # for running requests when a signal comes


def main() -> None:
    """Serve until a stop signal."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    config = uvicorn.Config(
        "engram.asgi:application",
        access_log=False,
        log_level="warning",
        proxy_headers=False,  # engram.asgi does it, by ENGRAM_TRUSTED_PROXIES
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
