"""Find and read the files of an audit: Markdown, rules of editors, exports of memories.

Symbolic links are not followed, nothing outside the named paths is read, and what `.gitignore`
names is left out. Whatever is not read is reported with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from engram.console.audit.exports import EXPORTS, MOST_CHARS_OF_A_FILE, is_export
from engram.console.audit.findings import Skipped
from memories.services.notes.scan_folder import (
    SYMBOLIC,
    UnreadableFileError,
    read_file,
)

MARKDOWN: Final = (".md", ".markdown", ".mdx", ".mdc")
RULES: Final = frozenset(
    [".cursorrules", ".windsurfrules", ".clinerules", ".roorules", ".goosehints", ".rules"]
)
# Hidden folders in which editors and agents keep rules and memories; others are left out.
_HIDDEN: Final = frozenset(
    [".agents", ".claude", ".clinerules", ".continue", ".cursor", ".gemini", ".github", ".junie",
     ".kiro", ".memory", ".openhands", ".roo", ".windsurf"]
)  # fmt: skip
# Folders of other people's files.
_FOREIGN: Final = frozenset(
    ["__pycache__", "bower_components", "node_modules", "site-packages", "vendor", "venv"]
)
MOST_FILES: Final = 20_000


class AuditError(Exception):
    """A path that cannot be audited; the message is for people."""


@dataclass(slots=True)
class Found:
    """The files of an audit, by the path that is shown, and what was left out."""

    files: dict[str, Path] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)  # resolved
    named: set[Path] = field(default_factory=set)  # files that the caller names, resolved


def find_files(paths: Sequence[str]) -> Found:
    """Return the files to read below the named paths, in the order of what is shown.

    Raises
    ------
    AuditError
        When a path does not exist or cannot be opened, or nothing below it can be audited.
    """
    found = Found()
    for path in paths:
        try:
            given = Path(os.path.abspath(path) if path else path)
            place = given.resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it cannot be resolved"
            raise AuditError(f"{_printable(path)}: {reason}") from None
        if place.is_dir():
            _walk(found, given)
        else:
            found.named.add(place)
            _add(found, given)
    if not found.files:
        left_out = f" ({len(found.skipped)} left out)" if found.skipped else ""
        raise AuditError(
            f"There is nothing to audit in {', '.join(map(_printable, paths))}{left_out}: no "
            "Markdown files, rules of editors or exports of memories."
        )
    found.files = dict(sorted(found.files.items()))
    found.skipped.sort(key=lambda one: (one.path, one.reason))
    return found


def shown(place: Path) -> str:
    """Return a path as it is shown: relative to the current folder, printable."""
    return _printable(os.path.relpath(place).replace(os.sep, "/"))


def read_text(place: Path) -> str:
    """Return the text of a file; raise `UnreadableFileError` with the reason if it has none."""
    if place.suffix.lower() in EXPORTS:
        return read_file(place, MOST_CHARS_OF_A_FILE)
    return read_file(place)


def _walk(found: Found, top: Path) -> None:
    """Add the files of a folder, without what is hidden, foreign or ignored."""
    ignored = _Ignored(top)

    def note_unread(error: OSError) -> None:
        found.skipped.append(Skipped(shown(Path(error.filename)), error.strerror or "unreadable"))

    for place, folders, names in os.walk(top, onerror=note_unread):
        here = Path(place)
        ignored.enter(here)
        kept = []
        for name in sorted(folders):
            is_kept = name in _HIDDEN if name.startswith(".") else name not in _FOREIGN
            if (
                not is_kept
                or _is_environment(here / name)
                or ignored.covers(here / name, is_folder=True)
            ):
                continue
            if (here / name).is_symlink():
                found.skipped.append(Skipped(shown(here / name), SYMBOLIC))
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(filter(_is_read, names)):
            if not ignored.covers(here / name, is_folder=False):
                _add(found, here / name)
            if len(found.files) > MOST_FILES:
                raise AuditError(f"There are more than {MOST_FILES:,} files; name fewer folders.")


def _is_read(name: str) -> bool:
    lower = name.lower()
    return lower in RULES or (not lower.startswith(".") and lower.endswith((*MARKDOWN, *EXPORTS)))


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file()


def _add(found: Found, place: Path) -> None:
    """Add a file once; an export of memories in a folder only if it looks like one."""
    real = place.resolve()
    if place.is_symlink() and real not in found.named:
        found.skipped.append(Skipped(shown(place), SYMBOLIC))
    elif real not in found.seen:
        found.seen.add(real)
        is_data = place.suffix.lower() in EXPORTS
        if real in found.named or not is_data or is_export(place):
            found.files[shown(place)] = place


class _Ignored:
    """What `.gitignore` files name, from the top of the repository down to a folder."""

    def __init__(self, top: Path):
        self._specs: dict[Path, GitIgnoreSpec] = {}
        above = [top, *top.parents]
        root = next((folder for folder in above if (folder / ".git").exists()), None)
        for folder in above[1 : above.index(root) + 1] if root else ():
            self.enter(folder)
        # A folder that is named is read, whatever a file above it ignores.
        if any(self.covers(folder, is_folder=True) for folder in above[:-1]):
            self._specs.clear()

    def enter(self, folder: Path) -> None:
        """Read the `.gitignore` of a folder, if it has one that can be read."""
        file = folder / ".gitignore"
        if file.is_file() and not file.is_symlink():
            try:
                lines = read_file(file).splitlines()
                self._specs[folder] = GitIgnoreSpec.from_lines(lines)
            except (UnreadableFileError, ValueError):
                return

    def covers(self, place: Path, *, is_folder: bool) -> bool:
        """Return whether the deepest `.gitignore` that says something of a path ignores it."""
        for folder in place.parents:
            if (spec := self._specs.get(folder)) is None:
                continue
            name = place.relative_to(folder).as_posix() + ("/" if is_folder else "")
            if (told := spec.check_file(name).include) is not None:
                return told
        return False


def _printable(text: str) -> str:
    plain = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(c if c.isprintable() else "\ufffd" for c in plain)


def texts_of(found: Found, advance: Callable[[int], object]) -> Iterator[tuple[str, Path, str]]:
    """Yield the path that is shown, the file and its text; note what cannot be read."""
    for path, place in found.files.items():
        advance(1)
        try:
            # A link that the caller names is followed, no other one.
            is_named = place.is_symlink() and place.resolve() in found.named
            yield path, place, read_text(place.resolve() if is_named else place)
        except UnreadableFileError as error:
            found.skipped.append(Skipped(path, str(error)))
