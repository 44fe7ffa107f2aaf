"""The least confidence at which the detective asks."""

from __future__ import annotations

import pytest
from django.utils import timezone

from conflicts.core.facts import DetectiveSettings
from conflicts.models import Conflict
from conflicts.services.detection.detect import detect_due
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant

CLAIMS = (
    "The API rate limit is 1000 requests per second.",
    "The API rate limit is 5000 requests per second.",
)


def confidences(tenant: Tenant) -> list[float]:
    for day, content in enumerate(CLAIMS, start=1):
        stated = {"content": content, "observed_at": f"2026-01-{day:02}T09:00:00Z"}
        assert tenant.agent.post("memories", stated).status_code == 201
    detect_due(tenant.workspace, clock=timezone.now)
    with in_workspace(tenant.workspace):
        return list(Conflict.objects.values_list("confidence", flat=True))


def test_the_default_is_that_of_the_rules() -> None:
    assert Workspace().config.detection_min_confidence == DetectiveSettings().min_confidence


@pytest.mark.parametrize(("least", "cards"), [(0.5, 1), (0.99, 0)])
def test_findings_below_the_least_confidence_open_no_card(
    tenant: Tenant, least: float, cards: int
) -> None:
    answer = tenant.admin.patch("workspace/settings", {"detection_min_confidence": least})
    assert answer.status_code == 200
    tenant.workspace.refresh_from_db()
    tenant.workspace.__dict__.pop("config", None)
    assert len(confidences(tenant)) == cards


@pytest.mark.parametrize("least", [-0.1, 1.1, "0.5", None])
def test_a_confidence_outside_its_range_is_refused(tenant: Tenant, least: object) -> None:
    answer = tenant.admin.patch("workspace/settings", {"detection_min_confidence": least})
    assert answer.status_code == 422
