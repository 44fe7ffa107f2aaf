"""The memories that the filters of the list let pass, and the text of filters that is kept."""

from __future__ import annotations

from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from engram.console.memories.forms import ListForm
from engram.kernel.models import Role
from memories.api.memories import visible_to
from memories.models import Memory


def matching(filters: str, role: Role) -> QuerySet[Memory]:
    """Return the memories that filters of the list let pass, of those that a role may see.

    None for filters that are wrong, or of a day in the past.
    """
    form = ListForm(QueryDict(filters))
    if not form.is_valid() or form.then is not None:
        return Memory.objects.none()
    return form.apply(visible_to(role))


def kept_filters(filters: str) -> str:
    """Return the filters that a change applies again to each memory when its turn comes.

    `disputed` is left out: the change of one memory may end the dispute of the next.
    """
    form = ListForm(QueryDict(filters))
    form.full_clean()
    passed_over = {"columns", "as_of", "disputed"}
    return urlencode(
        {name: v for name, v in form.cleaned_data.items() if v and name not in passed_over}
    )
