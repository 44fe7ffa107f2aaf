"""The result of one check, and how results are printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from engram.console.health import without_passwords

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    level: Level
    detail: str
    remedy: str = ""


def first_line(error: Exception) -> str:
    """Return the first line of an error, without passwords."""
    lines = str(error).strip().splitlines()
    return without_passwords(lines[0]) if lines else type(error).__name__


def as_json(findings: list[CheckResult]) -> str:
    """Return the results as JSON."""
    return json.dumps([asdict(finding) for finding in findings], indent=1)


def as_lines(findings: list[CheckResult], paint: Callable[[str, Level], str]) -> Iterator[str]:
    """Return the results as text."""
    for finding in findings:
        yield f"{paint(f'{finding.level:<5}', finding.level)} {finding.name:<13} {finding.detail}"
        if finding.level != "ok" and finding.remedy:
            yield f"      {'':<13} -> {finding.remedy}"
