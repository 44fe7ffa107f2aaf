"""Write a report as one HTML page without scripts; the template escapes every text."""

from __future__ import annotations

from django.template.loader import render_to_string

from engram.console.audit.as_text import ORDERS, TITLES, summary
from engram.console.audit.findings import KINDS, Report


def as_html(report: Report) -> str:
    """Return a report as a page that needs nothing else; the same report gives the same bytes."""
    sections = [
        {
            "kind": kind,
            "title": TITLES[kind],
            "findings": [finding for finding in report.findings if finding.kind == kind],
        }
        for kind in KINDS
    ]
    return render_to_string(
        "console/audit.html",
        {
            "report": report,
            "summary": summary(report),
            "order": ORDERS[report.order],
            "sections": [section for section in sections if section["findings"]],
        },
    )
