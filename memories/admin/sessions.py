"""Admin pages of sessions: their injected memories and all candidates, read-only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.db.models.functions import Right
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.decorators import action, display

from engram.kernel.models import Role
from engram.kernel.pages import has_role, staff_of
from engram.kernel.staff import ShownAdmin, figure_column, moment_column
from memories.models import Session, SessionCandidate, SessionPrompt, State
from memories.models.session import SessionState
from memories.serializers.report import present_report
from memories.services.sessions.erase import delete_session
from memories.services.sessions.ranks import order_by_rank
from memories.services.sessions.withheld import WITHHELD, may_quote_hidden

TRANSCRIPT_SHOWN = 20_000  # characters, the last ones
PROMPTS_SHOWN = 100


class SessionStateFilter(admin.SimpleListFilter):
    """Filter by state."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the states."""
        return list(SessionState.choices)

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep the sessions of the state."""
        state = self.value()
        return queryset.in_state(state) if state in SessionState.values else queryset


@admin.register(Session)
class SessionAdmin(ShownAdmin):
    """Sessions with their records; reviewers, who judge the judge, also read what was said."""

    roles = {"view": Role.READER, "act": Role.ADMIN}
    actions = ["delete_sessions"]
    list_display = [
        "session_key", "project", "began", "condition", "prompts",
        "injected_memories", "matched_memories",
    ]  # fmt: skip
    list_filter = [SessionStateFilter]
    ordering = ["-started_at", "-id"]
    empty_text = (
        "A session begins when an agent asks for what it should know, and ends when it hands in"
        " its transcript."
    )
    empty_next = ("How agents start sessions", "console:api-docs")

    began = moment_column("started_at", "began")
    prompts = figure_column("prompt_count", "prompts", ",d")

    def get_queryset(self, request: HttpRequest) -> Any:
        """Return sessions with the counts of their records."""
        return Session.objects.with_counts().defer("context").order_by(*self.ordering)

    @display(
        description="state",
        label={SessionState.OPEN: "info", SessionState.ENDED: "success"},
    )
    def condition(self, session: Session) -> str:
        """Return the state."""
        return session.state

    @action(description="Delete", permissions=["act"])
    def delete_sessions(self, request: HttpRequest, rows: QuerySet[Session]) -> HttpResponse | None:
        """Delete sessions with their transcripts and records."""
        staff = staff_of(request)

        def work(chosen: QuerySet[Session]) -> int:
            return self.one_by_one(
                request,
                chosen.order_by("pk"),
                lambda session: delete_session(
                    staff.workspace, session.session_key, actor=staff.actor, now=timezone.now()
                ),
            )

        return self.confirm(
            request,
            rows,
            question="Delete {n:session}?",
            consequence="Their transcripts, contexts, records, judgements and comparisons are "
            "deleted for good, and the learned ranking is trained anew without them. Memories that "
            "were committed in them stay.",
            button="Delete",
            done="{n:session} deleted.",
            work=work,
        )

    @display(description="injected")
    def injected_memories(self, session: Any) -> int:
        """Return the number of injected memories."""
        count: int = session.injected_count
        return count

    @display(description="matched")
    def matched_memories(self, session: Any) -> int:
        """Return the number of memories that its prompts matched."""
        count: int = session.matched_count
        return count

    def show(self, request: HttpRequest, session: Any) -> HttpResponse:
        """Show one session, read-only."""
        now = timezone.now()
        records = session.candidates.select_related("memory").order_by("rank", "pk")
        rows = [
            (row, None if row.memory.state(now) != State.ACTIVE else row.memory.content)
            for row in records
        ]
        contents = {row.memory_id: content for row, content in rows}
        _number_places([row for row, _ in rows])
        context = {
            **self.admin_site.each_context(request),
            "title": f"Session {session.session_key}",
            "opts": self.opts,
            "session": session,
            "report": _report_of(session, contents),
            "tables": _split(rows),
            "sees_transcript": has_role(request, Role.REVIEWER),
            "is_withheld": Session.objects.filter(may_quote_hidden(), pk=session.pk).exists(),
            "why_withheld": WITHHELD,
        }
        if context["sees_transcript"] and not context["is_withheld"]:
            context["transcript"] = _end_of_transcript(session)
            context["shown_chars"] = TRANSCRIPT_SHOWN
            context["prompts"] = _last_prompts(session, contents)
        return TemplateResponse(request, "admin/memories/session/detail.html", context)


def _split(rows: list[Any]) -> list[tuple[str, list[Any]]]:
    """Return what a session was given or asked for, and apart what was only considered."""
    used = [pair for pair in rows if _has_taken_part(pair[0])]
    other = [pair for pair in rows if not _has_taken_part(pair[0])]
    title = f"{len(other)} more that were considered" if used else ""
    return [(name, found) for name, found in (("", used), (title, other)) if found]


def _number_places(rows: Sequence[SessionCandidate]) -> None:
    """Give rows their places in both rankings, counted as comparisons do: without pins and such."""
    for ranking in ("baseline", "predictor"):
        order = order_by_rank(rows, f"{ranking}_rank")
        places = {memory_id: place for place, memory_id in enumerate(order, start=1)}
        for row in rows:
            setattr(row, f"{ranking}_place", places.get(row.memory_id))


def _has_taken_part(row: SessionCandidate) -> bool:
    return row.was_injected or row.fts_hit_count > 0 or row.feedback is not None


def _end_of_transcript(session: Session) -> str:
    """Return the last characters of a session's transcript, which may be very long."""
    ending = Session.objects.filter(pk=session.pk).values_list(
        Right("transcript", TRANSCRIPT_SHOWN), flat=True
    )
    return str(ending[0])


def _last_prompts(
    session: Session, contents: Mapping[UUID, str | None]
) -> list[tuple[SessionPrompt, list[tuple[UUID, str]]]]:
    """Return the last prompts that are kept, each with the memories that it matched.

    Memories that are no longer recalled are left out, and those beyond what a session records.
    """
    last = session.prompts.order_by("-number")[:PROMPTS_SHOWN]
    return [
        (one, [(pk, text) for pk in one.memory_ids if (text := contents.get(pk)) is not None])
        for one in reversed(last)
    ]


def _report_of(session: Session, contents: Mapping[UUID, str | None]) -> dict[str, Any] | None:
    """Return a session's report with the texts of its memories; None where they are hidden."""
    report = present_report(session)
    if report is None:
        return None
    used = [(i, contents.get(UUID(i)), value) for i, value in report["used"].items()]
    wrong = [(one["memory"], contents.get(UUID(one["memory"])), one) for one in report["wrong"]]
    return report | {"used": used, "wrong": wrong}
