"""The pages of notes: the list with search, and one note with the memories that link it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from engram.kernel.literals import whole_number
from engram.kernel.pages import member_page, staff_of
from engram.kernel.pagination import NewestFirst, page_of
from memories.core.note_paths import without_extension
from memories.core.wiki_links import normalise_tag
from memories.models import LinkReason, Note, NoteChunk
from memories.services.drift.asked import queries_of_forgotten
from memories.services.drift.find import count_errors_of_notes, drifted_from, errors_of_notes
from memories.services.notes.beside import place_memories
from memories.services.notes.find import named, passages_with_words, tagged, with_counts
from memories.services.notes.links import backlinks_of, count_linking_memories, links_of

SIZE, PASSAGES_A_PAGE = 50, 60
PASSAGES_FOUND = 20
ERRORS_SHOWN = 20  # tasks that a note did not fit
WORDS_MAX_CHARS = 200
LEADS_NOWHERE = {LinkReason.UNRESOLVED, LinkReason.AMBIGUOUS}


class InOrder(NewestFirst):
    """Pagination of the passages of a note."""

    ordering = ("position",)

    def read_position(self, position: str) -> Any:
        """Return the number of a passage; raise `ValueError` if it is invalid."""
        return whole_number(position, least=0, most=2**31 - 1)


@require_safe
@member_page()
def notes(request: HttpRequest) -> HttpResponse:
    """List notes, last changed first; a search also shows passages with all its words."""
    words = request.GET.get("q", "").replace("\x00", "").strip()[:WORDS_MAX_CHARS]
    tag = normalise_tag(request.GET.get("tag", "").replace("\x00", ""))
    rows = Note.objects.defer("content", "properties").prefetch_related("tags")
    if words:
        rows = rows.filter(named(words))
    if tag:
        rows = rows.filter(tagged(tag))
    page = page_of(with_counts(rows), request, size=SIZE, ordering=("-updated_at", "-id"))
    linking = count_linking_memories([row.pk for row in page.rows], timezone.now())
    missed = count_errors_of_notes([row.pk for row in page.rows])
    passages = []
    if words and not tag and "cursor" not in request.GET:
        passages = list(passages_with_words(words)[: PASSAGES_FOUND + 1])
    context = {
        "page": page,
        "rows": [(row, linking.get(row.pk, 0), missed.get(row.pk, 0)) for row in page.rows],
        "words": words,
        "tag": tag,
        "passages": passages[:PASSAGES_FOUND],
        "has_more": len(passages) > PASSAGES_FOUND,
    }
    return render(request, "console/notes/list.html", context)


@require_safe
@member_page()
def note(request: HttpRequest, note_id: UUID) -> HttpResponse:
    """Show a note passage by passage, beside each the memories that link it."""
    counted = with_counts(Note.objects.defer("content").prefetch_related("tags"))
    found = counted.filter(pk=note_id).first()
    if found is None:
        raise Http404
    now = timezone.now()
    chunks = NoteChunk.objects.filter(note=found).defer("embedding")
    page = page_of(chunks, request, size=PASSAGES_A_PAGE, pages=InOrder, ordering=("position",))
    backlinks = backlinks_of(found, now)
    placed = place_memories(found, backlinks.memories, staff_of(request).workspace.embedding_model)
    links = links_of(found)
    missed = list(errors_of_notes([found.pk])[:ERRORS_SHOWN])
    withheld = queries_of_forgotten(missed)
    context = {
        "note": found,
        "name": without_extension(found.path),
        "page": page,
        "passages": [(chunk, placed.get(chunk.position, [])) for chunk in page.rows],
        "drifted": drifted_from(found),
        "missed": [(error, error.pk in withheld) for error in missed],
        "links": links,
        "targets": {(link.target, link.heading): link for link in links},
        "backlinks": backlinks,
        "memories_beyond": backlinks.memories_total - len(backlinks.memories),
        "notes_beyond": backlinks.notes_total - len(backlinks.notes),
        "unresolved": sum(link.reason in LEADS_NOWHERE for link in links),
        "headless": sum(link.is_heading_missing for link in links),
    }
    return render(request, "console/notes/one.html", context)
