"""Telemetry: latencies, errors by stage, structured log events.

It never contains memory text, and never raises.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from time import perf_counter
from typing import Final
from uuid import UUID

import structlog
from django.db import Error, connection, transaction
from django.db.transaction import TransactionManagementError

from engram.kernel import heartbeat, latency
from engram.kernel.models import StageError, Workspace
from engram.kernel.refusals import RefusalError
from engram.kernel.tenancy import current_workspace_id, has_workspace, in_workspace

STAGES: Final = (
    "commit", "recall", "session_start", "predictor_score", "predictor_train", "detect", "judge",
    "extract",
)  # fmt: skip
# The error codes of each stage: `embedding` is part of several stages, `narrate` of detect,
# `drift` of recall, session start and notes.
CODES: Final = {
    "detect": ("detect_failed",),
    "drift": ("drift_failed",),
    "embedding": ("embedding_unavailable",),
    "extract": ("extract_failed",),
    "judge": ("judge_failed", "judge_given_up"),
    "narrate": ("narrate_failed", "narrate_unavailable"),
    "predictor_score": (
        "predictor_checkpoint_error", "predictor_crash", "predictor_loading",
        "predictor_parse_error", "predictor_timeout",
    ),
    "predictor_train": ("predictor_train_failure",),
}  # fmt: skip
ERRORS_KEPT = 500  # of a workspace
WORD_MAX_CHARS = 200  # of a text in a log line
OUTAGE_SECONDS = 10.0
OUTAGES_MAX = 10_000

_reported_at: dict[tuple[UUID, str, str], float] = {}

log = structlog.wrap_logger(
    logging.getLogger("engram.events"),
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.JSONRenderer(),
    ],
    wrapper_class=structlog.stdlib.BoundLogger,
)


def record_error(
    stage: str,
    code: str,
    *,
    detail: str = "",
    session_key: str = "",
    now: datetime,
    workspace: Workspace | UUID | None = None,
) -> None:
    """Record a failure of a stage of the current (or given) workspace, as a row and a log line.

    `detail` has kinds and numbers, never memory text. The row is part of the caller's transaction,
    so record a failure that rolls back after the rollback; the log line is written at once. Only
    the newest 500 rows are kept. Never raises.
    """
    heartbeat.tally.count_failure(stage, code)
    category, event = ("predictor", code.removeprefix("predictor_"))
    if not stage.startswith("predictor"):
        category, event = stage, code
    fields = {"stage": stage, "code": code, "session_key": session_key, "detail": detail}
    log.warning(event, category=category, **_plain_fields(fields))
    row = StageError(
        stage=stage, code=code, detail=detail[:300], session_key=session_key[:200], at=now
    )
    try:
        if workspace is None or has_workspace():
            with transaction.atomic():
                _keep(row)
        else:
            with in_workspace(workspace):
                _keep(row)
    except (Error, TransactionManagementError) as error:
        fields |= {"detail": type(error).__name__}
        log.warning("error_not_kept", category=category, **_plain_fields(fields))


def record_outage(
    stage: str, code: str, *, detail: str = "", now: datetime, workspace: Workspace | UUID
) -> None:
    """Record a failure that affects every request, at most every ten seconds.

    Otherwise an outage would displace all other stored errors.
    """
    key, at = (_id_of(workspace), stage, code), perf_counter()
    if at - _reported_at.get(key, -math.inf) < OUTAGE_SECONDS:
        return
    if len(_reported_at) >= OUTAGES_MAX:
        _reported_at.clear()
    _reported_at[key] = at
    record_error(stage, code, detail=detail, now=now, workspace=workspace)


def _keep(row: StageError) -> None:
    """Insert the row, and delete all but the newest 500, skipping rows locked by others."""
    row.save()
    table = connection.ops.quote_name(StageError._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            DELETE FROM {table} WHERE id IN (
                SELECT id FROM {table} WHERE workspace_id = %s
                ORDER BY id DESC OFFSET %s FOR UPDATE SKIP LOCKED
            )
            """,  # noqa: S608  names only
            [row.workspace_id, ERRORS_KEPT],
        )


def log_event(event: str, category: str, **fields: object) -> None:
    """Write one structured log line of ids, names and numbers; texts are cut."""
    log.info(event, category=category, **_plain_fields(fields))


def _plain_fields(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: _plain(value) for name, value in fields.items()}


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value[:WORD_MAX_CHARS]
    if isinstance(value, UUID | date):
        return str(value)
    return type(value).__name__


def observe(stage: str, seconds: float, workspace: Workspace | UUID | None = None) -> None:
    """Count the duration of a run of a stage in the current (or given) workspace.

    Takes microseconds and no query: counts are written later, see `kernel.latency`.
    """
    latency.pending.add(_id_of(workspace), stage, seconds)
    heartbeat.tally.count_stage(stage, seconds)


@contextmanager
def timed(stage: str, workspace: Workspace | UUID | None = None) -> Iterator[None]:
    """Measure the duration of the block; refused requests do not count."""
    workspace_id = _id_of(workspace)
    started = perf_counter()
    try:
        yield
    except RefusalError:
        raise
    except BaseException:
        observe(stage, perf_counter() - started, workspace_id)
        raise
    observe(stage, perf_counter() - started, workspace_id)


def _id_of(workspace: Workspace | UUID | None) -> UUID:
    if workspace is None:
        return current_workspace_id()
    return workspace if isinstance(workspace, UUID) else workspace.pk
