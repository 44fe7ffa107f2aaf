"""Exceptions of services for refused operations; views convert them to responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from engram.kernel import causes
from engram.kernel.causes import Cause


class RefusalError(Exception):
    """A service refuses an operation; nothing was changed.

    `cause` is for programs, `detail` for people.
    """

    default_cause: ClassVar[Cause] = causes.CHANGED_MEANWHILE

    def __init__(self, detail: str, *, cause: Cause | None = None):
        super().__init__(detail)
        self.detail = detail
        self.cause = cause or self.default_cause


class InvalidError(RefusalError):
    """The value of `field` is invalid."""

    default_cause = causes.INVALID

    def __init__(self, field: str, message: str, *, cause: Cause | None = None):
        super().__init__(f"{field}: {message}", cause=cause)
        self.field = field
        self.message = message


class ForbiddenError(RefusalError):
    """The caller's role or trust does not allow this."""

    default_cause = causes.NOT_ALLOWED


class MissingError(RefusalError):
    """The object does not exist in this workspace."""

    default_cause = causes.NOT_FOUND


class ClosedError(RefusalError):
    """The workspace is being deleted."""

    default_cause = causes.WORKSPACE_CLOSED


class StaleError(RefusalError):
    """Objects have changed or were decided meanwhile; `ids` are theirs."""

    def __init__(self, detail: str, ids: Sequence[object] = (), *, cause: Cause | None = None):
        super().__init__(detail, cause=cause)
        self.ids = [str(i) for i in ids]


class LimitError(RefusalError):
    """The caller has reached a limit; it must wait `wait` seconds."""

    default_cause = causes.TOO_OFTEN

    def __init__(self, detail: str, *, wait: float, cause: Cause | None = None):
        super().__init__(detail, cause=cause)
        self.wait = wait
