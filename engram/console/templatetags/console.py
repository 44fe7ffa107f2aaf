"""What templates of the pages ask for: icons, places, words for events and times."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django import template
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from conflicts.core.titles import title_of
from conflicts.forms import snooze_choices
from conflicts.services.cards.naming import CardNames
from engram.console.icons import PATHS
from engram.console.inbox.last import LastUndo, undo_of_last
from engram.console.inbox.queue import count_waiting
from engram.console.navigation import Shell, shell_of
from engram.console.tour import Shown, current_step
from engram.console.wording import words_for
from engram.kernel.labels import UNBROKEN, Count, duration_words, letter_of, span_words
from engram.kernel.models import Event
from memories.core import shares
from memories.models import Provenance, State

register = template.Library()

# Numbers, times or dates between which a heading asks, with a unit: "28 or 30 days".
_NUMBERS_TO_CHOOSE = re.compile(r"(?<!\S)\d[\d.,:]{0,9} or \d[\d.,:]{0,9}(?: (?=[a-z]{1,4}\b))?")


register.filter("letter", letter_of)


@register.filter
def unbroken_choice(heading: str) -> str:
    """Return a heading with no line break within the numbers to choose from."""
    return _NUMBERS_TO_CHOOSE.sub(lambda found: found[0].replace(" ", "\u00a0"), heading)


@register.simple_tag
def icon(name: str, css: str = "icon") -> SafeString:
    """Draw a line icon that stands beside words (screen readers skip it)."""
    return format_html(
        '<svg class="{}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8"'
        ' stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="{}"/></svg>',
        css,
        PATHS[name],
    )


@register.simple_tag(takes_context=True)
def shell(context: dict[str, Any]) -> Shell:
    """Return the sidebar and the tabs of the page."""
    request: HttpRequest = context["request"]
    return shell_of(request)


@register.simple_tag(takes_context=True)
def waiting(context: dict[str, Any]) -> str:
    """Return what the title of a page begins with: the number of pending items, "" for none."""
    count = count_waiting(context["request"])
    return f"({count}) " if count else ""


@register.simple_tag(takes_context=True)
def tour_step(context: dict[str, Any]) -> Shown | None:
    """Return the step of the tour at which the person is."""
    return current_step(context["request"])


@register.simple_tag(takes_context=True)
def undo_last(context: dict[str, Any], place: str) -> LastUndo:
    """Return how this page undoes the person's last decision, where it shows no toast of it."""
    return undo_of_last(context["request"], place, context.get("filters", {}))


@register.simple_tag
def snoozes() -> dict[str, Any]:
    """Return the choices of a snooze, with the moments that they mean now."""
    return snooze_choices()


@register.filter
def code_words(text: str) -> SafeString:
    """Show what stands between backticks as code."""
    parts = enumerate(text.split("`"))
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if n % 2 else part,) for n, part in parts)
    )


@register.filter
def ago(moment: datetime | None) -> str:
    """Return how long ago a moment was, in one short phrase; in the future: `in 3 h`."""
    if moment is None:
        return "never"
    seconds = (timezone.now() - moment).total_seconds()
    span = span_words(abs(seconds))
    if span == "moments":
        return "just now"
    return f"in {span}" if seconds < 0 else f"{span} ago"


@register.filter
def moment(iso: str) -> datetime:
    """Return the time that a live message carries as text."""
    return datetime.fromisoformat(iso)


@register.filter
def duration(seconds: float | None) -> str:
    """Return a duration in words."""
    return "–" if seconds is None else duration_words(seconds)


@register.filter
def chip_tone(label: str | None) -> str:
    """Return the class of a chip that means the same as a label of the admin's theme."""
    tones = {"success": "good", "danger": "bad", "warning": "warn", "info": "accent"}
    return tones.get(label or "", "accent" if label == "primary" else "")


@register.filter
def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the right form (`engram.kernel.labels.Count`)."""
    return f"{Count(number):{noun}}"


@register.filter
def percent(share: float | None) -> str:
    """Return a share in percent, which no line break parts from its sign; "–" for none.

    So pages write every confidence, importance, relevance and likeness.
    """
    return "–" if share is None else shares.percent(share).replace(" ", UNBROKEN)


@register.filter
def likeness(distance: float) -> float:
    """Return how alike two texts are in meaning, 0 to 1, by their distance."""
    return max(0.0, 1.0 - distance)


@register.filter
def provenance_words(provenance: str) -> str:
    """Return who asserted a memory, in words."""
    words = str(Provenance(provenance).label)
    return words[:1].lower() + words[1:]


@register.filter
def state_words(state: str) -> str:
    """Return the state of a memory, a value of the API, as pages call it."""
    return str(State(state).label).lower()


@register.filter
def event_words(event: Event, names: CardNames | None = None) -> str:
    """Return what an event reports, in words; `names` are those of its card."""
    return words_for(event.type, event.data, names)


@register.filter
def rule_title(name: str) -> str:
    """Return a rule, a tier, a finder or a kind of conflict in plain words."""
    return title_of(name)


@register.filter
def at(found: dict[str, Any], name: str) -> Any:
    """Look a name up in a dict."""
    return found.get(name, "")
