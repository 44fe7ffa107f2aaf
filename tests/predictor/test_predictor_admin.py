"""The predictor in the admin: read by members, written by nobody, blind where it must be."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from predictor.models import Comparison, Judgement, ModelVersion, Training
from tests.conftest import NOW, House, build_house
from tests.predictor.serving import promote
from tests.predictor.test_predictor_api import fill

Member = Callable[[str], Client]
MODELS = (Judgement, Comparison, Training, ModelVersion)
LISTS = [f"/admin/predictor/{model._meta.model_name}/" for model in MODELS]
MARKUP = "<b>bold</b>"


def furnish(house: House, n: int = 2, *, name: str = "s") -> None:
    """Fill a workspace with a few rows of everything."""
    fill(house, n, name=name)
    promote(house.workspace, number=n)
    with in_workspace(house.workspace):
        Judgement.objects.update(version=MARKUP, error=MARKUP)
        for place in range(n):
            Training.objects.create(
                reason=f"{name}-why",
                status="rejected",
                loss=0.1234,
                gates=[{"name": "churn", "is_passed": False, "detail": MARKUP}],
                started_at=NOW + timedelta(hours=place),
                duration_ms=1500,
            )


def rows_of(house: House, model: type[Any]) -> list[Any]:
    with in_workspace(house.workspace):
        return list(model.objects.values_list("pk", flat=True))


@pytest.mark.parametrize("path", LISTS)
def test_members_read_lists_and_nobody_writes(house: House, member: Member, path: str) -> None:
    furnish(house)
    for role in ("reader", "admin"):
        client = member(role)
        assert client.get(path).status_code == 200
        assert client.get(f"{path}add/").status_code == 403


@pytest.mark.parametrize("model", MODELS)
def test_rows_are_shown_without_markup_and_never_changed(
    house: House, member: Member, model: Any
) -> None:
    furnish(house)
    client = member("admin")
    for pk in rows_of(house, model):
        path = f"/admin/predictor/{model._meta.model_name}/{pk}/change/"
        page = client.get(path)
        assert page.status_code == 200
        html = page.content.decode()
        assert MARKUP not in html
        assert "The third note decided it." not in html
        assert "how refunds are booked" not in html
        assert client.post(path, {}).status_code == 403
        assert client.post(path.replace("change", "delete"), {"post": "yes"}).status_code == 403
    assert len(rows_of(house, model)) in {1, 2}


@pytest.mark.parametrize("path", LISTS)
def test_nothing_of_another_workspace_is_listed(
    house: House, neighbour: House, member: Member, path: str
) -> None:
    furnish(neighbour, name="zenith")
    client = member("admin")
    html = client.get(path).content.decode()
    assert "zenith" not in html.lower()
    model = next(m for m in MODELS if m._meta.model_name in path)
    for pk in rows_of(neighbour, model):
        answer = client.get(f"{path}{pk}/change/", follow=True)
        assert answer.status_code == 404 or "doesn’t exist" in answer.content.decode()


@pytest.mark.parametrize("path", LISTS)
def test_lists_ask_as_often_for_many_rows_as_for_one(
    house: House, member: Member, path: str
) -> None:
    client = member("admin")

    def asked() -> int:
        client.get(path)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path).status_code == 200
        return len(captured)

    furnish(house, 1, name="a")
    few = asked()
    furnish(house, 9, name="b")
    assert asked() == few


def test_lists_are_searched_and_filtered(house: House, member: Member) -> None:
    furnish(house)
    furnish(build_house("other"), name="zenith")
    client = member("reader")
    for path, query, shown in (
        (LISTS[0], "q=s-1", {"s-1"}),
        (LISTS[1], "q=s-1", {"s-1"}),
        (LISTS[1], "outcome__exact=win", {"s-0"}),
        (LISTS[1], "is_evidence__exact=1", {"s-0", "s-1"}),
        (LISTS[1], "is_evidence__exact=0", set()),
        (LISTS[2], "status__exact=rejected", {"s-why"}),
        (LISTS[2], "status__exact=promoted", set()),
        (LISTS[3], "origin=trained", {"model_v2"}),
    ):
        html = client.get(f"{path}?{query}").content.decode()
        rows = html.partition("<tbody")[2].rpartition("</tbody>")[0]
        assert set(re.findall(r"\b(?:s-\w+|model_v\d)\b", rows)) == shown, (path, query)


def test_weights_are_not_fetched_for_lists(house: House, member: Member) -> None:
    furnish(house)
    client = member("reader")
    with CaptureQueriesContext(connection) as captured:
        client.get(LISTS[3])
    fetched = [q["sql"].partition(" FROM ")[0] for q in captured if "modelversion" in q["sql"]]
    assert fetched
    assert not [columns for columns in fetched if '"checkpoint",' in columns]
