"""The OpenAPI document: every operation with the problem documents it may answer."""

from __future__ import annotations

from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

from engram.kernel.problems import CONTENT_TYPE
from engram.kernel.tenancy import without_rows

Direction = Literal["request", "response"]


class FieldErrorSerializer(serializers.Serializer[Any]):
    """One wrong field."""

    field = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """An RFC 9457 problem document."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = FieldErrorSerializer(many=True, required=False)  # type: ignore[assignment]


ALWAYS = ("400", "401", "403", "405", "406", "503")
WITH_BODY = ("409", "413", "415", "422")


class ProblemAutoSchema(AutoSchema):
    """Adds to each operation the problems that any of its kind may answer."""

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """Describe an operation; nobody's rows are needed for that."""
        with without_rows():
            return super().get_operation(*args, **kwargs)

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        responses: dict[str, Any] = super()._get_response_bodies(direction)
        codes = set(ALWAYS)
        if self.method in {"POST", "PUT", "PATCH", "DELETE"}:
            codes.update(WITH_BODY)
        if "{" in self.path or self.method == "POST":
            codes.add("404")
        if self.method == "GET":
            codes.add("422")
        reference = self.resolve_serializer(ProblemSerializer, direction).ref
        for code in sorted(codes - set(responses)):
            responses[code] = {
                "content": {CONTENT_TYPE: {"schema": reference}},
                "description": "A problem document.",
            }
        return responses


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes key authentication in the OpenAPI document."""

    target_class = "engram.kernel.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the OpenAPI security scheme."""
        return {"type": "http", "scheme": "bearer", "description": "An API key: `egr_…`."}


class StaffSessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes the browser session in the OpenAPI document."""

    target_class = "engram.kernel.authentication.StaffSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """Return the OpenAPI security scheme."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
