"""Log files that do not grow without end."""

import logging
import logging.handlers
from pathlib import Path

MAX_BYTES = 5_000_000
KEPT_FILES = 3


def rotating_log(path: Path) -> logging.Logger:
    """Return a logger that writes lines with their time to one file, and nowhere else."""
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8", errors="replace"
    )
    handler.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d %(message)s", "%F %T"))
    log = logging.Logger(path.stem, logging.INFO)
    log.addHandler(handler)
    return log
