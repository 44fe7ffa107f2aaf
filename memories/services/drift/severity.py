"""Rate how harmful drift is by the hook `settings.ENGRAM_DRIFT_RATER`.

The setting names a callable that takes a sequence of `DriftFacts` and the name of the embedding
model, and returns as many severities. When it fails, the failure is logged and each is "medium".
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from memories.models.drift import ErrorSeverity

log = logging.getLogger(__name__)
HEAVY, LIGHT = 5.0, 1.0  # weights of outside evidence from which it is of high, medium severity


@dataclass(frozen=True, slots=True)
class DriftFacts:
    """A memory that has drifted, and what the note says in its place, None for nothing."""

    content: str
    kind: str
    is_pinned: bool
    observed_at: datetime
    after: str | None


class DriftRater(Protocol):
    """The callable named by ENGRAM_DRIFT_RATER; it is called outside a transaction."""

    def __call__(self, found: Sequence[DriftFacts], model: str, /) -> Sequence[str]:
        """Return the severity of each, "low", "medium" or "high"."""


def rate_all(found: Sequence[DriftFacts], model: str) -> list[ErrorSeverity]:
    """Return the severities of drifts, in order."""
    if not found:
        return []
    try:
        rater = cast("DriftRater", import_string(settings.ENGRAM_DRIFT_RATER))
        return [ErrorSeverity(one) for one in rater(found, model)]
    except Exception:
        log.exception("rating drift failed")
        return [ErrorSeverity.MEDIUM] * len(found)


def severity_of_weight(weight: float) -> ErrorSeverity:
    """Return the severity of outside evidence by its weight, 0..10, which its sender chose."""
    if weight >= HEAVY:
        return ErrorSeverity.HIGH
    return ErrorSeverity.MEDIUM if weight >= LIGHT else ErrorSeverity.LOW
