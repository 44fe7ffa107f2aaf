"""All checks, in the order in which they depend on each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

from django.conf import settings

from engram.console.doctor.check import CheckResult
from engram.console.doctor.configuration import (
    drift_calibration,
    embedding_model,
    language_model,
    proxies,
    static_files,
)
from engram.console.doctor.machine import (
    free_space,
    home_folder,
    last_backup,
    port,
    postgres_binaries,
    python_version,
    redis_binaries,
    services_start,
    user,
)
from engram.console.doctor.servers import server_findings


def examine() -> Iterator[CheckResult]:
    """Run all checks in order of dependency; skip those whose base has failed."""
    yield python_version()
    home = home_folder(settings.ENGRAM_HOME)
    yield home
    if home.level == "fail":
        return
    yield free_space(settings.ENGRAM_HOME)
    yield last_backup(datetime.now(UTC))
    yield postgres_binaries()
    yield redis_binaries()
    services = services_start()
    yield services
    yield user(settings.ENGRAM_HOME)
    if services.level != "fail":
        yield from server_findings()
    yield static_files()
    yield proxies()
    yield embedding_model()
    yield drift_calibration()
    yield language_model()
    yield port(os.environ.get("ENGRAM_HOST", "127.0.0.1"), settings.ENGRAM_PORT)
