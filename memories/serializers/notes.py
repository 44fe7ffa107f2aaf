"""Serializers of notes and of context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from engram.kernel.answers import to_json
from engram.kernel.fields import Flag, Text, Whole
from memories.core.notes import NOTE_MAX_CHARS, TITLE_MAX_CHARS
from memories.models import LinkReason, Note, NoteLink
from memories.serializers.recall import QUERY_MAX_CHARS, RecalledSerializer
from memories.services.notes.context import Context
from memories.services.notes.links import BACKLINKS_SHOWN, Backlinks

K_MAX = 100
BUDGET_MAX_CHARS = 200_000
AGENT_MAX_CHARS = 200
HEADING_MISSING = ("heading_missing", "The note has no such heading")


class NoteDraftSerializer(serializers.Serializer[Any]):
    """The body that creates or replaces a note."""

    content = Text(max_length=NOTE_MAX_CHARS, allow_blank=True, help_text="The Markdown text.")
    title = Text(
        max_length=TITLE_MAX_CHARS,
        allow_blank=True,
        allow_null=True,
        default=None,
        help_text="Null: the title of the front matter, else the first heading, else the name.",
    )
    agent = Text(max_length=AGENT_MAX_CHARS, allow_blank=True, default="")


class NoteSummarySerializer(serializers.Serializer[Note]):
    """A note in a list, without its text."""

    path = serializers.CharField(help_text="Its path, which names it.")
    title = serializers.CharField(help_text="Its title.")
    version = serializers.IntegerField(help_text="How often its text or title was set, from 1.")
    aliases = serializers.ListField(
        child=serializers.CharField(), help_text="Further names by which links find it."
    )
    tags = serializers.ListField(child=serializers.CharField(), help_text="Its tags, without #.")
    agent = serializers.CharField()
    chunks = serializers.IntegerField(help_text="The number of its passages.")
    pending = serializers.IntegerField(
        help_text="The number of its passages that are embedded in the background, and not found "
        "by their meaning until then."
    )
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class NoteLinkSerializer(serializers.Serializer[NoteLink]):
    """One link of a note."""

    target = serializers.CharField(help_text="The name as written; empty: the note itself.")
    heading = serializers.CharField(help_text="The heading, or with ^ the block; empty: none.")
    label = serializers.CharField(  # type: ignore[assignment]
        help_text="The text to show instead of the name; empty: none."
    )
    embed = serializers.BooleanField(help_text="Whether it embeds what it links (![[…]]).")
    path = serializers.CharField(
        allow_null=True, help_text="The path of the note that it leads to; null: see the reason."
    )
    renamed_to = serializers.CharField(
        allow_null=True,
        help_text="What the heading is called now, where its section was renamed since a memory "
        "linked it; null: it was not.",
    )
    reason = serializers.ChoiceField(
        [*LinkReason.choices, HEADING_MISSING],
        allow_null=True,
        help_text="Why it leads to no note: none has the name, several have it, it is the note "
        "itself, or it names a file that is no note (attachment); heading_missing: the note has no "
        "such heading or block; null: it leads to one.",
    )


class MemoryLinksSerializer(serializers.Serializer[Any]):
    """The links of a memory to notes."""

    links = NoteLinkSerializer(many=True, help_text="Its links, in the order of the text.")


class NoteReferenceSerializer(serializers.Serializer[Note]):
    """A note that links another."""

    path = serializers.CharField(help_text="Its path.")
    title = serializers.CharField(help_text="Its title.")


class MemoryReferenceSerializer(serializers.Serializer[Any]):
    """A recallable memory that links a note."""

    id = serializers.UUIDField()
    content = serializers.CharField()


class BacklinksSerializer(serializers.Serializer[Any]):
    """What links a note."""

    notes = NoteReferenceSerializer(
        many=True, help_text=f"The notes that link it, at most {BACKLINKS_SHOWN}."
    )
    notes_total = serializers.IntegerField(help_text="How many notes link it.")
    memories = MemoryReferenceSerializer(
        many=True, help_text=f"The memories that link it, newest first, at most {BACKLINKS_SHOWN}."
    )
    memories_total = serializers.IntegerField(help_text="How many recallable memories link it.")


class NoteSerializer(NoteSummarySerializer):
    """A note with its text and its links."""

    content = serializers.CharField(
        help_text="The Markdown text; a credential in it was replaced by a marker."
    )
    properties = serializers.DictField(help_text="Its front matter and page properties.")
    links = NoteLinkSerializer(many=True, help_text="Its links, in the order of the text.")
    backlinks = BacklinksSerializer(help_text="What links it.")


class PutNoteSerializer(NoteSummarySerializer):
    """A stored note; without its text, which the caller has."""

    outcome = serializers.ChoiceField(
        ["created", "changed", "unchanged"],
        help_text="unchanged: the same text and title were stored before.",
    )
    credentials_removed = serializers.IntegerField(
        help_text="The number of credentials in the text that were replaced by a marker."
    )
    unresolved_links = NoteLinkSerializer(
        many=True,
        help_text="The links of the text that lead to no note, or to one without their heading, "
        "with the reason; those to attachments are left out.",
    )


class ContextSerializer(serializers.Serializer[Any]):
    """The body of a request for context."""

    task = Text(max_length=QUERY_MAX_CHARS, help_text="What the caller is about to do, as text.")
    k = Whole(
        min_value=1, max_value=K_MAX, default=10, help_text="The most memories, and passages."
    )
    project = Text(max_length=200, allow_blank=True, default="")
    budget_chars = Whole(
        min_value=0,
        max_value=BUDGET_MAX_CHARS,
        default=6000,
        help_text="The most characters of `text`; what does not fit is left out whole.",
    )
    record = Flag(
        default=True,
        help_text="Whether it is logged, its memories count as injected, and drift and missing "
        "notes are reported.",
    )


class PassageSerializer(serializers.Serializer[Any]):
    """One passage of a note."""

    path = serializers.CharField(help_text="The path of its note.")
    heading = serializers.CharField(help_text="The headings that it stands under; empty: none.")
    text = serializers.CharField(help_text="The passage, as Markdown.")
    cosine = serializers.FloatField(help_text="The raw cosine to the task.")


class LeftOutSerializer(serializers.Serializer[Any]):
    """How much was found and does not fit into the budget."""

    memories = serializers.IntegerField(help_text="Memories that were left out.")
    notes = serializers.IntegerField(help_text="Passages that were left out.")


class ContextAnswerSerializer(serializers.Serializer[Any]):
    """The context of a task."""

    memories = RecalledSerializer(many=True, help_text="The memories in `text`, best first.")
    notes = PassageSerializer(many=True, help_text="The passages in `text`, nearest first.")
    text = serializers.CharField(
        help_text="Both as text to paste into a prompt, each quoted as data."
    )
    left_out = LeftOutSerializer(help_text="What the budget had no room for.")
    reason = serializers.CharField(help_text="Why there is no memory, or only pins; empty: it is.")
    notes_reason = serializers.CharField(help_text="Why there is no passage; empty: there is.")
    took_ms = serializers.FloatField()


def present_summary(note: Note) -> dict[str, Any]:
    """Return the JSON of a note with counts and prefetched tags, without its text."""
    counted: Any = note
    return {
        "path": note.path,
        "title": note.title,
        "version": note.version,
        "aliases": note.aliases,
        "tags": [row.tag for row in note.tags.all()],
        "agent": note.agent,
        "chunks": counted.chunk_count,
        "pending": counted.pending_count,
        "created_at": to_json(note.created_at),
        "updated_at": to_json(note.updated_at),
    }


def present_links(links: Sequence[NoteLink]) -> list[dict[str, Any]]:
    """Return the JSON of links with their notes."""
    return [
        {
            "target": link.target,
            "heading": link.heading,
            "label": link.label,
            "embed": link.is_embed,
            "path": link.note.path if link.note else None,
            "renamed_to": link.renamed_to or None,
            "reason": HEADING_MISSING[0] if link.is_heading_missing else link.reason or None,
        }
        for link in links
    ]


def present_note(note: Note, links: Sequence[NoteLink], backlinks: Backlinks) -> dict[str, Any]:
    """Return the JSON of a note with its text and links."""
    return present_summary(note) | {
        "content": note.content,
        "properties": note.properties,
        "links": present_links(links),
        "backlinks": {
            "notes": [{"path": one.path, "title": one.title} for one in backlinks.notes],
            "notes_total": backlinks.notes_total,
            "memories": [{"id": str(one.id), "content": one.content} for one in backlinks.memories],
            "memories_total": backlinks.memories_total,
        },
    }


def present_context(context: Context, memories: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the JSON of a context, without the duration."""
    return {
        "memories": list(memories),
        "notes": [
            {
                "path": one.path,
                "heading": one.heading,
                "text": one.text,
                "cosine": one.cosine,
            }
            for one in context.passages
        ],
        "text": context.text,
        "left_out": {
            "memories": context.memories_left_out,
            "notes": context.passages_left_out,
        },
        "reason": context.reason,
        "notes_reason": context.notes_reason,
    }
