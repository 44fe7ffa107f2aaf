"""Write a report as SARIF 2.1.0, which services of code review show beside the lines; pure."""

from __future__ import annotations

import json
from typing import Any, Final
from urllib.parse import quote as quote_path

from engram.console.audit.findings import KINDS, RULES, Finding, Kind, Place, Report, shorten

SCHEMA: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
MOST_PLACES: Final = 20  # of one finding
_LEVELS: Final[dict[Kind, str]] = {"contradiction": "warning", "gone": "warning", "repeat": "note"}
_RULES: Final = sorted(RULES, key=lambda rule: (KINDS.index(RULES[rule][0]), rule))
_FINGERPRINT: Final = "engramAudit/v1"
_BASE: Final = "%SRCROOT%"
# In messages brackets make links, and braces stand for arguments.
_ESCAPES: Final = str.maketrans({"[": r"\[", "]": r"\]", "\\": r"\\", "{": "{{", "}": "}}"})


def as_sarif(report: Report) -> str:
    """Return a report as SARIF; the same report gives the same bytes."""
    run = {
        "tool": {
            "driver": {"name": "engram-audit", "rules": [_rule(rule) for rule in _RULES]},
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [
                    {
                        "level": "note",
                        "message": {"text": f"{one.path}: {one.reason}".translate(_ESCAPES)},
                    }
                    for one in report.skipped
                ],
            }
        ],
        "results": [_result(finding) for finding in report.findings],
    }
    content = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _rule(rule: str) -> dict[str, Any]:
    kind, told = RULES[rule]
    return {
        "id": rule,
        "shortDescription": {"text": told},
        "defaultConfiguration": {"level": _LEVELS[kind]},
    }


def _result(finding: Finding) -> dict[str, Any]:
    first, *others = finding.places[:MOST_PLACES]
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": _RULES.index(finding.rule),
        "level": _LEVELS[finding.kind],
        "message": {"text": f"{finding.question} {finding.reason}".translate(_ESCAPES)},
        "locations": [_location(first)],
        "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
    }
    if others:
        result["relatedLocations"] = [
            {"id": number}
            | _location(place)
            | {"message": {"text": shorten(place.text).translate(_ESCAPES)}}
            for number, place in enumerate(others, start=1)
        ]
    return result


def _location(place: Place) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote_path(place.path), "uriBaseId": _BASE},
            "region": {"startLine": place.line, "endLine": place.end_line},
        }
    }
