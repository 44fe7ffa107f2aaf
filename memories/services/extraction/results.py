"""Show the results of extraction jobs without what was forgotten since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memories.models import Memory

_TEXTS: Final = frozenset({"fact", "quote"})


def without_forgotten(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return a job's result without the texts of memories that are forgotten or erased."""
    kept = result.get("kept", [])
    named = {one["memory"] for one in kept if one.get("memory")}
    shown = Memory.objects.filter(pk__in=named, forgotten_at=None).values_list("pk", flat=True)
    ids = {str(pk) for pk in shown} | {None}
    return (
        dict(result)
        | {
            "kept": [
                one
                if one.get("memory") in ids
                else {name: value for name, value in one.items() if name not in _TEXTS}
                for one in kept
            ]
        }
        if kept
        else dict(result)
    )
