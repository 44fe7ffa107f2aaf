"""Commit the statements of another system: checked whole first, each once, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from engram.console.transfer.foreign.statements import MARK, Place, as_commit
from engram.console.transfer.foreign.streams import ERRORS_SHOWN, ForeignError
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.management.commands.import_memories import parse_line
from memories.models import Observation
from memories.services.commit.import_lines import Imported, LineError, import_file


@dataclass(slots=True)
class Converted:
    """What a file holds: statements to commit, those that were imported before, and the others."""

    new: int = 0
    before: int = 0
    empty: int = 0
    refused: int = 0
    errors: list[str] = field(default_factory=list)  # the first ones, with the item's number


def known_marks(workspace: Workspace, format_name: str) -> set[str]:
    """Return the ids of the statements of a format that were imported before."""
    name = f"fields__metadata__{MARK}"
    with in_workspace(workspace):
        found = Observation.objects.filter(**{f"{name}__startswith": f"{format_name}:"})
        return set(found.values_list(name, flat=True).iterator(chunk_size=2000))


def convert(
    items: Iterable[Any], into: Path, format_name: str, place: Place, known: set[str]
) -> Converted:
    """Write the items as lines of `import_memories`, a blank one for each that is left out.

    So the number of a line is that of its item. An item that says what another one of the file said
    with the same id is left out, too.
    """
    done = Converted()
    seen = set(known)
    with into.open("w", encoding="utf-8", newline="\n") as file:
        for number, item in enumerate(items, start=1):
            line = ""
            try:
                body = as_commit(item, format_name, place)
                if body is None:
                    done.empty += 1
                elif body["metadata"][MARK] in seen:
                    done.before += 1
                else:
                    line = json.dumps(body)
                    parse_line(line)
                    seen.add(body["metadata"][MARK])
                    done.new += 1
            except (ForeignError, LineError, RecursionError, TypeError) as error:
                line = ""
                done.refused += 1
                if len(done.errors) < ERRORS_SHOWN:
                    done.errors.append(f"item {number}: {error}")
            file.write(f"{line}\n")
    return done


def take_statements(
    workspace: Workspace,
    lines: Path,
    *,
    clock: Callable[[], datetime],
    is_detected: bool,
    advance: Callable[[int], object],
) -> Imported:
    """Commit the converted lines."""
    return import_file(
        workspace, lines, parse_line, clock=clock, is_detected=is_detected, advance=advance
    )
