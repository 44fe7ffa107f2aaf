"""Error causes that the services of memories and sessions raise; see `engram.kernel.causes`."""

from __future__ import annotations

from engram.kernel.causes import Cause

FORGOTTEN_BEFORE = Cause(
    "forgotten-before",
    422,
    "Forgotten before",
    "Exactly this statement is a forgotten memory, and forgotten statements are not stored anew.",
    "Restore the forgotten memory (`POST /memories/restore`) instead of writing it anew.",
)
STATEMENT_FORGOTTEN = Cause(
    "statement-forgotten",
    409,
    "Statement forgotten",
    "The statement that would be split off was forgotten by itself.",
    "Restore the forgotten memory instead.",
)
SAME_STATEMENT = Cause(
    "same-statement-live",
    409,
    "A live memory says the same",
    "Another live memory has exactly this statement in the same scope and project.",
    "Use the memory that `errors` names, or forget it first.",
)
ALREADY_SUPERSEDED = Cause(
    "already-superseded",
    409,
    "Superseded already",
    "The memory has a successor already; a memory has one.",
    "Supersede the successor that `errors` names.",
)
NOT_LIVE = Cause(
    "memory-not-live",
    409,
    "The memory is not live",
    "The operation needs a live memory, and this one is superseded, retired, forgotten or hidden.",
    "Bring it back first, or use the successor that `errors` names.",
)
REVIEW_CLOSED = Cause(
    "review-closed",
    409,
    "Review closed",
    "The review was accepted, rejected or lapsed before.",
    "Read its status and result: `GET /reviews/{id}`.",
)
REVIEW_LAPSED = Cause(
    "review-lapsed",
    409,
    "Review lapsed",
    "The memory has changed since the request was made, so accepting it would do "
    "something else; the review is closed as lapsed.",
    "Nothing; ask again if the request still makes sense.",
)
TOO_MANY_PENDING = Cause(
    "too-many-pending-reviews",
    409,
    "Too many requests wait for a person",
    "As many requests of this key wait for a person as the workspace allows "
    "(`pending_reviews_per_key`), so nothing was stored.",
    "Let a reviewer decide about the waiting ones (`GET /reviews`), or commit what this key may "
    "claim by itself.",
)
REVIEWER_NEEDED = Cause(
    "reviewer-needed",
    403,
    "A reviewer is needed",
    "An agent may not split this merge, because a person's words or decision are part of it.",
    "Use a key of the role `reviewer`.",
)
SUGGESTION_CLOSED = Cause(
    "suggestion-closed",
    409,
    "Suggestion closed",
    "The suggestion was accepted, rejected or closed before.",
    "Nothing; somebody has answered it.",
)
IN_OPEN_CONFLICT = Cause(
    "in-open-conflict",
    409,
    "Both are in an open conflict",
    "The suggestion would merge two memories of which an open conflict asks which one holds.",
    "Answer the conflict that `errors` names first (`POST /conflicts/{id}/resolve`).",
)
ALREADY_SUGGESTED = Cause(
    "already-suggested",
    409,
    "Suggested already",
    "The same two memories have another open suggestion.",
    "Answer the suggestion that is open.",
)
NOT_KEPT_APART = Cause(
    "not-kept-apart",
    409,
    "Not kept apart",
    "The suggestion is not rejected, so there is no rejection to take back.",
    "Nothing; they may merge again.",
)
MERGE_SPLIT = Cause(
    "merge-split",
    409,
    "The merge was split",
    "The merge was split before, so its two memories are separate again.",
    "Nothing; both memories are live.",
)
RUN_UNDONE = Cause(
    "run-undone",
    409,
    "The run was undone",
    "Somebody undid the janitor's run while it went on; it ended there.",
    "Start another run if it is wanted still.",
)
SESSION_OF_ANOTHER = Cause(
    "session-of-another-key",
    403,
    "The session belongs to another key",
    "The session was started with another key; only that key may write to it.",
    "Use the key that started it; a reviewer may end it.",
)
SESSION_KEY_TAKEN = Cause(
    "session-key-taken",
    409,
    "The session key is taken",
    "Another key has a session under this `session_key`.",
    "Start the session under another `session_key`.",
)
SESSION_ENDED = Cause(
    "session-ended",
    409,
    "The session has ended",
    "The session takes no more prompts, because it has ended.",
    "Start another session under another key.",
)
OTHER_TRANSCRIPT = Cause(
    "session-ended-otherwise",
    409,
    "The session has ended otherwise",
    "The session was ended before with another transcript, or with another report.",
    "Nothing; the first transcript and the first report are kept.",
)
SESSION_JUDGED = Cause(
    "session-judged",
    409,
    "The session is judged",
    "The session was judged, and its records are final.",
    "Nothing; feedback and reports are taken until then.",
)
EXTRACTION_OFF = Cause(
    "extraction-off",
    409,
    "Extraction is off",
    "The workspace's setting `extraction_enabled` is off: no transcript is turned into memories.",
    "Ask an admin to turn it on, or commit what is worth keeping (`POST /memories`).",
)
ERROR_RESOLVED = Cause(
    "prediction-error-resolved",
    409,
    "Resolved already",
    "The prediction error was resolved before: by a person, or because its memory or note changed.",
    "Nothing; read its `resolution`. If the two still disagree, another error opens.",
)
SOURCE_RESERVED = Cause(
    "source-reserved",
    422,
    "The source is the service's own",
    "Signals of the sources `agent`, `notes` and `transcript` are made by the service itself.",
    "Name who says so: a tool, such as `git`, or a person. At its session's end an agent says"
    " itself what was `wrong`.",
)
SIGNALS_UNDECIDED = Cause(
    "signals-undecided",
    409,
    "Too many undecided signals",
    "As many signals of the key wait for people as the workspace allows"
    " (`undecided_cards_per_key`).",
    "Wait until people have decided some. A signal that joins an open one is taken.",
)
REFUSAL_DECIDED = Cause(
    "refusal-decided",
    409,
    "Decided already",
    "The refused statement was kept or left out before.",
    "Nothing; read its decision.",
)
