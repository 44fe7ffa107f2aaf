"""Admin actions on many cards: a confirmation page with their effects, then the action.

Only cards that are unchanged since the confirmation page was shown are affected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from conflicts.forms import SnoozeForm, snooze_choices
from conflicts.models import Conflict
from conflicts.models.decision import Verdict
from conflicts.services.cards.listed import listed
from conflicts.services.cards.naming import CardNames, name_cards
from conflicts.services.cards.show import local_time
from conflicts.services.verdicts import bulk
from conflicts.services.verdicts.bulk import (
    BulkAction,
    BulkAssign,
    BulkDecide,
    BulkPlan,
    BulkSnooze,
    SeenCard,
)
from engram.kernel.labels import Count
from engram.kernel.literals import MAX_BIGINT, whole_number
from engram.kernel.models import Membership
from engram.kernel.pages import staff_of
from engram.kernel.staff import refusal_of

NAMED = 20  # cards listed by name on the confirmation page; further ones are only counted
SKIPPED_SHOWN = 5
TEMPLATE = "admin/conflicts/conflict/bulk.html"
CARRIED = ("action", "select_across", "_selected_action")
# The labels and effects of yes and no where the two sides of each card can be named.
OF_EACH = {Verdict.YES: "Keep the first of each", Verdict.NO: "Keep the second of each"}
NAMED_EFFECTS = {
    Verdict.YES: "the others are superseded",
    Verdict.NO: "what says otherwise is retired",
}
EFFECTS = {
    Verdict.YES: "what says so stays, the others are superseded",
    Verdict.NO: "what says so is retired",
    Verdict.BOTH_VALID: "all stay, and count as no contradiction",
    Verdict.NONE_VALID: "all their memories are retired",
    Verdict.DISMISS: "all stay; the detector was wrong",
}


Tell = Callable[[HttpRequest, str, Sequence[Conflict]], None]


class WrongChoiceError(Exception):
    """Raised when the choice on the confirmation page is invalid."""


@dataclass(frozen=True, slots=True)
class ConfirmingPage:
    """Texts of the confirmation page of an action."""

    title: str
    consequence: str
    button: str
    done: str


CONFIRMATIONS = {
    "resolve": ConfirmingPage(
        "Decide {n:conflict}?",
        "Every card is decided by itself and can be undone by itself.",
        "Decide", "{n:conflict} decided.",
    ),
    "dismiss": ConfirmingPage(
        "Dismiss {n:conflict}?",
        "Their memories stay as they are, and the detective does not ask about these pairs again "
        "unless a statement changes. Each can be undone by itself.",
        "Dismiss", "{n:conflict} dismissed.",
    ),
    "snooze": ConfirmingPage(
        "Snooze {n:conflict}?",
        "They leave the queue and come back by themselves; their memories stay disputed.",
        "Snooze", "{n:conflict} snoozed.",
    ),
    "assign": ConfirmingPage(
        "Assign {n:conflict}?", "Nothing else about them changes.",
        "Assign", "{n:conflict} assigned.",
    ),
}  # fmt: skip


def run(
    request: HttpRequest,
    verb: str,
    rows: QuerySet[Conflict],
    names: Any,
    context: dict[str, Any],
    *,
    tell: Tell | None = None,
) -> HttpResponse | None:
    """Show the confirmation page, or apply the confirmed action; `names` returns cards' titles.

    `context` may name another `template`, the `carried` fields of the form, and where it was
    opened from (`cancel`). `tell` says what was done, with the cards as they were before it.
    """
    wrong = ""
    if request.POST.get("confirmed") == "yes":
        try:
            action = _read_action(request, verb)
        except WrongChoiceError as error:
            wrong = str(error)
        else:
            _do(request, verb, rows, action, tell or _tell)
            return None
    return _ask(request, verb, rows, names, context | {"wrong": wrong})


def _tell(request: HttpRequest, words: str, _cards: Sequence[Conflict]) -> None:
    messages.success(request, words)


def _do(
    request: HttpRequest, verb: str, rows: QuerySet[Conflict], action: BulkAction, tell: Tell
) -> None:
    staff = staff_of(request)
    seen = _read_seen(request.POST.get("seen", ""))
    mine = set(rows.filter(pk__in=list(seen)).values_list("pk", flat=True))
    counted = {pk: one for pk, one in seen.items() if pk in mine}
    done = bulk.carry_out(staff.workspace, counted, action, actor=staff.actor, now=timezone.now())
    if done.touched:
        words = CONFIRMATIONS[verb].done.format(n=Count(len(done.touched)))
        tell(request, words, done.touched)
    gone = len(seen) - len(counted)
    if gone:
        messages.warning(request, f"{gone} no longer fit the selection and were skipped.")
    for passed in done.passed[:SKIPPED_SHOWN]:
        messages.warning(request, refusal_of(passed.card, passed.reason))
    if len(done.passed) > SKIPPED_SHOWN:
        messages.warning(request, f"{len(done.passed) - SKIPPED_SHOWN} more were skipped.")


def _ask(
    request: HttpRequest,
    verb: str,
    rows: QuerySet[Conflict],
    names: Any,
    context: dict[str, Any],
) -> HttpResponse:
    staff = staff_of(request)
    now = timezone.now()
    cards, left = bulk.choose_cards(rows)
    options = _options(verb, cards, left, now)
    shown = max((option.plan for option in options), key=lambda plan: len(plan.touched))
    possible = {card.pk: bulk.seen_of(card, now) for o in options for card in o.plan.touched}
    context |= {
        "title": CONFIRMATIONS[verb].title.format(n=Count(len(shown.touched))),
        "confirmation": CONFIRMATIONS[verb],
        "verb": verb,
        "plan": shown,
        "options": options if verb == "resolve" else [],
        "is_of_each": any(option.label in OF_EACH.values() for option in options),
        "skipped": _list_skipped(options, names),
        "named": _named(shown.touched[:NAMED], names, says_kept=verb == "resolve"),
        "more": max(len(shown.touched) - NAMED, 0),
        "left": left,
        "at_once": bulk.AT_ONCE,
        "can": any(option.plan.touched for option in options),
        "members": Membership.objects.filter(workspace=staff.workspace).select_related("user"),
        "presets": _presets(),
        "carried": [
            (n, v) for n in context.get("carried", CARRIED) for v in request.POST.getlist(n)
        ],
        "seen": ",".join(f"{pk}:{one.version}:{one.listing}" for pk, one in possible.items()),
        "typed": request.POST,
    }  # fmt: skip
    return TemplateResponse(request, context.get("template", TEMPLATE), context)


def _named(
    cards: Sequence[Conflict], names: Any, *, says_kept: bool
) -> list[tuple[str, CardNames | None]]:
    """Return the titles of cards, for a decision with what yes and no keep."""
    sides = [row.names if says_kept else None for row in listed(cards)]
    return list(zip(names(cards), sides, strict=True))


def _say_kept(verdict: Verdict, cards: Sequence[Conflict]) -> str:
    """Return in words whether a yes or no keeps the newer statements; "" of other verdicts."""
    if verdict not in (Verdict.YES, Verdict.NO):
        return ""
    newer, older = bulk.count_kept_newer(cards, verdict)
    kept = [f"the {word} statement in {n}" for word, n in (("newer", newer), ("older", older)) if n]
    return f"Keeps {', '.join(kept)}." if kept else ""


def _presets() -> list[tuple[str, str]]:
    """Return the choices of a snooze with the moments that they mean now."""
    moments = snooze_choices()["moments"]
    dated = [(name, f"{label}, {local_time(at)}") for _, name, label, at in moments]
    return [*dated, ("date", "On a date")]


def _list_skipped(
    options: Sequence[Option], names: Any
) -> list[tuple[str, int, list[tuple[str, str]], int]]:
    """Return the skipped cards of all choices, then of each, as (title, count, rows, more)."""
    of_each = [{one.card.pk: one for one in option.plan.passed} for option in options]
    by_all = {
        pk for pk, one in of_each[0].items()
        if all(pk in each and each[pk].reason == one.reason for each in of_each)
    }  # fmt: skip
    groups = [("", [one for pk, one in of_each[0].items() if pk in by_all])]
    groups += [
        (option.label, [one for pk, one in each.items() if pk not in by_all])
        for option, each in zip(options, of_each, strict=True)
    ]
    return [
        (
            title,
            len(passed),
            list(zip(names([p.card for p in passed[:NAMED]]), [p.reason for p in passed],
                     strict=False)),
            max(len(passed) - NAMED, 0),
        )
        for title, passed in groups if passed
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Option:
    """One choice on the confirmation page, with its plan."""

    value: str
    label: str
    effect: str
    plan: BulkPlan
    kept: str = ""  # which of the statements it keeps


def _options(verb: str, cards: list[Conflict], left: int, now: Any) -> list[Option]:
    if verb == "resolve":
        sides = list(name_cards(cards).values())
        return [
            Option(
                verdict.value,
                (named := _name_side(verdict, sides)) or str(verdict.label),
                NAMED_EFFECTS[verdict] if named else EFFECTS[verdict],
                plan,
                _say_kept(verdict, plan.touched),
            )
            for verdict, plan in bulk.counts(cards, left=left, now=now)
        ]
    actions: Mapping[str, BulkAction] = {
        "dismiss": BulkDecide(Verdict.DISMISS),
        "snooze": BulkSnooze(now),
        "assign": BulkAssign("\0"),  # a placeholder: the member is chosen on the page
    }
    return [Option("", "", "", bulk.plan(cards, actions[verb], left=left, now=now))]


def _name_side(verdict: Verdict, sides: Sequence[CardNames]) -> str:
    """Return the label of a yes or no that says what it keeps; "" if not all cards have sides."""
    if verdict not in OF_EACH or not all(names.yes and names.other for names in sides):
        return ""
    if len(sides) > 1:
        return OF_EACH[verdict]
    kept = sides[0].yes if verdict == Verdict.YES else sides[0].other
    return f"Keep {kept.dated}" if kept else ""


def _read_action(request: HttpRequest, verb: str) -> BulkAction:
    if verb == "dismiss":
        return BulkDecide(Verdict.DISMISS, _note(request))
    if verb == "resolve":
        verdict = request.POST.get("verdict", "")
        if verdict not in bulk.VERDICTS:
            raise WrongChoiceError("Choose one of the answers.")
        return BulkDecide(verdict, _note(request))
    if verb == "snooze":
        form = SnoozeForm(request.POST)
        if not form.is_valid():
            said = [str(one) for one in form.non_field_errors()]
            raise WrongChoiceError(" ".join(said) or "Choose a day after today.")
        return BulkSnooze(form.cleaned_data["moment"])
    username = request.POST.get("assignee")
    if username is None:
        raise WrongChoiceError("Choose a member, or nobody.")
    staff = staff_of(request)
    members = Membership.objects.filter(workspace=staff.workspace, user__username=username)
    if username and not members.exists():
        raise WrongChoiceError("Nobody of that name belongs to this workspace.")
    return BulkAssign(username or None)


def _note(request: HttpRequest) -> str:
    return request.POST.get("note", "").replace("\0", "").strip()[:2000]


def _read_seen(text: str) -> dict[UUID, SeenCard]:
    """Return version and listing of the shown cards by id; malformed entries are ignored."""
    found = {}
    for part in text.split(",")[: bulk.AT_ONCE]:
        pk, _, rest = part.partition(":")
        version, _, listing = rest.partition(":")
        try:
            number = whole_number(version, least=0, most=MAX_BIGINT)
            found[UUID(pk)] = SeenCard(number, listing)
        except ValueError:
            continue
    return found
