"""The memories that the filters of the list let pass, and the text of filters that is kept."""

from __future__ import annotations

from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from conflicts.models import Conflict
from conflicts.models.card import LapseReason
from engram.console.memories.forms import NO_FILTERS, ListForm
from engram.console.models import ItemStatus, MemoryChange
from engram.kernel.models import Role
from memories.api.memories import visible_to
from memories.models import Memory


def matching(
    filters: str, role: Role, *, ended: QuerySet[Conflict] | None = None
) -> QuerySet[Memory]:
    """Return the memories that filters of the list let pass, of those that a role may see.

    None for filters that are wrong, or of a day in the past. The memories of `ended` cards count
    as disputed, too.
    """
    form = ListForm(QueryDict(filters))
    if not form.is_valid() or form.then is not None:
        return Memory.objects.none()
    return form.apply(visible_to(role), ended=ended)


def matching_still(change: MemoryChange, role: Role) -> QuerySet[Memory]:
    """Return the memories that the filters of a change let pass when their turn comes.

    Forgetting one memory of a card may close it, which must not save the next one: a card that
    closed because of memories that this change forgot disputes its others still. One that a person
    answered meanwhile does not.
    """
    done = change.items.filter(status=ItemStatus.DONE).values("memory_id")
    lapsed = Conflict.objects.filter(is_lapsed=True, lapse_reason=LapseReason.GONE)
    return matching(change.filters, role, ended=lapsed.filter(members__memory__in=done))


def kept_filters(filters: str) -> str:
    """Return the filters that a change applies again to each memory when its turn comes."""
    form = ListForm(QueryDict(filters))
    form.full_clean()
    passed_over = {*NO_FILTERS, "as_of"}
    return urlencode(
        {name: v for name, v in form.cleaned_data.items() if v and name not in passed_over}
    )
