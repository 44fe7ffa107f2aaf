"""Causes of the refusals of conflicts' services; see `engram.kernel.causes`."""

from __future__ import annotations

from engram.kernel.causes import Cause

ALREADY_DECIDED = Cause(
    "already-decided",
    409,
    "Decided already",
    "A person has decided this conflict, or decided about the same memories before.",
    "Read the decision (`GET /conflicts/{id}`); undo it first to decide anew.",
)
STALE_VERSION = Cause(
    "stale-version",
    409,
    "The version is stale",
    "The conflict has changed since the `version` that was sent.",
    "Read the conflict again and send the `version` that it has now.",
)
STALE_LISTING = Cause(
    "stale-listing",
    409,
    "The verdict would do something else",
    "The memories have changed since the conflict was read, so the verdict would "
    "change others than the `listing` that was sent names.",
    "Read the conflict again: `consequences` say what would change, `listing` goes with them.",
)
SEVERAL_QUESTIONS = Cause(
    "several-questions",
    422,
    "The memories speak of different things",
    "The memories do not speak of one subject.",
    "Report each contradiction by itself: a conflict asks one question.",
)
MEMBERS_CHANGED = Cause(
    "members-changed",
    409,
    "Members have changed since the decision",
    "A memory of the conflict was changed after the decision, so undoing would "
    "overwrite that change.",
    "Read the memories that `errors` names; put them right by hand.",
)
MUTING_SETTLED = Cause(
    "muting-settled",
    409,
    "The proposal is settled",
    "The proposal to mute a rule was answered already, or that answer was changed since.",
    "Read the proposals (`GET /mutings`); a muted rule is let go on by `POST /mutings/unmute`.",
)
KEEP_NEEDED = Cause(
    "keep-needed",
    422,
    "Survivors must be named",
    "The verdict leaves open which memories stay: none is named, or more than one "
    "value would remain.",
    "Name in `keep` the memories that are true.",
)
