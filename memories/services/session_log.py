"""The log lines of a session's start: numbers and ids, once its transaction is for good."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from engram.kernel import telemetry
from memories.models import Session
from memories.services.learned import Opinion
from memories.services.session_record import CandidateRow

CATEGORY = "predictor"


def log_start(session: Session, rows: Sequence[CandidateRow], opinion: Opinion) -> None:
    """Tell what the start made of its candidates; nothing where no learned ranker takes part."""
    if not opinion.phase:
        return
    key, scores = session.session_key, opinion.scores
    injected = sum(row.was_injected for row in rows)
    attenuated = sum(row.diversity < 1 for row in rows)

    def write() -> None:
        telemetry.log_event(
            "prefilter", CATEGORY, session_key=key, candidates=len(rows), injected=injected
        )
        if scores:
            telemetry.log_event(
                "score",
                CATEGORY,
                session_key=key,
                candidates=len(scores),
                top_pick=max(scores, key=lambda memory_id: scores[memory_id]),
                alpha=opinion.alpha,
                model_version=opinion.model_version,
            )
        if attenuated:
            telemetry.log_event("diversity", CATEGORY, session_key=key, attenuated=attenuated)

    transaction.on_commit(write)
