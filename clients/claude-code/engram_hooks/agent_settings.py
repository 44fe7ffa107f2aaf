"""The agent's settings file: these hooks are added to what is there, once, and removed again."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

HOOK_FILE = "engram_hooks/hook.py"
EVENTS = ("SessionStart", "UserPromptSubmit", "SessionEnd")
TIMEOUT_SECONDS = 5  # of the agent; the hook ends by itself much earlier


class SettingsError(Exception):
    """The settings are not what the agent writes, and were left as they are."""


def with_hooks(settings: dict[str, Any], command: str) -> dict[str, Any]:
    """Return settings with these hooks once, whatever else they have."""
    settings = without_hooks(settings)
    hooks = settings.setdefault("hooks", {})
    ours = {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}
    for event in EVENTS:
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise SettingsError(f"hooks.{event} is not a list")
        groups.append({"hooks": [dict(ours)]})
    return settings


def without_hooks(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings without these hooks, and without what only held them."""
    hooks = settings.get("hooks")
    if hooks is None:
        return settings
    if not isinstance(hooks, dict):
        raise SettingsError("hooks is not an object")
    kept = {}
    for event, groups in hooks.items():
        left = [_without_ours(group) for group in groups] if isinstance(groups, list) else groups
        left = [group for group in left if group is not None] if isinstance(left, list) else left
        if left or not groups:
            kept[event] = left
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    if kept or not hooks:
        # Where it was, so that a file under version control does not change more than it must.
        return {name: kept if name == "hooks" else value for name, value in settings.items()}
    return rest


def _without_ours(group: Any) -> Any:
    """Return a group of hooks without ours; None when nothing is left of it."""
    handlers = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(handlers, list):
        return group
    left = [one for one in handlers if not _is_ours(one)]
    if left == handlers:
        return group
    return {**group, "hooks": left} if left else None


def _is_ours(handler: Any) -> bool:
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and HOOK_FILE in command.replace("\\", "/")


def read_settings(file_path: str) -> dict[str, Any]:
    """Return the settings in a file; refuse what this module cannot change."""
    try:
        with open(file_path, encoding="utf-8") as file:
            found = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file_path} is not JSON, and is left as it is: {error}") from None
    if not isinstance(found, dict):
        raise SettingsError(f"{file_path} is not an object, and is left as it is")
    without_hooks(found)  # refuses hooks of another shape
    return found


def write_settings(file_path: str, settings: dict[str, Any]) -> None:
    """Replace a file at once; links to it and its mode stay."""
    file_path = os.path.realpath(file_path)
    os.makedirs(os.path.dirname(file_path), exist_ok=True)
    mode = stat.S_IMODE(os.stat(file_path).st_mode) if os.path.exists(file_path) else 0o644
    part = f"{file_path}.{os.getpid()}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=2, ensure_ascii=False)
        file.write("\n")
    os.chmod(part, mode)
    os.replace(part, file_path)
