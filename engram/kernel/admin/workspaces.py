"""The admin of workspaces: their names; their settings have a page of the console."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone

from engram.kernel.deletion import close_workspace
from engram.kernel.models import Membership, Role, Workspace
from engram.kernel.pages import has_role, staff_of
from engram.kernel.refusals import InvalidError
from engram.kernel.staff import RoleAdmin, moment_column
from engram.kernel.workspace_rows import count_rows

LARGEST = 8  # tables whose numbers of rows are shown before a deletion, of those with pages


class WorkspaceForm(forms.ModelForm):  # type: ignore[type-arg]
    """Form of a workspace: what it is called."""

    class Meta:
        model = Workspace
        fields = ["name", "slug"]
        help_texts = {
            "name": "What the sidebar and digests call it.",
            "slug": "What commands call it, as in create_key --workspace SLUG: letters, digits,"
            " hyphens and underscores.",
        }


@admin.register(Workspace)
class WorkspaceAdmin(RoleAdmin):
    """The workspaces that a member belongs to; the current one can be renamed."""

    roles = {"view": Role.READER, "change": Role.ADMIN, "delete": Role.ADMIN}
    form = WorkspaceForm
    list_display = ["name", "slug", "made_at"]

    made_at = moment_column("created_at", "created")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workspace]:
        """Return the member's own workspaces."""
        found: QuerySet[Workspace] = super().get_queryset(request)
        return found.filter(memberships__user=request.user.pk)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow superusers to create workspaces, also before they belong to one."""
        return request.user.is_superuser

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Show the section to members and to superusers."""
        return super().has_module_permission(request) or self.has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow admins to change their current workspace, not the others."""
        return self._is_here(request, obj) and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow admins to delete their current workspace, not the others."""
        return self._is_here(request, obj) and super().has_delete_permission(request, obj)

    def _is_here(self, request: HttpRequest, obj: Any) -> bool:
        return obj is None or (
            has_role(request, Role.READER) and obj == staff_of(request).workspace
        )

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Ask for the slug; if it is typed, close the workspace and begin to delete it."""
        workspace = self.get_object(request, unquote(object_id))
        if workspace is None:
            raise Http404
        if not self.has_delete_permission(request, workspace):
            raise PermissionDenied
        refusal = ""
        if request.method == "POST":
            typed, actor = request.POST.get("slug", "").strip(), staff_of(request).actor
            try:
                close_workspace(workspace, typed, actor=actor, now=timezone.now())
            except InvalidError as error:
                refusal = error.message
            else:
                return redirect("console:deletions")
        counts = count_rows(workspace.pk)
        known = [item for item in counts.items() if self.admin_site.is_registered(item[0])]
        largest = sorted(known, key=lambda item: -item[1])[:LARGEST]
        context = {
            **self.admin_site.each_context(request),
            "title": "Delete the workspace",
            "opts": self.opts,
            "workspace": workspace,
            "refusal": refusal,
            "total": sum(counts.values()),
            "largest": [(model._meta.verbose_name_plural, count) for model, count in largest],
        }
        return TemplateResponse(
            request,
            "admin/kernel/workspace/delete_confirmation.html",
            context,
            status=422 if refusal else 200,
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save name and slug; who creates a workspace becomes its admin."""
        if change:
            obj.save(update_fields=["name", "slug"])
            return
        obj.save()
        maker = User.objects.get(username=request.user.get_username())
        Membership.objects.create(workspace=obj, user=maker, role=Role.ADMIN)
