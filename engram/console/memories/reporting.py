"""Report by hand that memories contradict each other or one is wrong; say what came of it."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.db import DatabaseError
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from conflicts.services.reports.report import ReportOutcome
from engram.kernel.collisions import AGAIN, is_collision
from engram.kernel.refusals import RefusalError

MOST = 20  # memories of one report, as the API takes
REPORT_MESSAGES = {
    "opened": "A card asks which of them holds.",
    "joined": "A card that was waiting asks about all of them now.",
    "known": "A card asks about these already; it says that you found it too.",
}


def note_of(request: HttpRequest, most: int) -> str:
    """Return the text of a report, at most so many characters."""
    return request.POST.get("note", "").replace("\0", "").strip()[:most]


def report_and_show(request: HttpRequest, work: Callable[..., ReportOutcome]) -> None:
    """Report the contradiction and show the result."""
    try:
        outcome = work(now=timezone.now())
    except RefusalError as error:
        messages.error(request, error.detail)
        return
    except DatabaseError as error:
        if not is_collision(error):
            raise
        messages.error(request, AGAIN)
        return
    assert outcome.card is not None  # noqa: S101  a person's report always has a card
    card = reverse("console:conflict", args=[outcome.card.pk])
    link = format_html('{} <a href="{}">See the card</a>', REPORT_MESSAGES[outcome.outcome], card)
    messages.success(request, link)
