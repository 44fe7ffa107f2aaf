"""API of the predictor's status, its reset, and its circuit breaker."""

from __future__ import annotations

from typing import ClassVar

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView
from engram.kernel.models import Role
from engram.kernel.tenancy import in_workspace
from predictor.serializers.status import (
    PredictorResetSerializer,
    PredictorStatusSerializer,
    present_status,
    reset_detail,
)
from predictor.services.models.reset import reset
from predictor.services.serving import breaker
from predictor.services.status.shown_scoreboard import shown_scoreboard
from predictor.services.status.status import read_status


def refuse_body(request: Request) -> None:
    """Refuse a body with any field: these endpoints take none, and have no dry run."""
    if not isinstance(request.data, dict):
        raise ValidationError({"body": "Send no body, or an empty object."})
    if request.data:
        raise ValidationError(dict.fromkeys(request.data, "There is no such field."))


class PredictorStatusView(WorkspaceView):
    """Status of the predictor."""

    @extend_schema(responses=PredictorStatusSerializer)
    def get(self, request: Request) -> Response:
        """Return influence, evidence, the model, the next training, and the circuit breaker.

        The scoreboard compares all rankers in judged sessions; it decides nothing.
        """
        return self.show()

    def show(self) -> Response:
        """Return the current status."""
        with in_workspace(self.workspace):
            found = read_status(self.workspace, now=timezone.now())
            return Response(present_status(found, shown_scoreboard()))


class PredictorReset(PredictorStatusView):
    """Reset of the predictor to cold start."""

    http_method_names = ["post", "options"]
    roles: ClassVar = {"POST": Role.ADMIN}

    @extend_schema(request=None, responses=PredictorResetSerializer)
    def post(self, request: Request) -> Response:
        """Reset to cold start: no model is served and no evidence counts. All records stay.

        Stored weights are kept but not served. The next training, after the usual number of new
        sessions or by `manage.py train`, also learns from the sessions judged before.
        """
        refuse_body(request)
        reset(self.workspace, actor=self.actor, now=timezone.now())
        answer = self.show()
        answer.data["detail"] = reset_detail(answer.data)
        return answer


class PredictorEnable(PredictorStatusView):
    """Closing the circuit breaker by hand."""

    http_method_names = ["post", "options"]
    roles: ClassVar = {"POST": Role.ADMIN}

    @extend_schema(request=None, responses=PredictorStatusSerializer)
    def post(self, request: Request) -> Response:
        """Switch scoring on again at once; the failures so far no longer count."""
        refuse_body(request)
        breaker.enable(self.workspace, actor=self.actor, now=timezone.now())
        return self.show()
