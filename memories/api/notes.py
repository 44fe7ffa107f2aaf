"""API views of notes, and of the context of a task."""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar
from uuid import UUID

import django_filters
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.filters import MomentFilter, StrictFilterSet
from engram.kernel.models import Role
from engram.kernel.pagination import NewestFirst
from engram.kernel.planning import searching
from engram.kernel.preconditions import precondition_of
from engram.kernel.refusals import MissingError
from engram.kernel.tenancy import in_one_transaction, in_workspace
from memories.api.memories import visible_to
from memories.core.note_paths import PATH_MAX_CHARS
from memories.models import Note
from memories.serializers import notes as shapes
from memories.serializers.recall import present_recalled
from memories.services.drift.check import check_note
from memories.services.notes.context import ContextRequest, give_context
from memories.services.notes.delete import delete_note
from memories.services.notes.draft import NoteDraft
from memories.services.notes.find import find_note, named, tagged, version_tag, with_counts
from memories.services.notes.links import backlinks_of, links_of, links_of_memory
from memories.services.notes.put import PutNote, put_note

PATH = OpenApiParameter(
    "note_path",
    {"type": "string", "minLength": 1, "maxLength": PATH_MAX_CHARS},
    OpenApiParameter.PATH,
    description="The note's path, such as `work/billing.md`, percent-encoded.",
)

ETAG = OpenApiParameter(
    "ETag",
    str,
    OpenApiParameter.HEADER,
    description="The version of the note's text and title, for `If-Match`.",
    response=[200, 201],
)


class NewestChangeFirst(NewestFirst):
    """Pagination of notes."""

    ordering = ("-updated_at", "-id")


class NoteFilter(StrictFilterSet):
    """`GET /notes` filters."""

    q = django_filters.CharFilter(
        method="by_name", max_length=200, label="Part of the path, the title or an alias"
    )
    tag = django_filters.CharFilter(
        method="by_tag", max_length=100, label="A tag; `kitchen` also finds `kitchen/bread`"
    )
    prefix = django_filters.CharFilter(
        field_name="path",
        lookup_expr="startswith",
        max_length=PATH_MAX_CHARS,
        label="Beginning of the path, such as `work/`",
    )
    updated_since = MomentFilter(
        field_name="updated_at", lookup_expr="gte", label="Changed since then"
    )

    class Meta:
        model = Note
        fields: list[str] = []

    def by_name(self, queryset: QuerySet[Note], name: str, value: str) -> QuerySet[Note]:
        """Keep notes whose path, title or one of whose aliases contains a text, in any case."""
        return queryset.filter(named(value))

    def by_tag(self, queryset: QuerySet[Note], name: str, value: str) -> QuerySet[Note]:
        """Keep notes with the tag, or with one below it."""
        return queryset.filter(tagged(value))


class Notes(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The notes of the workspace."""

    serializer_class = shapes.NoteSummarySerializer
    filterset_class = NoteFilter
    pagination_class = NewestChangeFirst

    def get_queryset(self) -> Any:
        """Return all notes, without their texts."""
        notes = Note.objects.defer("content", "properties").prefetch_related("tags")
        return with_counts(notes)

    @extend_schema(responses=shapes.NoteSummarySerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List notes, last changed first."""
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        return self.get_paginated_response([shapes.present_summary(note) for note in page])


class NoteDetail(WorkspaceView):
    """One note."""

    max_body_bytes = 3 * 1024 * 1024  # 200,000 characters, each escaped as two surrogates
    roles: ClassVar = {"DELETE": Role.AGENT}
    conditional_methods = ("PUT", "DELETE")

    @extend_schema(parameters=[PATH, ETAG], responses=shapes.NoteSerializer)
    def get(self, request: Request, note_path: str) -> Response:
        """Show a note with its links, and with what links it."""
        note = _counted(find_note(note_path))
        return Response(
            shapes.present_note(note, links_of(note), backlinks_of(note, timezone.now())),
            headers={"ETag": version_tag(note)},
        )

    @extend_schema(
        parameters=[PATH, ETAG],
        request=shapes.NoteDraftSerializer,
        responses={200: shapes.PutNoteSerializer, 201: shapes.PutNoteSerializer},
    )
    def put(self, request: Request, note_path: str) -> Response:
        """Create or replace a note.

        Equal text and title change nothing. Passages unchanged under unchanged headings keep their
        vectors; the first new ones are embedded at once, the others in the background. A credential
        in the text is replaced by a marker.
        """
        sent = validate_body(shapes.NoteDraftSerializer, request).validated_data
        self.charge([sent["content"]])
        draft = NoteDraft(note_path, sent["content"], sent["title"] or "", sent["agent"])
        only_if = precondition_of(request.headers)
        with in_one_transaction():
            put = put_note(
                self.workspace, draft, only_if=only_if, actor=self.actor, now=timezone.now()
            )
            answer = self._answer(put)
        if put.outcome != "unchanged":
            check_note(self.workspace, put.note.pk, now=timezone.now())
        return Response(
            answer,
            status=201 if put.outcome == "created" else 200,
            headers={"ETag": version_tag(put.note)},
        )

    def _answer(self, put: PutNote) -> dict[str, Any]:
        with in_workspace(self.workspace):
            note = _counted(put.note)
            unresolved = [link for link in links_of(note) if link.is_broken]
            return shapes.present_summary(note) | {
                "outcome": put.outcome,
                "credentials_removed": put.hidden_count,
                "unresolved_links": shapes.present_links(unresolved),
            }

    @extend_schema(parameters=[PATH], responses={204: None})
    def delete(self, request: Request, note_path: str) -> Response:
        """Delete a note for good; links to it lead nowhere. History keeps its path."""
        only_if = precondition_of(request.headers)
        delete_note(
            self.workspace, note_path, only_if=only_if, actor=self.actor, now=timezone.now()
        )
        return Response(status=204)


def _counted(note: Note) -> Note:
    return with_counts(Note.objects.prefetch_related("tags")).get(pk=note.pk)


class MemoryNoteLinks(WorkspaceView):
    """The links of one memory to notes."""

    @extend_schema(responses=shapes.MemoryLinksSerializer)
    def get(self, request: Request, memory_id: UUID) -> Response:
        """List the links of a memory to notes, with the reason where one leads to none.

        None of a forgotten memory, whose words they are.
        """
        memory = visible_to(self.actor.role).filter(pk=memory_id).first()
        if memory is None:
            raise MissingError("There is no such memory.")
        links = links_of_memory(memory) if memory.forgotten_at is None else []
        return Response({"links": shapes.present_links(links)})


class ContextView(WorkspaceView):
    """`POST /context`."""

    default_write_role = WorkspaceView.default_read_role

    @extend_schema(request=shapes.ContextSerializer, responses=shapes.ContextAnswerSerializer)
    def post(self, request: Request) -> Response:
        """Return the memories and the passages of notes that belong to a task.

        The memories count as injected, not as recalled; with `record` false, not at all.
        """
        began = perf_counter()
        sent = validate_body(shapes.ContextSerializer, request).validated_data
        wanted = ContextRequest(
            sent["task"],
            k=sent["k"],
            project=sent["project"],
            budget_chars=sent["budget_chars"],
            is_recorded=sent["record"],
            caller=self.actor.caller,
        )
        context = give_context(self.workspace, wanted, now=timezone.now())
        with searching(self.workspace):
            memories = present_recalled(context.memories)
        answer = shapes.present_context(context, memories)
        answer["took_ms"] = round((perf_counter() - began) * 1000, 2)
        return Response(answer)
