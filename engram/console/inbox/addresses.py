"""Addresses of the inbox."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django.urls import reverse


def address_of(filters: Mapping[str, str], item: str = "", **more: str) -> str:
    """Return the address of an item (`source:id`) within these filters, or of the whole queue."""
    query = {**filters, **({"item": item} if item else {}), **more}
    return reverse("console:inbox") + (f"?{urlencode(query)}" if query else "")
