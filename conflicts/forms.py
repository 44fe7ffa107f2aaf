"""Forms of the pages of conflicts."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.utils import timezone

from conflicts.core.rules.registry import RULES
from conflicts.core.snoozes import LATER, MORNING, days_to_put_off, moments_to_put_off, morning_of
from conflicts.core.statements import is_value_alone
from conflicts.core.titles import title_of
from conflicts.models.card import ConflictKind, ConflictStatus, Severity
from conflicts.models.decision import Verdict
from conflicts.services.cards.queue import ALL, CardFilter
from conflicts.services.questions.select import TEXT_MAX_CHARS, Wanted, refuse_many_words

EARLIEST_DAY = date(1900, 1, 1)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def tick_field(label: str) -> forms.ChoiceField:
    """Return a field of an address that a box sets, "" if none; other values are wrong, no tick."""
    return forms.ChoiceField(
        # The last is what changes of memories keep that were asked for before values were checked.
        choices=[(value, label) for value in ("1", "on", "true", "True")],
        required=False,
        label=label,
        error_messages={"invalid_choice": "Give 1, or leave it out."},
    )


class DecisionForm(forms.Form):
    """A verdict on a card."""

    verdict = forms.ChoiceField(
        choices=Verdict.choices, error_messages={"required": "Choose one of the answers."}
    )
    keep = forms.TypedMultipleChoiceField(coerce=UUID, required=False)
    answer = forms.CharField(max_length=8000, required=False)
    note = forms.CharField(max_length=2000, required=False)
    version = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    listing = forms.CharField(max_length=64, required=False)
    seen = forms.IntegerField(min_value=0, max_value=2**63 - 1, required=False)

    def __init__(self, *args: Any, choices: list[UUID], **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["keep"].choices = [(str(i), str(i)) for i in choices]  # type: ignore[attr-defined]

    def clean_answer(self) -> str:
        """Drop the answer unless the verdict is `none_valid`; a value alone is no memory."""
        answer: str = self.cleaned_data["answer"]
        if self.cleaned_data.get("verdict") != Verdict.NONE_VALID:
            return ""
        if is_value_alone(answer):
            raise forms.ValidationError(
                f"Write a whole sentence, not “{answer.strip()}” alone: it becomes a memory, which"
                " agents read without this question."
            )
        return answer

    def clean_keep(self) -> list[UUID]:
        """Drop the ticks unless the verdict uses them."""
        takes_ticks = {Verdict.KEEP, Verdict.NO}
        keep: list[UUID] = self.cleaned_data["keep"]
        return keep if self.cleaned_data.get("verdict") in takes_ticks else []


class SnoozeForm(forms.Form):
    """Time until which an item is snoozed: some hours, the morning of a day, or a date."""

    until = forms.ChoiceField(
        choices=[
            ("later", "In 3 hours"),
            ("tomorrow", "Tomorrow"),
            ("week", "Next week"),
            ("month", "In a month"),
            ("date", "On a date"),
        ]
    )
    date = forms.DateField(required=False)
    # The day on which the choices were shown with their dates: a day is the one that was read.
    shown_on = forms.DateField(required=False)
    later = forms.DateTimeField(required=False)  # the moment that was shown beside "In 3 hours"

    def clean(self) -> dict[str, Any]:
        """Convert the choice into a moment; a day becomes its morning in the pages' time zone."""
        fields = super().clean() or {}
        if fields.get("until") == "later":
            latest, shown = timezone.now() + LATER, fields.get("later")
            is_near = shown is not None and latest - LATER < shown <= latest
            fields["moment"] = shown if is_near else latest
            return fields
        today = timezone.localdate()
        shown_on = fields.get("shown_on") or today
        if not EARLIEST_DAY <= shown_on <= today + timedelta(days=1):
            raise forms.ValidationError("Choose a day.")
        days = {**days_to_put_off(shown_on), "date": fields.get("date")}
        day = days.get(fields.get("until", ""))
        if day is None:
            raise forms.ValidationError("Choose a day.")
        if not today < day < LATEST.date():
            raise forms.ValidationError("Choose a day after today.")
        fields["moment"] = morning_of(day, timezone.localtime())
        return fields


def snooze_choices() -> dict[str, Any]:
    """Return the choices of a snooze as pages show them now: key, name, label and moment.

    A choice keeps its key when the one before it is not offered.
    """
    now = timezone.localtime()
    moments = moments_to_put_off(now)
    named = SnoozeForm.base_fields["until"].choices  # type: ignore[attr-defined]
    return {
        "shown_on": now.date(),
        "later": moments.get("later"),
        "morning": MORNING,
        "moments": [
            (key, name, label, moments[name])
            for key, (name, label) in enumerate(named, start=1)
            if name in moments
        ],
    }


class CommentForm(forms.Form):
    """A comment on a card."""

    text = forms.CharField(max_length=2000, error_messages={"required": "Write something first."})


class QueueForm(forms.Form):
    """Filters of the queue and the list, from the address."""

    q = forms.CharField(max_length=200, required=False)
    status = forms.ChoiceField(choices=[*ConflictStatus.choices, (ALL, "All")], required=False)
    kind = forms.ChoiceField(choices=[("", "Any kind"), *ConflictKind.choices], required=False)
    severity = forms.ChoiceField(
        choices=[("", "Any severity"), *Severity.choices[::-1]], required=False
    )
    rule = forms.ChoiceField(
        choices=[("", "Any rule"), *((rule.id, title_of(rule.id)) for rule in RULES)],
        required=False,
    )
    scope = forms.CharField(max_length=300, required=False)
    mine = forms.BooleanField(required=False)

    def to_filter(self, *, default_status: str, user_id: int | None) -> CardFilter:
        """Return the valid filters; invalid ones are ignored."""
        self.is_valid()
        fields = self.cleaned_data
        return CardFilter(
            status=fields.get("status") or default_status,
            kind=fields.get("kind", ""),
            severity=fields.get("severity", ""),
            rule=fields.get("rule", ""),
            scope=fields.get("scope", ""),
            text=fields.get("q", ""),
            assignee_id=user_id if fields.get("mine") else None,
        )


def end_of(day: date) -> datetime:
    """Return the end of a day of the past, or of today, in the pages' time zone.

    Raises
    ------
    ValidationError
        For a day before 1900 or after today.
    """
    if not EARLIEST_DAY <= day <= timezone.localdate():
        raise forms.ValidationError("Choose a day from 1900 until today.")
    return timezone.make_aware(datetime.combine(day, time.max))


class QuestionForm(forms.Form):
    """Filters of the questions, from the address."""

    q = forms.CharField(
        max_length=TEXT_MAX_CHARS, required=False, label="Search", validators=[refuse_many_words]
    )
    scope = forms.CharField(max_length=300, required=False, label="Scope")
    as_of = forms.DateField(
        required=False, label="As of", error_messages={"invalid": "Give a day, as 2026-05-31."}
    )
    disputed = tick_field("Disputed")

    @property
    def given(self) -> dict[str, str]:
        """Return the filters that the address sets, as written."""
        return {name: self.data[name] for name in self.fields if self.data.get(name)}

    @property
    def wanted(self) -> Wanted:
        """Return the filters; only of a valid form."""
        fields = self.cleaned_data
        return Wanted(
            text=fields["q"],
            scope=fields["scope"],
            is_disputed=True if fields["disputed"] else None,
            as_of=fields["as_of"],
        )

    def clean_as_of(self) -> datetime | None:
        """Return the end of the day in the pages' time zone, not later than now."""
        day: date | None = self.cleaned_data["as_of"]
        if day is None:
            return None
        return min(end_of(day), timezone.now())
