"""Values of frames: each refusal names the field and what it may hold.

Lists of numbers are checked by type before numpy reads them: it would take "1" and true for 1.
"""

from __future__ import annotations

import json
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError

from predictor.core.rpc_frames import INVALID_PARAMS, RpcFrameError

MAX_FLOAT = float(np.finfo(np.float32).max)
SHOWN_BITS = 64  # of a wrong integer in a message
SHOWN_CHARS = 40  # of any other wrong value


def wrong(field: str, message: str) -> RpcFrameError:
    """Return the error that names a field."""
    return RpcFrameError(INVALID_PARAMS, f"{field}: {message}")


class WrongValueError(ValueError):
    """What a validator raises; `at` is where in the field, such as ``[3]``."""

    def __init__(self, message: str, at: str = ""):
        super().__init__(message)
        self.at = at


class Params(BaseModel):
    """The named values of a frame; what is not sent is validated as null."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, validate_default=True)

    @classmethod
    def read(cls, params: Any, *, path: str = "", width: int | None = None) -> Self:
        """Return the values.

        Parameters
        ----------
        path : what stands before the names of fields in messages, such as ``sessions[3].``.
        width : of the model's embeddings; None when there is no model yet.

        Raises
        ------
        FrameError
            For a name that nothing reads (a typo is no default), else for the first wrong value.
        """
        if not isinstance(params, dict):
            raise wrong(path.rstrip("."), "must be an object")
        if unknown := sorted(params.keys() - cls.model_fields.keys()):
            raise wrong(f"{path}{unknown[0][:60]}", "there is no such field")
        try:
            return cls.model_validate(params, context=width)
        except ValidationError as invalid:
            first = invalid.errors(include_url=False, include_input=False)[0]
        error, field = first["ctx"]["error"], first["loc"][0]
        if isinstance(error, RpcFrameError):  # from the values within a value
            raise RpcFrameError(error.code, f"{path}{error.message}")
        raise wrong(f"{path}{field}{error.at}", str(error))


def number(low: float, high: float, *, is_optional: bool = False) -> PlainValidator:
    """Validate a number within bounds."""

    def validate(value: Any) -> float | None:
        if value is None and is_optional:
            return None
        if not _is_within(value, low, high):
            raise WrongValueError(f"must be a number from {low:g} to {high:g}")
        return float(value)

    return PlainValidator(validate)


def whole(low: int, high: int) -> PlainValidator:
    """Validate a whole number within bounds, or null."""

    def validate(value: Any) -> int | None:
        if value is not None and (type(value) is not int or not low <= value <= high):
            raise WrongValueError(f"must be a whole number from {low} to {high}")
        return value

    return PlainValidator(validate)


def numbers_of(
    value: Any, *, length: int, low: float = -MAX_FLOAT, high: float = MAX_FLOAT, at: str = ""
) -> NDArray[np.float32]:
    """Return a list of numbers within bounds as (length,) float32."""
    if not isinstance(value, list):
        raise WrongValueError(f"must be a list of {length} numbers", at)
    if len(value) != length:
        raise WrongValueError(f"has {len(value)} numbers, must have {length}", at)
    if not set(map(type, value)) - {int, float}:
        try:
            numbers = np.array(value, dtype=np.float64)
        except OverflowError:  # an integer beyond any float
            pass
        else:
            if not numbers.size or (low <= numbers.min() and numbers.max() <= high):
                return numbers.astype(np.float32)
    place = next(i for i, one in enumerate(value) if not _is_within(one, low, high))
    shown = shown_as(value[place])
    raise WrongValueError(
        f"must hold numbers from {low:.3g} to {high:.3g}; [{place}] is {shown}", at
    )


def _is_within(value: Any, low: float, high: float) -> bool:
    return type(value) in {int, float} and low <= value <= high


def shown_as(value: Any) -> str:
    """Return a value as messages show it: what is long is cut, what is nested is named."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and value.bit_length() > SHOWN_BITS:
        return "an integer beyond that"
    text = json.dumps(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"
