"""Admin list of memories: search, forget, restore; a click leads to the console's page."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from unfold.decorators import action, display

from engram.kernel.list_filters import DefaultedFilter, TextFilter
from engram.kernel.models import Role
from engram.kernel.pages import has_role, staff_of
from engram.kernel.refusals import RefusalError
from engram.kernel.staff import ShownAdmin, moment_column
from memories.core.readable import with_names
from memories.core.text import terms
from memories.models import Memory, State
from memories.models.memory import in_scope
from memories.services.index.filters import with_words
from memories.services.lifecycle import forget

SHOWN_CHARS = 160


class MemoryStateFilter(DefaultedFilter):
    """Filter by state; active by default."""

    title = "state"
    parameter_name = "state"
    default = State.ACTIVE

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the states, the default first."""
        return [*reversed(State.choices), (self.all_value, "All")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep memories in the state."""
        if self.value() == self.all_value:
            return queryset
        return queryset.in_state(self.value()) if self.value() in State.values else queryset.none()


class ScopeFilter(TextFilter):
    """Filter by a scope and all scopes below it."""

    title = "scope"
    parameter_name = "scope"

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep memories in the scope or below."""
        scope = (self.value() or "").strip("/")
        return queryset.filter(in_scope(scope)) if scope else queryset


class UseFilter(admin.SimpleListFilter):
    """Filter by use and demotion."""

    title = "use"
    parameter_name = "use"
    conditions: ClassVar[dict[str, Q]] = {
        "never": Q(recall_count=0),
        "unused": Q(recall_count=0, hit_count=0, used_count=0),
        "demoted": Q(demotion_count__gt=0),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the conditions."""
        return [
            ("never", "Never recalled"),
            ("unused", "Of no use so far"),
            ("demoted", "Demoted by the janitor"),
        ]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        """Keep memories of the condition."""
        condition = self.conditions.get(self.value() or "")
        return queryset if condition is None else queryset.filter(condition)


def _short(text: str) -> str:
    text = with_names(text)
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


@admin.register(Memory)
class MemoryAdmin(ShownAdmin):
    """Memories, read-only; agents write them, verdicts change them."""

    roles = {"view": Role.READER, "act": Role.REVIEWER}
    list_display = [
        "shown", "condition", "kind", "provenance", "place", "agent", "recalls", "weight",
        "learned",
    ]  # fmt: skip
    list_filter = [MemoryStateFilter, "kind", "provenance", ScopeFilter, UseFilter]
    empty_text = "What agents commit through the API appears here."
    search_fields = ["content"]
    search_help_text = "All words, in any order"
    actions = ["forget", "restore"]

    learned = moment_column("observed_at", "learned")

    @display(description="memory")  # not sortable: sorting would read all texts
    def shown(self, memory: Memory) -> str:
        """Return the statement, cut to one or two lines."""
        return format_html('<span class="eg-cell">{}</span>', _short(memory.content))

    @display(
        description="state",
        label={
            State.ACTIVE.label: "success",
            State.SUPERSEDED.label: "info",
            State.RETIRED.label: "warning",
            State.CULLED.label: "warning",
            State.FORGOTTEN.label: "danger",
        },
    )
    def condition(self, memory: Memory) -> str:
        """Return the strongest state that applies now."""
        return str(memory.state().label)

    def name_of(self, row: Memory) -> str:
        """Return the memory's content, for the confirmation page."""
        return _short(row.content)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        """Include forgotten memories only for users who may restore them, as the API does."""
        rows: QuerySet[Memory] = super().get_queryset(request)
        return rows if has_role(request, Role.AGENT) else rows.filter(forgotten_at=None)

    @display(description="scope", ordering="scope")
    def place(self, memory: Memory) -> str:
        """Return the scope with line break opportunities."""
        parts = format_html_join(mark_safe("/<wbr>"), "{}", ((p,) for p in memory.scope.split("/")))
        return format_html('<span class="eg-path">{}</span>', parts)

    @display(description="recalled", ordering="recall_count")
    def recalls(self, memory: Memory) -> str:
        """Return the number of recalls."""
        return f"{memory.recall_count}×" if memory.recall_count else "never"

    @display(description="weight", ordering="weight_factor")
    def weight(self, memory: Memory) -> str:
        """Return the weight factor after demotions."""
        return f"{memory.weight_factor:.2f}" if memory.demotion_count else "full"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Memory], search_term: str
    ) -> tuple[QuerySet[Memory], bool]:
        """Find memories that contain all words, with the index of recall."""
        if not search_term.strip():
            return queryset, False
        words = terms(search_term)
        return with_words(queryset, words) if words else queryset.none(), False

    def show(self, request: HttpRequest, memory: Any) -> HttpResponse:
        """Lead to the page of the memory."""
        return redirect("console:memory", memory.pk)

    @action(description="Forget", permissions=["act"])
    def forget(self, request: HttpRequest, rows: QuerySet[Memory]) -> HttpResponse | None:
        """Forget the selected memories."""
        staff = staff_of(request)

        def work(chosen: QuerySet[Memory]) -> int:
            ids = list(chosen.values_list("pk", flat=True))
            done = forget.forget(staff.workspace, ids, actor=staff.actor, now=timezone.now())
            return len(done.memories)

        return self.confirm(
            request,
            rows.filter(forgotten_at=None),
            question="Forget {n} memories?",
            consequence="No recall, search, prompt or question shows them any more, and the same "
            "statements are refused when somebody commits them again. They can be brought back.",
            button="Forget",
            done="{n} memories forgotten.",
            work=work,
        )

    @action(description="Bring back", permissions=["act"])
    def restore(self, request: HttpRequest, rows: QuerySet[Memory]) -> HttpResponse | None:
        """Restore the selected memories."""
        staff = staff_of(request)

        def work(chosen: QuerySet[Memory]) -> int:
            ids = list(chosen.values_list("pk", flat=True))
            try:
                done = forget.restore(staff.workspace, ids, actor=staff.actor, now=timezone.now())
            except RefusalError as error:
                self.message_user(request, error.detail, level="ERROR")
                return 0
            return len(done.memories)

        return self.confirm(
            request,
            rows.exclude(forgotten_at=None),
            question="Restore {n} forgotten memories?",
            consequence="Agents recall them again, unless something else hides them.",
            button="Bring back",
            done="{n} memories brought back.",
            work=work,
            is_grave=False,
        )
