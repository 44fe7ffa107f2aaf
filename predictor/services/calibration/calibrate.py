"""Draw samples of judged memories, store people's labels, and undo labels.

A waiting item has no `labelled_at`. Items that people can no longer read as the judge did (the
memory is not recallable or says something else now, the transcript is gone, the session knew what
is forgotten now) are filtered out of the waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.planning import by_index
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Revision, SessionCandidate
from memories.services.locks import share_lock_free
from memories.services.sessions.withheld import may_quote_hidden
from predictor.core.calibration import CalibrationCandidate, draw_stratified, stratum_of
from predictor.models import (
    CalibrationItem,
    CalibrationSample,
    Judgement,
    JudgeStatus,
    Label,
    PredictorState,
)
from predictor.services.causes import (
    ALREADY_LABELLED,
    ALREADY_WAITING,
    ITEM_DROPPED,
    NOTHING_TO_SAMPLE,
)
from predictor.services.state import lock_state

DUE_EVERY = 50  # newly scored sessions
SAMPLE_MIN, SAMPLE_SIZE, SAMPLE_MAX = 20, 30, 50
WAITING_MAX = 2 * SAMPLE_MAX  # by hand none is drawn beyond it; as many as `sample_of` reads
DRAWN_FROM = 200  # of the newest judged sessions
NOTHING = (
    "Nothing is left to ask about: all of the newest judged sessions was asked or has changed."
)
DROPPED = "This can no longer be judged: its memory or its session has changed since."


def waiting_items(now: datetime) -> QuerySet[CalibrationItem]:
    """Return the unlabelled items that can still be read as the judge read them."""
    return _readable(CalibrationItem.objects.filter(labelled_at=None), now)


def sample_of(now: datetime) -> list[CalibrationItem]:
    """Return the waiting items in the order of the draw, which keeps sessions together."""
    found = waiting_items(now).select_related("session", "memory", "sample")
    with by_index():
        return list(found.order_by("sample__drawn_at", "sample", "position")[:WAITING_MAX])


def count_waiting(now: datetime) -> int:
    """Return the number of waiting items."""
    with by_index():
        return waiting_items(now).count()


def last_drawn_at() -> datetime | None:
    """Return the time of the newest draw."""
    return CalibrationSample.objects.values_list("drawn_at", flat=True).first()


def draw_when_due(
    workspace: Workspace, state: PredictorState, rng: np.random.Generator, now: datetime
) -> CalibrationSample | None:
    """Draw a sample after every fifty newly scored sessions, once no item waits.

    The caller is in the workspace and holds the lock of ``state``. A due sample stays due until
    there are `SAMPLE_MIN` labels to draw from.
    """
    newly = state.scored_sessions - state.scored_at_calibration
    if 0 <= newly < DUE_EVERY or count_waiting(now):
        return None
    judged = _unasked_labels(now)
    if len(judged) < SAMPLE_MIN:
        return None
    return _store_sample(state, judged, SAMPLE_SIZE, "due", rng=rng, actor=SYSTEM, now=now)


def sample(
    workspace: Workspace,
    size: int,
    *,
    rng: np.random.Generator,
    actor: Actor,
    now: datetime,
    after: datetime | None = None,
) -> bool:
    """Draw up to ``size`` items, unless some still wait; return whether any were drawn.

    With ``after``, the time of the newest draw, they are drawn although some wait, up to
    `WAITING_MAX` in all. A newer draw means that the same was asked twice: nothing is drawn then.

    Raises
    ------
    StaleError
        When no item waits and nothing is left to draw.
    """
    with in_workspace(workspace):
        state = lock_state(now)
        waiting = count_waiting(now)
        if waiting and (waiting + size > WAITING_MAX or after != last_drawn_at()):
            return False
        judged = _unasked_labels(now)
        drawn = _store_sample(state, judged, size, "asked", rng=rng, actor=actor, now=now)
        if drawn is None:
            raise StaleError(NOTHING, cause=NOTHING_TO_SAMPLE)
        return True


def label_item(
    workspace: Workspace,
    item_id: UUID,
    label: float | None,
    *,
    actor: Actor,
    now: datetime,
    is_first_only: bool = False,
) -> CalibrationItem:
    """Store a person's label of an item, None for unsure; a later label replaces an earlier one.

    With ``is_first_only`` an item that was labelled meanwhile is refused as stale instead.
    """
    with in_workspace(workspace):
        item = _lock_item(item_id)
        if is_first_only and item.labelled_at is not None:
            raise StaleError(
                f"{item.labelled_by} has answered this meanwhile.",
                [item.pk],
                cause=ALREADY_LABELLED,
            )
        if item.labelled_at is None and not waiting_items(now).filter(pk=item.pk).exists():
            raise StaleError(DROPPED, cause=ITEM_DROPPED)
        item.is_relabelled = item.is_relabelled or item.labelled_at is not None
        item.label, item.is_unsure = label, label is None
        item.labelled_by, item.labelled_at = actor.label, now
        _store(item, "calibration.labelled", actor, now)
        return item


def unlabel_item(workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
    """Remove an item's label, so that it waits again, marked as relabelled."""
    with in_workspace(workspace):
        item = _lock_item(item_id)
        if item.labelled_at is None:
            raise StaleError("This waits already.", cause=ALREADY_WAITING)
        item.is_relabelled = True
        item.label, item.is_unsure = None, False
        item.labelled_by, item.labelled_at = "", None
        _store(item, "calibration.reopened", actor, now)


def _readable(items: QuerySet[CalibrationItem], now: datetime) -> QuerySet[CalibrationItem]:
    """Keep the items whose session and memory are unchanged since they were judged."""
    recallable = Memory.objects.recallable(now).filter(pk=OuterRef("memory"))
    readable = items.filter(Exists(recallable), Exists(_select_offered()))
    return readable.exclude(session__transcript="").exclude(may_quote_hidden("session"))


def _select_offered() -> QuerySet[SessionCandidate]:
    """Select what a session was offered in the wording that the memory has now.

    A revision that changed other things, such as a tag or a pin, is read as the judge read it.
    """
    same_wording = Revision.objects.filter(
        memory=OuterRef("memory"),
        number=OuterRef("revision"),
        content_hash=OuterRef("memory__content_hash"),
    )
    return SessionCandidate.objects.filter(
        Q(revision=F("memory__revision")) | Q(Exists(same_wording)),
        session=OuterRef("session"),
        memory=OuterRef("memory"),
    )


def _unasked_labels(now: datetime) -> list[tuple[Label, Judgement]]:
    """Return the labels of the newest judged sessions without an item, with their judgements."""
    done = Judgement.objects.filter(status=JudgeStatus.DONE).exclude(session__transcript="")
    done = done.exclude(may_quote_hidden("session"))
    newest = done.defer("raw").order_by("-judged_at", "-id")[:DRAWN_FROM]
    by_session = {judgement.session_id: judgement for judgement in newest}
    sampled = CalibrationItem.objects.filter(session=OuterRef("session"), memory=OuterRef("memory"))
    recallable = Memory.objects.recallable(now).filter(pk=OuterRef("memory"))
    found = Label.objects.filter(
        Exists(recallable),
        Exists(_select_offered()),
        ~Exists(sampled),
        session__in=by_session,
        relevance__isnull=False,
    )
    with by_index():
        return [(row, by_session[row.session_id]) for row in found.order_by("pk")]


def _store_sample(
    state: PredictorState,
    judged: Sequence[tuple[Label, Judgement]],
    size: int,
    reason: str,
    *,
    rng: np.random.Generator,
    actor: Actor,
    now: datetime,
) -> CalibrationSample | None:
    """Store a stratified sample and restart the count towards the next; None without any item.

    Memories that another transaction has locked to erase them are skipped: that transaction waits
    for the state, which is locked here.
    """
    strata = [stratum_of(row.relevance or 0.0, by.confidence or 0.0) for row, by in judged]
    items = [
        CalibrationCandidate(index, row.session_id, stratum)
        for index, ((row, _), stratum) in enumerate(zip(judged, strata, strict=True))
    ]
    chosen = draw_stratified(items, size, rng)
    locked = share_lock_free([judged[index][0].memory_id for index in chosen])
    chosen = [index for index in chosen if judged[index][0].memory_id in locked]
    if not chosen:
        return None
    drawn = CalibrationSample.objects.create(reason=reason, size=len(chosen), drawn_at=now)
    CalibrationItem.objects.bulk_create(
        CalibrationItem(
            sample=drawn,
            session_id=judged[index][0].session_id,
            memory_id=judged[index][0].memory_id,
            position=position,
            stratum=strata[index],
            judge_relevance=min(1.0, max(0.0, judged[index][0].relevance or 0.0)),
            judge_kind=judged[index][1].kind,
            judge_version=judged[index][1].version,
        )
        for position, index in enumerate(chosen, 1)
    )
    state.scored_at_calibration = state.scored_sessions
    state.updated_at = now
    state.save(update_fields=["scored_at_calibration", "updated_at"])
    answer = {"reason": reason, "size": len(chosen)}
    record(
        "calibration.drawn", of=("calibration_sample", drawn.id), actor=actor, now=now, data=answer
    )
    return drawn


def _lock_item(item_id: UUID) -> CalibrationItem:
    item = CalibrationItem.objects.select_for_update().filter(pk=item_id).first()
    if item is None:
        raise MissingError("There is no such item.")
    return item


def _store(item: CalibrationItem, answer: str, actor: Actor, now: datetime) -> None:
    """Save an answer; its event does not contain the label, which could influence the next one."""
    item.save(update_fields=["label", "is_unsure", "is_relabelled", "labelled_by", "labelled_at"])
    record(
        answer,
        of=("calibration_item", item.id),
        actor=actor,
        now=now,
        data={"sample": str(item.sample_id), "is_relabelled": item.is_relabelled},
    )
