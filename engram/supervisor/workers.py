"""Which Celery workers run, and the queues that each of them serves."""

from __future__ import annotations

from collections.abc import Iterator

from engram.supervisor.plan import Plan

MODEL_THREADS = 4  # workspaces that can wait for a language model concurrently
OUTGOING_THREADS = 4  # webhooks that can wait for their targets concurrently
# Detection, judging and training yield the processors to requests that agents wait for. Where Linux
# shares them among sessions, as on desktops, `nice` counts within the worker's own session only.
_YIELD = '{ echo 10 > /proc/self/autogroup; } 2> /dev/null; exec nice -n 10 "$@"'
IN_BACKGROUND = ["sh", "-c", _YIELD, "sh"]


def workers(plan: Plan) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each worker's name, what launches it, and its options.

    Of several processes half, rounded down, do bulk work, so that the others are always free for
    what somebody waits for. One process alone takes turns between the queues.
    """
    short, bulk = ["engram"], plan.worker_processes // 2
    if plan.has_model:  # threads that wait for a language model, beside the computing processes
        yield "models", [], _options("models", ["models"], MODEL_THREADS, "--pool=threads")
    else:
        short.append("models")
    if bulk:
        yield "bulk", IN_BACKGROUND, _options("bulk", ["bulk"], bulk)
    else:
        short.append("bulk")
    yield (
        "outgoing",
        IN_BACKGROUND,
        _options("outgoing", ["outgoing"], OUTGOING_THREADS, "--pool=threads"),
    )
    yield "worker", IN_BACKGROUND, _options("worker", short, plan.worker_processes - bulk)


def _options(name: str, queues: list[str], concurrency: int, *more: str) -> list[str]:
    names = [f"--hostname={name}@%h", f"--queues={','.join(queues)}"]
    return [*names, f"--concurrency={concurrency}", *more]
