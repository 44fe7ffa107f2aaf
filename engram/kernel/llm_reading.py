"""Read a language model's text as JSON of a required shape."""

from __future__ import annotations

import json
from typing import Final, TypeVar

from pydantic import BaseModel, ValidationError

T = TypeVar("T", bound=BaseModel)
ERRORS_LISTED: Final = 5
MAX_CANDIDATES: Final = 20


class UnfitError(Exception):
    """The text is not JSON of the required shape; the message is for the model."""


def read_answer(text: str, shape: type[T]) -> T:
    """Return the only JSON object of the shape in a text, ignoring text around it."""
    try:
        return shape.model_validate_json(text.strip())
    except ValidationError as error:
        first = error
    fitting: list[T] = []
    for candidate in _objects(text):
        try:
            fitting.append(shape.model_validate_json(candidate))
        except ValidationError:
            continue
    if len(fitting) == 1:
        return fitting[0]
    raise UnfitError(_describe(first))


def _objects(text: str) -> list[str]:
    """Return the outermost JSON objects in a text."""
    decoder = json.JSONDecoder()
    found: list[str] = []
    start = text.find("{")
    for _ in range(MAX_CANDIDATES):
        if start == -1:
            break
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            found.append(text[start:end])
        start = text.find("{", end)
    return found


def _describe(error: ValidationError) -> str:
    parts = [
        f"{'.'.join(str(part) for part in row['loc']) or 'the answer'}: {row['msg']}"
        for row in error.errors(include_input=False, include_url=False)[:ERRORS_LISTED]
    ]
    return "; ".join(parts)
