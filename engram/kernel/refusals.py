"""What services refuse, in the domain's terms; surfaces turn refusals into answers."""

from __future__ import annotations

from collections.abc import Sequence


class RefusalError(Exception):
    """A service will not do what was asked; nothing was changed."""

    def __init__(self, detail: str):
        super().__init__(detail)
        self.detail = detail


class InvalidError(RefusalError):
    """A value does not make sense; `field` names it."""

    def __init__(self, field: str, message: str):
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class ForbiddenError(RefusalError):
    """The caller's role or class of trust does not allow this."""


class MissingError(RefusalError):
    """What was named does not exist in this workspace."""


class StaleError(RefusalError):
    """What was named has changed or was decided meanwhile; `ids` list what changed."""

    def __init__(self, detail: str, ids: Sequence[object] = ()):
        super().__init__(detail)
        self.ids = [str(i) for i in ids]


class LimitError(RefusalError):
    """The caller has done this often enough; `wait` says for how many seconds it must not."""

    def __init__(self, detail: str, *, wait: float):
        super().__init__(detail)
        self.wait = wait
