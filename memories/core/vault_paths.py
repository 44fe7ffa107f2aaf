"""Map files of a folder of notes to the paths of notes."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

from memories.core.note_paths import EXTENSIONS

# Folders of settings and backups: those of Obsidian and others are hidden, Logseq's is not.
_LOGSEQ = "logseq"
_PAGES = "pages"
_NAMESPACE = "___"  # Logseq writes the page a/b as a___b.md, and other signs percent-encoded


def is_left_out(folder: str, *, is_top: bool) -> bool:
    """Return whether a folder holds no notes: hidden, or Logseq's own."""
    return folder.startswith(".") or (is_top and folder == _LOGSEQ)


def is_note(name: str) -> bool:
    """Return whether a file is a Markdown file and not hidden."""
    return not name.startswith(".") and name.lower().endswith(EXTENSIONS)


def note_path(segments: Sequence[str], *, is_logseq: bool) -> str:
    """Return the path of a note for the segments of its file's path below the folder."""
    *folders, name = segments
    if is_logseq or folders[:1] == [_PAGES]:
        name = unquote(name.replace(_NAMESPACE, "/"))
    return "/".join([*folders, name])


def is_logseq_graph(folders: Sequence[str]) -> bool:
    """Return whether the folders at the top are those of a Logseq graph."""
    return _LOGSEQ in folders
