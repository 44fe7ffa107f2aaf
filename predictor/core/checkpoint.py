"""Weights as bytes: ``SGPT``, version, flags, a config in JSON, float32 parameters.

Little-endian: 4 bytes magic, 4 version, 4 flags, 4 length of the config, the config, 8 number of
parameters, the parameters in the order of `weights.shapes`. Encoding is canonical: the same weights
always give the same bytes, and other encodings are rejected. A change of the shapes or of their
meaning raises `VERSION`; other versions are recognised but not read.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from predictor.core.types import FEATURE_VERSION, PROJECT_SLOTS, SIGNALS, TOKEN_BUCKETS
from predictor.core.weights import DIMENSION, VALUE, Weights, count, shapes

MAGIC = b"SGPT"
VERSION = 4
PRETRAINED = 1  # flag: base weights, trained elsewhere
FINE_TUNED = 2  # flag: trained on this workspace's sessions

MAX_NATIVE = 16_384
MAX_CONFIG_BYTES = 4_096
HEAD_BYTES = 16
_HEAD = struct.Struct("<4sIII")
_COUNT = struct.Struct("<Q")
OWN_BEGINNING = struct.pack("<4sI", MAGIC, VERSION)  # of every checkpoint that this release writes


class CheckpointError(ValueError):
    """Raised when bytes are not a usable checkpoint; the message says why."""


def write(weights: Weights, flags: int) -> bytes:
    """Return the checkpoint of ``weights``."""
    native = len(weights["mean"])
    config = _config(native)
    parameters = b"".join(
        np.ascontiguousarray(weights[name], dtype="<f4").tobytes() for name in shapes(native)
    )
    head = _HEAD.pack(MAGIC, VERSION, flags, len(config))
    return head + config + _COUNT.pack(count(native)) + parameters


def read(raw: bytes) -> tuple[Weights, int]:
    """Return the weights and flags of a checkpoint.

    Raises
    ------
    CheckpointError
        On another magic, version, flag, width or length, a number that is not finite, or a
        deviation below zero.
    """
    if len(raw) < _HEAD.size:
        raise CheckpointError(f"{len(raw)} bytes are too few for a checkpoint")
    magic, version, flags, config_bytes = _HEAD.unpack_from(raw)
    if magic != MAGIC:
        raise CheckpointError("the file does not begin with SGPT")
    if version != VERSION:
        raise CheckpointError(
            f"its format is version {version}, of another release; this one reads {VERSION} alone"
        )
    if flags & ~(PRETRAINED | FINE_TUNED):
        raise CheckpointError(f"unknown flags {flags:#x}")
    if config_bytes > min(MAX_CONFIG_BYTES, len(raw) - _HEAD.size):
        raise CheckpointError(f"a config of {config_bytes} bytes")
    body = _HEAD.size + config_bytes
    native = _native(raw[_HEAD.size : body])
    return _parameters(raw[body:], native), flags


def is_of_another_release(head: bytes) -> bool:
    """Return whether a checkpoint has another release's format, by its first `HEAD_BYTES`.

    The bytes must be verified beforehand, such as by a checksum.
    """
    if len(head) < _HEAD.size:
        return False
    magic, version, _flags, _config_bytes = _HEAD.unpack_from(head)
    return bool(magic == MAGIC and version != VERSION)


def under_any_flags(raw: bytes) -> Iterator[bytes]:
    """Yield the checkpoints of the same weights under every combination of flags.

    Parameters
    ----------
    raw : a checkpoint that `read` accepts.
    """
    magic, version, _flags, config_bytes = _HEAD.unpack_from(raw)
    for flags in range((PRETRAINED | FINE_TUNED) + 1):
        yield _HEAD.pack(magic, version, flags, config_bytes) + raw[_HEAD.size :]


def _config(native: int) -> bytes:
    config = {
        "buckets": TOKEN_BUCKETS,
        "dimension": DIMENSION,
        "feature_version": FEATURE_VERSION,
        "native": native,
        "projects": PROJECT_SLOTS,
        "signals": len(SIGNALS),
        "value": VALUE,
    }
    return json.dumps(config, sort_keys=True, separators=(",", ":")).encode()


def _native(raw: bytes) -> int:
    try:
        config: Any = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise CheckpointError("the config is no JSON") from error
    native = config.get("native") if isinstance(config, dict) else None
    if type(native) is not int or not 1 <= native <= MAX_NATIVE:
        raise CheckpointError(f"the config names no width of 1 to {MAX_NATIVE}")
    if raw != _config(native):
        raise CheckpointError("the config is not that of this model")
    return native


def _parameters(raw: bytes, native: int) -> Weights:
    wanted = count(native)
    if len(raw) != _COUNT.size + 4 * wanted:
        raise CheckpointError(f"{len(raw)} bytes of parameters instead of {8 + 4 * wanted}")
    (stated,) = _COUNT.unpack_from(raw)
    if stated != wanted:
        raise CheckpointError(f"{stated} parameters instead of {wanted}")
    flat = np.frombuffer(raw, dtype="<f4", offset=_COUNT.size).astype(np.float32)
    if not np.isfinite(flat).all():
        raise CheckpointError("a parameter is not finite")
    weights: Weights = {}
    start = 0
    for name, shape in shapes(native).items():
        size = int(np.prod(shape))
        weights[name] = flat[start : start + size].reshape(shape)
        start += size
    scales = ("signal_scale", "prior_scale", "linear_scale")
    if min(weights[name].min() for name in scales) < 0:
        raise CheckpointError("a deviation is below zero")
    return weights
