"""Read what agents reported, without quotes of forgotten memories, and erase what quotes others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import JSONObject

from memories.models import (
    ErrorType,
    Memory,
    Observation,
    PredictionError,
    ReportItem,
    ReportKind,
    Revision,
    Session,
    SessionReport,
)
from memories.models.drift import REPORT_SOURCE
from memories.services.index.statement_hashes import forgotten_wordings
from memories.services.pieces import may_quote

WITH_TEXT: Final = (ReportKind.WRONG, ReportKind.MISSING)


def said_by_agents() -> QuerySet[ReportItem]:
    """Return what was wrong or missing, with sessions and memories, the newest first."""
    found = ReportItem.objects.exclude(kind=ReportKind.USED)
    sessions = found.select_related("session", "memory").defer(
        "session__transcript", "session__context", "session__context_embedding",
        "session__prompt_digests",
    )  # fmt: skip
    return sessions.order_by("-created_at", "-id")


def reported_use(
    sessions: Collection[UUID] | QuerySet[Any, Any], memories: Collection[UUID] | QuerySet[Any, Any]
) -> dict[tuple[UUID, UUID], float]:
    """Return how much agents said that they used memories, 0..1, by session and memory.

    `sessions` and `memories` are ids, or queries that return them.
    """
    items = ReportItem.objects.filter(
        kind=ReportKind.USED, session__in=sessions, memory__in=memories
    )
    values = items.order_by().values_list("session_id", "memory_id", "value")
    return {(session, memory): value or 0.0 for session, memory, value in values if memory}


def containing(rows: QuerySet[ReportItem], words: str) -> QuerySet[ReportItem]:
    """Keep the rows whose text contains these words; what is withheld is not searched."""
    found = rows.filter(text__icontains=words).exclude(memory__forgotten_at__isnull=False)
    own = Memory.objects.filter(content_hash=OuterRef("text_hash"), forgotten_at__isnull=False)
    former = {"content_hash": OuterRef("text_hash"), "memory__forgotten_at__isnull": False}
    others = [Exists(model.objects.filter(**former)) for model in (Observation, Revision)]
    return found.exclude(Exists(own)).exclude(others[0]).exclude(others[1])


def visible_texts(items: Iterable[ReportItem]) -> dict[UUID, str | None]:
    """Return the texts that may be shown, by item; None where one is withheld.

    Withheld is what was said about a forgotten memory, and what is a wording of one.
    """
    items = list(items)
    forgotten = forgotten_wordings({item.text_hash for item in items if item.text_hash})
    return {item.pk: None if _is_withheld(item, forgotten) else item.text for item in items}


def _is_withheld(item: ReportItem, forgotten: Mapping[str, Any]) -> bool:
    if item.memory is not None and item.memory.forgotten_at is not None:
        return True
    return item.text_hash in forgotten


def erase_reported(
    memory_ids: Collection[UUID], quoted_in: Callable[[Any], bool], pieces: Collection[str]
) -> None:
    """Erase from reports what quotes erased memories, in the transaction that erases them.

    What names them goes with their rows. A reason that quotes one is emptied, a text of what was
    missing is deleted. Digests of these reports are erased, too: short texts can be guessed.
    """
    texts = ReportItem.objects.exclude(kind=ReportKind.USED)
    near = texts.filter(may_quote(pieces, "text")).order_by("pk")
    quoting = [row for row in near.iterator(chunk_size=500) if quoted_in(row.text)]
    naming = ReportItem.objects.filter(memory__in=list(memory_ids)).order_by()
    sessions = {row.session_id for row in quoting} | set(naming.values_list("session", flat=True))
    ids = [row.pk for row in quoting]
    ReportItem.objects.filter(pk__in=ids, kind=ReportKind.MISSING).delete()
    ReportItem.objects.filter(pk__in=ids).update(text="", text_hash="")
    SessionReport.objects.filter(session__in=sessions).update(digest="")


def erase_reasons_of(session: Session) -> None:
    """Empty the signals that a session about to be deleted raised; they and their authors stay."""
    wrong = session.report_items.filter(kind=ReportKind.WRONG).order_by()
    PredictionError.objects.filter(
        Q(memory__in=wrong.values("memory")),
        error_type=ErrorType.MEMORY_EXTERNAL_SIGNAL,
        source=REPORT_SOURCE,
        context__evidence__session=session.session_key,
    ).update(context=JSONObject(evidence=JSONObject(), by=F("context__by")))
