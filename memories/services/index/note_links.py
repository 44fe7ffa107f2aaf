"""Write the links of memories and notes, and find the notes that they lead to.

Who writes links shares a lock that who changes names of notes holds alone, so that no link misses a
name that is written at the same time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from django.db import connection

from engram.kernel.locks import one_at_a_time, share
from engram.kernel.tenancy import current_workspace_id
from memories.core.note_paths import (
    Name,
    NamedNote,
    Resolution,
    folder_of,
    link_name,
    name_key,
    reason_of_missing,
    resolve,
)
from memories.core.wiki_links import WikiLink, wiki_links
from memories.models import Memory, Note, NoteLink, NoteName
from memories.models.memory import LIVE

MARK = "[["  # a text without it has no links
LINKS_A_STEP = 1_000


def lock_names() -> None:
    """Keep other transactions from writing names or links of notes until this one ends."""
    one_at_a_time(_lock())


def _lock() -> str:
    return f"note-names:{current_workspace_id()}"


def write_memory_links(contents: Mapping[UUID, str]) -> None:
    """Replace the links of memories by those of their present contents."""
    share(_lock())
    NoteLink.objects.filter(memory__in=list(contents)).delete()
    live = Memory.objects.filter(LIVE, pk__in=list(contents)).order_by()
    live_ids = set(live.values_list("pk", flat=True))
    rows = [
        _row(link, position, memory_id=memory_id, is_live=memory_id in live_ids)
        for memory_id, content in contents.items()
        for position, link in enumerate(wiki_links(content))
        if link.target
    ]
    NoteLink.objects.bulk_create(_resolved(rows), batch_size=LINKS_A_STEP)


def follow_lifecycle(memory_ids: Collection[UUID], *, is_live: bool) -> None:
    """Say of the links of memories whether these are hidden; the caller has locked the memories.

    The lock is that of who writes links, so that no two transactions wait for rows of each other.
    """
    share(_lock())
    NoteLink.objects.filter(memory__in=list(memory_ids)).update(is_live=is_live)


def write_note_links(note: Note, links: Sequence[WikiLink]) -> None:
    """Replace the links of a note; the caller has called `lock_names`."""
    NoteLink.objects.filter(source=note).delete()
    rows = [_row(link, position, source=note) for position, link in enumerate(links)]
    NoteLink.objects.bulk_create(_resolved(rows), batch_size=LINKS_A_STEP)


def write_names(note: Note, names: Iterable[Name]) -> set[str]:
    """Replace the names of a note by these; return the keys of those added and removed.

    The caller has called `lock_names`, and calls `resolve_again` with the keys.
    """
    stored = {
        Name(row.kind, row.name, row.key): row.pk for row in NoteName.objects.filter(note=note)
    }
    wanted = set(names)
    NoteName.objects.filter(
        pk__in=[pk for name, pk in stored.items() if name not in wanted]
    ).delete()
    NoteName.objects.bulk_create(
        NoteName(note=note, kind=name.kind, name=name.name, key=name.key)
        for name in sorted(wanted - set(stored))
    )
    return {name.key for name in wanted ^ set(stored)}


def keys_of(note: Note) -> set[str]:
    """Return the keys of all names of a note."""
    return set(NoteName.objects.filter(note=note).values_list("key", flat=True))


def resolve_again(keys: Collection[str]) -> set[UUID]:
    """Find the notes of all links with these keys again; return memories whose links changed."""
    if not keys:
        return set()
    links = (
        NoteLink.objects.filter(key__in=list(keys))
        .select_related("source")
        .defer("source__content", "source__properties")
    )
    known = _named(set(keys))
    changed = []
    for link in links.order_by("pk"):
        before = link.note_id, link.reason
        _set(link, _resolution(link, known))
        if (link.note_id, link.reason) != before:
            changed.append(link)
    if changed:
        _update(changed)
    return {link.memory_id for link in changed if link.memory_id is not None}


def _update(links: Sequence[NoteLink]) -> None:
    """Write where links lead, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE memories_notelink AS kept SET note_id = found.note_id, reason = found.reason
            FROM unnest(%(ids)s::bigint[], %(notes)s::uuid[], %(reasons)s::text[])
                AS found (id, note_id, reason)
            WHERE kept.workspace_id = %(workspace)s AND kept.id = found.id
            """,
            {
                "workspace": current_workspace_id(),
                "ids": [link.pk for link in links],
                "notes": [link.note_id for link in links],
                "reasons": [link.reason for link in links],
            },
        )


def _row(
    link: WikiLink,
    position: int,
    *,
    memory_id: UUID | None = None,
    source: Note | None = None,
    is_live: bool = True,
) -> NoteLink:
    """Return the row of a link, not resolved; a link to a heading of its own note has no target."""
    row = NoteLink(
        memory_id=memory_id,
        source=source,
        position=position,
        target=link.target,
        heading=link.heading,
        label=link.label,
        is_embed=link.is_embed,
        is_live=is_live,
    )
    name = _name_of(row)
    row.key = "" if name is None else name_key(name)
    return row


def _name_of(link: NoteLink) -> str | None:
    """Return the name that a link spells; None if it cannot be any note's."""
    if not link.target:
        return None if link.source is None else link.source.path
    return link_name(link.target, folder_of(link.source.path) if link.source else "")


def _resolved(links: Sequence[NoteLink]) -> Sequence[NoteLink]:
    """Set the note, or the reason why there is none, of links that are not written yet."""
    known = _named({link.key for link in links})
    for link in links:
        _set(link, _resolution(link, known))
    return links


def _named(keys: Collection[str]) -> dict[str, list[NamedNote]]:
    """Return the notes with these keys; one query, however many."""
    found: dict[str, list[NamedNote]] = defaultdict(list)
    wanted = [key for key in keys if key]
    if wanted:
        rows = NoteName.objects.filter(key__in=wanted).order_by("pk")
        columns = ("key", "note_id", "kind", "name", "note__path")
        for key, note_id, kind, name, path in rows.values_list(*columns):
            found[key].append(NamedNote(note_id, kind, name, path))
    return found


def _resolution(link: NoteLink, known: Mapping[str, Sequence[NamedNote]]) -> Resolution:
    name = _name_of(link)
    if name is None:
        return Resolution(None, reason_of_missing(link.target))
    return resolve(name, known.get(link.key, ()), link.source_id)


def _set(link: NoteLink, found: Resolution) -> None:
    link.note_id = found.note if isinstance(found.note, UUID) else None
    link.reason = found.reason
