"""Read and write checkpoint files; writes are atomic and replace only another checkpoint."""

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
    """Write a checkpoint to a temporary file in the same directory, then rename it to `path`.

    Raises
    ------
    InvalidError
        When the path cannot be written, or holds something that is not a checkpoint.
    """
    try:
        _check_place(path)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:  # a NUL in it, say
        raise InvalidError(FIELD, _describe(error)) from None


def read(path: Path) -> Scorer:
    """Return the model stored in a file.

    Raises
    ------
    InvalidError
        When there is no such file, or it is not a checkpoint of this model.
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
