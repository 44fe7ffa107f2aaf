"""Look back on recalls: which of them returned a memory, who asked, and what may be shown of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from engram.kernel.models import ApiKey
from memories.models import Memory, PastRecall, PastResult, Session
from memories.services.index.statement_hashes import forgotten_wordings

A_PERSON: Final = "a person"


@dataclass(frozen=True, slots=True)
class Asked:
    """What may be shown of a past recall.

    `query` is None where it states a forgotten memory, `by` is "" for a caller that is gone, and
    `session` is None where the caller started no session under the key, or it was deleted.
    """

    query: str | None
    by: str
    session: UUID | None


def results_of(memory: Memory) -> QuerySet[PastResult]:
    """Return what past recalls returned of a memory, with the recalls, newest first."""
    rows = PastResult.objects.filter(memory=memory).select_related("recall")
    return rows.order_by("-at", "-id")


def asked_in(recalls: Iterable[PastRecall]) -> dict[UUID, Asked]:
    """Return what may be shown of recalls, by recall; the same queries for one and for many."""
    rows = {one.pk: one for one in recalls}
    if not rows:
        return {}
    forgotten = forgotten_wordings({one.query_hash for one in rows.values()})
    names, sessions = _names_of(rows.values()), _sessions_of(rows.values())
    return {
        pk: Asked(
            query=None if one.query_hash in forgotten else one.query,
            by=names.get(one.caller, ""),
            session=sessions.get((one.session_key, one.caller)),
        )
        for pk, one in rows.items()
    }


def _names_of(recalls: Iterable[PastRecall]) -> Mapping[str, str]:
    """Return the names of those that asked, by caller.

    People are not named: their numbers mean somebody else after an import.
    """
    callers = {one.caller for one in recalls}
    found = {caller: A_PERSON for caller in callers if caller.startswith("user:")}
    keys = [UUID(caller[4:]) for caller in callers if caller.startswith("key:")]
    for pk, name in ApiKey.objects.filter(pk__in=keys).values_list("pk", "name"):
        found[f"key:{pk}"] = name
    return found


def _sessions_of(recalls: Iterable[PastRecall]) -> Mapping[Any, UUID]:
    """Return the sessions in which it was asked, by their key and who asked."""
    keys = {one.session_key for one in recalls} - {""}
    rows = Session.objects.filter(session_key__in=keys).order_by()
    return {
        (key, caller): pk for pk, key, caller in rows.values_list("pk", "session_key", "caller")
    }
