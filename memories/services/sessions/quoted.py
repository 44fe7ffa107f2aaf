"""Read what a signal points at in a session's transcript, unless it may quote what is hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper

from memories.models import Session
from memories.services.sessions.withheld import WITHHELD, may_quote_hidden

GONE: Final = "The transcript is not kept any more."
NOT_FOUND: Final = "Where it was said could not be told exactly."


@dataclass(frozen=True, slots=True)
class QuotedWords:
    """What was said in a session, or why it is not shown; `session` is None for a deleted one."""

    text: str
    why_not: str
    session: UUID | None
    agent: str


def quoted_words(evidence: Mapping[str, Any]) -> QuotedWords:
    """Return the words that the evidence of a signal points at, by one query."""
    wanted = Session.objects.filter(session_key=evidence.get("session", ""))
    hidden = ExpressionWrapper(may_quote_hidden(), output_field=BooleanField())
    columns = wanted.annotate(is_hidden=hidden).values_list(
        "pk", "agent", "transcript", "is_hidden"
    )
    found = columns.first()
    if found is None:
        return QuotedWords("", GONE, None, "")
    session, agent, transcript, is_hidden = found
    if is_hidden:
        return QuotedWords("", WITHHELD, session, agent)
    start, end = evidence.get("quote_at", (0, 0))
    text = transcript[start:end].strip()
    why_not = "" if text else NOT_FOUND if transcript else GONE
    return QuotedWords(text, why_not, session, agent)
