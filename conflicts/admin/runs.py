"""Admin of detection runs, read-only."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from unfold.decorators import display

from conflicts.core.titles import title_of
from conflicts.models import DetectionRun
from conflicts.services.cards.naming import name_cards
from conflicts.services.detection.runs import opened_by
from engram.kernel.staff import ReadOnlyAdmin, figure_column, moment_column, seconds_column

# What is shown only if there was any: the field, and its column.
_IF_ANY = {
    "joined": "grew",
    "skipped": "passed_over",
    "facts_forgotten": "forgotten",
    "left_unread": "unread",
}
LISTED: Final = 20  # conflicts of a run by name; further ones are counted


class ModelPartFilter(admin.ChoicesFieldListFilter):
    """By what became of the part of the language model."""

    def __init__(self, *given: Any, **named: Any) -> None:
        """Name it by what people know of it."""
        super().__init__(*given, **named)
        self.title = "language model"


@admin.register(DetectionRun)
class DetectionRunAdmin(ReadOnlyAdmin):
    """Admin of detection runs: the list says what came of each, its page the rest."""

    list_display = [
        "read_at", "status_label", "kind", "memories", "compared", "new_conflicts", "grew",
        "reader", "lag", "took",
    ]  # fmt: skip
    list_filter = ["status", ("narrative", ModelPartFilter)]
    empty_text = "Detection runs within seconds of a commit; its runs appear here."
    empty_next = ("Commit the first memory", "console:dashboard")

    read_at = moment_column("created_at", "when")
    memories = figure_column("trigger_count", "new memories", ",d")
    compared = figure_column("facts_considered", "compared with", ",d")
    forgotten = figure_column("facts_forgotten", "left out, as the story was too long", ",d")
    unread = figure_column("left_unread", "left unread, as too long for the rules", ",d")
    new_conflicts = figure_column("opened", "conflicts opened", ",d")
    grew = figure_column("joined", "conflicts that grew", ",d")
    passed_over = figure_column("skipped", "conflicts known already", ",d")
    dropped_findings = figure_column("dropped", "the model's findings that were dropped", ",d")
    lag = seconds_column("lag_seconds", "lag")
    took = seconds_column("duration_seconds", "took")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Show what came of the run first, then what it cost; nothing of what it had not."""
        shown = ["read_at", "status_label", "kind", "memories", "compared", "new_conflicts"]
        if obj is not None:
            shown += ["opened_cards"] if obj.opened else []
            shown += [column for field, column in _IF_ANY.items() if getattr(obj, field)]
        shown.append("model_part")
        if obj is not None and obj.model:
            shown += ["model", "prompt_version", "batches", "tokens", "cost", "dropped_findings"]
        return [*shown, "lag", "took", *(["error"] if obj is not None and obj.error else [])]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """Change none of them."""
        return self.get_fields(request, obj)

    @display(description="kind", ordering="reason")
    def kind(self, run: DetectionRun) -> str:
        """Return what kind of run it was."""
        return title_of(run.reason).lower()

    @display(description="they are")
    def opened_cards(self, run: DetectionRun) -> str:
        """Return links to the conflicts that it opened, and how many are not listed."""
        cards = list(opened_by(run)[:LISTED])
        names = name_cards(cards)
        links = format_html_join(
            "",
            '<li><a href="{}">{}</a></li>',
            ((reverse("console:conflict", args=[one.pk]), names[one.pk].heading) for one in cards),
        )
        more = run.opened - len(cards)
        rest = format_html("<li>and {} more</li>", f"{more:,d}") if more > 0 and cards else ""
        return (
            format_html('<ul class="eg in-admin">{}{}</ul>', links, rest)
            if cards
            else "no longer kept"
        )

    @display(
        description="state",
        ordering="status",
        label={"done": "success", "failed": "danger", "running": "info"},
    )
    def status_label(self, run: DetectionRun) -> str:
        """Return the status of the run."""
        return str(run.status)

    @display(description="read by", ordering="model")
    def reader(self, run: DetectionRun) -> str:
        """Return who read the memories."""
        return f"rules, {run.model}" if run.model else "rules only"

    @display(description="language model", ordering="narrative")
    def model_part(self, run: DetectionRun) -> str:
        """Return what became of the part of the language model."""
        return str(run.get_narrative_display())

    @display(description="cost", ordering="cost_usd")
    def cost(self, run: DetectionRun) -> str:
        """Return the cost of the model."""
        return f"${run.cost_usd:.4f}" if run.cost_usd else ""
