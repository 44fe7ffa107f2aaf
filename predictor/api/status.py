"""Where the predictor stands; cold start and breaker by hand."""

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
from predictor.services.status.status import read_status


def refuse_body(request: Request) -> None:
    """Refuse what a body asks for: there is nothing to choose, and no rehearsal."""
    if not isinstance(request.data, dict):
        raise ValidationError({"body": "Send no body, or an empty object."})
    if request.data:
        raise ValidationError(dict.fromkeys(request.data, "There is no such field."))


class PredictorStatus(WorkspaceView):
    """Where the predictor stands."""

    @extend_schema(responses=PredictorStatusSerializer)
    def get(self, request: Request) -> Response:
        """Return influence and why, evidence, the model, what is due, and the breaker."""
        return self.show()

    def show(self) -> Response:
        """Return the standing as it is now."""
        with in_workspace(self.workspace):
            return Response(present_status(read_status(self.workspace, now=timezone.now())))


class PredictorReset(PredictorStatus):
    """Cold start by hand."""

    http_method_names = ["post", "options"]
    roles: ClassVar = {"POST": Role.ADMIN}

    @extend_schema(request=None, responses=PredictorResetSerializer)
    def post(self, request: Request) -> Response:
        """Begin again: no model is served and no evidence counts. All records stay.

        Weights that are kept do not serve. Judged sessions stay to be learned from: by the first
        training, after so many new sessions as it takes, or at once by `manage.py train`.
        """
        refuse_body(request)
        reset(self.workspace, actor=self.actor, now=timezone.now())
        answer = self.show()
        answer.data["detail"] = reset_detail(answer.data)
        return answer


class PredictorEnable(PredictorStatus):
    """Scoring switched on again by hand."""

    http_method_names = ["post", "options"]
    roles: ClassVar = {"POST": Role.ADMIN}

    @extend_schema(request=None, responses=PredictorStatusSerializer)
    def post(self, request: Request) -> Response:
        """Score again at once after failures had switched it off; they no longer count."""
        refuse_body(request)
        breaker.enable(self.workspace, actor=self.actor, now=timezone.now())
        return self.show()
