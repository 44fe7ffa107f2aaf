"""`manage.py up`: run everything that Engram needs, as one process tree.

1. Lock the home (one supervisor per home) and bind the port, before anything is started.
2. Start services (`engram.embedded`), unless variables name real ones.
3. Run migrations, collect static files and load the demo workspace, in one process.
4. Run web, worker and scheduler until a signal comes.

No process manager (circus, honcho, supervisord) starts services, then a preparation, then children
under another user on an inherited socket. Starting children again, which they do, is
`embedded/child.py` (155 lines, which the keeper of the services needs too) and 70 lines of
`tree.py`; the other 700 would stay, and circus would bring ZeroMQ and tornado.

Does not import Django, so that the supervisor is small and reports a taken port within a tenth of a
second. Web processes inherit one listening socket, so that connections wait in its queue while a
killed one restarts.
"""

from __future__ import annotations

import argparse
import os
import sys

from engram import embedded
from engram.supervisor.plan import (
    CannotStartError,
    Plan,
    add_arguments,
    claim_home,
    listen,
    names_model,
)
from engram.supervisor.terminal import Console, own_url
from engram.supervisor.tree import EXIT_FAILED, Supervisor

__all__ = ["add_arguments", "main"]


def main(arguments: list[str]) -> int:
    """Run `manage.py up`."""
    parser = argparse.ArgumentParser(prog="manage.py up", description="Run all of Engram.")
    add_arguments(parser)
    options = parser.parse_args(arguments)
    home = embedded.home_folder()
    try:
        with claim_home(home) as lock, listen(options.host, options.port) as listener:
            port = listener.getsockname()[1]
            lock.write(f"{own_url(options.host, port)} (process {os.getpid()})\n")
            lock.flush()
            plan = Plan(
                home=home,
                host=options.host,
                port=port,
                web_processes=options.web_processes,
                worker_processes=options.worker_processes,
                has_demo=not options.no_demo,
                has_model=names_model(os.environ),
            )
            return Supervisor(plan, listener, Console(home)).run()
    except (CannotStartError, embedded.EmbeddedServicesError) as error:
        sys.stderr.write(f"engram: {error}\n")
        return EXIT_FAILED
