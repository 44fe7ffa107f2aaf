"""The parts beside the predictor: what each is scored by, with a handful of queries."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db.models import Count, Min, Q

from conflicts.models import Awaits, DetectionRun
from conflicts.services.detection import backlog
from conflicts.services.detection.runs import summarise_runs
from engram.console.diagnostics.domain import STARTING_WORDS, Domain
from engram.console.health import broker_check
from engram.embedded.places import read_record
from engram.kernel import embedding, heartbeat, labels, llm
from engram.kernel.models import ModelSpend, StageError, WorkerPulse, Workspace
from memories.models import Memory, Session
from memories.services.gate.metrics import GateMetrics, measure_gate
from memories.services.index.note_chunks import select_due
from memories.services.index.search_index import has_vector_index, width_in_use
from predictor.models import Judgement, JudgeStatus
from predictor.services.training.due import training_lease

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
GATE_DAYS = timedelta(days=30)
# Longest wait of a queue in seconds, and the score up to it.
LAGS = ((60, 1.0), (600, 0.7), (3600, 0.4))
LOST = 0.2
NOBODY_WORKS = 0.3
LITTLE_DISK_BYTES = 2 * 1024**3
NO_DISK_BYTES = 200 * 1024**2
FEW_VECTORS = 5_000  # these are read one by one all the same
LEAST_JUDGED = 5  # merges, before their share says anything


def gate_metrics(now: datetime) -> GateMetrics:
    """Measure the gate over the last thirty days."""
    return measure_gate(since=now - GATE_DAYS, now=now)


def queue(processes: Sequence[WorkerPulse], *, now: datetime) -> Domain:
    """Score the queue by its oldest row, and by whether a worker and the scheduler run."""
    alive = Counter(heartbeat.kind_of(row) for row in processes)
    is_starting = heartbeat.are_starting(processes, now) and not (alive["worker"] and alive["beat"])
    ready = Q(not_before=None) | Q(not_before__lte=now)
    due = backlog.select_due().filter(ready).aggregate(n=Count("pk"), oldest=Min("since"))
    judging = Judgement.objects.filter(ready, status=JudgeStatus.DUE)
    judged = judging.aggregate(n=Count("pk"), oldest=Min("due_at"))
    training_since = training_lease().due_at
    broker = broker_check()
    oldest = [at for at in (due["oldest"], judged["oldest"], training_since) if at is not None]
    lag = max((now - min(oldest)).total_seconds(), 0.0) if oldest else 0.0
    score = next((worth for longest, worth in LAGS if lag <= longest), LOST)
    text = f"The oldest has waited for {_span(lag)}." if oldest else "Nothing waits."
    if is_starting:
        text = f"{text} {STARTING_WORDS}"
    if not alive["worker"]:
        score = min(score, NOBODY_WORKS)
        text += "" if is_starting else " No worker has been heard of for a minute."
    elif not alive["beat"]:
        score = min(score, 0.5)
        text += "" if is_starting else " The scheduler of sweeps is silent."
    if not broker["ok"]:
        score, text = min(score, NOBODY_WORKS), f"{text} The broker does not answer."
    return Domain(
        "queue",
        score,
        text,
        {
            "detection": due["n"],
            "model": backlog.select_due(Awaits.ANSWERS, Awaits.MODEL).count(),
            "judging": judged["n"],
            "training_due_since": training_since,
            "oldest_seconds": lag if oldest else None,
            "workers": alive["worker"],
            "web_processes": alive["web"],
            "schedulers": alive["beat"],
            "broker": "answers" if broker["ok"] else "silent",
        },
        is_starting=is_starting and broker["ok"],
    )


def storage(*, now: datetime) -> Domain:
    """Score the disk of the embedded database; that of another server cannot be read."""
    free = _free_bytes()
    score, text = 1.0, "The database is on a server of its own; watch its disk there."
    if free is not None:
        text = f"{free / 1024**3:.1f} GB are free."
        if free < NO_DISK_BYTES:
            score, text = 0.1, f"{text} PostgreSQL stops when the disk is full."
        elif free < LITTLE_DISK_BYTES:
            score, text = 0.6, f"{text} Free some space soon."
    counted = Memory.objects.aggregate(n=Count("pk"))
    live = Memory.objects.recallable(now).count()
    fields = {
        "memories": live,
        "hidden_memories": counted["n"] - live,
        "sessions": Session.objects.count(),
        "free_bytes": free,
    }
    return Domain("storage", score, text, fields)


def _free_bytes() -> int | None:
    """Return the free bytes on the embedded database's disk; None for another server."""
    kept = read_record(settings.ENGRAM_HOME)
    if not kept or settings.DATABASES["default"].get("HOST") != kept["run"]:
        return None
    return shutil.disk_usage(kept["state"]).free


def index(workspace: Workspace, *, now: datetime) -> Domain:
    """Score the share of memories that are found by meaning, and by an index."""
    model = workspace.embedding_model
    recallable = Memory.objects.recallable(now)
    live = recallable.count()
    waiting = recallable.filter(is_embedding_due=True).count()
    passages = select_due().count()
    width = width_in_use(workspace)
    has_index = width is None or has_vector_index(model, width)
    score = 1.0 if not live else (live - waiting) / live
    text = "Every memory is found by its meaning."
    if waiting:
        text = f"{waiting} of {live} memories wait for their embedding; words find them meanwhile."
    if passages:
        text += f" {passages} passages of notes wait, too."
    if not has_index:
        text += " There is no index over the vectors yet."
        if live > FEW_VECTORS:
            score, text = min(score, 0.7), f"{text} Large searches are slow."
    fields = {
        "live": live,
        "waiting": waiting,
        "waiting_passages": passages,
        "embedding_model": model,
        "dimensions": width,
        "has_vector_index": has_index,
    }
    return Domain("index", score, text, fields)


def provider(workspace: Workspace, *, now: datetime) -> Domain:
    """Score the models that are asked, by their failures within the hour."""
    failed = dict(
        StageError.objects.filter(at__gt=now - HOUR, stage__in=["embedding", "narrate", "judge"])
        .order_by()
        .values_list("stage")
        .annotate(n=Count("pk"))
    )
    asked = failed.get("narrate", 0) + failed.get("judge", 0)
    spend = ModelSpend.objects.filter(day=now.astimezone(UTC).date()).first()
    score, text = 1.0, "The embedding model answers."
    if failed.get("embedding"):
        score, text = 0.4, "The embedding model has failed within the hour."
    if llm.model_name() and asked:
        score, text = (
            min(score, 0.6),
            f"{text} The language model has failed within the hour.",
        )
    elif not llm.model_name():
        text += " No language model is configured."
    fields = {
        "embedding_model": workspace.embedding_model,
        "embedding_is_local": embedding.has_token_states(workspace.embedding_model),
        "embedding_failures_last_hour": failed.get("embedding", 0),
        "language_model": llm.model_name(workspace.config.language_model) or None,
        "language_model_failures_last_hour": asked,
        "spent_today_usd": spend.cost_usd if spend else 0.0,
        "daily_cap_usd": workspace.config.narrative_daily_usd,
    }
    return Domain("provider", score, text, fields)


def detection(workspace: Workspace, *, now: datetime) -> Domain:
    """Score the detective by the runs of a day, their lag, and what it gave up."""
    set_aside = backlog.select_set_aside().count()
    runs = summarise_runs(since=now - DAY, now=now)
    last = DetectionRun.objects.order_by("-created_at").values_list("created_at", flat=True).first()
    score = 1.0 - (runs.failed / runs.runs if runs.runs else 0.0)
    text = (
        f"{labels.Count(runs.runs):run} in a day, {runs.failed} of them failed."
        if runs.runs
        else "No runs."
    )
    if runs.lag_p95 is not None and runs.lag_p95 > LAGS[0][0]:
        score, text = score - 0.2, f"{text} Memories wait for up to {_span(runs.lag_p95)}."
    if set_aside:
        score, text = score - 0.2, f"{text} {set_aside} memories were set aside."
    if not workspace.config.detection_enabled:
        score, text = 1.0, "The detective is switched off."
    fields = {
        "is_enabled": workspace.config.detection_enabled,
        "runs_last_day": runs.runs,
        "failed_last_day": runs.failed,
        "lag_median_seconds": runs.lag_median,
        "lag_p95_seconds": runs.lag_p95,
        "due": runs.due,
        "set_aside": set_aside,
        "last_run_at": last,
    }
    return Domain("detection", max(score, 0.0), text, fields)


def duplicates(metrics: GateMetrics) -> Domain:
    """Score the share of commits in thirty days that were probably known and came in."""
    redundant = sum(week.redundant for week in metrics.weeks)
    share = min(redundant / metrics.commits, 1.0) if metrics.commits else 0.0
    text = f"{redundant} of {metrics.commits} commits in 30 days were probably known already."
    if metrics.suggestions_open:
        text += f" {metrics.suggestions_open} suggestions to merge wait for an answer."
    fields = {
        "commits": metrics.commits,
        "redundant": redundant,
        "redundant_share": share,
        "exact_duplicates": metrics.duplicates,
        "merged": metrics.merged,
        "suggestions_open": metrics.suggestions_open,
    }
    return Domain("duplicates", 1.0 - share, text, fields)


def gate(workspace: Workspace, metrics: GateMetrics) -> Domain:
    """Score the gate by its wrong merges: one in ten is the bound of healthy."""
    wrong = metrics.false_merge_rate
    score, text = max(1.0 - 2 * wrong.mean, 0.0), f"{metrics.judged_wrong} of {wrong.n} judged "
    text += "merges in 30 days were wrong."
    is_off = workspace.config.gate_policy == "off"
    is_unknown = wrong.n < LEAST_JUDGED and not is_off
    if is_unknown:
        score, text = 1.0, "Too few merges were judged to tell."
    if is_off:
        score, text = 1.0, "The gate is switched off."
    fields = {
        "policy": workspace.config.gate_policy,
        "triggered_share": metrics.trigger_rate.mean if metrics.commits else None,
        "merged": metrics.merged,
        "kept_apart": metrics.kept_apart,
        "splits": metrics.splits,
        "judged": wrong.n,
        "judged_wrong": metrics.judged_wrong,
        "false_merge_rate": wrong.mean if wrong.n else None,
        "false_merge_interval": [wrong.low, wrong.high] if wrong.n else None,
    }
    return Domain("gate", score, text, fields, is_unknown=is_unknown)


def _span(seconds: float) -> str:
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.0f} s"
