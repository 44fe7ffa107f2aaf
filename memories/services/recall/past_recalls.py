"""Look back on recalls: which of them returned a memory, who asked, and what may be shown of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from engram.kernel.models import ApiKey
from memories.models import Memory, PastRecall, PastResult, Session
from memories.services.index.statement_hashes import forgotten_wordings

A_PERSON: Final = "a person"
OWN: Final = "system:"  # of callers without a key


@dataclass(frozen=True, slots=True)
class Asked:
    """What may be shown of a past recall.

    `query` is None where it states a forgotten memory, `by` is "" for a caller that is gone or was
    not recorded. `session` is None where the caller started no session under the key, or it was
    deleted; `agent` is the agent of that session, "" without one.
    """

    query: str | None
    by: str
    session: UUID | None
    agent: str = ""

    @property
    def who(self) -> str:
        """Return who asked: the caller's name and the agent of the session; "" if neither is known.

        One key may serve many agents.
        """
        return ", ".join(dict.fromkeys(name for name in (self.by, self.agent) if name))


def results_of(memory: Memory) -> QuerySet[PastResult]:
    """Return what past recalls returned of a memory, with the recalls, newest first."""
    rows = PastResult.objects.filter(memory=memory).select_related("recall")
    return rows.order_by("-at", "-id")


def returned_by(recall: PastRecall) -> QuerySet[PastResult]:
    """Return what a past recall returned, with the memories, best first; none of those erased."""
    rows = PastResult.objects.filter(recall=recall).select_related("memory")
    return rows.order_by("rank")


def asked_in(recalls: Iterable[PastRecall]) -> dict[UUID, Asked]:
    """Return what may be shown of recalls, by recall; the same queries for one and for many."""
    rows = {one.pk: one for one in recalls}
    if not rows:
        return {}
    forgotten = forgotten_wordings({one.query_hash for one in rows.values()})
    names, sessions = _names_of(rows.values()), _sessions_of(rows.values())
    found = {}
    for pk, one in rows.items():
        session, agent = sessions.get((one.session_key, one.caller), (None, ""))
        query = None if one.query_hash in forgotten else one.query
        found[pk] = Asked(query, names.get(one.caller, ""), session, agent)
    return found


def _names_of(recalls: Iterable[PastRecall]) -> Mapping[str, str]:
    """Return the names of those that asked, by caller.

    People are not named: their numbers mean somebody else after an import. The agents of the demo
    have no keys, and are called what they call themselves.
    """
    callers = {one.caller for one in recalls}
    found = {caller: A_PERSON for caller in callers if caller.startswith("user:")}
    found |= {one: one.removeprefix(OWN) for one in callers if one.startswith(OWN)}
    keys = [UUID(caller[4:]) for caller in callers if caller.startswith("key:")]
    for pk, name in ApiKey.objects.filter(pk__in=keys).values_list("pk", "name"):
        found[f"key:{pk}"] = name
    return found


def _sessions_of(recalls: Iterable[PastRecall]) -> Mapping[tuple[str, str], tuple[UUID, str]]:
    """Return the sessions in which it was asked with their agents, by key and who asked."""
    keys = {one.session_key for one in recalls} - {""}
    rows = Session.objects.filter(session_key__in=keys).order_by()
    read = rows.values_list("pk", "session_key", "caller", "agent")
    return {(key, caller): (pk, agent) for pk, key, caller, agent in read}
