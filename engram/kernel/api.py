"""The base class of all API views: workspace, roles, transactions, idempotency."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.db import connection
from django.utils import timezone
from rest_framework import permissions, status
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from engram.kernel import idempotency, queries
from engram.kernel.actors import Actor
from engram.kernel.authentication import Caller
from engram.kernel.bodies import Shape, name_choices, validate
from engram.kernel.body_limit import BODY_BYTES, BODY_VALUES
from engram.kernel.idempotency import IdempotentWrite, StoredAnswer
from engram.kernel.models import Role, Workspace
from engram.kernel.problems import CONTENT_TYPE
from engram.kernel.tenancy import in_workspace
from engram.kernel.throttling import CHARS_A_WRITE, charge, cost_of


class WorkspaceView(APIView):
    """A view of one workspace.

    Reads run in one short transaction of the caller's workspace. Writes call services, which open
    their own transactions, so that embedding and model calls happen outside a transaction. A POST
    with an Idempotency-Key is one transaction, from the first that a service opens (after
    `before_writing` and embedding) until its response is stored; see `joins`.
    """

    roles: ClassVar[Mapping[str, Role]] = {}
    default_read_role: ClassVar[Role] = Role.READER
    default_write_role: ClassVar[Role] = Role.AGENT
    # Whether the response to a POST may be stored for retries; not when it contains a secret.
    keeps_answers: ClassVar[bool] = True
    # Whether a POST with an Idempotency-Key is one transaction; not if it uses many short ones.
    joins: ClassVar[bool] = True
    # Whether GET calls the embedding model: then it opens its own short transactions.
    embeds: ClassVar[bool] = False
    # The maximum size of a body, and number of its JSON values; see `body_limit.py`.
    max_body_bytes: ClassVar[int] = BODY_BYTES
    max_body_values: ClassVar[int] = BODY_VALUES
    # Whether it is served while the workspace is being deleted.
    serves_closed: ClassVar[bool] = False
    # The query parameters besides filters and pagination; see `query_values`.
    query_shape: ClassVar[type[Serializer[Any]] | None] = None

    def role_for(self, method: str | None) -> Role:
        """Return the role that a method needs; HEAD is GET without the body."""
        method = "GET" if method == "HEAD" else method
        is_read = method in permissions.SAFE_METHODS
        return self.roles.get(
            method or "", self.default_read_role if is_read else self.default_write_role
        )

    def is_read(self, method: str | None) -> bool:
        """Return whether a method is a read: GET, or a POST that readers may send (a query)."""
        return method in permissions.SAFE_METHODS or self.role_for(method) is Role.READER

    @property
    def _caller(self) -> Caller:
        assert isinstance(self.request.user, Caller)  # noqa: S101  checked by HasRole
        return self.request.user

    @property
    def workspace(self) -> Workspace:
        """Return the caller's workspace."""
        return self._caller.workspace

    @property
    def actor(self) -> Actor:
        """Return the caller as the author of changes."""
        return self._caller.actor

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        """Set `Cache-Control: no-store`: responses contain memories or new keys."""
        response: Response = super().finalize_response(*args, **kwargs)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Handle the request; never return a broken connection to the pool."""
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            if connection.errors_occurred:
                connection.close_if_unusable_or_obsolete()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, check the query, wrap reads in a transaction and keyed writes in `once`."""
        super().initial(request, *args, **kwargs)
        name = (request.method or "").lower()
        method = getattr(self, name, None)
        if method is None or name not in self.http_method_names:
            return
        queries.refuse_unknown(self, request)
        if request.method in permissions.SAFE_METHODS:
            if self.embeds:
                return
            setattr(self, name, self._within_workspace(method))
        elif (
            request.method == "POST"
            and idempotency.HEADER in request.headers
            and not self.is_read("POST")
        ):
            setattr(self, name, self._once(method))

    def charge(self, texts: Iterable[str], *, chars_a_write: int = CHARS_A_WRITE) -> None:
        """Charge a write for the length of its texts, before any work; 429 over the limit."""
        charge(self._caller, cost_of(texts, chars_a_write=chars_a_write))

    def query_values(self) -> dict[str, Any]:
        """Return the query parameters validated by `query_shape`."""
        assert self.query_shape is not None  # noqa: S101  declared by views that call this
        query = self.query_shape(data=self.request.query_params.dict())
        name_choices(query)
        query.is_valid(raise_exception=True)
        fields: dict[str, Any] = query.validated_data
        return fields

    def _within_workspace(self, method: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Response:
            with in_workspace(self.workspace):
                response: Response = method(*args, **kwargs)
                return response

        return run

    def _once(self, method: Any) -> Any:
        """Return the method wrapped so that it runs once per Idempotency-Key."""

        def run(request: Request, *args: Any, **kwargs: Any) -> Response:
            fresh: list[Response] = []

            def work() -> StoredAnswer:
                response: Response = method(request, *args, **kwargs)
                fresh.append(response)
                text = JSONRenderer().render(response.data).decode() if self.keeps_answers else None
                return StoredAnswer(response.status_code, text)

            known = idempotency.once(self._ask(request), work, is_joint=self.joins)
            if known is None:
                return fresh[-1]
            body = json.loads(known.body) if known.body else None
            return Response(
                body,
                status=known.status,
                headers={"Idempotency-Replayed": "true"},
                content_type=CONTENT_TYPE if known.status >= status.HTTP_400_BAD_REQUEST else None,
            )

        return run

    def _ask(self, request: Request) -> IdempotentWrite:
        return IdempotentWrite(
            workspace=self.workspace,
            caller=self.actor.caller,
            key=idempotency.validate_key(request.headers[idempotency.HEADER]),
            path=request.path,
            digest=idempotency.digest_of(request.path, request.data),
            now=timezone.now(),
        )


def validate_body(shape: type[Shape], request: Request) -> Shape:
    """Return the body of a request validated by a serializer."""
    return validate(shape, request.data)
