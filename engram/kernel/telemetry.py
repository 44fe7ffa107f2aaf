"""What the service tells of itself: latencies, errors by stage, structured log events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from time import perf_counter

import structlog

from engram.kernel.models import StageError

log = structlog.get_logger("engram")


def record_error(
    stage: str, code: str, *, detail: str = "", session_key: str = "", now: datetime
) -> None:
    """Note a failure of a stage of the current workspace; `detail` holds no memory text."""
    StageError.objects.create(
        stage=stage, code=code, detail=detail[:300], session_key=session_key, at=now
    )
    log_event(code, stage, session_key=session_key, detail=detail)


def log_event(event: str, category: str, **fields: object) -> None:
    """Write one structured log line."""
    log.info(event, category=category, **fields)


def observe(stage: str, seconds: float) -> None:
    """Count how long one run of a stage took in the current workspace."""


@contextmanager
def timed(stage: str) -> Iterator[None]:
    """Observe how long the block takes."""
    started = perf_counter()
    try:
        yield
    finally:
        observe(stage, perf_counter() - started)
