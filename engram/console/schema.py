"""Serve the OpenAPI document, generated once per process, plain and compressed."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.request import Request

# How long clients may cache the document; a release may change it.
KEPT = "public, max-age=300"


@dataclass(frozen=True, slots=True)
class EncodedSchema:
    """The document in both encodings."""

    plain: bytes
    compressed: bytes
    digest: str


class SchemaCache:
    """Generates the document at the first request; concurrent requests wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._document: EncodedSchema | None = None

    def get(self) -> EncodedSchema:
        """Return the document; generating it takes about half a second of CPU time."""
        with self._lock:
            if self._document is None:
                self._document = _make()
            return self._document


def _make() -> EncodedSchema:
    described = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    plain: bytes = OpenApiJsonRenderer().render(described, renderer_context={})
    compressed = gzip.compress(plain, compresslevel=9, mtime=0)
    return EncodedSchema(plain, compressed, hashlib.sha256(plain).hexdigest()[:32])


def _takes_gzip(accepted: str) -> bool:
    """Return whether the client accepts gzip."""
    for coding in accepted.lower().split(","):
        name, _, weight = coding.replace(" ", "").partition(";")
        if name == "gzip":
            return weight.removeprefix("q=").strip("0.") != "" or not weight
    return False


keeper = SchemaCache()


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the API as a list shows it."""

    method: str
    path: str
    summary: str


@cache
def operations() -> Mapping[str, Sequence[Operation]]:
    """Return all operations by their group, in the order of the document's groups."""
    document = json.loads(keeper.get().plain)
    found: dict[str, list[Operation]] = {_words(tag["name"]): [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            [group] = described["tags"]
            found[_words(group)].append(Operation(method.upper(), path, described["summary"]))
    return found


def _words(group: str) -> str:
    return group.replace("-", " ").capitalize()


class Schema(SpectacularJSONAPIView):
    """The OpenAPI document, without authentication."""

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Return the document, or 304 if it has not changed."""
        document = keeper.get()
        is_compressed = _takes_gzip(request.headers.get("Accept-Encoding", ""))
        etag = f'"{document.digest}{"-gzip" if is_compressed else ""}"'
        response = HttpResponse(
            document.compressed if is_compressed else document.plain,
            content_type=request.accepted_renderer.media_type,
        )
        if is_compressed:
            response["Content-Encoding"] = "gzip"
        response["Content-Disposition"] = 'inline; filename="engram-openapi.json"'
        response["Cache-Control"] = KEPT
        response["ETag"] = etag
        patch_vary_headers(response, ["Accept-Encoding"])
        found = get_conditional_response(request._request, etag=etag, response=response)
        assert found is not None  # noqa: S101  it returns what it was given
        return found
