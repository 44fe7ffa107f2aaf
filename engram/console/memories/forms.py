"""Forms of the pages of memories: the filters of the list, and the day of a view."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from django import forms
from django.db.models import Q, QuerySet
from django.utils import timezone

from conflicts.forms import end_of, tick_field
from conflicts.models import Conflict, ConflictMember
from conflicts.models.card import WAITING
from engram.console.memories.columns import COLUMNS
from engram.console.memories.orders import ORDERS, Order, order_of
from engram.kernel.filters import ALL
from memories.filters import MemoryFilter
from memories.models import Kind, Memory, Provenance, State

OF_API = ("q", "scope", "project", "kind", "provenance", "agent", "session_key", "tag", "state")
USES: dict[str, tuple[str, Q]] = {
    "never": ("Never recalled", Q(recall_count=0)),
    "unused": ("Of no use so far", Q(recall_count=0, hit_count=0, used_count=0)),
    "demoted": ("Demoted by the janitor", Q(demotion_count__gt=0)),
}


class DayForm(forms.Form):
    """The day of a view in the past, from the address."""

    as_of = forms.DateField(
        required=False, label="As of", error_messages={"invalid": "Give a day, as 2026-05-31."}
    )

    def clean_as_of(self) -> datetime | None:
        """Return the end of the day in the pages' time zone; None for today."""
        day: date | None = self.cleaned_data["as_of"]
        if day is None:
            return None
        end = end_of(day)
        return None if day == timezone.localdate() else end

    @property
    def then(self) -> datetime | None:
        """Return the moment that the address names; None for the present, or a wrong day."""
        return self.cleaned_data.get("as_of") if self.is_valid() else None


def _text(label: str, most: int) -> forms.CharField:
    return forms.CharField(max_length=most, required=False, label=label)


def _choice(label: str, choices: list[Any], empty: str) -> forms.ChoiceField:
    return forms.ChoiceField(choices=[("", empty), *choices], required=False, label=label)


NO_FILTERS = frozenset({"columns", "sort"})


class ListForm(DayForm):
    """The filters of the list; those of the API keep their names and meaning."""

    q = _text("Search", 500)
    scope = _text("Scope", 300)
    project = _text("Project", 200)
    agent = _text("Agent", 200)
    session_key = _text("Session", 200)
    tag = _text("Tag", 100)
    kind = _choice("Kind", Kind.choices, "Any kind")
    provenance = _choice("Said by", Provenance.choices, "Anybody")
    state = forms.ChoiceField(
        choices=[*reversed(State.choices), (ALL, "Any state")], required=False, label="State"
    )
    use = _choice("Use", [(name, words) for name, (words, _) in USES.items()], "Any use")
    disputed = tick_field("Disputed only")
    pinned = tick_field("Pinned only")
    sort = forms.ChoiceField(
        choices=[(order.value, order.words) for order in ORDERS], required=False, label="Order"
    )
    columns = forms.MultipleChoiceField(
        choices=[(column.name, column.title) for column in COLUMNS], required=False, label="Columns"
    )

    @property
    def given(self) -> dict[str, str]:
        """Return the filters that the address sets, as written, without columns and order."""
        return {
            name: self.data[name]
            for name in self.fields
            if name not in NO_FILTERS and self.data.get(name)
        }

    @property
    def order(self) -> Order | None:
        """Return the order of a valid form; None where the list has a single one."""
        is_live = self.cleaned_data["state"] in {"", State.ACTIVE}
        return order_of(self.cleaned_data["sort"]) if is_live and self.then is None else None

    def apply(
        self, memories: QuerySet[Memory], *, ended: QuerySet[Conflict] | None = None
    ) -> QuerySet[Memory]:
        """Keep the memories that the filters of a valid form let pass.

        The memories of `ended` cards count as disputed, as those of waiting ones do.
        """
        fields = self.cleaned_data
        sent = {name: fields[name] for name in OF_API if fields[name]}
        if (then := fields["as_of"]) is not None:
            past = Memory.objects.recallable_then(then).values("pk")
            memories, sent["state"] = memories.filter(pk__in=past), ALL
        found: QuerySet[Memory] = MemoryFilter(sent, queryset=memories).qs
        if fields["use"]:
            found = found.filter(USES[fields["use"]][1])
        if fields["pinned"]:
            found = found.filter(is_pinned=True)
        if fields["disputed"]:
            cards = Q(conflict__status__in=WAITING)
            if ended is not None:
                cards |= Q(conflict__in=ended.values("pk"))
            members = ConflictMember.objects.filter(cards)
            found = found.filter(pk__in=members.values("memory"))
        return found
