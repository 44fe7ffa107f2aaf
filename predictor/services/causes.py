"""Causes of the predictor's refusals; see `engram.kernel.causes`."""

from __future__ import annotations

from engram.kernel.causes import Cause

NOTHING_TO_SAMPLE = Cause(
    "nothing-to-sample",
    409,
    "Nothing to sample",
    "No judged session holds a memory that people could be asked about.",
    "Wait for sessions that are judged and not asked about yet.",
)
ALREADY_LABELLED = Cause(
    "already-labelled",
    409,
    "Labelled already",
    "Somebody else has answered this item of calibration.",
    "Nothing; somebody else has answered it.",
)
ITEM_DROPPED = Cause(
    "item-dropped",
    409,
    "Not asked any more",
    "The memory or the transcript was changed, hidden or deleted, so the item cannot "
    "be read as the judge read it.",
    "Nothing; it cannot be read as the judge read it.",
)
ALREADY_WAITING = Cause(
    "already-waiting",
    409,
    "It waits already",
    "The item of calibration has no answer that could be taken back.",
    "Answer it: `POST /predictor/calibration/{id}/label`.",
)
