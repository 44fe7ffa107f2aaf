"""API views of sessions: start, prompts, feedback, end, list, detail, delete."""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar

import django_filters
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.filters import MomentFilter, StateFilter, StrictFilterSet
from engram.kernel.models import Role
from engram.kernel.pagination import NewestFirst
from engram.kernel.paths import SESSION_KEY_MAX_CHARS
from engram.kernel.refusals import MissingError
from engram.kernel.throttling import CHARS_A_WRITE
from memories.models import Session
from memories.models.session import SessionState
from memories.serializers import session as shapes
from memories.serializers.report import report_of
from memories.services.extraction.queue import demand_is_on, queue_of_session
from memories.services.sessions.access import NO_SUCH_SESSION
from memories.services.sessions.end import end_session
from memories.services.sessions.erase import delete_session
from memories.services.sessions.feedback import give_feedback
from memories.services.sessions.prompts import prompt
from memories.services.sessions.start import SessionRequest, session_rng, start_session

KEY = OpenApiParameter(
    "session_key",
    {"type": "string", "minLength": 1, "maxLength": SESSION_KEY_MAX_CHARS},
    OpenApiParameter.PATH,
    description="The session's key, percent-encoded (slashes too).",
)

# It is stored, and unless memories are extracted only its last 4,000 characters are read.
TRANSCRIPT_CHARS_A_WRITE = 20_000


class NewestStartFirst(NewestFirst):
    """Pagination of sessions."""

    ordering = ("-started_at", "-id")


class SessionFilter(StrictFilterSet):
    """`GET /sessions` filters."""

    project = django_filters.CharFilter(field_name="project")
    state = StateFilter(SessionState.choices, keep="in_state", label="State (default: all)")
    since = MomentFilter(field_name="started_at", lookup_expr="gte", label="Started since")

    class Meta:
        model = Session
        fields: list[str] = []

    def in_state(self, queryset: Any, value: str) -> Any:
        """Keep the sessions of a state."""
        return queryset.in_state(value)


class Sessions(WorkspaceView, ListAPIView):  # type: ignore[type-arg]
    """The sessions of the workspace."""

    serializer_class = shapes.SessionSerializer
    filterset_class = SessionFilter
    pagination_class = NewestStartFirst

    def get_queryset(self) -> Any:
        """Return all sessions."""
        return Session.objects.with_counts().defer("context")

    @extend_schema(responses=shapes.SessionSerializer(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List sessions, newest first."""
        return super().list(request, *args, **kwargs)

    @extend_schema(
        request=shapes.SessionWantedSerializer,
        responses={201: shapes.StartedSerializer, 200: shapes.StartedSerializer},
    )
    def post(self, request: Request) -> Response:
        """Start a session and return the memories to inject.

        200 for a known session key: the memories injected at its start that can still be recalled,
        in their present wording; 409 when another key started the session.
        """
        began = perf_counter()
        sent = validate_body(shapes.SessionWantedSerializer, request).validated_data
        self.charge([sent["context"]])
        started = start_session(
            self.workspace,
            SessionRequest(**sent),
            actor=self.actor,
            now=timezone.now(),
            rng=session_rng(self.workspace, sent["session_key"]),
        )
        answer = shapes.present_started(started)
        answer["took_ms"] = round((perf_counter() - began) * 1000, 2)
        return Response(answer, status=201 if started.is_new else 200)


class SessionDetail(WorkspaceView):
    """One session."""

    roles: ClassVar = {"DELETE": Role.ADMIN}

    @extend_schema(parameters=[KEY], responses=shapes.SessionDetailSerializer)
    def get(self, request: Request, session_key: str) -> Response:
        """Show a session with all its records; ranked ones come first."""
        found = Session.objects.filter(session_key=session_key).with_counts()
        session = found.select_related("report").first()
        if session is None:
            raise MissingError(NO_SUCH_SESSION)
        rows = list(session.candidates.select_related("memory").order_by("rank", "pk"))
        return Response(shapes.present_detail(session, rows, now=timezone.now()))

    @extend_schema(parameters=[KEY], responses={204: None})
    def delete(self, request: Request, session_key: str) -> Response:
        """Delete a session with its transcript and records; history records the deletion."""
        delete_session(self.workspace, session_key, actor=self.actor, now=timezone.now())
        return Response(status=204)


class SessionPrompts(WorkspaceView):
    """`POST /sessions/{session_key}/prompts`."""

    @extend_schema(
        parameters=[KEY], request=shapes.PromptSerializer, responses=shapes.PromptedSerializer
    )
    def post(self, request: Request, session_key: str) -> Response:
        """Count the memories that a prompt matches, once per prompt.

        409 after the end; 403 when another key started the session.
        """
        sent = validate_body(shapes.PromptSerializer, request).validated_data
        self.charge([sent["prompt"]])
        found = prompt(
            self.workspace, session_key, sent["prompt"], actor=self.actor, now=timezone.now()
        )
        return Response(shapes.present_prompted(found))


class SessionFeedback(WorkspaceView):
    """`POST /sessions/{session_key}/feedback`."""

    @extend_schema(
        parameters=[KEY],
        request=shapes.FeedbackSerializer,
        responses=shapes.FeedbackGivenSerializer,
    )
    def post(self, request: Request, session_key: str) -> Response:
        """Rate a memory of the session's records; 409 once the session is judged.

        403 when another key started the session.
        """
        sent = validate_body(shapes.FeedbackSerializer, request).validated_data
        row = give_feedback(
            self.workspace, session_key, sent["memory_id"], sent["value"],
            actor=self.actor, now=timezone.now(),
        )  # fmt: skip
        return Response(
            {"session_key": session_key, "memory_id": row.memory_id, "value": row.feedback}
        )


class SessionEnd(WorkspaceView):
    """`POST /sessions/{session_key}/end`."""

    max_body_bytes = 6 * 1024 * 1024  # a transcript of 400,000 characters, escaped

    @extend_schema(
        parameters=[KEY], request=shapes.EndSerializer, responses={202: shapes.EndedSerializer}
    )
    def post(self, request: Request, session_key: str) -> Response:
        """End a session; it is judged in the background.

        `used`, `wrong` and `missing` are what the agent says of its session: they need no
        transcript. `used` and `wrong` name memories that the session was given, at its start or as
        matches of a prompt, and that can be recalled; 422 otherwise, and nothing is stored.

        With `extract` its transcript is also turned into memories: `GET /jobs/{id}` says what came
        of it. The same call again returns the same job; 422 when there is no transcript.

        The same call again changes nothing; 409 with another transcript or report. 403 when
        another key started the session, unless the caller is a reviewer without a report.
        """
        sent = validate_body(shapes.EndSerializer, request).validated_data
        share = CHARS_A_WRITE if sent["extract"] else TRANSCRIPT_CHARS_A_WRITE
        report = report_of(sent)
        self.charge([sent["transcript"], *report.texts], chars_a_write=share)
        now = timezone.now()
        if sent["extract"]:
            demand_is_on(self.workspace)
        session = end_session(
            self.workspace,
            session_key,
            sent["transcript"],
            actor=self.actor,
            now=now,
            report=report,
        )
        job = (
            queue_of_session(self.workspace, session_key, actor=self.actor, now=now)
            if sent["extract"]
            else None
        )
        ended = {
            "session_key": session.session_key,
            "ended_at": session.ended_at,
            "job": job.id if job else None,
        }
        return Response(shapes.EndedSerializer(ended).data, status=202)
