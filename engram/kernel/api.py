"""The base of every API view: the caller's workspace, the role each method needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django.db import connection
from rest_framework import permissions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from engram.kernel.actors import Actor
from engram.kernel.authentication import Caller
from engram.kernel.models import Role, Workspace
from engram.kernel.tenancy import in_workspace


class WorkspaceView(APIView):
    """A view of one workspace.

    Reads run in one short transaction of the caller's workspace. Writes call services, which open
    their own, so that embedding and model calls happen outside of any transaction.
    """

    roles: ClassVar[Mapping[str, Role]] = {}
    default_read_role: ClassVar[Role] = Role.READER
    default_write_role: ClassVar[Role] = Role.AGENT

    def role_for(self, method: str | None) -> Role:
        """Return the role that a method needs."""
        is_read = method in permissions.SAFE_METHODS
        return self.roles.get(
            method or "", self.default_read_role if is_read else self.default_write_role
        )

    @property
    def _caller(self) -> Caller:
        assert isinstance(self.request.user, Caller)  # noqa: S101  HasRole let them in
        return self.request.user

    @property
    def workspace(self) -> Workspace:
        """Return the caller's workspace."""
        return self._caller.workspace

    @property
    def actor(self) -> Actor:
        """Return who calls, as history names them."""
        return self._caller.actor

    def finalize_response(self, *args: Any, **kwargs: Any) -> Response:
        """Keep answers out of caches: they hold a workspace's memories, or a new key."""
        response: Response = super().finalize_response(*args, **kwargs)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Answer, and never leave a broken connection in the pool."""
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            if connection.errors_occurred:
                connection.close_if_unusable_or_obsolete()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate, then serve reads within the workspace."""
        super().initial(request, *args, **kwargs)
        if request.method in permissions.SAFE_METHODS:
            method = getattr(self, (request.method or "").lower(), None)
            if method is not None:
                setattr(self, (request.method or "").lower(), self._within_workspace(method))

    def _within_workspace(self, method: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Response:
            with in_workspace(self.workspace):
                response: Response = method(*args, **kwargs)
                return response

        return run


def validated(shape: type[Serializer[Any]], request: Request) -> Serializer[Any]:
    """Return the body as the shape demands, or raise a validation error."""
    serializer = shape(data=request.data)
    serializer.is_valid(raise_exception=True)
    return serializer
