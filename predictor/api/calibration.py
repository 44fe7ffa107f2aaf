"""API of calibration: the judge's agreement with people, samples to label, labels."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

import numpy as np
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from engram.kernel.api import WorkspaceView, validate_body
from engram.kernel.models import Role
from engram.kernel.tenancy import in_workspace
from predictor.serializers import calibration as shapes
from predictor.services.calibration import calibrate
from predictor.services.calibration.report import calibration_of
from predictor.services.judging.parts import read_parts


class CalibrationView(WorkspaceView):
    """Agreement of the judge with people."""

    @extend_schema(responses=shapes.JudgeCalibrationSerializer)
    def get(self, request: Request) -> Response:
        """Return the judge's error, bias and agreement with people, with 95 % intervals.

        Only the first label of an item counts: later ones may be influenced by the judge's
        relevance. Intervals of error and bias are over sessions, those of agreement are Wilson's.
        Figures are also given by judge version and by the month of the labels.
        """
        found = shapes.present_calibration(calibration_of(now=timezone.now()))
        return Response(shapes.JudgeCalibrationSerializer(found).data)


class CalibrationSampleView(WorkspaceView):
    """Samples of judged memories to label."""

    roles: ClassVar = {"GET": Role.REVIEWER, "POST": Role.REVIEWER}

    @extend_schema(responses=shapes.SampleSerializer)
    def get(self, request: Request) -> Response:
        """Return the items that wait for labels."""
        return Response(self._present())

    @extend_schema(
        request=shapes.SampleRequestSerializer,
        responses={201: shapes.SampleSerializer, 200: shapes.SampleSerializer},
    )
    def post(self, request: Request) -> Response:
        """Draw a sample, stratified by the judge's relevance and confidence, which stay hidden.

        200 with the waiting items while items of the previous sample wait; 409 when nothing is left
        to draw.
        """
        size: int = validate_body(shapes.SampleRequestSerializer, request).validated_data["size"]
        is_drawn = calibrate.sample(
            self.workspace,
            size,
            rng=np.random.default_rng(),
            actor=self.actor,
            now=timezone.now(),
        )
        with in_workspace(self.workspace):
            return Response(self._present(), status=201 if is_drawn else 200)

    def _present(self) -> dict[str, object]:
        items = calibrate.sample_of(timezone.now())
        parts = read_parts(list({item.session_id: item.session for item in items}.values()))
        found = shapes.present_sample(items, parts)
        return dict(shapes.SampleSerializer(found).data)


class CalibrationLabel(WorkspaceView):
    """A person's label of one memory in one session."""

    roles: ClassVar = {"POST": Role.REVIEWER}

    @extend_schema(request=shapes.LabelSerializer, responses=shapes.LabelledSerializer)
    def post(self, request: Request, calibration_id: UUID) -> Response:
        """Label an item, or answer that you are unsure; a second answer replaces the first.

        The response shows the judge's relevance, so an item that is labelled again no longer counts
        in the figures. 409 when session or memory changed meanwhile.
        """
        sent = validate_body(shapes.LabelSerializer, request).validated_data
        now = timezone.now()
        item = calibrate.label_item(
            self.workspace, calibration_id, sent.get("label"), actor=self.actor, now=now
        )
        with in_workspace(self.workspace):
            waiting = calibrate.waiting_items(now).count()
        answer = shapes.present_labelled(item, waiting)
        return Response(shapes.LabelledSerializer(answer).data)
