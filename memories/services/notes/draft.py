"""The note that a caller sends, checked and read before anything is written."""

from __future__ import annotations

from dataclasses import dataclass

from engram.kernel.credentials import refuse_credentials, without_credentials
from engram.kernel.refusals import InvalidError
from memories.core.note_paths import PathError, linkable_path
from memories.core.notes import (
    NOTE_MAX_CHARS,
    TITLE_MAX_CHARS,
    NoteReading,
    OverfullError,
    note_hash,
    read_note,
)


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """A note as sent; `folder` is the folder whose import sends it."""

    path: str
    content: str
    title: str = ""
    agent: str = ""
    folder: str = ""


@dataclass(frozen=True, slots=True)
class CheckedNote:
    """A note with a normalised path and without credentials, and what is read of it."""

    draft: NoteDraft
    path: str
    title: str
    content: str
    content_hash: str  # of the content as sent
    hidden_count: int  # credentials that were replaced
    reading: NoteReading


def path_of(text: str) -> str:
    """Return the normalised path of a note to write; refuse a text that is none."""
    try:
        return linkable_path(text)
    except PathError as error:
        raise InvalidError("path", str(error)) from None


def check(draft: NoteDraft) -> CheckedNote:
    """Check and read a note. A credential in its text is replaced by a marker.

    As in transcripts, because a document must not be refused for one line; in the path, the title
    and the agent's name a credential is refused.
    """
    path = path_of(draft.path)
    title = draft.title.strip()
    if len(draft.content) > NOTE_MAX_CHARS:
        raise InvalidError("content", f"A note has at most {NOTE_MAX_CHARS:,} characters.")
    if len(title) > TITLE_MAX_CHARS:
        raise InvalidError("title", f"A title has at most {TITLE_MAX_CHARS} characters.")
    refuse_credentials({"path": path, "title": title, "agent": draft.agent})
    content, hidden_count = without_credentials(draft.content)
    try:
        reading = read_note(path, content, title)
    except OverfullError as error:
        raise InvalidError("content", str(error)) from None
    return CheckedNote(draft, path, title, content, note_hash(draft.content), hidden_count, reading)
