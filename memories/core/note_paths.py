"""Paths and names of notes, and which note a link means.

A link finds a note by the whole path, by the end of its path (whole segments only: `index` is the
end of `a/index.md`, `link` is no end of `hyperlink.md`) or by an alias. Names are compared without
the extension and, where the case as written leads to none, without regard to case.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from memories.core.calendar_words import MONTHS

PATH_MAX_CHARS = 400
SEGMENTS_MAX = 32
EXTENSIONS = (".markdown", ".md")
UNLINKABLE = "#|[]"  # what ends the name in a link
_REPLACED = "\ufffd"  # what invalid UTF-8 is read as
JOURNALS = "journals"  # Logseq's folder of them
# Files that editors keep beside notes and show in them: no dead links where no note has the name.
_ATTACHED = """
3gp avif base bmp canvas csv docx epub flac gif heic html ics jpeg jpg json m4a mkv mov mp3 mp4 odt
ogg ogv opus pdf png pptx svg tif tiff txt wav webm webp xlsx zip
"""
ATTACHED = frozenset(_ATTACHED.split())
# The kinds of names, strongest first.
PATH, PART, ALIAS = "path", "part", "alias"
UNRESOLVED, AMBIGUOUS, SELF = "unresolved", "ambiguous", "self"
ATTACHMENT = "attachment"


class Name(NamedTuple):
    """One name of a note; `key` is the name without regard to case."""

    kind: str  # PATH, PART or ALIAS
    name: str
    key: str


class NamedNote(NamedTuple):
    """A note that one of its names leads to."""

    note: object  # the id
    kind: str
    name: str
    path: str


class Resolution(NamedTuple):
    """The note that a link means, or None with the reason."""

    note: object | None
    reason: str = ""


class PathError(ValueError):
    """A text that is no path of a note; the message is for people."""


def normalise_path(text: str) -> str:
    """Return a path in Unicode's composed form; raise `PathError` if it is no path of a note."""
    path = unicodedata.normalize("NFC", text)
    if not path:
        raise PathError("A note needs a path.")
    if len(path) > PATH_MAX_CHARS:
        raise PathError(f"A path has at most {PATH_MAX_CHARS} characters.")
    if path.startswith("/"):
        raise PathError("A path is relative: it does not begin with a slash.")
    if "\\" in path:
        raise PathError("Segments of a path are joined by slashes, not backslashes.")
    if not path.isprintable():
        raise PathError("A path is one line of printable characters.")
    if _REPLACED in path:
        raise PathError("A path is valid UTF-8.")
    segments = path.split("/")
    if len(segments) > SEGMENTS_MAX:
        raise PathError(f"A path has at most {SEGMENTS_MAX} segments.")
    for segment in segments:
        if not segment:
            raise PathError("A path has no empty segments.")
        if segment in {".", ".."}:
            raise PathError("A path has no segments '.' or '..'.")
        if segment != segment.strip():
            raise PathError("A segment of a path does not begin or end with a blank.")
    if not without_extension(segments[-1]):
        raise PathError("A note needs a name before its extension.")
    return path


def linkable_path(text: str) -> str:
    """Return the path of a new note; raise `PathError` where no link could name it, too."""
    path = normalise_path(text)
    if any(character in UNLINKABLE for character in path):
        raise PathError(
            f"A path has none of {' '.join(UNLINKABLE)}, because no link could name the note."
        )
    return path


def without_extension(name: str) -> str:
    """Return a name without `.md` or `.markdown`."""
    for extension in EXTENSIONS:
        if name.lower().endswith(extension):
            return name[: -len(extension)]
    return name


def name_key(name: str) -> str:
    """Return the form in which names are looked up: composed, without extension and case."""
    composed = unicodedata.normalize("NFC", without_extension(name))
    return unicodedata.normalize("NFC", composed.casefold())


def names_of(path: str, aliases: Iterable[str]) -> list[Name]:
    """Return all names of a note, each once: its path, the ends of its path, its aliases.

    The title that Logseq gives a journal page is an alias of it.
    """
    stem = without_extension(path)
    segments = stem.split("/")
    ends = ["/".join(segments[start:]) for start in range(1, len(segments))]
    found = [Name(PATH, stem, name_key(stem)), *(Name(PART, end, name_key(end)) for end in ends)]
    known = {name.name for name in found}
    for alias in (*aliases, *journal_titles(stem)):
        if alias not in known:
            known.add(alias)
            found.append(Name(ALIAS, alias, unicodedata.normalize("NFC", alias.casefold())))
    return found


def journal_titles(stem: str) -> list[str]:
    """Return what Logseq calls a journal page in the file of this path: "May 4th, 2026".

    By its default formats, of file names and of titles; [] for other paths.
    """
    folder, _, name = stem.rpartition("/")
    if folder.rpartition("/")[2] != JOURNALS:
        return []
    try:
        day = datetime.strptime(name, "%Y_%m_%d")  # noqa: DTZ007  a day, not a moment
    except ValueError:
        return []
    is_teen = day.day in {11, 12, 13}
    ending = "th" if is_teen else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return [f"{MONTHS[day.month - 1][:3].title()} {day.day}{ending}, {day.year}"]


def link_name(target: str, folder: str = "") -> str | None:
    """Return the name that the target of a link spells; None if it leads out of all folders.

    `./a` and `../a` are read from the folder of the linking note; a leading slash means the top.
    """
    name = unicodedata.normalize("NFC", target.strip())
    if not name.startswith(("./", "../")):
        return name.lstrip("/") or None
    segments = folder.split("/") if folder else []
    for segment in name.split("/"):
        if segment == "..":
            if not segments:
                return None
            segments.pop()
        elif segment not in {"", "."}:
            segments.append(segment)
    return "/".join(segments) or None


def reason_of_missing(name: str) -> str:
    """Return why a name that no note has leads nowhere: a file that notes show is no dead link."""
    stem, dot, extension = name.rpartition(".")
    is_attached = bool(stem and dot) and extension.casefold() in ATTACHED
    return ATTACHMENT if is_attached else UNRESOLVED


def folder_of(path: str) -> str:
    """Return the folder of a path; "" at the top."""
    return path.rpartition("/")[0]


def resolve(name: str, candidates: Sequence[NamedNote], own: object = None) -> Resolution:
    """Return which of the notes with this key a name means.

    1. The exact path. 2. The only one whose path, as written, ends so. 3. The only one with that
    alias. 4. and 5. The same without regard to case. `own` is the linking note.
    """
    found = _exact(name, candidates) or _spelled(name, candidates)
    if not found:
        return Resolution(None, reason_of_missing(name))
    if len(found) > 1:
        return Resolution(None, AMBIGUOUS)
    note = next(iter(found))
    return Resolution(None, SELF) if note == own else Resolution(note)


def _exact(name: str, candidates: Iterable[NamedNote]) -> set[object]:
    """Return the note with exactly this path, with its extension or without."""
    whole = [one for one in candidates if one.kind == PATH]
    for path in (name, *(name + extension for extension in reversed(EXTENSIONS))):
        if found := {one.note for one in whole if one.path == path}:
            return found
    return set()


def _spelled(name: str, candidates: Sequence[NamedNote]) -> set[object]:
    """Return the notes of the strongest kind of name that matches, exact case first."""
    stem = without_extension(name)
    same_case = [one for one in candidates if one.name == stem]
    for rows in (same_case, candidates):
        for is_alias in (False, True):
            if found := {one.note for one in rows if (one.kind == ALIAS) == is_alias}:
                return found
    return set()
