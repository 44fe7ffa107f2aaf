"""Request and answer shapes of calibration; the judge's relevance is hidden until labelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any
from uuid import UUID

from rest_framework import serializers

from engram.kernel.fields import Flag, Number, Whole
from memories.core.metrics import Interval
from predictor.core.calibration import FLAG_ERROR, CalibrationReport
from predictor.models import CalibrationItem, JudgeKind
from predictor.services.calibration.calibrate import SAMPLE_MAX, SAMPLE_MIN, SAMPLE_SIZE
from predictor.services.calibration.report import JudgeAgreement, JudgeReport
from predictor.services.judging.parts import JudgedPart


class SampleRequestSerializer(serializers.Serializer[Any]):
    """Request for a sample."""

    size = Whole(min_value=SAMPLE_MIN, max_value=SAMPLE_MAX, default=SAMPLE_SIZE)


class LabelSerializer(serializers.Serializer[Any]):
    """A person's answer for an item: a label, or that they are unsure."""

    label = Number(  # type: ignore[assignment]  # the contract's word, DRF's attribute
        min_value=0, max_value=1, required=False, help_text="How much the memory helped, 0 to 1."
    )
    unsure = Flag(required=False, default=False)

    def validate(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Require exactly one of the two."""
        if ("label" in fields) == fields["unsure"]:
            raise serializers.ValidationError({"label": "Give a label, or unsure: true."})
        return fields


class CalibrationMemorySerializer(serializers.Serializer[Any]):
    """A memory to be labelled, without any ranker's score and the judge's relevance."""

    id = serializers.UUIDField(help_text="Id of the item that is labelled.")
    memory_id = serializers.UUIDField()
    content = serializers.CharField()
    observed_at = serializers.DateTimeField()


class CalibrationSessionSerializer(serializers.Serializer[Any]):
    """One session with the memories to be labelled in it."""

    session_key = serializers.CharField()
    project = serializers.CharField(allow_blank=True)
    context = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    started_at = serializers.DateTimeField()
    transcript_part = serializers.CharField(
        help_text="What the judge read of the transcript, with […] for what is left out: of a long"
        " one its end and the parts that share words with the memories it rated."
    )
    is_as_judged = serializers.BooleanField(
        help_text="False: the judge may have read another part, or the agent rated, who took part."
    )
    part_words = serializers.CharField(help_text="What the part is, in a sentence for people.")
    memories = CalibrationMemorySerializer(many=True)


class SampleSerializer(serializers.Serializer[Any]):
    """The items that wait for labels, by session."""

    waiting = serializers.IntegerField()
    sessions = CalibrationSessionSerializer(many=True)


class LabelledSerializer(serializers.Serializer[Any]):
    """A labelled item with the judge's relevance."""

    id = serializers.UUIDField()
    label = serializers.FloatField(allow_null=True)  # type: ignore[assignment]
    unsure = serializers.BooleanField()
    relabelled = serializers.BooleanField(
        help_text="It was answered before: the judge's relevance may have been known."
    )
    labelled_by = serializers.CharField()
    labelled_at = serializers.DateTimeField()
    judge_relevance = serializers.FloatField(
        allow_null=True, help_text="Shown once there is a label; null when unsure."
    )
    judge_kind = serializers.ChoiceField(JudgeKind.choices)
    judge_version = serializers.CharField()
    waiting = serializers.IntegerField(help_text="How many items wait now.")


class FigureSerializer(serializers.Serializer[Any]):
    """A figure with its 95 % interval; null without labels."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField()
    high = serializers.FloatField()


class JudgeAgreementSerializer(serializers.Serializer[Any]):
    """Agreement of a judge with people."""

    n = serializers.IntegerField(help_text="Number of labels.")
    mae = FigureSerializer(help_text="Mean absolute difference to people's labels.")
    bias = FigureSerializer(help_text="Judge minus person, on average.")
    agreement = FigureSerializer(
        help_text="Share of labels where both agree on relevant (at least 0.5) or not."
    )
    is_flagged = serializers.BooleanField(help_text="Whether the difference exceeds the threshold.")


class MonthOfJudgeSerializer(JudgeAgreementSerializer):
    """Agreement with the labels of one month (UTC)."""

    month = serializers.CharField(help_text="Such as 2026-05.")


class JudgeSerializer(JudgeAgreementSerializer):
    """Agreement of one judge, by kind and version, in total and by month."""

    kind = serializers.ChoiceField(JudgeKind.choices)
    version = serializers.CharField()
    months = MonthOfJudgeSerializer(many=True)


class JudgeCalibrationSerializer(JudgeAgreementSerializer):
    """Agreement of the judge with people, over the newest 5,000 blind labels.

    Samples are stratified: rare answers count as much as common ones. `is_flagged` at the top level
    is about the judge of the newest session.
    """

    threshold = serializers.FloatField()
    judges = JudgeSerializer(many=True, help_text="The newest first.")
    waiting = serializers.IntegerField(help_text="Items that wait for a label.")
    unsure = serializers.IntegerField()
    relabelled = serializers.IntegerField(
        help_text="Labels that replaced an answer: possibly not blind, so not in any figure."
    )
    last_drawn_at = serializers.DateTimeField(allow_null=True)


def present_calibration(found: JudgeAgreement) -> dict[str, Any]:
    """Return the figures as `JudgeCalibrationSerializer` shows them."""
    return {
        **_figures(found.report),
        "is_flagged": found.is_flagged,
        "threshold": FLAG_ERROR,
        "judges": [_judge(one) for one in found.judges],
        "waiting": found.waiting,
        "unsure": found.unsure,
        "relabelled": found.relabelled,
        "last_drawn_at": found.last_drawn_at,
    }


def present_sample(
    items: Sequence[CalibrationItem], parts: Mapping[UUID, JudgedPart]
) -> dict[str, Any]:
    """Return the waiting items by session, in their order, with what the judge read of each."""
    sessions = [
        (session, [_item(item) for item in own])
        for session, own in groupby(items, key=lambda item: item.session)
    ]
    return {
        "waiting": sum(len(memories) for _, memories in sessions),
        "sessions": [
            {
                "session_key": session.session_key,
                "project": session.project,
                "context": session.context,
                "started_at": session.started_at,
                "transcript_part": parts[session.pk].text,
                "is_as_judged": parts[session.pk].is_as_judged,
                "part_words": parts[session.pk].words,
                "memories": memories,
            }
            for session, memories in sessions
        ],
    }


def present_labelled(item: CalibrationItem, waiting: int) -> dict[str, Any]:
    """Return a labelled item; the judge's relevance is shown only with a label."""
    return {
        "id": item.id,
        "label": item.label,
        "unsure": item.is_unsure,
        "relabelled": item.is_relabelled,
        "labelled_by": item.labelled_by,
        "labelled_at": item.labelled_at,
        "judge_relevance": None if item.label is None else item.judge_relevance,
        "judge_kind": item.judge_kind,
        "judge_version": item.judge_version,
        "waiting": waiting,
    }


def _item(item: CalibrationItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "memory_id": item.memory_id,
        "content": item.memory.content,
        "observed_at": item.memory.observed_at,
    }


def _judge(one: JudgeReport) -> dict[str, Any]:
    months = [{"month": month, **_figures(report)} for month, report in one.months]
    return {**_figures(one.report), "kind": one.kind, "version": one.version, "months": months}


def _figures(report: CalibrationReport) -> dict[str, Any]:
    return {
        "n": report.n,
        "mae": _figure(report.mae, report.interval),
        "bias": _figure(report.bias, report.bias_interval),
        "agreement": _figure(report.agreement, report.agreement_interval),
        "is_flagged": report.is_flagged,
    }


def _figure(value: float | None, interval: Interval) -> dict[str, Any]:
    return {"value": value, "low": interval.low, "high": interval.high}
