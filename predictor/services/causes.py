"""Why the services of the predictor refuse; see `engram.kernel.causes`."""

from __future__ import annotations

from engram.kernel.causes import Cause

NOTHING_TO_SAMPLE = Cause(
    "nothing-to-sample",
    409,
    "Nothing to sample",
    "Wait for sessions that are judged and not asked about yet.",
)
ALREADY_LABELLED = Cause(
    "already-labelled", 409, "Labelled already", "Nothing; somebody else has answered it."
)
ITEM_DROPPED = Cause(
    "item-dropped", 409, "Not asked any more", "Nothing; it cannot be read as the judge read it."
)
ALREADY_WAITING = Cause("already-waiting", 409, "It waits already", "Label it.")
