"""Read-only detail pages of the admin, rendered by templates instead of forms."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from engram.kernel.staff import ShownAdmin


class DetailedAdmin(ShownAdmin):
    """Read-only admin whose detail page shows `title_of` and `detail_of` of a row."""

    detail_template = ""

    def title_of(self, row: Any) -> str:
        """Return the title of a row's page."""
        return str(row)

    def detail_of(self, row: Any) -> dict[str, Any]:
        """Return further context for the template."""
        return {}

    def show(self, request: HttpRequest, row: Any) -> HttpResponse:
        """Show one row, read-only."""
        context = {
            **self.admin_site.each_context(request),
            "title": self.title_of(row),
            "opts": self.opts,
            "row": row,
            **self.detail_of(row),
        }
        return TemplateResponse(request, self.detail_template, context)
