"""Compare a run with a stored one, to find regressions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engram.console.evaluation.lines import InputError


def read_baseline(path: Path) -> dict[str, Any]:
    """Read a report that `--json` wrote earlier."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a report of an earlier run ({error})") from error
    if not isinstance(stored, dict) or not isinstance(stored.get("metrics"), dict):
        raise InputError(f"{path}: not a report of an earlier run")
    return stored


def regressions(current: Mapping[str, Any], stored: Mapping[str, Any]) -> list[str]:
    """Return the figures that are worse than the stored run's interval, one sentence each.

    Raises
    ------
    InputError
        When the two runs differ in mode or files.
    """
    if current["mode"] != stored.get("mode"):
        raise InputError(f"the baseline is of mode {stored.get('mode')}, not {current['mode']}")
    ours, theirs = _corpus(current), _corpus(stored)
    if ours != theirs:
        raise InputError("the baseline was measured on other files")
    worse = []
    for name, before in stored["metrics"].items():
        after = current["metrics"].get(name)
        if after is None:
            worse.append(f"{name} is not measured any more")
            continue
        is_worse = (
            after["mean"] > before["high"]
            if before["lower_is_better"]
            else after["mean"] < before["low"]
        )
        if is_worse:
            worse.append(
                f"{name} {after['mean']:.3f} is worse than {before['mean']:.3f}"
                f" [{before['low']:.3f}, {before['high']:.3f}]"
            )
    return worse


def _corpus(report: Mapping[str, Any]) -> list[str]:
    return [entry["sha256"] for entry in report.get("provenance", {}).get("inputs", [])]
