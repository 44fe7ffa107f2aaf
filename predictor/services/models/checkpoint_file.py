"""Checkpoints in files: written whole or not at all, and over nothing but another checkpoint."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from engram.kernel.refusals import InvalidError
from predictor.core.checkpoint import MAGIC
from predictor.core.scorer import Scorer

FIELD = "path"
MAX_BYTES = 1 << 28


def write(path: Path, raw: bytes) -> None:
    """Write a checkpoint beside its place and move it there.

    Raises
    ------
    InvalidError
        When the path cannot be written, or holds something that is no checkpoint.
    """
    try:
        _check_place(path)
        descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # a NUL in it, say
        raise InvalidError(FIELD, _describe(error)) from None


def read(path: Path) -> Scorer:
    """Return the model of a file.

    Raises
    ------
    InvalidError
        When there is no such file, or it holds no checkpoint of this model.
    """
    try:
        with path.open("rb") as file:
            return Scorer.from_bytes(file.read(MAX_BYTES))
    except (OSError, ValueError) as error:
        raise InvalidError(FIELD, _describe(error)) from None


def _check_place(path: Path) -> None:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise InvalidError(FIELD, "is no regular file")
    if path.exists() and path.stat().st_size:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InvalidError(FIELD, "holds something that is no checkpoint")


def _describe(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
