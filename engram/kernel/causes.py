"""Error causes: one stable URL per cause, the `type` of a problem document.

Apps declare theirs in `services/causes.py`; `CAUSES` has all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

BASE = "/problems/"
CAUSES: dict[str, Cause] = {}


@dataclass(frozen=True, slots=True)
class Cause:
    """One error cause: `meaning` describes what happened, `remedy` what a caller should do.

    No error leaves changes behind, except `ANSWER_NOT_KEPT`.
    """

    name: str
    status: int
    title: str
    meaning: str
    remedy: str

    def __post_init__(self) -> None:
        if self.name in CAUSES:
            raise ValueError(f"two causes are called {self.name}")
        CAUSES[self.name] = self

    @property
    def type(self) -> str:
        """Return the URL that identifies the cause."""
        return BASE + self.name


MALFORMED = Cause(
    "malformed-request",
    400,
    "Malformed request",
    "The body is not JSON in UTF-8, or is nested too deep, or holds a NUL or a number "
    "that is too large.",
    "Send valid JSON in UTF-8, as described.",
)
NOT_AUTHENTICATED = Cause(
    "not-authenticated",
    401,
    "Not authenticated",
    "The request has no key, or one that is unknown, expired or revoked.",
    "Send a valid key: `Authorization: Bearer …`.",
)
NOT_ALLOWED = Cause(
    "not-allowed",
    403,
    "Not allowed",
    "The key is valid, but its role does not allow this operation.",
    "Use a key of the role that `detail` names, or ask its owner.",
)
NOT_FOUND = Cause(
    "not-found",
    404,
    "Not found",
    "Nothing in the key's workspace has this address.",
    "Check the id or path; what belongs to others is not found, too.",
)
METHOD_NOT_ALLOWED = Cause(
    "method-not-allowed",
    405,
    "Method not allowed",
    "The address exists, but not with this method.",
    "Use one of the methods in `Allow`.",
)
NOT_ACCEPTABLE = Cause(
    "not-acceptable",
    406,
    "Not acceptable",
    "`Accept` names no format that the service can answer in.",
    "Accept `application/json`.",
)
WRITTEN_MEANWHILE = Cause(
    "written-meanwhile",
    409,
    "Written meanwhile",
    "Another request wrote the same rows at the same moment, and this one was rolled back.",
    "Another caller was faster; send it again.",
)
CHANGED_MEANWHILE = Cause(
    "changed-meanwhile",
    409,
    "Changed meanwhile",
    "What the request is about has changed since it was read.",
    "Read what `errors` names (or what was asked about) again, then decide anew.",
)
KEY_REUSED = Cause(
    "idempotency-key-reused",
    409,
    "Idempotency-Key reused",
    "The same `Idempotency-Key` was sent with another body or to another address within 24 hours.",
    "Take a new key for another request.",
)
ANSWER_NOT_KEPT = Cause(
    "answer-not-kept",
    409,
    "Done, but its answer is not kept",
    "The request with this `Idempotency-Key` was done before; its answer was not "
    "stored, because it held a secret or showed what was forgotten or deleted since.",
    "It was done the first time: read what it wrote; do not send it again.",
)
NOTHING_TO_UNDO = Cause(
    "nothing-to-undo",
    409,
    "Nothing to undo",
    "The decision, run or action was undone before, or changed nothing that could be undone.",
    "Nothing; it was undone, or did nothing that stays.",
)
NOT_UNDONE_HERE = Cause(
    "not-undone-here",
    409,
    "Not taken back here",
    "This kind of answer has no undo at this address.",
    "Take it back where `detail` says.",
)
NOT_PUT_OFF = Cause(
    "not-put-off",
    409,
    "Not put off",
    "The item is not snoozed.",
    "Nothing; it waits, or was answered.",
)
WORKSPACE_CLOSED = Cause(
    "workspace-closed",
    410,
    "Workspace closed",
    "The workspace of the key is being deleted, or was deleted meanwhile: nothing in it can be "
    "read or written any more.",
    "Stop using the key; `GET /workspace/deletion` says how far the deletion is.",
)
PRECONDITION_FAILED = Cause(
    "precondition-failed",
    412,
    "Precondition failed",
    "What is stored is not the version that `If-Match` names, or is one that `If-None-Match` "
    "excludes.",
    "Read it again, merge your change into it, and send it with its `ETag`.",
)
TOO_LARGE = Cause(
    "body-too-large",
    413,
    "Body too large",
    "The body is larger than this operation reads, in bytes or in values.",
    "Send less at once.",
)
MEDIA_TYPE = Cause(
    "unsupported-media-type",
    415,
    "Unsupported media type",
    "The body has a `Content-Type` that the service does not read.",
    "Send `application/json`.",
)
INVALID = Cause(
    "invalid-value",
    422,
    "Invalid value",
    "A field or parameter is missing, unknown, of the wrong type or out of its range.",
    "Correct the fields that `errors` names and send it again.",
)
CREDENTIAL = Cause(
    "credential",
    422,
    "Looks like a credential",
    "A text contains what looks like a password, a key, a token or the number of a card or a"
    " person.",
    "Send it without the secret; none are stored.",
)
TOO_OFTEN = Cause(
    "too-many-requests",
    429,
    "Too many requests",
    "The key, or the address, has sent more than its limit allows for now.",
    "Wait the seconds that `Retry-After` says.",
)
INTERNAL = Cause(
    "internal-error",
    500,
    "Internal error",
    "The service failed; the request itself may be right.",
    "Report it; the server's log says what went wrong.",
)
UNAVAILABLE = Cause(
    "service-unavailable",
    503,
    "Service Unavailable",
    "The database, or another part that the request needs, does not answer at the moment.",
    "Nothing was stored: send it again after the seconds that `Retry-After` says.",
)
# The causes of errors that REST framework or Django raise, by status.
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
        WORKSPACE_CLOSED,
        PRECONDITION_FAILED,
        TOO_LARGE,
        MEDIA_TYPE,
        INVALID,
        TOO_OFTEN,
        INTERNAL,
        UNAVAILABLE,
    )
}
