"""The tour of the console: five steps, each on a page, that a person closes for good.

Which step one is at is kept in the session of the browser; that it was closed, on the memberships
of the account, so that it is offered in no other browser and workspace again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.http import HttpRequest
from django.urls import reverse

from engram.kernel.models import Membership

SLOT: Final = "engram_tour"
ANCHOR: Final = "tour"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: the page that it is about, and what it says there."""

    route: str
    title: str
    says: str

    @property
    def link(self) -> str:
        """Return the address of its page."""
        return reverse(self.route)


STEPS: Final = (
    Step(
        "console:dashboard",
        "What needs you",
        "Home counts what waits for a person, and Start leads to the first of it. Below it stand"
        " what agents commit and recall, what is wrong, and what others did meanwhile.",
    ),
    Step(
        "console:inbox",
        "Answer a question",
        "Everything that waits is one list. A question shows the memories that disagree and what"
        " each answer changes. The keys 1 to 6 answer, s puts it off, u undoes the last one.",
    ),
    Step(
        "console:memories",
        "What the store knows",
        "Search and filter all memories. The page of one shows why it was recalled, where it comes"
        " from and everything that happened to it; each change there can be undone.",
    ),
    Step(
        "console:recall",
        "Ask as an agent does",
        "Type what an agent would ask: the results come with every factor of their score. Name a"
        " memory that you miss, and the page says why it is not among them.",
    ),
    Step(
        "console:learning",
        "Whether learning helps",
        "Sessions of agents are judged, and the predictor learns which memories were of use; it"
        " changes their order only once proved better. To connect an agent of yours, make a key"
        " under Settings, Keys.",
    ),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A step in front of a person; `is_here` tells whether the page is the step's own."""

    number: int
    step: Step
    is_here: bool

    @property
    def is_last(self) -> bool:
        """Return whether no step follows."""
        return self.number == len(STEPS)


def current_step(request: HttpRequest) -> Shown | None:
    """Return the step at which the person is; None outside of the tour."""
    number = request.session.get(SLOT)
    if not isinstance(number, int) or not 1 <= number <= len(STEPS):
        return None
    step = STEPS[number - 1]
    return Shown(number, step, request.path == step.link)


def go_to(request: HttpRequest, number: int) -> str:
    """Go to a step, the first or last where there is none of the number; return its address."""
    number = min(max(number, 1), len(STEPS))
    request.session[SLOT] = number
    return f"{STEPS[number - 1].link}#{ANCHOR}"


def close(request: HttpRequest, user_id: int, now: datetime) -> None:
    """End the tour, and offer it to the account no more."""
    request.session.pop(SLOT, None)
    own = Membership.objects.filter(user_id=user_id, tour_closed_at=None)
    own.update(tour_closed_at=now)


def is_offered(request: HttpRequest, user_id: int) -> bool:
    """Return whether the account has neither begun nor closed the tour."""
    if current_step(request) is not None:
        return False
    return not Membership.objects.filter(user_id=user_id, tour_closed_at__isnull=False).exists()
