"""Models of notes: Markdown documents by path, their chunks, names and links."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Deferrable, Q
from pgvector.django import VectorField

from engram.kernel.labels import row_label
from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel
from memories.models.memory import Memory

NOTE_MAX_CHARS = 200_000
PATH_MAX_CHARS = 400
TITLE_MAX_CHARS = 300
ALIAS_MAX_CHARS = 200
FOLDER_MAX_CHARS = 600  # what fits into an index
KEY_MAX_CHARS = 3 * PATH_MAX_CHARS  # folding case makes up to three characters of one


class Note(WorkspaceModel):
    """One Markdown document; `content` is as it was sent, except for removed credentials."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # No index of its own: those below begin with the same column.
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    path = models.CharField(max_length=PATH_MAX_CHARS)  # normalised by `core/note_paths.py`
    title = models.CharField(max_length=TITLE_MAX_CHARS)
    given_title = models.CharField(max_length=TITLE_MAX_CHARS, blank=True)  # by the caller
    content = models.TextField(blank=True)
    content_hash = models.CharField(max_length=64, editable=False)  # of what was sent
    version = models.PositiveIntegerField(default=1)  # grows when content or title change
    properties = models.JSONField(default=dict, blank=True)  # front matter and page properties
    aliases = ArrayField(models.CharField(max_length=ALIAS_MAX_CHARS), default=list, blank=True)
    agent = models.CharField(max_length=200, blank=True)
    # The folder whose import brought the text, and the hash of the file then; "" for other notes.
    # Where the hash differs from `content_hash`, the note was changed here since.
    imported_from = models.CharField(max_length=FOLDER_MAX_CHARS, blank=True)
    imported_hash = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ["-updated_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "path"], name="note_once_a_path")
        ]
        indexes = [
            models.Index(fields=["workspace", "-updated_at", "-id"], name="note_newest"),
            models.Index(fields=["workspace", "content_hash"], name="note_hash"),
            models.Index(
                fields=["workspace", "imported_from"],
                condition=~Q(imported_from=""),
                name="note_of_folder",
            ),
        ]

    def __str__(self) -> str:
        return row_label(self, self.created_at)


class NameKind(models.TextChoices):
    """What a name of a note is."""

    PATH = "path", "The whole path"
    PART = "part", "The end of the path"
    ALIAS = "alias", "An alias"


class NoteName(WorkspaceModel):
    """One name by which a link finds a note: the ends of its path, and its aliases.

    Names are written without the extension `.md`. `key` is the name without regard to case.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    note = models.ForeignKey(Note, models.CASCADE, related_name="names")
    kind = models.CharField(max_length=5, choices=NameKind.choices)
    name = models.CharField(max_length=PATH_MAX_CHARS)
    key = models.CharField(max_length=KEY_MAX_CHARS)

    class Meta:
        indexes = [models.Index(fields=["workspace", "key"], name="note_name_lookup")]

    def __str__(self) -> str:
        return row_label(self)


class NoteTag(WorkspaceModel):
    """One tag of a note; rows, because row-level security disables array indexes."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    note = models.ForeignKey(Note, models.CASCADE, related_name="tags", db_index=False)
    tag = models.CharField(max_length=100)

    class Meta:
        ordering = ["tag"]
        constraints = [models.UniqueConstraint(fields=["note", "tag"], name="note_tag_once")]
        indexes = [models.Index(fields=["workspace", "tag"], name="note_tag_lookup")]

    def __str__(self) -> str:
        return row_label(self)


class NoteChunk(WorkspaceModel):
    """One passage of a note, under its headings; embedded as `core/note_chunks.py` says.

    Until it is embedded `embedding` is null and `model` empty.
    """

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    note = models.ForeignKey(Note, models.CASCADE, related_name="chunks", db_index=False)
    position = models.PositiveIntegerField()
    heading = models.CharField(max_length=1000, blank=True)  # "Billing > Retries"
    text = models.TextField()
    text_hash = models.CharField(max_length=64, editable=False)  # of what is embedded
    model = models.CharField(max_length=120, blank=True)
    embedding = VectorField(null=True)  # no fixed width: each model has its own

    class Meta:
        ordering = ["note", "position"]
        constraints = [
            # Checked at the end of a transaction, which may move chunks.
            models.UniqueConstraint(
                fields=["note", "position"],
                deferrable=Deferrable.DEFERRED,
                name="note_chunk_position",
            )
        ]
        indexes = [
            models.Index(fields=["workspace", "model"], name="note_chunk_model"),
            models.Index(fields=["workspace"], condition=Q(embedding=None), name="note_chunk_due"),
        ]

    def __str__(self) -> str:
        return f"chunk {self.position} of {self.note_id}"


class LinkReason(models.TextChoices):
    """Why a link leads to no note."""

    UNRESOLVED = "unresolved", "No note has this name"
    AMBIGUOUS = "ambiguous", "Several notes have this name"
    SELF = "self", "The note links itself"
    ATTACHMENT = "attachment", "A file that is no note"


class NoteLink(WorkspaceModel):
    """One wiki link of a memory or of a note, with the note that it leads to, or why to none."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="+", db_index=False)
    memory = models.ForeignKey(Memory, models.CASCADE, null=True, related_name="note_links")
    source = models.ForeignKey(Note, models.CASCADE, null=True, related_name="links")
    position = models.PositiveIntegerField()  # order within the text
    target = models.CharField(max_length=PATH_MAX_CHARS)  # as written
    key = models.CharField(max_length=KEY_MAX_CHARS)  # as in `NoteName`
    heading = models.CharField(max_length=300, blank=True)  # or a block, as "^id"
    label = models.CharField(max_length=300, blank=True)
    is_embed = models.BooleanField(default=False)
    note = models.ForeignKey(Note, models.SET_NULL, null=True, related_name="backlinks")
    reason = models.CharField(max_length=10, choices=LinkReason.choices, blank=True)
    # Follows the lifecycle timestamps of `memory`, as `MemoryVector.is_live` does, so that hidden
    # memories are not read to find others that link the same note.
    is_live = models.BooleanField(default=True)
    # Not stored: whether `note` lacks `heading`, and what its section is called now, where it was
    # renamed since a memory linked it. Set by `services/notes/links.py`.
    is_heading_missing = False
    renamed_to = ""

    class Meta:
        ordering = ["position"]
        constraints = [
            models.CheckConstraint(
                condition=Q(memory=None) ^ Q(source=None), name="note_link_from_one"
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "key"], name="note_link_lookup"),
            models.Index(
                fields=["note", "id"],
                condition=Q(is_live=True, memory__isnull=False),
                name="note_link_live",
            ),
            models.Index(
                fields=["note", "id"],
                condition=Q(source__isnull=False),
                name="note_link_from_notes",
            ),
        ]

    @property
    def is_broken(self) -> bool:
        """Return whether it leads nowhere, or to a note without its heading."""
        return self.reason not in {"", LinkReason.ATTACHMENT} or self.is_heading_missing

    def __str__(self) -> str:
        return row_label(self)
