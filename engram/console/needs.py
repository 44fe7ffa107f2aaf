"""What waits for the signed-in person, in words: by the counts of the inbox."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from engram.console.inbox.queue import tallies_for
from engram.console.inbox.registry import sources_for
from engram.kernel.labels import Count
from engram.kernel.pages import staff_of


@dataclass(frozen=True, slots=True)
class Need:
    """The waiting items of one kind: `words` is such as "9 conflicts"."""

    source: str
    icon: str
    words: str
    url: str


@dataclass(frozen=True, slots=True)
class Needs:
    """What waits; `is_mine` is False when the person may see it but not decide any of it."""

    total: int
    parts: tuple[Need, ...]
    is_mine: bool

    @property
    def words(self) -> str:
        """Return the number in a sentence without its end."""
        if self.is_mine:
            return f"{Count(self.total):item needs|items need} you"
        return f"{Count(self.total):item waits|items wait} for a reviewer"


def needs_of(request: HttpRequest) -> Needs:
    """Return what waits; of what a person may decide some, the rest is left out."""
    role = staff_of(request).actor.role
    tallies = tallies_for(request)
    seen = [source for source in sources_for(role) if source.name in tallies]
    decided = [source for source in seen if role.includes(source.acts)]
    shown = decided or seen
    parts = tuple(
        Need(
            source.name,
            source.icon,
            f"{Count(tallies[source.name].count):{source.noun}}",
            f"{reverse('console:inbox')}?source={source.name}",
        )
        for source in shown
        if tallies[source.name].count
    )
    total = sum(tallies[source.name].count for source in shown)
    return Needs(total, parts, is_mine=bool(decided))
