"""Why requests are refused: one stable address per cause, which `type` of a problem names.

Apps declare their own beside the services that refuse (`causes.py`); `CAUSES` holds all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

BASE = "/problems/"
CAUSES: dict[str, Cause] = {}


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause; `remedy` tells a caller what to do. Nothing was changed, whatever the cause."""

    name: str
    status: int
    title: str
    remedy: str

    def __post_init__(self) -> None:
        if self.name in CAUSES:
            raise ValueError(f"two causes are called {self.name}")
        CAUSES[self.name] = self

    @property
    def type(self) -> str:
        """Return the address that names the cause."""
        return BASE + self.name


MALFORMED = Cause(
    "malformed-request", 400, "Malformed request", "Send valid JSON in UTF-8, as described."
)
NOT_AUTHENTICATED = Cause(
    "not-authenticated", 401, "Not authenticated", "Send a valid key: `Authorization: Bearer …`."
)
NOT_ALLOWED = Cause(
    "not-allowed",
    403,
    "Not allowed",
    "Use a key of the role that `detail` names, or ask its owner.",
)
NOT_FOUND = Cause(
    "not-found", 404, "Not found", "Check the id or path; what belongs to others is not found, too."
)
METHOD_NOT_ALLOWED = Cause(
    "method-not-allowed", 405, "Method not allowed", "Use one of the methods in `Allow`."
)
NOT_ACCEPTABLE = Cause("not-acceptable", 406, "Not acceptable", "Accept `application/json`.")
WRITTEN_MEANWHILE = Cause(
    "written-meanwhile", 409, "Written meanwhile", "Another caller was faster; send it again."
)
CHANGED_MEANWHILE = Cause(
    "changed-meanwhile",
    409,
    "Changed meanwhile",
    "Read what `errors` names (or what was asked about) again, then decide anew.",
)
KEY_REUSED = Cause(
    "idempotency-key-reused",
    409,
    "Idempotency-Key reused",
    "Take a new key for another request.",
)
ANSWER_NOT_KEPT = Cause(
    "answer-not-kept",
    409,
    "Done, but its answer is not kept",
    "It was done the first time: read what it wrote; do not send it again.",
)
NOTHING_TO_UNDO = Cause(
    "nothing-to-undo", 409, "Nothing to undo", "Nothing; it was undone, or did nothing that stays."
)
NOT_UNDONE_HERE = Cause(
    "not-undone-here", 409, "Not taken back here", "Take it back where `detail` says."
)
NOT_PUT_OFF = Cause("not-put-off", 409, "Not put off", "Nothing; it waits, or was answered.")
TOO_LARGE = Cause("body-too-large", 413, "Body too large", "Send less at once.")
MEDIA_TYPE = Cause(
    "unsupported-media-type", 415, "Unsupported media type", "Send `application/json`."
)
INVALID = Cause(
    "invalid-value",
    422,
    "Invalid value",
    "Correct the fields that `errors` names and send it again.",
)
CREDENTIAL = Cause(
    "credential", 422, "Looks like a credential", "Send it without the secret; none are stored."
)
TOO_OFTEN = Cause(
    "too-many-requests", 429, "Too many requests", "Wait the seconds that `Retry-After` says."
)
INTERNAL = Cause(
    "internal-error", 500, "Internal error", "Report it; the server's log says what went wrong."
)
UNAVAILABLE = Cause(
    "service-unavailable",
    503,
    "Service Unavailable",
    "Nothing was stored: send it again after the seconds that `Retry-After` says.",
)
# What REST framework or Django refuse by themselves, by status.
OF_STATUS = {
    cause.status: cause
    for cause in (
        MALFORMED,
        NOT_AUTHENTICATED,
        NOT_ALLOWED,
        NOT_FOUND,
        METHOD_NOT_ALLOWED,
        NOT_ACCEPTABLE,
        CHANGED_MEANWHILE,
        TOO_LARGE,
        MEDIA_TYPE,
        INVALID,
        TOO_OFTEN,
        INTERNAL,
        UNAVAILABLE,
    )
}
