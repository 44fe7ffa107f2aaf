"""Static files over ASGI and WSGI: whole, in parts, unchanged, and without a warning."""

from __future__ import annotations

import pytest
from django.conf import settings as django_settings
from django.test import Client

from tests.kernel.test_request_threads import Server

SHEET = "/static/console/console.css"
ON_DISK = (django_settings.BASE_DIR / "static/console/console.css").read_bytes()


@pytest.fixture(autouse=True)
def _uncollected(settings):
    settings.WHITENOISE_AUTOREFRESH = settings.WHITENOISE_USE_FINDERS = True


def test_files_are_served_over_asgi_without_streaming():
    status, headers, body = Server().call(SHEET.removeprefix("/"), method="GET")
    assert (status, body) == (200, ON_DISK)
    assert headers[b"Content-Type"] == b'text/css; charset="utf-8"'
    assert headers[b"Content-Length"] == str(len(ON_DISK)).encode()


def test_files_are_served_over_wsgi_in_parts_and_once():
    client = Client()
    part = client.get(SHEET, headers={"Range": "bytes=3-11"})
    assert (part.status_code, part.content) == (206, ON_DISK[3:12])
    modified = client.get(SHEET)["Last-Modified"]
    known = client.get(SHEET, headers={"If-Modified-Since": modified})
    assert (known.status_code, known.content) == (304, b"")
    head = client.head(SHEET)
    assert (head.status_code, head.content, head["Content-Length"]) == (
        200, b"", str(len(ON_DISK)),
    )  # fmt: skip


def test_what_is_not_there_is_not_found():
    assert Client().get("/static/console/none.css").status_code == 404
