"""Ratings of the demo's story: what people said a memory was worth in a session.

Each was written from the transcript of the session, before the judge's word was looked at.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from engram.console.demo.steps import DemoStep, Labels, person
from engram.kernel.models import Workspace
from engram.kernel.refusals import StaleError
from engram.kernel.tenancy import in_workspace
from predictor.models import CalibrationItem
from predictor.services.calibration import calibrate

RATINGS = Path(__file__).with_name("ratings.jsonl")
SEED = 7


class SampleStep(DemoStep):
    """A person draws a sample of judged memories to rate, also while another waits."""

    do: Literal["sample"]
    by: str
    size: int = Field(default=calibrate.SAMPLE_SIZE, ge=1)


class RateStep(DemoStep):
    """A person rates memories of a session, None where it cannot be told.

    Only those that a sample has asked about: which it draws hangs on what was judged before.
    """

    do: Literal["rate"]
    session: str
    by: str
    ratings: dict[str, float | None]


RatingStep = SampleStep | RateStep


def rate(workspace: Workspace, step: RatingStep, labels: Labels, at: datetime) -> None:
    """Take a step at its time."""
    if isinstance(step, SampleStep):
        with in_workspace(workspace):
            after = calibrate.last_drawn_at()
        rng = np.random.default_rng([SEED, after is not None])
        calibrate.sample(workspace, step.size, rng=rng, actor=person(step.by), now=at, after=after)
        return
    for label, rating in step.ratings.items():
        with in_workspace(workspace):
            asked = CalibrationItem.objects.filter(
                session__session_key=step.session, memory=labels[label]
            ).first()
        if asked is None:
            continue
        with suppress(StaleError):  # its texts have changed since
            calibrate.label_item(workspace, asked.pk, rating, actor=person(step.by), now=at)
