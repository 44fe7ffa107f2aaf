"""Describe the origin of figures: code, files, settings, versions, machine."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.embedding import model_name
from memories.core import bm25
from memories.core.fusion import FusionWeights

PACKAGES = ("Django", "numpy", "tokenizers", "snowballstemmer", "psycopg", "pgvector")


def provenance(inputs: Sequence[Path], *, now: datetime, seed: int) -> dict[str, Any]:
    """Return the data needed to repeat a run."""
    return {
        "at": now.isoformat(),
        "git": git_head(Path(settings.BASE_DIR)),
        "inputs": [{"name": path.name, "sha256": _sha256(path)} for path in inputs],
        "seed": seed,
        "embedding_model": model_name(),
        "workspace_settings": WorkspaceSettings.model_validate({}).model_dump(),
        "fusion": asdict(FusionWeights()),
        "bm25": {"k1": bm25.K1, "b": bm25.B},
        "versions": {"python": platform.python_version(), "postgresql": _postgresql()}
        | {name: version(name) for name in PACKAGES},
        "machine": {
            "processors": os.cpu_count(),
            "load_average": [round(load, 2) for load in os.getloadavg()],
        },
    }


def git_head(folder: Path) -> dict[str, Any] | None:
    """Return the commit and whether tracked files differ from it; None outside a checkout."""

    def ask(*arguments: str) -> str:
        return subprocess.run(  # noqa: S603
            ["git", *arguments],  # noqa: S607
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        ).stdout.strip()

    try:
        return {
            "head": ask("rev-parse", "HEAD"),
            "is_modified": bool(ask("status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError):
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _postgresql() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        row = cursor.fetchone()
    return str(row[0]).split()[0] if row else ""
