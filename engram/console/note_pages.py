"""The pages of notes: the list with search, and one note with the memories that link it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from engram.kernel.pages import member_page, staff_of
from engram.kernel.pagination import ByPosition, page_of
from memories.core.note_paths import without_extension
from memories.core.wiki_links import normalise_tag
from memories.models import LinkReason, Note
from memories.services.drift.asked import queries_of_forgotten
from memories.services.drift.find import count_errors_of_notes, errors_of_notes
from memories.services.notes.find import named, passages_with_words, tagged, with_counts
from memories.services.notes.links import count_linking_memories
from memories.services.notes.reading import PASSAGES_A_PAGE, chunks_of, read_passages

SIZE = 50
PASSAGES_FOUND = 20
ERRORS_SHOWN = 20  # tasks that a note did not fit
WORDS_MAX_CHARS = 200
LEADS_NOWHERE = {LinkReason.UNRESOLVED, LinkReason.AMBIGUOUS}


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
    page = page_of(chunks_of(found), request, size=PASSAGES_A_PAGE, pages=ByPosition)
    model = staff_of(request).workspace.embedding_model
    passages = read_passages(found, page.rows, model, timezone.now())
    backlinks, links = passages.backlinks, passages.links
    missed = list(errors_of_notes([found.pk])[:ERRORS_SHOWN])
    withheld = queries_of_forgotten(missed)
    context = {
        "note": found,
        "name": without_extension(found.path),
        "page": page,
        "passages": passages,
        "missed": [(error, error.pk in withheld) for error in missed],
        "links": links,
        "backlinks": backlinks,
        "notes_beyond": backlinks.notes_total - len(backlinks.notes),
        "unresolved": sum(link.reason in LEADS_NOWHERE for link in links),
        "headless": sum(link.is_heading_missing for link in links),
    }
    return render(request, "console/notes/one.html", context)
