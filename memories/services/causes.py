"""Why the services of memories and sessions refuse; see `engram.kernel.causes`."""

from __future__ import annotations

from engram.kernel.causes import Cause

FORGOTTEN_BEFORE = Cause(
    "forgotten-before",
    422,
    "Forgotten before",
    "Restore the forgotten memory (`POST /memories/restore`) instead of writing it anew.",
)
STATEMENT_FORGOTTEN = Cause(
    "statement-forgotten", 409, "Statement forgotten", "Restore the forgotten memory instead."
)
SAME_STATEMENT = Cause(
    "same-statement-live",
    409,
    "A live memory says the same",
    "Use the memory that `errors` names, or forget it first.",
)
ALREADY_SUPERSEDED = Cause(
    "already-superseded", 409, "Superseded already", "Supersede the successor that `errors` names."
)
NOT_LIVE = Cause(
    "memory-not-live",
    409,
    "The memory is not live",
    "Bring it back first, or use the successor that `errors` names.",
)
REVIEW_CLOSED = Cause(
    "review-closed", 409, "Review closed", "Read what became of it: `GET /reviews/{id}`."
)
REVIEW_LAPSED = Cause(
    "review-lapsed", 409, "Review lapsed", "Nothing; ask again if the request still makes sense."
)
REVIEWER_NEEDED = Cause(
    "reviewer-needed", 403, "A reviewer is needed", "Use a key of the role `reviewer`."
)
SUGGESTION_CLOSED = Cause(
    "suggestion-closed", 409, "Suggestion closed", "Nothing; somebody has answered it."
)
IN_OPEN_CONFLICT = Cause(
    "in-open-conflict",
    409,
    "Both are in an open conflict",
    "Answer the conflict that `errors` names first (`POST /conflicts/{id}/resolve`).",
)
ALREADY_SUGGESTED = Cause(
    "already-suggested", 409, "Suggested already", "Answer the suggestion that is open."
)
NOT_KEPT_APART = Cause("not-kept-apart", 409, "Not kept apart", "Nothing; they may merge again.")
MERGE_SPLIT = Cause("merge-split", 409, "The merge was split", "Nothing; both memories are live.")
RUN_UNDONE = Cause(
    "run-undone", 409, "The run was undone", "Start another run if it is wanted still."
)
SESSION_OF_ANOTHER = Cause(
    "session-of-another-key",
    403,
    "The session belongs to another key",
    "Use the key that started it; a reviewer may end it.",
)
SESSION_KEY_TAKEN = Cause(
    "session-key-taken",
    409,
    "The session key is taken",
    "Start the session under another `session_key`.",
)
SESSION_ENDED = Cause(
    "session-ended", 409, "The session has ended", "Start another session under another key."
)
OTHER_TRANSCRIPT = Cause(
    "session-ended-otherwise",
    409,
    "The session has ended with another transcript",
    "Nothing; the first transcript is kept.",
)
SESSION_JUDGED = Cause(
    "session-judged", 409, "The session is judged", "Nothing; feedback is taken until then."
)
