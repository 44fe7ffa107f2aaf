"""Checks of what settings name: static files, proxies and models."""

from __future__ import annotations

import time

from django.conf import settings
from django.db import Error

from engram.console.doctor.check import CheckResult
from engram.console.static_files import are_collected
from engram.kernel import embedding, llm
from memories.services.drift.calibrations import (
    BrokenCalibrationsError,
    calibration_of,
    stored_calibrations,
)
from memories.services.index.search_index import models_in_use


def static_files() -> CheckResult:
    """Check that styles and scripts are collected and current."""
    if are_collected():
        return CheckResult("static", "ok", str(settings.STATIC_ROOT))
    return CheckResult("static", "warn", "not collected or out of date", "manage.py up --prepare")


def proxies() -> CheckResult:
    """Check that a production installation names the proxies that terminate https."""
    named = settings.ENGRAM_TRUSTED_PROXIES
    if named or not settings.SECURE_SSL_REDIRECT:
        return CheckResult("proxies", "ok", f"believed: {', '.join(named) or 'none'}")
    detail = "http is sent to https, and no proxy may say that a request came by https"
    remedy = "ENGRAM_TRUSTED_PROXIES=the proxy's address, or ENGRAM_SSL_REDIRECT=0"
    return CheckResult("proxies", "warn", detail, remedy)


def embedding_model() -> CheckResult:
    """Check that every model in use embeds a text."""
    details = []
    for model in sorted({embedding.model_name(), *_models_in_use()}):
        started = time.perf_counter()
        try:
            vectors = embedding.embed(["Is anybody there?"], model)
        except embedding.EmbeddingUnavailableError as error:
            remedy = (
                "rm .venv/installed-*; make up; or correct EMBEDDING_PROVIDER and its variables"
            )
            return CheckResult("embedding", "fail", str(error), remedy)
        milliseconds = (time.perf_counter() - started) * 1000
        details.append(f"{model}, {vectors.shape[1]} dimensions, {milliseconds:.0f} ms")
    return CheckResult("embedding", "ok", "; ".join(details))


def drift_calibration() -> CheckResult:
    """Check that drift is calibrated for every model in use."""
    try:
        stored_calibrations()
    except BrokenCalibrationsError as error:
        return CheckResult("drift", "fail", str(error), f"delete the file, then {CALIBRATE}")
    models = sorted({embedding.model_name(), *_models_in_use()})
    without = [model for model in models if calibration_of(model) is None]
    if not without:
        return CheckResult("drift", "ok", "calibrated for every embedding model in use")
    detail = (
        f"not calibrated for {', '.join(without)}: only contradictions of a note are found, no "
        "statement that it lost, and no task that no note is about"
    )
    return CheckResult("drift", "warn", detail, CALIBRATE)


CALIBRATE = "manage.py evaluate --drift PAIRS.jsonl --calibrate, see docs/tuning.md"


def _models_in_use() -> list[str]:
    try:
        return models_in_use()
    except Error:  # reported by the check of the database
        return []


def language_model() -> CheckResult:
    """Check whether a language model is configured; it is optional."""
    name = llm.model_name()
    if name:
        return CheckResult("model", "ok", f"{name} reads stories and judges sessions")
    return CheckResult(
        "model", "ok", "none is configured: rules read, and sessions are judged offline"
    )
