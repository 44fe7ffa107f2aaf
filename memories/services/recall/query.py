"""The query of a recall, and the filters that it implies."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal
from uuid import UUID

from django.db.models import Q

from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.plain_sql import ANY_TIME, Condition, Selection, condition_of
from engram.kernel.tenancy import current_workspace_id
from memories.models import Kind, Memory
from memories.models.memory import in_scope

_LEADING = Q(kind=Kind.CONSTRAINT) | Q(is_pinned=True)
_MEANINGFUL = ("L", "N", "So")  # letters, digits, pictographs

AUTO: Final = "auto"
EMPTY_QUERY: Final = "nothing asked: the query holds nothing but punctuation"
MinScore = float | Literal["auto"] | None


@dataclass(frozen=True, slots=True)
class Query:
    """The query of a recall and its filters; `None` means the workspace's setting.

    `min_score`: `AUTO` returns what is relevant (`memories.core.relevance`), a number cuts by
    score, None cuts nothing.
    """

    text: str
    k: int = 10
    scope: str = ""
    project: str = ""
    kinds: tuple[str, ...] = ()
    min_score: MinScore = AUTO
    as_of: datetime | None = None
    is_reranked: bool | None = None
    uses_graph: bool | None = None  # never with `as_of`: links are those of the present
    weights: Mapping[str, float] = field(default_factory=dict)  # by provenance, each in (0, 1]
    is_recorded: bool = True
    session_key: str = ""
    caller: str = ""  # who asks, as in `Actor.caller`

    @property
    def is_meaningful(self) -> bool:
        """Return whether the query contains a letter, a digit or a pictograph."""
        return any(unicodedata.category(c).startswith(_MEANINGFUL) for c in self.text)

    def provenance_weight(self, provenance: str, config: WorkspaceSettings) -> float:
        """Return the weight of a class of provenance in this call."""
        given = self.weights.get(provenance)
        return config.provenance_weight(provenance) if given is None else given


def in_places(query: Query) -> Q:
    """Match the scope and below, and constraints and pins of enclosing scopes."""
    if not query.scope:
        return Q()
    above = ["", *enclosing_scopes(query.scope)]
    return in_scope(query.scope) | Q(_LEADING, scope__in=above)


def in_project(query: Query) -> Q:
    """Match the project, constraints without a project, and pins that apply there."""
    if not query.project:
        return Q()
    of_none = Q(kind=Kind.CONSTRAINT) | (Q(is_pinned=True) & match_pins(query))
    return Q(project=query.project) | (Q(project="") & of_none)


def match_pins(query: Query) -> Q:
    """Match pins that apply in the query's place; `holds` is the same test for one memory."""
    found = Q(scope="", project="")
    if query.project:
        found |= Q(project=query.project)
    if query.scope:
        found |= in_scope(query.scope) | Q(scope__in=enclosing_scopes(query.scope))
    return found


def holds(query: Query, scope: str, project: str) -> bool:
    """Return whether a pin of this scope and project applies in the query's place.

    It applies if its project or scope is the query's or an enclosing or enclosed scope, or it has
    neither, as in sessions (`memories.services.sessions.candidates`).
    """
    if not (scope or project):
        return True
    if project and project == query.project:
        return True
    return bool(scope and query.scope) and (
        f"{query.scope}/".startswith(f"{scope}/") or scope.startswith(f"{query.scope}/")
    )


def enclosing_scopes(scope: str) -> list[str]:
    """Return the enclosing scopes of a scope, by whole path segments, widest first."""
    parts = scope.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def of_kinds(query: Query) -> Q:
    """Match the kinds."""
    return Q(kind__in=query.kinds) if query.kinds else Q()


def select_recallable(query: Query, now: datetime) -> Selection[Memory]:
    """Return the recallable memories that match a query."""
    place = query.scope, query.project, query.kinds
    condition = _condition(current_workspace_id(), *place).replace(ANY_TIME, now)
    return Selection(condition, lambda: Memory.objects.recallable(now).filter(match_query(query)))


def select_pins(query: Query, now: datetime) -> Condition:
    """Return the condition of recallable pins that match a query and apply in its place."""
    place = query.scope, query.project, query.kinds
    return _condition(current_workspace_id(), *place, is_of_pins=True).replace(ANY_TIME, now)


@lru_cache(maxsize=512)
def _condition(
    workspace_id: UUID,
    scope: str,
    project: str,
    kinds: tuple[str, ...],
    *,
    is_of_pins: bool = False,
) -> Condition:
    """Return the condition of a query at `ANY_TIME`; compiling one takes a millisecond or two.

    The current workspace, which is a parameter of the condition, is `workspace_id`.
    """
    query = Query("", scope=scope, project=project, kinds=kinds)
    rows = Memory.objects.recallable(ANY_TIME).filter(match_query(query))
    return condition_of(rows.filter(match_pins(query), is_pinned=True) if is_of_pins else rows)


def match_query(query: Query) -> Q:
    """Return the filter of a query: its scope and below, its project, its kinds."""
    return in_places(query) & in_project(query) & of_kinds(query)
