"""What the comparisons say of giving the model influence: when it earned it, and the gain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from predictor.core.governance import SERVING
from predictor.core.metrics import Interval, bootstrap
from predictor.models import Comparison

NEWEST = 100  # comparisons in the gain


@dataclass(frozen=True, slots=True)
class Adoption:
    """When the model last came to earn influence, and its mean margin since it last lost it.

    `at_session` counts compared and void sessions from the first on; it and `at` are None while the
    model has earned none. `gain` is the mean difference of nDCG@10 (model less baseline) over at
    most `NEWEST` drafted lists, which alone count; None without any.
    """

    at_session: int | None
    at: datetime | None
    gain: Interval | None


def adoption(*, rng: np.random.Generator) -> Adoption:
    """Return it by a constant number of queries; called inside the workspace."""
    counted = Comparison.objects.filter(drafted_margin__isnull=False)
    reset = Comparison.objects.filter(is_drift_reset=True).values_list("created_at", flat=True)
    lost = reset.order_by("-created_at").first()
    if lost is not None:
        counted = counted.filter(created_at__gt=lost)
    newest = counted.order_by("-created_at", "-id")
    drafted = newest.values_list("drafted_margin", flat=True)[:NEWEST]
    margins = [margin for margin in drafted if margin is not None]
    gain = bootstrap(margins, rng=rng) if margins else None
    began = _serving_since()
    if began is None:
        return Adoption(None, None, gain)
    earlier = Comparison.objects.filter(created_at__lte=began).count()
    return Adoption(earlier, began, gain)


def _serving_since() -> datetime | None:
    """Return when the present stretch of earned influence began; None without one."""
    newest = Comparison.objects.order_by("-created_at", "-id").values_list("phase", flat=True)
    if newest.first() not in SERVING:
        return None
    without = Comparison.objects.exclude(phase__in=[phase.value for phase in SERVING])
    last = without.order_by("-created_at").values_list("created_at", flat=True).first()
    serving = Comparison.objects.filter(phase__in=[phase.value for phase in SERVING])
    if last is not None:
        serving = serving.filter(created_at__gt=last)
    return serving.order_by("created_at").values_list("created_at", flat=True).first()
