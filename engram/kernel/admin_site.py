"""The admin site: the theme's, without views that would show rows outside their pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from unfold.sites import UnfoldAdminSite

from engram.kernel.pages import staff_or_none


class AdminSite(UnfoldAdminSite):  # type: ignore[misc]
    """Admin site for workspace members; autocompletes only fields that a form uses."""

    index_title = "All tables"
    # Any active account may sign in, for example to open an invitation.
    login_form = AuthenticationForm

    def has_permission(self, request: HttpRequest) -> bool:
        """Allow members of a workspace, and Django's staff users."""
        is_member = staff_or_none(request) is not None
        return request.user.is_active and (is_member or bool(getattr(request.user, "is_staff", 0)))

    def app_index(
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the tables of one app under the name of all."""
        named = {"title": self.index_title, **(extra_context or {})}
        response: HttpResponse = super().app_index(request, app_label, named)
        return response

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        """Refuse fields that no form autocompletes.

        Django answers for every foreign key to a searchable model, whether a form has the field or
        not.
        """
        requested = tuple(request.GET.get(name, "") for name in ("app_label", "model_name"))
        if (*requested, request.GET.get("field_name", "")) not in set(
            self._autocompleted_fields(request)
        ):
            raise PermissionDenied
        response: HttpResponse = super().autocomplete_view(request)
        return response

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Refuse the theme's search over all models, which no page uses."""
        raise Http404

    def _autocompleted_fields(self, request: HttpRequest) -> Iterator[tuple[str, str, str]]:
        """Yield app, model and name of each field that a form or an inline autocompletes."""
        for admin in self._registry.values():
            assert isinstance(admin, ModelAdmin)  # noqa: S101
            for form in (admin, *admin.get_inline_instances(request)):
                opts = form.opts
                for name in form.get_autocomplete_fields(request):
                    yield opts.app_label, str(opts.model_name), name
