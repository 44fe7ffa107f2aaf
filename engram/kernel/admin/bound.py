"""Rows of tables without row-level security, kept to one workspace."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from engram.kernel.pages import staff_of
from engram.kernel.staff import RoleAdmin


class BoundAdmin(RoleAdmin):
    """Rows of a table outside of row-level security, limited to the current workspace."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows of the current workspace."""
        found: QuerySet[Any] = super().get_queryset(request)
        return found.filter(workspace=staff_of(request).workspace)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kw: Any
    ) -> Any:
        """Assign new rows to the current workspace."""
        shape = super().get_form(request, obj, change, **kw)
        workspace, model = staff_of(request).workspace, self.model

        class Bound(shape):  # type: ignore[misc,valid-type]
            def __init__(self, *args: Any, **kwargs: Any):
                if kwargs.get("instance") is None:
                    kwargs["instance"] = model(workspace=workspace)
                super().__init__(*args, **kwargs)

        return Bound
