"""Find the agents that a query names."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"[^\W_]+")


def find_named_agents(query: str, agents: Iterable[str]) -> frozenset[str]:
    """Return those of ``agents`` that the query names.

    All words of the name must be in the query. A name of a single word might be an ordinary
    word ("build"), so there it must be capitalised ("Build", "Caroline") or marked ("@build").
    """
    words = frozenset(_name_words(query))
    return frozenset(
        agent
        for agent in agents
        if (name := _name_words(agent))
        and words.issuperset(name)
        and (len(name) > 1 or _is_written_as_name(name[0], query))
    )


def _name_words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _is_written_as_name(name: str, query: str) -> bool:
    return any(
        match.group().casefold() == name
        and (match.group()[0].isupper() or query[: match.start()].endswith("@"))
        for match in _WORD.finditer(query)
    )
