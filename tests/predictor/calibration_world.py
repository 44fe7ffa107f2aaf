"""Judged sessions about which people can be asked."""

from __future__ import annotations

from typing import Any

from django.db.models import F

from engram.kernel.tenancy import in_workspace
from memories.models import Session
from predictor.models import CalibrationItem, Judgement
from tests.conftest import Tenant
from tests.predictor.judged import World, build_world

TRANSCRIPT = "Agent: the deploy is done.\nPerson: which fact did you use? "
VERSION = "offline-1"


def judged_world(tenant: Tenant, sessions: int = 6, name: str = "s") -> World:
    """Return sessions with transcripts, of which the judge was unsure of every other one."""
    world = build_world(tenant.workspace, sessions, name=name)
    with in_workspace(tenant.workspace):
        own = [session.pk for session in world.sessions]
        Session.objects.filter(pk__in=own).update(transcript=TRANSCRIPT * 100)
        Judgement.objects.filter(session__in=own).update(version=VERSION)
        Judgement.objects.filter(session__in=own[::2]).update(confidence=F("confidence") - 0.25)
    return world


def items_of(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a sample as the API shows it."""
    return [item for session in sample["sessions"] for item in session["memories"]]


def stored(tenant: Tenant) -> dict[str, CalibrationItem]:
    """Return all items of a workspace by id."""
    with in_workspace(tenant.workspace):
        return {str(item.pk): item for item in CalibrationItem.objects.all()}
