"""Create workspaces and change their settings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from engram.kernel.actors import Actor
from engram.kernel.configuration import WorkspaceSettings, offered_models, valid_settings
from engram.kernel.history import record
from engram.kernel.known_names import refuse_unknown_names
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError
from engram.kernel.signals import settings_changed
from engram.kernel.tenancy import in_workspace

_RANGE_WORDS = {
    "minimum": "at_least",
    "maximum": "at_most",
    "exclusiveMinimum": "above",
    "enum": "one_of",
    "type": "type",
}


def describe_settings(workspace: Workspace) -> dict[str, Any]:
    """Return every setting with its value, default, meaning and range."""
    values = workspace.config.model_dump()
    properties = WorkspaceSettings.model_json_schema()["properties"]
    properties["language_model"]["enum"] = ["", *offered_models()]
    defaults = WorkspaceSettings.model_validate({}).model_dump()
    return {
        "workspace": workspace.slug,
        "settings": values,
        "describe": [
            {
                "name": name,
                "value": values[name],
                "default": defaults[name],
                "meaning": shape.get("description", ""),
                "range": _range_of(shape),
            }
            for name, shape in properties.items()
        ],
    }


def _range_of(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Return the range of a setting; `or_null` where null is a value, too."""
    choices = shape.get("anyOf", [shape])
    given = next(one for one in choices if one.get("type") != "null")
    range_ = {word: given[key] for key, word in _RANGE_WORDS.items() if key in given}
    return range_ | ({"or_null": True} if len(choices) > 1 else {})


def settings_with(stored: Mapping[str, Any], changes: Mapping[str, Any]) -> WorkspaceSettings:
    """Return settings with changes applied; raise `InvalidError` for the first invalid one."""
    if unknown := sorted(set(changes) - set(WorkspaceSettings.model_fields)):
        raise InvalidError(unknown[0], "There is no such setting.")
    try:
        config = WorkspaceSettings.model_validate(
            {**valid_settings(stored), **changes}, strict=True
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "settings"
        raise InvalidError(field, first["msg"].removeprefix("Value error, ")) from None
    refuse_unknown_names(config, stored)
    return config


def lock_settings(workspace: Workspace) -> Workspace:
    """Lock the settings of a workspace, and return it; its rows may be written meanwhile."""
    return Workspace.objects.select_for_update(no_key=True).get(pk=workspace.pk)


def change_settings(
    workspace: Workspace, changes: Mapping[str, Any], *, actor: Actor, now: datetime
) -> WorkspaceSettings:
    """Change settings, all or none; raise `InvalidError` for the first invalid one."""
    with in_workspace(workspace):
        stored = lock_settings(workspace)
        config = settings_with(stored.settings, changes)
        before = stored.config.model_dump()
        after = config.model_dump()
        stored.settings = {k: v for k, v in after.items() if k in {**stored.settings, **changes}}
        stored.save(update_fields=["settings"])
        changed = {k: [before[k], after[k]] for k in after if before[k] != after[k]}
        record("settings.changed", of=("workspace", stored.pk), actor=actor, now=now, data=changed)
        stored.__dict__.pop("config", None)
        settings_changed.send(Workspace, workspace=stored, changed=changed, actor=actor, now=now)
    workspace.settings = stored.settings
    workspace.__dict__.pop("config", None)
    return config
