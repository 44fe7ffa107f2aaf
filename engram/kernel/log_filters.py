"""Filters of the log."""

from __future__ import annotations

import logging


class WithoutTracesOfRefusals(logging.Filter):
    """Leave the trace out of a refused request: what its caller may not do is no error here."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every record; one about an answer below 500 loses its trace."""
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = None
        return True
