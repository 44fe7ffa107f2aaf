"""Keep the calibration of drift by embedding model: what was fitted here, else what is built in.

What `manage.py evaluate --drift PAIRS --calibrate` fits is stored in ENGRAM_HOME, beside which web
and workers run; all of them read it anew when it changes.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.drift.calibration import CALIBRATIONS, Calibration
from memories.core.drift.evidence import FEATURES
from memories.models import NoteSupport
from memories.services.drift.due import mark_due

FILE: Final = "drift_calibrations.json"


class BrokenCalibrationsError(Exception):
    """The stored calibrations cannot be read."""


def calibration_of(model: str) -> Calibration | None:
    """Return the calibration for an embedding model; None: not calibrated for this model.

    A file that cannot be read counts as none, so that no check fails; `doctor` names it.
    """
    try:
        found = stored_calibrations().get(model)
    except BrokenCalibrationsError:
        found = None
    return found or CALIBRATIONS.get(model)


def stored_calibrations() -> Mapping[str, Calibration]:
    """Return the calibrations that were fitted here, by model."""
    path = settings.ENGRAM_HOME / FILE
    try:
        changed = path.stat()
    except OSError:
        return {}
    return _read(path, changed.st_mtime_ns, changed.st_size)


def store_calibration(model: str, calibration: Calibration, *, now: datetime) -> Path:
    """Store the calibration of a model in place of an earlier one; return the file.

    What was judged without it, or by another one, is due again.
    """
    known = {name: asdict(one) for name, one in stored_calibrations().items()}
    path: Path = settings.ENGRAM_HOME / FILE
    draft = path.with_name(f"{FILE}.{os.getpid()}.part")
    draft.write_text(json.dumps({**known, model: asdict(calibration)}, indent=1) + "\n")
    draft.replace(path)
    for workspace in Workspace.objects.filter(embedding_model=model):
        with in_workspace(workspace):
            mark_due(NoteSupport.objects.all(), now=now)
    return path


@lru_cache(maxsize=2)
def _read(path: Path, _changed: int, _size: int) -> Mapping[str, Calibration]:
    try:
        rows = json.loads(path.read_text())
        return {str(model): _calibration(row) for model, row in rows.items()}
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise BrokenCalibrationsError(f"{path}: {error}") from error


def _calibration(row: Mapping[str, Any]) -> Calibration:
    weights = tuple(float(weight) for weight in row["weights"])
    if len(weights) != len(FEATURES):
        raise ValueError(f"{len(weights)} weights instead of {len(FEATURES)}")
    numbers = {name: float(value) for name, value in row.items() if name != "weights"}
    if not all(map(math.isfinite, (*weights, *numbers.values()))):
        raise ValueError("a number that is not finite")
    return Calibration(weights=weights, **numbers)
