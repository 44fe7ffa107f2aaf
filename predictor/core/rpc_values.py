"""Values of frames, checked one by one: each refusal names the field and what it may hold.

Lists of numbers are checked by type before numpy reads them: it would take "1" and true for 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictor.core.rpc_frames import INVALID_PARAMS, FrameError

MAX_CANDIDATES = 100_000
MAX_FLOAT = float(np.finfo(np.float32).max)
TOLD_BITS = 64  # of a wrong integer in a message
TOLD_CHARS = 40  # of any other wrong value


def wrong(field: str, message: str) -> FrameError:
    """Return the error that names a field."""
    return FrameError(INVALID_PARAMS, f"{field}: {message}")


def check_names(params: Mapping[str, Any], known: frozenset[str], path: str = "") -> None:
    """Refuse names that nothing reads: a typo is no default."""
    if unknown := sorted(set(params) - known):
        raise wrong(f"{path}{unknown[0][:60]}", "there is no such field")


def number(
    params: Mapping[str, Any], name: str, *, path: str = "", low: float, high: float
) -> float:
    """Return a number within bounds."""
    value = params.get(name)
    if not _is_within(value, low, high):
        raise wrong(f"{path}{name}", f"must be a number from {low:g} to {high:g}")
    return float(value)  # type: ignore[arg-type]


def whole(params: Mapping[str, Any], name: str, *, low: int, high: int) -> int | None:
    """Return a whole number within bounds, None when it was not sent."""
    value = params.get(name)
    if value is not None and (type(value) is not int or not low <= value <= high):
        raise wrong(name, f"must be a whole number from {low} to {high}")
    return value


def read_list(params: Mapping[str, Any], name: str, path: str) -> list[Any]:
    """Return a list with an entry for each candidate."""
    value = params.get(name)
    if not isinstance(value, list):
        raise wrong(f"{path}{name}", "must be a list")
    if len(value) > MAX_CANDIDATES:
        said = f"has {len(value)} entries, must not have more than {MAX_CANDIDATES}"
        raise wrong(f"{path}{name}", said)
    return value


def numbers_of(
    value: Any, field: str, *, length: int, low: float = -MAX_FLOAT, high: float = MAX_FLOAT
) -> NDArray[np.float32]:
    """Return a list of numbers within bounds as (length,) float32."""
    if not isinstance(value, list):
        raise wrong(field, f"must be a list of {length} numbers")
    if len(value) != length:
        raise wrong(field, f"has {len(value)} numbers, must have {length}")
    if not set(map(type, value)) - {int, float}:
        try:
            numbers = np.array(value, dtype=np.float64)
        except OverflowError:  # an integer beyond any float
            pass
        else:
            if not numbers.size or (low <= numbers.min() and numbers.max() <= high):
                return numbers.astype(np.float32)
    place = next(i for i, one in enumerate(value) if not _is_within(one, low, high))
    said = f"must hold numbers from {low:.3g} to {high:.3g}; [{place}] is {told_as(value[place])}"
    raise wrong(field, said)


def _is_within(value: Any, low: float, high: float) -> bool:
    return type(value) in {int, float} and low <= value <= high


def told_as(value: Any) -> str:
    """Return a value as messages tell it: what is long is cut, what is nested is named."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, int) and value.bit_length() > TOLD_BITS:
        return "an integer beyond that"
    text = json.dumps(value)
    return text if len(text) <= TOLD_CHARS else f"{text[:TOLD_CHARS]}…"
