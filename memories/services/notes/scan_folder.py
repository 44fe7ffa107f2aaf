"""Find the Markdown files of a folder; symbolic links are not followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unicodedata import is_normalized, normalize

from memories.core.note_paths import PathError, linkable_path, normalise_path
from memories.core.notes import NOTE_MAX_CHARS
from memories.core.vault_paths import is_left_out, is_logseq_graph, is_note, note_path

_BYTE_ORDER_MARK = 3  # bytes

BINARY = "it is no text: it holds NUL characters"
NOT_UTF8 = "it is not UTF-8 text"
SYMBOLIC = "it is a symbolic link"
SPECIAL = "it is no regular file"
SAME_PATH = "another file, {}, has the same path"
SAME_LETTERS = (
    "another file has the same path: its name has the same letters in Unicode's {}, and this one "
    "in its {}"
)


class UnreadableFileError(Exception):
    """A file that is no note; the message says why."""


@dataclass(slots=True)
class FolderScan:
    """The notes of a folder by path, what was skipped and why, and the folders not read."""

    files: dict[str, Path] = field(default_factory=dict)
    skipped: list[tuple[str, str]] = field(default_factory=list)  # file, reason
    skipped_paths: set[str] = field(default_factory=set)  # of notes
    unread_folders: list[str] = field(default_factory=list)


def scan_folder(folder: Path) -> FolderScan:
    """Return the Markdown files of a folder in the order of their paths, hidden ones left out."""
    scan = FolderScan()

    def note_unread(error: OSError) -> None:
        scan.unread_folders.append(f"{error.filename}: {error.strerror}")

    is_logseq = False
    for place, folders, names in os.walk(folder, onerror=note_unread):
        relative = Path(place).relative_to(folder)
        is_top = not relative.parts
        is_logseq = is_logseq or (is_top and is_logseq_graph(folders))
        kept = [name for name in folders if not is_left_out(name, is_top=is_top)]
        linked = [name for name in kept if (Path(place) / name).is_symlink()]
        scan.skipped += [(str(relative / name), SYMBOLIC) for name in sorted(linked)]
        folders[:] = sorted(set(kept) - set(linked))
        for name in sorted(filter(is_note, names)):
            _add(scan, Path(place) / name, (*relative.parts, name), is_logseq=is_logseq)
    return scan


def _add(scan: FolderScan, file: Path, parts: tuple[str, ...], *, is_logseq: bool) -> None:
    """Add a file to a scan, or the reason why it is skipped."""
    shown = "/".join(parts).encode("utf-8", "replace").decode()
    try:
        path = normalise_path(note_path(parts, is_logseq=is_logseq))
    except PathError as error:
        scan.skipped.append((shown, str(error)))
        return
    if (refused := _unlinkable(path)) or file.is_symlink():
        reason = refused or SYMBOLIC
    elif path in scan.files:
        root = file.parents[len(parts) - 1]
        reason = _same_path(str(scan.files[path].relative_to(root)), shown)
    else:
        scan.files[path] = file
        return
    scan.skipped.append((shown, reason))
    scan.skipped_paths.add(path)


def _same_path(other: str, name: str) -> str:
    """Return the reason for a file whose path another one has; names that look alike are told."""
    if normalize("NFC", other) != normalize("NFC", name):
        return SAME_PATH.format(other)
    return SAME_LETTERS.format(_form_of(other), _form_of(name))


def _form_of(name: str) -> str:
    if is_normalized("NFC", name):
        return "composed form (NFC)"
    return "decomposed form (NFD)" if is_normalized("NFD", name) else "mixed form"


def _unlinkable(path: str) -> str:
    """Return why no link could name a note with this path; "" if one can."""
    try:
        linkable_path(path)
    except PathError as error:
        return str(error)
    return ""


def read_file(file: Path, most_chars: int = NOTE_MAX_CHARS) -> str:
    """Return the text of a file; raise `UnreadableFileError` if it is no note, or too long."""
    too_long = f"it has more than {most_chars:,} characters"
    most_bytes = 4 * most_chars + _BYTE_ORDER_MARK
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise UnreadableFileError(SPECIAL)
            content = opened.read(most_bytes + 1)
    except OSError as error:
        raise UnreadableFileError(error.strerror or "it cannot be read") from None
    if b"\x00" in content:
        raise UnreadableFileError(BINARY)
    if len(content) > most_bytes:
        raise UnreadableFileError(too_long)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableFileError(NOT_UTF8) from None
    if len(text) > most_chars:
        raise UnreadableFileError(too_long)
    return text


def texts_of(scan: FolderScan) -> Iterator[tuple[str, Path, str | UnreadableFileError]]:
    """Yield each note's path, file and text, or why it is skipped."""
    for path, file in scan.files.items():
        try:
            yield path, file, read_file(file)
        except UnreadableFileError as error:
            yield path, file, error
