"""Parse strict JSON: no NaN, infinities, NUL, lone surrogates or duplicate names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer

from engram.kernel.body_limit import BODY_BYTES, BODY_VALUES, limit_of, too_large
from engram.kernel.problems import ProblemError

MAX_DEPTH = 32
MAX_INTEGER_DIGITS = 30
SLICE_BYTES = 1 << 16
_QUOTE, _BACKSLASH = b'"\\'
_BEFORE_VALUES = b",[{"  # one of these precedes each value except the outermost


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


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise on duplicate names, of which one value would be lost.

    A Python call per object also lets other threads run.
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ParseError("A name stands twice in one object.")
    return value


def _check(value: Any, depth: int = 0) -> None:
    """Refuse texts that PostgreSQL or UTF-8 cannot store, and too deep nesting."""
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
    """Parse one strict JSON text; raise `ParseError` with the reason."""
    try:
        value = json.loads(
            body
            if isinstance(body, str)
            else str(body, "utf-8"),  # json would detect UTF-16 and UTF-32
            object_pairs_hook=_named_once,
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


def holds_more_values(body: bytes, limit: int) -> bool:
    """Return whether JSON text has more than `limit` values, without parsing it.

    Empty lists and objects take sixty bytes of memory for three of text. Counts the characters that
    precede values outside strings, with numpy, in slices, so that other threads can run.
    """
    if sum(map(body.count, _BEFORE_VALUES)) <= limit:
        return False  # an upper bound: includes those within strings
    count = n_backslashes = 0
    is_in_text = False
    for start in range(0, len(body), SLICE_BYTES):
        signs = np.frombuffer(body, np.uint8, min(SLICE_BYTES, len(body) - start), start)
        places = np.arange(len(signs), dtype=np.int32)
        is_backslash = signs == _BACKSLASH
        # The last position at or before each with another character; -1 minus the carried run.
        other = np.where(is_backslash, np.int32(-1 - n_backslashes), places)
        np.maximum.accumulate(other, out=other)
        run = places - other  # length of the run of backslashes that ends here
        before = np.concatenate([[np.int32(n_backslashes)], run[:-1]])
        is_quote = (signs == _QUOTE) & (before % 2 == 0)
        in_text = (np.cumsum(is_quote, dtype=np.int32) + is_in_text) % 2 == 1
        is_sign = (signs == ord(",")) | (signs == ord("[")) | (signs == ord("{"))
        count += int(np.count_nonzero(is_sign & ~in_text))
        if count > limit:
            return True
        is_in_text, n_backslashes = bool(in_text[-1]), int(run[-1])
    return False


class StrictJSONParser(BaseParser):
    """Parses request bodies; refuses those over the limit before reading them."""

    media_type = "application/json"
    renderer_class = JSONRenderer

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the parsed body."""
        view = (parser_context or {}).get("view")
        max_bytes = limit_of(view, "max_body_bytes", BODY_BYTES)
        max_values = limit_of(view, "max_body_values", BODY_VALUES)
        body = stream.read(max_bytes + 1)
        if len(body) > max_bytes:
            raise ProblemError(413, too_large(max_bytes))
        if holds_more_values(body, max_values):
            raise ProblemError(413, f"The body holds more than {max_values} values.")
        return parse_json(body)
