"""What is asked of recall, and the filter it means."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q

from engram.kernel.configuration import WorkspaceSettings
from memories.models import Kind
from memories.models.memory import in_scope

_LEADING = Q(kind=Kind.CONSTRAINT) | Q(is_pinned=True)
_SAYS_SOMETHING = ("L", "N", "So")  # letters, digits, pictographs


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and within what; `None` stands for the workspace's setting."""

    text: str
    k: int = 10
    scope: str = ""
    project: str = ""
    kinds: tuple[str, ...] = ()
    min_score: float | None = None
    as_of: datetime | None = None
    is_reranked: bool | None = None
    weights: Mapping[str, float] = field(default_factory=dict)  # by provenance, each in (0, 1]
    is_recorded: bool = True
    session_key: str = ""

    @property
    def asks_something(self) -> bool:
        """Tell whether the query holds a letter, a digit or a pictograph."""
        return any(unicodedata.category(c).startswith(_SAYS_SOMETHING) for c in self.text)

    def provenance_weight(self, provenance: str, config: WorkspaceSettings) -> float:
        """Return the weight of a class in this call."""
        given = self.weights.get(provenance)
        return config.provenance_weight(provenance) if given is None else given


def in_places(query: Query) -> Q:
    """Match the scope and below; constraints and pins of enclosing scopes hold inside as well."""
    if not query.scope:
        return Q()
    above = ["", *enclosing(query.scope)]
    return in_scope(query.scope) | Q(_LEADING, scope__in=above)


def in_project(query: Query) -> Q:
    """Match the project; constraints of no project hold in each, and so do pins that hold there."""
    if not query.project:
        return Q()
    of_none = Q(kind=Kind.CONSTRAINT) | (Q(is_pinned=True) & holding(query))
    return Q(project=query.project) | (Q(project="") & of_none)


def holding(query: Query) -> Q:
    """Match what holds where a query looks, if it is pinned; `holds` says it of one memory."""
    found = Q(scope="", project="")
    if query.project:
        found |= Q(project=query.project)
    if query.scope:
        found |= in_scope(query.scope) | Q(scope__in=enclosing(query.scope))
    return found


def holds(query: Query, scope: str, project: str) -> bool:
    """Tell whether a pin of this scope and project holds where a query looks.

    Its project or scope is the query's, a scope above or below, or it has neither: as sessions
    have it (`memories.services.sessions.candidates`).
    """
    if not (scope or project):
        return True
    if project and project == query.project:
        return True
    return bool(scope and query.scope) and (
        f"{query.scope}/".startswith(f"{scope}/") or scope.startswith(f"{query.scope}/")
    )


def enclosing(scope: str) -> list[str]:
    """Return the scopes that a scope lies in, by whole path segments, the widest first."""
    parts = scope.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def of_kinds(query: Query) -> Q:
    """Match the kinds."""
    return Q(kind__in=query.kinds) if query.kinds else Q()


def matching(query: Query) -> Q:
    """Return the filter of a query: its scope and below, its project, its kinds."""
    return in_places(query) & in_project(query) & of_kinds(query)
