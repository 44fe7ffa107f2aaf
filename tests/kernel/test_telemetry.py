"""Latencies, errors by stage, log lines: cheap, exact, nobody else's, and never memory text."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import example, given
from hypothesis import strategies as st

from engram.kernel import heartbeat, latency, telemetry
from engram.kernel.models import LatencyHour, StageError, WorkerPulse, WorkerTally, Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import WorkspaceNotSetError, in_workspace
from tests.conftest import NOW, Tenant

ME = "web@here/1"


@pytest.fixture
def lines() -> Iterator[list[dict[str, object]]]:
    """Collect the structured lines that are written meanwhile."""
    written: list[dict[str, object]] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(json.loads(record.getMessage()))

    logger, handler = logging.getLogger("engram.events"), Collect()
    logger.addHandler(handler)
    yield written
    logger.removeHandler(handler)


def now() -> datetime:
    return datetime.now(UTC)


def counted(stage: str) -> int:
    return sum(sum(row.counts) for row in LatencyHour.objects.filter(stage=stage))


@given(st.floats(latency.FLOOR_SECONDS, 600))
def test_a_duration_is_told_within_five_percent(seconds: float) -> None:
    told = latency.seconds_of(latency.bucket_of(seconds))
    assert abs(told - seconds) / seconds <= 0.05


@given(st.floats())
@example(1.7e308)
@example(math.nan)
def test_every_float_has_a_bucket(seconds: float) -> None:
    assert 0 <= latency.bucket_of(seconds) < latency.BUCKETS


def test_a_task_at_its_time_limit_does_not_fall_into_the_last_bucket() -> None:
    assert latency.bucket_of(600) < latency.BUCKETS - 1
    assert latency.bucket_of(math.inf) == latency.BUCKETS - 1


@given(
    st.lists(st.floats(1e-4, 100), min_size=1, max_size=200),
    st.sampled_from([0.5, 0.95, 0.99, 1.0]),
)
def test_percentiles_are_those_of_the_durations(taken: list[float], share: float) -> None:
    counts = [0] * latency.BUCKETS
    for seconds in taken:
        counts[latency.bucket_of(seconds)] += 1
    exact = sorted(taken)[max(math.ceil(share * len(taken)), 1) - 1]
    told = latency.percentile(counts, share)
    assert told is not None
    assert abs(told - exact) / exact <= 0.05


def test_no_durations_have_no_percentile() -> None:
    assert latency.percentile([0] * latency.BUCKETS, 0.5) is None


def test_counting_costs_no_query_and_no_more_room(tenant: Tenant) -> None:
    latency.pending.pop_all()
    with CaptureQueriesContext(connection) as asked:
        for n in range(10_000):
            telemetry.observe("commit", n / 1000, tenant.workspace)
    histograms = latency.pending.pop_all()
    assert len(asked) == 0
    assert sum(sum(histogram.bucket_counts()) for histogram in histograms.values()) == 10_000
    assert len(histograms) <= 2  # one an hour, and the hour may have turned
    assert all(len(histogram.counts) <= latency.BUCKETS for histogram in histograms.values())


def test_what_was_counted_of_a_workspace_that_is_gone_is_nobodys(
    tenant: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    gone = Workspace(slug="gone", name="Gone")  # as evaluations roll theirs back
    for workspace in (gone, tenant.workspace, gone):
        telemetry.observe("recall", 0.004, workspace)
    with CaptureQueriesContext(connection) as asked:
        latency.write(ME)
    assert caplog.records == []
    assert not any("INSERT" in row["sql"] and str(gone.pk) in row["sql"] for row in asked)
    with in_workspace(tenant.workspace):
        found = latency.read_latencies(["recall"], since=now() - timedelta(hours=1))
    assert found["recall"].count == 1


def test_what_was_counted_is_written_once(tenant: Tenant) -> None:
    telemetry.observe("commit", 0.004, tenant.workspace)
    telemetry.observe("commit", 0.008, tenant.workspace)
    latency.write(ME)
    latency.write(ME)
    with in_workspace(tenant.workspace):
        assert counted("commit") == 2
        telemetry.observe("commit", 0.5)
    latency.write("web@here/2")
    with in_workspace(tenant.workspace):
        found = latency.read_latencies(["commit", "judge"], since=now() - timedelta(hours=1))
        assert WorkerTally.objects.get(worker=ME).count == 2
        assert WorkerTally.objects.get(worker="web@here/2").count == 1
    commit, judge = found["commit"], found["judge"]
    assert commit.count == 3
    assert commit.mean == pytest.approx(0.512 / 3)
    assert commit.p50 == pytest.approx(0.008, rel=0.05)
    assert commit.p99 == pytest.approx(0.5, rel=0.05)
    assert commit.last == 0.5
    assert (judge.count, judge.p50, judge.mean, judge.last) == (0, None, None, None)


def test_hours_outside_the_window_do_not_count(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        one = [1, *[0] * (latency.BUCKETS - 1)]
        for hours in (0, 2, 30):
            hour = (now() - timedelta(hours=hours)).replace(minute=0, second=0, microsecond=0)
            LatencyHour.objects.create(stage="recall", hour=hour, counts=one, total_seconds=1)
        day = latency.read_latencies(["recall"], since=now() - timedelta(hours=24))["recall"]
        two_days = latency.read_latencies(["recall"], since=now() - timedelta(hours=48))["recall"]
    assert (day.count, two_days.count) == (2, 3)


def test_a_histogram_with_fewer_buckets_still_adds_up(tenant: Tenant) -> None:
    hour = now().replace(minute=0, second=0, microsecond=0)
    with in_workspace(tenant.workspace):
        LatencyHour.objects.create(stage="recall", hour=hour, counts=[1, 2], total_seconds=1)
        telemetry.observe("recall", 0.1)
    latency.write(ME)
    with in_workspace(tenant.workspace):
        assert counted("recall") == 4


def test_latencies_of_a_deleted_workspace_are_dropped(tenant: Tenant, neighbour: Tenant) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as when a transaction commits
    telemetry.observe("recall", 0.1, uuid4())
    telemetry.observe("recall", 0.1, neighbour.workspace)
    latency.write(ME)
    with in_workspace(neighbour.workspace):
        assert counted("recall") == 1


def test_latencies_stay_in_their_workspace(tenant: Tenant, neighbour: Tenant) -> None:
    telemetry.observe("recall", 0.1, neighbour.workspace)
    latency.write(ME)
    with in_workspace(tenant.workspace):
        assert latency.read_latencies(["recall"], since=NOW)["recall"].count == 0
        assert WorkerTally.objects.count() == 0


def test_old_latencies_are_dropped(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        for days in (34, 36):
            at = now() - timedelta(days=days)
            LatencyHour.objects.create(stage="recall", hour=at, counts=[1], total_seconds=1)
        latency.drop_old(now())
        assert LatencyHour.objects.count() == 1


def test_a_refused_request_is_no_latency_and_a_crash_is_one(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        with pytest.raises(StaleError), telemetry.timed("commit"):
            raise StaleError("changed meanwhile")
        with pytest.raises(ZeroDivisionError), telemetry.timed("detect"):
            raise ZeroDivisionError
        with telemetry.timed("judge"):
            pass
    latency.write(ME)
    with in_workspace(tenant.workspace):
        assert (counted("commit"), counted("detect"), counted("judge")) == (0, 1, 1)


def test_a_stage_without_a_workspace_is_a_mistake() -> None:
    with pytest.raises(WorkspaceNotSetError), telemetry.timed("commit"):
        raise AssertionError


def test_the_newest_500_errors_of_a_workspace_stay(tenant: Tenant, neighbour: Tenant) -> None:
    with in_workspace(neighbour.workspace):
        telemetry.record_error("judge", "judge_failed", now=NOW)
    with in_workspace(tenant.workspace):
        StageError.objects.bulk_create(
            StageError(stage="detect", code=f"e{n}", at=NOW) for n in range(500)
        )
        telemetry.record_error("judge", "judge_failed", now=NOW)
        codes = list(StageError.objects.values_list("code", flat=True))
    assert len(codes) == 500
    assert (codes[0], codes[-1]) == ("judge_failed", "e1")
    with in_workspace(neighbour.workspace):
        assert StageError.objects.count() == 1


def test_an_error_is_kept_outside_of_any_transaction(tenant: Tenant) -> None:
    telemetry.record_error(
        "detect", "detect_failed", detail="ValueError", now=NOW, workspace=tenant.workspace
    )
    with in_workspace(tenant.workspace):
        row = StageError.objects.get()
    assert (row.stage, row.code, row.detail, row.at) == (
        "detect", "detect_failed", "ValueError", NOW,
    )  # fmt: skip


def test_a_failure_is_told_though_its_row_goes_with_the_transaction(
    tenant: Tenant, lines: list[dict[str, object]]
) -> None:
    with in_workspace(tenant.workspace):
        with transaction.atomic():
            telemetry.record_error("judge", "judge_failed", now=NOW)
            transaction.set_rollback(True)
        assert StageError.objects.count() == 0
    assert [(line["event"], line["level"]) for line in lines] == [("judge_failed", "warning")]


def test_noting_an_error_in_a_broken_transaction_breaks_nothing_more(
    tenant: Tenant, lines: list[dict[str, object]]
) -> None:
    with in_workspace(tenant.workspace):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                try:
                    cursor.execute("SELECT 1 / 0")
                except DatabaseError:
                    telemetry.record_error("judge", "judge_failed", now=NOW)
                    raise
        except DatabaseError:
            pass
        assert StageError.objects.count() == 0
    assert [line["event"] for line in lines] == ["judge_failed", "error_not_kept"]


def test_a_long_detail_is_cut(tenant: Tenant) -> None:
    with in_workspace(tenant.workspace):
        telemetry.record_error("judge", "judge_failed", detail="x" * 999, now=NOW)
        assert len(StageError.objects.get().detail) == 300


def test_an_event_is_one_json_line(lines: list[dict[str, object]]) -> None:
    telemetry.log_event("score", "predictor", candidates=80, ms=0.4, session_key="s\n1", top=NOW)
    (line,) = lines
    assert line.pop("at")
    assert line == {
        "event": "score",
        "category": "predictor",
        "level": "info",
        "candidates": 80,
        "ms": 0.4,
        "session_key": "s\n1",
        "top": "2026-05-04 12:00:00+00:00",
    }


def test_predictor_errors_have_the_event_names_of_the_source_document(
    tenant: Tenant, lines: list[dict[str, object]]
) -> None:
    with in_workspace(tenant.workspace):
        for code in ("predictor_timeout", "predictor_crash"):
            telemetry.record_error("predictor_score", code, session_key="s-1", now=NOW)
        telemetry.record_error("predictor_train", "predictor_train_failure", now=NOW)
    assert [(line["category"], line["event"], line["code"]) for line in lines] == [
        ("predictor", "timeout", "predictor_timeout"),
        ("predictor", "crash", "predictor_crash"),
        ("predictor", "train_failure", "predictor_train_failure"),
    ]


def test_only_plain_values_and_short_texts_are_logged(
    tenant: Tenant, lines: list[dict[str, object]]
) -> None:
    secret = "the launch codes are under the third flowerpot " * 9
    telemetry.log_event("score", "predictor", row=[secret], of={"text": secret}, long=secret)
    (line,) = lines
    assert (line["row"], line["of"]) == ("list", "dict")
    assert len(str(line["long"])) == telemetry.WORD_MAX_CHARS


@pytest.mark.django_db
def test_a_pulse_is_one_row_a_process(tenant: Tenant) -> None:
    telemetry.observe("commit", 0.25, tenant.workspace)
    heartbeat.tally.count_task_start()
    heartbeat.tally.count_task_start()
    heartbeat.tally.count_task_end("conflicts.detect", "done", 2.0)
    heartbeat.tally.count_failure("judge", "judge_failed")
    for at in (NOW, NOW + timedelta(seconds=5)):
        heartbeat.beat(heartbeat.tally.row(ME, started_at=NOW, now=at))
    row = WorkerPulse.objects.get()
    assert (row.is_busy, row.last_ms, row.beat_at) == (True, 2000.0, NOW + timedelta(seconds=5))
    assert row.counts == {
        "tasks": {"conflicts.detect": {"done": 1}},
        "errors": {"judge judge_failed": 1},
        "requests": {},
        "stages": {
            "commit": {"seconds": 0.25, "buckets": {str(latency.bucket_of(0.25)): 1}},
        },
    }


@pytest.mark.django_db
def test_a_silent_process_is_dead_after_a_minute_and_forgotten_after_a_day() -> None:
    heartbeat.beat(heartbeat.tally.row(ME, started_at=NOW, now=NOW))
    assert [row.name for row in heartbeat.recent_processes(NOW + timedelta(seconds=60))] == [ME]
    assert heartbeat.recent_processes(NOW + timedelta(seconds=61)) == []
    heartbeat.beat(heartbeat.tally.row("web@here/2", started_at=NOW, now=NOW + timedelta(days=2)))
    assert [row.name for row in WorkerPulse.objects.all()] == ["web@here/2"]


def test_an_outage_is_noted_every_ten_seconds(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter([100.0, 104.0, 105.0, 109.9, 110.1])
    monkeypatch.setattr(telemetry, "perf_counter", lambda: next(clock))
    for of in (tenant, tenant, neighbour, tenant, tenant):
        telemetry.record_outage(
            "embedding", "embedding_unavailable", now=NOW, workspace=of.workspace
        )
    for of, count in ((tenant, 2), (neighbour, 1)):
        with in_workspace(of.workspace):
            assert StageError.objects.count() == count
