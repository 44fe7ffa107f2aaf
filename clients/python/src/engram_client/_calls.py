"""What a call of the API is, apart from how it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Final, Generic, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit
from uuid import uuid4

T_co = TypeVar("T_co", covariant=True)


class Unset(Enum):
    """A field that is not sent, as opposed to None, which is sent as null."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """One call of the API, whose answer is a `T_co`.

    `path` is percent-encoded, below `/api/v1`. `repeatable`: sent twice it does what it does sent
    once, so that it can be sent again when its answer was lost.
    """

    method: str
    path: str
    query: Mapping[str, str] | Sequence[tuple[str, str]] = ()
    body: Mapping[str, Any] | None = None
    idempotency_key: str | None = None
    repeatable: bool = True

    def page(self, address: str) -> Call[T_co]:
        """Return the same call for the page at an address: only the query of it is used."""
        query = parse_qsl(urlsplit(address).query, keep_blank_values=True)
        return Call(self.method, self.path, query)


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that are set, as JSON values."""
    return {name: _json(value) for name, value in fields.items() if value is not UNSET}


def asked(**parameters: Any) -> dict[str, str]:
    """Return the parameters of a query that are set, as texts; null is not sent."""
    set_ = {name: value for name, value in parameters.items() if value not in (UNSET, None)}
    return {name: _text(value) for name, value in set_.items()}


def segment(name: str, value: str, safe: str = "") -> str:
    """Return a part of a path, percent-encoded; refuse one that would name another address."""
    value = str(value)
    parts = value.split("/") if safe else [value]
    if any(part in {"", ".", ".."} for part in parts):
        raise ValueError(f"{name} has an empty part, '.' or '..': {value!r}")
    return quote(value, safe=safe)


def new_key() -> str:
    """Return a new Idempotency-Key."""
    return str(uuid4())


def _json(value: Any) -> Any:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"a time needs a time zone: {value!r}")
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _json(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_json(item) for item in value]
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(_json(value))
