"""Rotating log files."""

import logging
import logging.handlers
import os
from pathlib import Path
from typing import Any

MAX_BYTES = 5_000_000
KEPT_FILES = 3


class PrivateLog(logging.handlers.RotatingFileHandler):
    """A log file readable only by its owner, independent of the umask."""

    def _open(self) -> Any:
        return open(
            self.baseFilename,
            self.mode,
            encoding=self.encoding,
            errors=self.errors,
            opener=lambda path, flags: os.open(path, flags, 0o600),
        )


def rotating_log(path: Path) -> logging.Logger:
    """Return a logger that writes lines with a timestamp to one file only."""
    handler = PrivateLog(
        path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8", errors="replace"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d %(message)s", "%F %T"))
    log = logging.Logger(path.stem, logging.INFO)
    log.addHandler(handler)
    return log
