"""One web process, on the listening socket that it inherited: python -m engram.supervisor.web FD.

uvicorn's own `--fd` takes every socket for a unix one, and so misses the options that keep small
answers on TCP fast.
"""

import socket
import sys

import uvicorn

GRACE_SECONDS = 3  # for answers under way when a signal comes


def main() -> None:
    """Serve until told to stop."""
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
