"""Admin pages of reviews: requests of agents that need a person's decision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import action, display

from engram.kernel.list_filters import DefaultedFilter
from engram.kernel.models import Role
from engram.kernel.pages import has_role, staff_of
from engram.kernel.staff import ShownAdmin, moment_column
from memories.core.readable import with_names
from memories.models import Review, ReviewKind, ReviewStatus
from memories.serializers.review_answers import answers_to, question_of
from memories.serializers.review_words import ReviewOnPage, review_on_page, reviews_on_pages
from memories.services.decisions import decide
from memories.services.review.sources import forgotten_sources

SHOWN_CHARS = 120
FORGOTTEN = "(forgotten)"


class ReviewStatusFilter(DefaultedFilter):
    """Filter by status; pending by default."""

    title = "status"
    parameter_name = "status"
    default = ReviewStatus.PENDING

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the statuses, pending first."""
        return [*ReviewStatus.choices, (self.all_value, "All")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep the reviews of the status."""
        chosen = self.value()
        return queryset if chosen == self.all_value else queryset.filter(status=chosen)


def _short(text: str) -> str:
    text = with_names(text)
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


def _on_page(review: Review) -> ReviewOnPage:
    """Return the visible parts, read with the others of the list, or alone."""
    return getattr(review, "shown_parts", None) or review_on_page(review)


def _about(review: Review) -> str:
    """Return the memory's content unless it was forgotten, or the requested new statement."""
    if review.memory is None:
        shown = _on_page(review)
        return FORGOTTEN if shown.is_withheld else _short(shown.wording)
    return FORGOTTEN if review.memory.forgotten_at else _short(review.memory.content)


def _effect_of(chosen: QuerySet[Review], name: str) -> str:
    """Return what an answer does to the one chosen review; "" for several."""
    rows = list(chosen[:2])
    return (
        next(one.effect for one in answers_to(rows[0]) if one.name == name)
        if len(rows) == 1
        else ""
    )


@admin.register(Review)
class ReviewAdmin(ShownAdmin):
    """Reviews; readers have no access because they may not see forgotten texts."""

    roles = {"view": Role.AGENT, "act": Role.REVIEWER}
    list_display = ["about", "requested_wording", "kind", "requester", "condition", "opened"]
    list_filter = [ReviewStatusFilter, "kind"]
    list_select_related = ["memory", "result"]
    actions = ["accept", "reject"]
    empty_text = (
        "When an agent asks for what only a person may decide, such as replacing what a user"
        " stated, the request waits here."
    )
    empty_next = ("What waits for people", "console:inbox")

    opened = moment_column("created_at", "requested at")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        """Return a change list that reads the visible parts of all reviews of a page at once."""
        plain = super().get_changelist(request, **kwargs)

        class ReviewList(plain):  # type: ignore[misc,valid-type]
            def get_results(self, request: HttpRequest) -> None:
                super().get_results(request)
                shown = reviews_on_pages(self.result_list)
                for review in self.result_list:
                    review.shown_parts = shown[review.id]

        return ReviewList

    @display(description="memory")
    def about(self, review: Review) -> str:
        """Return the memory's content, cut."""
        return format_html('<span class="eg-cell">{}</span>', _about(review))

    @display(description="requested wording")
    def requested_wording(self, review: Review) -> str:
        """Return the requested wording, cut."""
        wording = _on_page(review).wording
        return format_html('<span class="eg-cell">{}</span>', _short(wording) or "–")

    @display(description="by")
    def requester(self, review: Review) -> str:
        """Return the requester."""
        return review.actor_label

    @display(
        description="status",
        label={
            ReviewStatus.PENDING: "warning",
            ReviewStatus.ACCEPTED: "success",
            ReviewStatus.REJECTED: "danger",
        },
    )
    def condition(self, review: Review) -> str:
        """Return the status."""
        return review.status

    def name_of(self, row: Review) -> str:
        """Return the name of a review: its memory or statement."""
        return f"{row.get_kind_display()}: {_about(row)}"

    def show(self, request: HttpRequest, review: Any) -> HttpResponse:
        """Show one review with its memory, read-only."""
        context = {
            **self.admin_site.each_context(request),
            "title": "Review",
            "opts": self.opts,
            "review": review,
            "memory": review.memory,
            "state": review.memory.state() if review.memory else None,
            "asked": review_on_page(review),
            "asking": question_of(review),
            "answers": answers_to(review),
            "is_flag": review.kind == ReviewKind.SOURCE_FORGOTTEN,
            "gone_sources": forgotten_sources(review),
            "may_act": has_role(request, Role.REVIEWER) and review.status == ReviewStatus.PENDING,
        }
        return TemplateResponse(request, "admin/memories/review/detail.html", context)

    @action(description="Accept", permissions=["act"])
    def accept(self, request: HttpRequest, rows: QuerySet[Review]) -> HttpResponse | None:
        """Accept the selected reviews."""
        return self.confirm(
            request,
            rows.filter(status=ReviewStatus.PENDING),
            question="Accept {n} requests?",
            consequence=_effect_of(rows, "accept")
            or "Each is carried out as the one who asked: what they replace is superseded,"
            " what they ask to forget is forgotten, and a summary whose source was forgotten is"
            " forgotten too.",
            button="Accept",
            done="{n} requests accepted.",
            work=lambda chosen: self._answer(request, chosen, decide.accept),
        )

    @action(description="Reject", permissions=["act"])
    def reject(self, request: HttpRequest, rows: QuerySet[Review]) -> HttpResponse | None:
        """Reject the selected reviews."""
        return self.confirm(
            request,
            rows.filter(status=ReviewStatus.PENDING),
            question="Reject {n} requests?",
            consequence=_effect_of(rows, "reject")
            or "Nothing changes; a summary whose source was forgotten stays.",
            button="Reject",
            done="{n} requests rejected.",
            work=lambda chosen: self._answer(request, chosen, decide.reject),
            is_grave=False,
        )

    def _answer(
        self, request: HttpRequest, chosen: QuerySet[Review], verb: Callable[..., Review]
    ) -> int:
        """Decide reviews one by one, so that a lapsed one does not stop the others."""
        staff = staff_of(request)
        return self.one_by_one(
            request,
            list(chosen.select_related("memory")),
            lambda review: verb(staff.workspace, review.pk, actor=staff.actor, now=timezone.now()),
        )
