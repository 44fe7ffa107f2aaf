"""Reviews in the inbox: requests of agents that need a reviewer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When
from django.http import HttpRequest

from conflicts.core.questions import quote
from conflicts.core.wording import word_diff
from engram.console.inbox.source import SEVERITIES, Action, Done, InboxFilter, Source
from engram.kernel.actors import Actor
from engram.kernel.causes import NOT_UNDONE_HERE
from engram.kernel.models import Role, Workspace
from engram.kernel.refusals import StaleError
from memories.models import Memory, Review, ReviewKind, ReviewStatus
from memories.models.memory import in_scope
from memories.serializers.review_answers import FORGETS, answers_to, question_about, question_of
from memories.serializers.review_words import ReviewOnPage, review_on_page, reviews_on_pages
from memories.serializers.withheld import visible_parts
from memories.services.decisions import decide
from memories.services.decisions.reopen import reopen_review
from memories.services.lifecycle.forget import restore
from memories.services.review.sources import forgotten_sources

# A summary may still contain a forgotten text; any other request only keeps its agent waiting.
GRAVE, OTHER = SEVERITIES.index("high"), SEVERITIES.index("medium")
QUOTED = 140


class ReviewSource(Source):
    """Requests of agents for what they may not do alone."""

    name = "reviews"
    noun = "review"
    icon = "talk"
    template = "console/inbox/review.html"
    teaches = "An agent asks for what it may not do alone, such as replacing what a user stated."
    sees = Role.REVIEWER  # unaccepted statements; a key reads its own under /reviews
    announced_by = ("review.opened", "review.reopened")
    settled_by = ("review.accepted", "review.rejected", "review.lapsed")
    takes_note = True

    def rows(self) -> QuerySet[Any]:
        """Return all reviews."""
        return self._annotate(Review.objects.all())

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the pending ones that match the filter."""
        found = Review.objects.filter(status=ReviewStatus.PENDING)
        grave = Q(kind=ReviewKind.SOURCE_FORGOTTEN)
        if wanted.assignee_id is not None or wanted.severity == "low":
            found = found.none()
        elif wanted.severity:
            found = found.filter(grave if wanted.severity == SEVERITIES[GRAVE] else ~grave)
        if wanted.scope:
            scope = wanted.scope.strip("/")
            inside = Memory.objects.filter(in_scope(scope))
            scope_field = "request__fields__scope"
            claimed = Q(**{scope_field: scope}) | Q(**{f"{scope_field}__startswith": f"{scope}/"})
            found = found.filter(Q(memory__in=inside) | _shown_claims(found, claimed))
        if wanted.text:
            found = found.filter(
                Q(memory__forgotten_at=None, memory__content__icontains=wanted.text)
                | _shown_claims(found, Q(request__fields__content__icontains=wanted.text))
            )
        return self._annotate(found)

    def _annotate(self, found: QuerySet[Any]) -> QuerySet[Any]:
        urgency = Case(
            When(kind=ReviewKind.SOURCE_FORGOTTEN, then=Value(GRAVE)),
            default=Value(OTHER),
            output_field=IntegerField(),
        )
        about = found.select_related("memory", "result")
        marked: QuerySet[Any] = about.annotate(urgency=urgency, since=F("created_at"))
        return marked

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return each request's title, with the wording where it may be quoted."""
        shown = reviews_on_pages(rows)
        return {row.pk: (row.kind, _title(row, shown[row.pk])) for row in rows}

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return the memory, the request, and the outcomes of the requester's earlier requests."""
        shown, memory = review_on_page(row), row.memory
        is_compared = memory is not None and shown.wording and not shown.is_withheld
        return {
            "review": row,
            "asking": question_of(row),
            "memory": memory,
            "scope": memory.scope if memory else shown.scope,
            "state": memory.state(now) if memory else None,
            "wording": shown.wording,
            "is_withheld": shown.is_withheld,
            "difference": word_diff(memory.content, shown.wording) if is_compared else None,
            "others": shown.others,
            "is_flag": row.kind == ReviewKind.SOURCE_FORGOTTEN,
            "gone_sources": forgotten_sources(row),
            "record": _record_of(row),
            "settled_title": row.get_status_display(),
        }

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Return yes and no, with labels for the kind of request."""
        if row.status != ReviewStatus.PENDING:
            return ()
        return tuple(Action(key, *answer) for key, answer in enumerate(answers_to(row), start=1))

    def verbs(self) -> Mapping[str, Callable[..., Any]]:
        """Apply the request in the requester's name, or reject it."""
        return {"accept": decide.accept, "reject": decide.reject}

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return how a request was answered, and what undoing that would do."""
        row = Review.objects.select_related("memory").filter(pk=item_id).first()
        if row is None:
            return None
        forgets, decided = row.kind in FORGETS, (row.decided_by, row.decided_at)
        if row.status == ReviewStatus.REJECTED:
            words = "Kept." if forgets else "Rejected."
            return Done(words, "The request waits again.", *decided)
        if row.status != ReviewStatus.ACCEPTED:
            return None
        if not forgets:
            return Done("Accepted: done as asked.", "", *decided, row.result_id or row.memory_id)
        is_flag = row.kind == ReviewKind.SOURCE_FORGOTTEN
        words, what = ("Forgotten too.", "summary") if is_flag else ("Forgotten.", "memory")
        is_gone = row.memory is not None and row.memory.forgotten_at is not None
        return Done(words, f"The {what} is brought back." if is_gone else "", *decided)

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Reopen a rejected request, or restore the forgotten memory."""
        row = Review.objects.filter(pk=item_id).first()
        if row is None or row.status != ReviewStatus.ACCEPTED:
            reopen_review(workspace, item_id, actor=actor, now=now)
        elif row.kind in FORGETS and row.memory_id is not None:
            restore(workspace, [row.memory_id], actor=actor, now=now)
        else:
            raise StaleError(
                "An accepted change is undone from the history of its memory.",
                cause=NOT_UNDONE_HERE,
            )


def _shown_claims(found: QuerySet[Review], matching: Q) -> Q:
    """Return the condition for requests without a memory that match by what may be shown.

    The number of waiting requests per key is bounded; forgotten texts are recognised by hash.
    """
    claims = list(found.filter(matching, memory=None))
    shown = visible_parts(claims)
    return Q(pk__in=[claim.pk for claim in claims if not shown[claim.pk].is_withheld])


def _title(review: Review, shown: ReviewOnPage) -> str:
    memory = review.memory
    if memory is None:
        text = "" if shown.is_withheld else shown.wording
    else:
        text = "" if memory.forgotten_at is not None else memory.content
    return question_about(review, quote(text, QUOTED) if text else "")


def _record_of(review: Review) -> dict[str, int]:
    """Count the answers to earlier requests of the same requester."""
    theirs = Review.objects.filter(actor_kind=review.actor_kind, actor_id=review.actor_id)
    counted = theirs.order_by().values_list("status").annotate(n=Count("pk"))
    return {"accepted": 0, "rejected": 0, **dict(counted)}
