"""The page "What if": replay the last days with other thresholds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.forms.boundfield import BoundField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from conflicts.models import Conflict
from conflicts.services.cards.naming import name_cards
from conflicts.services.detection.replay import COUNTED, Replay, replay
from engram.console.settings_form import CHOICES, LABELS
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.models import Role
from engram.kernel.pages import has_role, member_page, staff_of
from engram.kernel.refusals import InvalidError
from engram.kernel.services import change_settings
from memories.models import Memory
from memories.services.gate.replay import GATED, ChangedOutcome, NotReplayed
from memories.services.retention.due import SETTINGS

MAX_DAYS = 92
RETAINED = frozenset(SETTINGS.values())
SHOWN = 20
TITLES = {
    "created": "added",
    "merged": "merged",
    "suggested": "asked about",
    "kept_apart": "kept apart",
}


def _field_of(name: str) -> forms.IntegerField:
    """Return an optional field of a setting that is a number, with the setting's bounds."""
    setting = WorkspaceSettings.model_fields[name]
    least = next(one.ge for one in setting.metadata if hasattr(one, "ge"))
    most = next(one.le for one in setting.metadata if hasattr(one, "le"))
    kind = forms.FloatField if setting.annotation is float else forms.IntegerField
    return kind(min_value=least, max_value=most, label=LABELS[name], required=False)


class ReplayForm(forms.Form):
    """The settings that a replay can change."""

    gate_policy = forms.ChoiceField(
        choices=[(name, CHOICES[name]) for name in ("merge", "suggest", "off")],
        label=LABELS["gate_policy"],
    )
    gate_threshold = forms.FloatField(min_value=0.3, max_value=1.0, label=LABELS["gate_threshold"])
    detection_min_confidence = forms.FloatField(
        min_value=0.0, max_value=1.0, label=LABELS["detection_min_confidence"]
    )
    days = forms.IntegerField(min_value=1, max_value=MAX_DAYS, label="Days to look back")

    # Empty: as it is set; of days of retention: kept for good, where the form has them.
    min_relevance = _field_of("min_relevance")
    judgements_per_hour = _field_of("judgements_per_hour")
    janitor_assistant_days = _field_of("janitor_assistant_days")
    janitor_summary_days = _field_of("janitor_summary_days")
    retention_session_days = _field_of("retention_session_days")
    retention_transcript_days = _field_of("retention_transcript_days")
    retention_recall_days = _field_of("retention_recall_days")
    retention_query_days = _field_of("retention_query_days")

    @property
    def settings(self) -> dict[str, Any]:
        """Return the entered settings, without the days."""
        return {
            name: value
            for name, value in self.cleaned_data.items()
            if name != "days" and name in self.data and (value is not None or name in RETAINED)
        }

    @property
    def counted(self) -> list[BoundField]:
        """Return the fields by which what is stored is counted."""
        return [self[name] for name in COUNTED]


@dataclass(frozen=True, slots=True)
class ShownCards:
    """The first conflicts of a list with their headings, and how many are not shown."""

    first: list[tuple[Conflict, str]]
    more: int


@dataclass(frozen=True, slots=True)
class ShownMove:
    """An example of a commit whose outcome would change, with texts that may be shown."""

    moved: ChangedOutcome
    memory: Memory | None
    nearest: Memory | None
    before: str
    after: str


@member_page(reads=Role.REVIEWER)
def what_if(request: HttpRequest) -> HttpResponse:
    """Show the form; replay the settings, or save them."""
    staff = staff_of(request)
    config = staff.workspace.config
    if request.method != "POST":
        return _page(request, ReplayForm(initial=_initial(config)), None)
    form = ReplayForm(request.POST)
    if not form.is_valid():
        return _page(request, form, None, status=422)
    if request.POST.get("do") == "save":
        return _save(request, form)
    try:
        done = replay(
            staff.workspace, form.settings, days=form.cleaned_data["days"], now=timezone.now()
        )
    except InvalidError as error:
        form.add_error(error.field if error.field in form.fields else None, error.message)
        return _page(request, form, None, status=422)
    return _page(request, form, done)


def _save(request: HttpRequest, form: ReplayForm) -> HttpResponse:
    if not has_role(request, Role.ADMIN):
        raise PermissionDenied("This needs the role admin.")
    staff = staff_of(request)
    stood = staff.workspace.config.model_dump()
    changes = {name: value for name, value in form.settings.items() if stood[name] != value}
    if not RETAINED.isdisjoint(changes):
        form.add_error(None, "Days of retention are saved on the settings page, after a count.")
        return _page(request, form, None, status=422)
    try:
        change_settings(staff.workspace, changes, actor=staff.actor, now=timezone.now())
    except InvalidError as error:
        form.add_error(error.field if error.field in form.fields else None, error.message)
        return _page(request, form, None, status=422)
    messages.success(request, "Saved: this holds for what is committed from now on.")
    return redirect("console:replay")


def _initial(config: WorkspaceSettings) -> dict[str, Any]:
    names = ReplayForm.base_fields.keys() - {"days"}
    return {name: getattr(config, name) for name in names} | {"days": 30}


def _page(
    request: HttpRequest, form: ReplayForm, done: Replay | None, *, status: int = 200
) -> HttpResponse:
    config = staff_of(request).workspace.config
    context: dict[str, Any] = {
        "form": form,
        "config": config,
        "done": done,
        "may_save": has_role(request, Role.ADMIN),
        "policy": CHOICES[config.gate_policy],
    }
    if done is not None:
        context |= _context_of(done)
    return render(request, "console/replay.html", context, status=status)


def _context_of(done: Replay) -> dict[str, Any]:
    gate, found = done.gate, done.detection
    ids = {i for moved in gate.examples for i in (moved.memory, moved.nearest) if i}
    ids |= {i for one in found.also for i in one.memories}
    shown = {m.pk: m for m in Memory.objects.filter(pk__in=ids, forgotten_at=None)}
    return {
        "not_replayed": gate.commits - gate.replayed,
        "left_out": say_left_out(gate.left_out),
        "outcomes": [(TITLES[name], gate.as_set[name], gate.as_asked[name]) for name in GATED],
        "moves": [
            (move.commits, TITLES[move.before], TITLES[move.after]) for move in gate.most_moves
        ],
        "examples": [
            ShownMove(
                moved,
                shown.get(moved.memory),
                shown.get(moved.nearest) if moved.nearest else None,
                TITLES[moved.before],
                TITLES[moved.after],
            )
            for moved in gate.examples[:SHOWN]
        ],
        "stored": [(LABELS[one.name], one) for one in done.stored],
        "kinds": [
            (kind, found.as_set[kind], found.as_asked[kind])
            for kind in ("reversal", "ambiguity", "stale")
        ],
        "spared": _cards(found.dismissed_spared),
        "missed": _cards(found.confirmed_missed),
        "undecided": _cards(found.undecided_gone),
        "also": [
            asdict(one) | {"memories": [shown[i] for i in one.memories if i in shown]}
            for one in found.also[:SHOWN]
        ],
        "also_more": found.also_count - len(found.also[:SHOWN]),
    }


def say_left_out(left: NotReplayed) -> list[str]:
    """Return why commits are not replayed, each with its number."""
    reasons = (
        (left.not_compared, "repeated a known statement, or came in without the gate"),
        (left.replacing, "named the memory that they replace, so that the gate is not asked"),
        (left.forgotten, "of memories that were forgotten since"),
        (left.beyond, "older than a replay reads"),
    )
    return [f"{count:,} {why}" for count, why in reasons if count]


def _cards(ids: list[UUID]) -> ShownCards:
    """Return the first conflicts of some with their headings."""
    cards = Conflict.objects.in_bulk(ids[:SHOWN])
    names = name_cards(cards.values())
    first = [(cards[pk], names[pk].heading) for pk in ids[:SHOWN] if pk in cards]
    return ShownCards(first, len(ids) - len(first))
