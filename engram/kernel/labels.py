"""What a row is called where its text must not be shown: in titles, messages and choices."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Model
from django.utils import timezone


def row_label(row: Model, at: datetime | None = None) -> str:
    """Return the kind of a row, the beginning of its id and when it was made.

    A text would stay in sessions, cookies and logs after it was forgotten or erased.
    """
    label = f"{row._meta.verbose_name} {str(row.pk)[:8]}"
    return label if at is None else f"{label} of {timezone.localtime(at):%Y-%m-%d %H:%M}"
