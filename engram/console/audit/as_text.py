"""Write a report for a terminal or as JSON; pure."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any, Final

from engram.console.audit.findings import (
    KINDS,
    QUOTED,
    Finding,
    Kind,
    Place,
    Report,
    several,
    shorten,
)

TITLES: Final[dict[Kind, str]] = {
    "contradiction": "Contradictions",
    "gone": "Stands on something that is gone",
    "repeat": "Repeats",
}
ORDERS: Final = {
    "commits": "Git commits of the lines, else by the times of files",
    "files": "times of files",
}
_NOUNS: Final[dict[Kind, tuple[str, str]]] = {
    "contradiction": ("contradiction", "contradictions"),
    "gone": ("thing gone", "things gone"),
    "repeat": ("repeat", "repeats"),
}
_WIDTH: Final = 92
_PLACES: Final = 6  # of a finding that the terminal lists
_SKIPPED: Final = 20


def as_text(report: Report) -> str:
    """Return a report as plain text, each finding with its places, question and reason."""
    return "\n".join(_lines(report)) + "\n"


def as_json(report: Report) -> str:
    """Return a report as JSON; the same report gives the same bytes."""
    content: dict[str, Any] = {
        "version": 1,
        "files": report.files,
        "statements": report.statements,
        "order": report.order,
        "counts": {kind: report.count(kind) for kind in KINDS},
        "findings": [_record(finding) for finding in report.findings],
        "skipped": [{"path": one.path, "reason": one.reason} for one in report.skipped],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def summary(report: Report) -> str:
    """Return the counts of a report as one line."""
    read = f"{several(report.files, 'file')}, {several(report.statements, 'statement')}"
    if not report.findings:
        return f"{read}: nothing found."
    counts = ", ".join(
        f"{count} {_NOUNS[kind][count != 1]}" for kind in KINDS if (count := report.count(kind))
    )
    return f"{read}: {counts}."


def where(place: Place) -> str:
    """Return a place as `path:line`, which terminals and editors open."""
    return f"{place.path}:{place.line}"


def _record(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "rule": finding.rule,
        "question": finding.question,
        "reason": finding.reason,
        "fingerprint": finding.fingerprint,
        "places": [
            {
                "path": place.path,
                "line": place.line,
                "end_line": place.end_line,
                "text": shorten(place.text, QUOTED),
            }
            for place in finding.places
        ],
    }


def _lines(report: Report) -> Iterator[str]:
    for kind in KINDS:
        of_kind = [finding for finding in report.findings if finding.kind == kind]
        if of_kind:
            yield f"{TITLES[kind]} ({len(of_kind)})"
            yield ""
        for finding in of_kind:
            yield from _of_finding(finding)
            yield ""
    yield summary(report)
    if report.skipped:
        yield f"Left out: {len(report.skipped)}"
        for one in report.skipped[:_SKIPPED]:
            yield f"  {one.path}: {one.reason}"
        if (more := len(report.skipped) - _SKIPPED) > 0:
            yield f"  and {more} more; --json lists all"


def _of_finding(finding: Finding) -> Iterator[str]:
    yield from textwrap.wrap(finding.question, _WIDTH, break_long_words=False)
    for place in finding.places[:_PLACES]:
        yield f"  {where(place)}"
    if (more := len(finding.places) - _PLACES) > 0:
        yield f"  and {more} more places"
    yield from textwrap.wrap(
        finding.reason, _WIDTH, initial_indent="  ", subsequent_indent="  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
