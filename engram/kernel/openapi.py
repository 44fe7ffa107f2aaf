"""Generate the OpenAPI document: every operation with its possible problem documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel
from rest_framework import serializers
from rest_framework.generics import GenericAPIView

from engram.kernel.api import WorkspaceView
from engram.kernel.causes import CAUSES
from engram.kernel.fields import Text
from engram.kernel.idempotency import HEADER, KEY_PATTERN
from engram.kernel.preconditions import HEADER_MAX_CHARS, HEADER_PATTERN, IF_MATCH, IF_NONE_MATCH
from engram.kernel.problems import CONTENT_TYPE
from engram.kernel.tenancy import without_rows

Direction = Literal["request", "response"]


class FieldErrorSerializer(serializers.Serializer[Any]):
    """One wrong field."""

    field = serializers.CharField(
        allow_blank=True,
        help_text="Its name; nested fields are joined by dots, list items are numbers.",
    )
    message = serializers.CharField(
        help_text="What is wrong with it; for `id`, the object that has changed."
    )


class ProblemSerializer(serializers.Serializer[Any]):
    """An RFC 9457 problem document."""

    type = serializers.CharField(
        help_text="The URL that identifies the cause: stable, for programs."
    )
    title = serializers.CharField(help_text="The cause in a few words, the same for each type.")
    status = serializers.IntegerField(help_text="The HTTP status.")
    detail = serializers.CharField(help_text="What happened in this case, for people.")
    errors = FieldErrorSerializer(  # type: ignore[assignment]
        many=True, required=False, help_text="The invalid fields, or the objects that have changed."
    )


ALWAYS = ("400", "401", "403", "405", "406", "410", "429", "503")
WITH_BODY = ("409", "413", "415", "422")
RETRY_AFTER = {
    "Retry-After": {
        "description": "Seconds to wait before a retry.",
        "schema": {"type": "integer", "minimum": 1},
    }
}
SENT_AGAIN = OpenApiParameter(
    HEADER,
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": KEY_PATTERN},
    OpenApiParameter.HEADER,
    description=(
        "Any name of this write. The same key and body within 24 hours return the first answer "
        "and do nothing again; the same key with another body is 409."
    ),
)


def _precondition(name: str, description: str) -> OpenApiParameter:
    shape = {
        "type": "string",
        "pattern": HEADER_PATTERN,
        "maxLength": HEADER_MAX_CHARS,
        "example": "*",
    }
    return OpenApiParameter(name, shape, OpenApiParameter.HEADER, description=description)


PRECONDITIONS = [
    _precondition(
        IF_MATCH,
        "Write only if what is stored has this `ETag`; `*`: only if something is stored. Else 412.",
    ),
    _precondition(
        IF_NONE_MATCH,
        "`*`: write only if nothing is stored; a tag: only if another version is. Else 412.",
    ),
]


class ProblemAutoSchema(AutoSchema):
    """Adds the possible problem documents to each operation."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """Describe an operation; needs no rows."""
        with without_rows():
            return super().get_operation(*args, **kwargs)

    def get_summary(self) -> str:
        """Return the first sentence of the description."""
        first = self.get_description().split("\n")[0].split("; ")[0].split(": ")[0]
        return first.rstrip(".")

    def get_override_parameters(self) -> list[Any]:
        """Add the query parameters of a view, and the headers that writes take."""
        parameters: list[Any] = super().get_override_parameters()
        if self.method == "GET" and (shape := getattr(self.view, "query_shape", None)):
            parameters = [*parameters, shape]
        if self._takes_preconditions():
            parameters = [*parameters, *PRECONDITIONS]
        is_write = isinstance(self.view, WorkspaceView) and not self.view.is_read(self.method)
        return [*parameters, SENT_AGAIN] if self.method == "POST" and is_write else parameters

    def _takes_preconditions(self) -> bool:
        return self.method in getattr(self.view, "conditional_methods", ())

    def _get_pagination_parameters(self) -> list[dict[str, Any]]:
        """Describe the parameters of a page, also where a page is part of a larger answer."""
        parameters: list[dict[str, Any]] = super()._get_pagination_parameters()  # type: ignore[no-untyped-call]
        pages = getattr(self.view, "pagination_class", None)
        if pages is None or self.method != "GET" or isinstance(self.view, GenericAPIView):
            return parameters
        return list(pages().get_schema_operation_parameters(self.view))

    def _map_serializer_field(
        self, field: Any, direction: Direction, bypass_extensions: bool = False
    ) -> dict[str, Any]:
        """Describe that texts in requests are not blank, and lists that must not be empty.

        In responses both can be empty.
        """
        shape: dict[str, Any] = super()._map_serializer_field(  # type: ignore[no-untyped-call]
            field, direction, bypass_extensions
        )
        if direction != "request":
            return shape
        if isinstance(field, Text) and not field.allow_blank:
            return shape | {
                "pattern": r"[^\s\x1c-\x1f\x85]"
            }  # not white space, as Python strips it
        if isinstance(field, serializers.ListField) and not field.allow_empty:
            return shape | {"minItems": max(1, shape.get("minItems", 1))}
        return shape

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        responses: dict[str, Any] = super()._get_response_bodies(direction)
        codes = set(ALWAYS)
        if getattr(self.view, "serves_closed", False):
            codes.discard("410")
            codes.add("404")  # the deletion that they tell about
        if self.method in {"POST", "PUT", "PATCH", "DELETE"}:
            codes.update(WITH_BODY)
        if "{" in self.path or self.method == "POST":
            codes.add("404")
        if self.method == "GET":
            codes.add("422")
        if self._takes_preconditions():
            codes.add("412")
        reference = self.resolve_serializer(ProblemSerializer, direction).ref
        for code in sorted(codes - set(responses)):
            responses[code] = {
                "content": {CONTENT_TYPE: {"schema": reference}},
                "description": "A problem document.",
                **({"headers": RETRY_AFTER} if code in {"429", "503"} else {}),
            }
        return responses


def name_causes(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """List the causes of each problem response (a hook of the generator)."""
    problem = result.get("components", {}).get("schemas", {}).get("Problem")
    if problem is not None:
        problem["properties"]["type"]["enum"] = sorted(cause.type for cause in CAUSES.values())
    for path in result["paths"].values():
        for operation in path.values():
            for status, response in operation["responses"].items():
                if CONTENT_TYPE in response.get("content", {}):
                    response["description"] = _causes_of(int(status))
    return result


def _causes_of(status: int) -> str:
    """Return the causes of a status with their remedies, as text."""
    causes = sorted((c for c in CAUSES.values() if c.status == status), key=lambda c: c.name)
    return "\n".join(f"- `{c.type}` ({c.title}): {c.remedy}" for c in causes)


def close_bodies(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Describe that request bodies with unknown names are refused (a hook of the generator)."""
    components = result.get("components", {}).get("schemas", {})
    waiting = [
        name
        for path in result["paths"].values()
        for operation in path.values()
        for name in _references(operation.get("requestBody"))
    ]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        shape = components[name]
        if "properties" in shape:
            shape["additionalProperties"] = False
        waiting += _references(shape)
    return result


def _references(shape: Any) -> Iterator[str]:
    """Yield the names of the components that a schema refers to."""
    if isinstance(shape, dict):
        for name, inner in shape.items():
            if name == "$ref":
                yield str(inner).rpartition("/")[2]
            else:
                yield from _references(inner)
    elif isinstance(shape, list):
        for inner in shape:
            yield from _references(inner)


def changes_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a partial update of a pydantic model."""
    properties = model.model_json_schema()["properties"]
    for shape in properties.values():
        for choice in shape.pop("anyOf", []):  # OpenAPI 3.0 knows no type null
            shape.update({"nullable": True} if choice["type"] == "null" else choice)
        for bound, exclusive in (
            ("minimum", "exclusiveMinimum"),
            ("maximum", "exclusiveMaximum"),
        ):
            if exclusive in shape:  # a number in JSON Schema, a boolean in OpenAPI 3.0
                shape[bound] = shape[exclusive]
                shape[exclusive] = True
    return {"type": "object", "properties": properties, "additionalProperties": False}


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes key authentication in the OpenAPI document."""

    target_class = "engram.kernel.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the OpenAPI security scheme."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API key in a header: `Authorization: Bearer egr_…`. An administrator"
            " of the workspace adds keys.",
        }


class StaffSessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes the browser session in the OpenAPI document."""

    target_class = "engram.kernel.authentication.StaffSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the OpenAPI security scheme."""
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "The session of a person who is signed in, in a browser; writes also"
            " need the header `X-CSRFToken`.",
        }
