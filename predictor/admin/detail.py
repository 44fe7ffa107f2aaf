"""Read-only detail pages of the admin, rendered by templates instead of forms."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from engram.kernel.staff import ReadOnlyAdmin


class DetailedAdmin(ReadOnlyAdmin):
    """Read-only admin whose detail page shows `title_of` and `detail_of` of a row."""

    detail_template = ""

    def title_of(self, row: Any) -> str:
        """Return the title of a row's page."""
        return str(row)

    def detail_of(self, row: Any) -> dict[str, Any]:
        """Return further context for the template."""
        return {}

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Show one row, read-only."""
        if not self.has_view_permission(request) or request.method != "GET":
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        if row is None:
            raise Http404
        context = {
            **self.admin_site.each_context(request),
            "title": self.title_of(row),
            "opts": self.opts,
            "row": row,
            **self.detail_of(row),
        }
        return TemplateResponse(request, self.detail_template, context)
