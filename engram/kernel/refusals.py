"""What services refuse, in the domain's terms; surfaces turn refusals into answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from engram.kernel import causes
from engram.kernel.causes import Cause


class RefusalError(Exception):
    """A service will not do what was asked; nothing was changed.

    `cause` names why, for programs; `detail` says it, for people.
    """

    default_cause: ClassVar[Cause] = causes.CHANGED_MEANWHILE

    def __init__(self, detail: str, *, cause: Cause | None = None):
        super().__init__(detail)
        self.detail = detail
        self.cause = cause or self.default_cause


class InvalidError(RefusalError):
    """A value does not make sense; `field` names it."""

    default_cause = causes.INVALID

    def __init__(self, field: str, message: str, *, cause: Cause | None = None):
        super().__init__(f"{field}: {message}", cause=cause)
        self.field = field
        self.message = message


class ForbiddenError(RefusalError):
    """The caller's role or class of trust does not allow this."""

    default_cause = causes.NOT_ALLOWED


class MissingError(RefusalError):
    """What was named does not exist in this workspace."""

    default_cause = causes.NOT_FOUND


class StaleError(RefusalError):
    """What was named has changed or was decided meanwhile; `ids` list what changed."""

    def __init__(self, detail: str, ids: Sequence[object] = (), *, cause: Cause | None = None):
        super().__init__(detail, cause=cause)
        self.ids = [str(i) for i in ids]


class LimitError(RefusalError):
    """The caller has done this often enough; `wait` says for how many seconds it must not."""

    default_cause = causes.TOO_OFTEN

    def __init__(self, detail: str, *, wait: float, cause: Cause | None = None):
        super().__init__(detail, cause=cause)
        self.wait = wait
