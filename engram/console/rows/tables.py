"""The tables of a workspace and their columns, as recordings and archives hold them."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from django.apps import apps
from django.db.models import Field

from engram.kernel.tenancy import WorkspaceModel


def workspace_models(left_out: Container[str]) -> list[type[WorkspaceModel]]:
    """Return the models of a workspace's tables without those of these labels, by label."""
    found = [model for model in apps.get_models() if issubclass(model, WorkspaceModel)]
    kept = [model for model in found if model._meta.label not in left_out]
    return sorted(kept, key=lambda model: model._meta.label)


def columns(model: type[WorkspaceModel]) -> list[Field[Any, Any]]:
    """Return the columns to write: all but the workspace and keys that the database counts up."""
    given = model._meta.auto_field, model._meta.get_field("workspace")
    return [field for field in model._meta.local_concrete_fields if field not in given]
