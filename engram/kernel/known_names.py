"""Refuse names in settings that nothing has, as typing errors: they would have no effect."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, cast

from django.conf import settings
from django.utils.module_loading import import_string

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.refusals import InvalidError

LEAST_LIKENESS = 0.4
SHOWN_CHARS = 48


def refuse_unknown_names(config: WorkspaceSettings, stored: Mapping[str, Any]) -> None:
    """Raise `InvalidError` for the first name that `stored` lacks and that is not known.

    A stored one stays: a later release may not have it any more. `settings.ENGRAM_KNOWN_NAMES`
    tells which names a setting may list.
    """
    for setting, path in settings.ENGRAM_KNOWN_NAMES.items():
        known = cast("Collection[str]", import_string(path))
        kept = stored.get(setting) or ()
        for name in getattr(config, setting):
            if name not in known and name not in kept:
                raise InvalidError(setting, _describe(name, known))


def _describe(name: str, known: Collection[str]) -> str:
    shown = name if name.isprintable() else ascii(name)
    near = get_close_matches(name.casefold(), sorted(known), n=1, cutoff=LEAST_LIKENESS)
    told = f"“{shown[:SHOWN_CHARS]}” is none that this setting knows"
    if near:
        return f"{told}; the nearest is “{near[0]}”."
    return f"{told}; it knows {', '.join(f'“{one}”' for one in sorted(known))}."
