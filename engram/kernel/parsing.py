"""JSON as strict as the contract says: no NaN, no infinities, no NUL, no lone surrogates."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from engram.kernel.problems import ProblemError

MAX_DEPTH = 32
MAX_INTEGER_DIGITS = 30


def _refuse_constant(name: str) -> Any:
    raise ParseError(f"{name} is not a JSON number.")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ParseError("A number is too large.")
    return number


def _bounded_integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ParseError("A number is too large.")
    return int(digits)


def _check(value: Any, depth: int = 0) -> None:
    """Refuse texts that PostgreSQL or UTF-8 cannot hold, and nesting without end."""
    if depth > MAX_DEPTH:
        raise ParseError(f"The body is nested deeper than {MAX_DEPTH} levels.")
    if isinstance(value, str):
        if "\x00" in value:
            raise ParseError("NUL characters are not allowed.")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise ParseError("Lone surrogates are not allowed.") from None
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check(name, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def parse_json(body: bytes | str) -> Any:
    """Parse one strict JSON text; raise `ParseError` with what is wrong."""
    try:
        value = json.loads(
            body,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_bounded_integer,
        )
    except UnicodeDecodeError:
        raise ParseError("The body is not UTF-8.") from None
    except RecursionError:
        raise ParseError(f"The body is nested deeper than {MAX_DEPTH} levels.") from None
    except ValueError as error:
        raise ParseError(f"The body is not JSON: {error}") from None
    _check(value)
    return value


class StrictJSONParser(BaseParser):
    """Parses request bodies, refusing what is over the limit before reading it."""

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the parsed body."""
        body = stream.read(settings.MAX_BODY_BYTES + 1)
        if len(body) > settings.MAX_BODY_BYTES:
            raise ProblemError(413, f"The body is over {settings.MAX_BODY_BYTES} bytes.")
        return parse_json(body)
