"""What earlier releases presumed of memories that nobody had judged is unknown after an upgrade."""

from __future__ import annotations

from importlib import import_module

from django.db import connection

from engram.kernel.tenancy import in_workspace
from predictor.models import Label
from predictor.services.training.dataset import gather
from tests.conftest import Tenant
from tests.predictor.judged import OFFERED, build_world

UNKNOWN = import_module("predictor.migrations.0006_chance_of_labels").UNKNOWN


def test_what_was_presumed_is_unknown_and_what_was_judged_stays(
    tenant: Tenant, neighbour: Tenant
) -> None:
    for each in (tenant, neighbour):
        build_world(each.workspace, 1)
        with in_workspace(each.workspace):
            first, second, third = Label.objects.order_by("pk")[:3]
            presumed = {"relevance": None, "raw": 0.0, "final": 0.0}
            of = Label.objects.filter
            of(pk=first.pk).update(**presumed, reasons=["presumed irrelevant"])
            of(pk=second.pk).update(**presumed, reasons=["presumed: near the context"])
            told = ["presumed irrelevant", "matched once"]
            of(pk=third.pk).update(relevance=None, raw=0.0, final=0.3, reasons=told)
    with connection.cursor() as cursor:
        cursor.execute(UNKNOWN)
    for each in (tenant, neighbour):
        with in_workspace(each.workspace):
            found = Label.objects.order_by("pk")
            rows = list(found.values_list("final", "raw", "reasons", "chance"))
            [session] = gather(each.workspace).sessions
        assert rows[:2] == [(None, None, ["not known"], None)] * 2
        assert rows[2] == (0.3, 0.0, ["presumed irrelevant", "matched once"], None)
        assert {chance for _, _, _, chance in rows[3:]} == {1.0}
        assert len(session.memory_ids) == OFFERED - 2
