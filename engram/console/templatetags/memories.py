"""What the pages of memories ask for: names of fields, paths that may break, typed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django import forms, template
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

from engram.kernel.labels import figure
from memories.core.shares import score

register = template.Library()
register.filter("score", score)

FIELDS: Final[Mapping[str, str]] = {
    "content": "wording",
    "is_pinned": "pin",
    "expires_at": "expiry",
    "observed_at": "time",
}


@register.filter
def words(text: str) -> list[str]:
    """Return the words of a text, to loop over."""
    return text.split()


@register.filter
def field(form: forms.Form, name: str) -> Any:
    """Return a field of a form."""
    return form[name]


@register.filter
def breakable(path: str) -> SafeString:
    """Return a topic path that may break after its slashes."""
    return format_html_join(mark_safe("/<wbr>"), "{}", ((part,) for part in path.split("/")))


@register.filter
def feedback_words(value: float) -> str:
    """Return an agent's rating of a memory, from -1 to 1, in words."""
    return f"the agent said that it {feedback_word(value)}"


@register.filter
def feedback_word(value: float) -> str:
    """Return what an agent's rating from -1 to 1 says that a memory did, with the figure."""
    said = "misled" if value < 0 else "was of use" if value > 0 else "was of no use"
    return f"{said} ({figure(value, '+.2g')})".replace("(+0)", "(0)")


@register.filter
def typed_over(present: Mapping[str, str], typed: Mapping[str, str] | None) -> dict[str, str]:
    """Return the present fields with what was typed in a refused form."""
    sent = typed or {}
    return {name: sent.get(name, value) for name, value in present.items()}


@register.filter
def unlocalised(number: float) -> str:
    """Return a number as attributes of drawings need it."""
    return f"{number:g}"


@register.simple_tag
def get_zone() -> str:
    """Return the name of the page's time zone."""
    return timezone.get_current_timezone_name()
