"""The page of calibration: agreement by judge and month, drawing a sample, who may do what."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from engram.kernel.tenancy import in_workspace
from predictor.core.calibration import on_scale
from predictor.models import CalibrationItem, CalibrationSample
from tests.conftest import NOW, Tenant
from tests.predictor.calibration_world import judged_world, stored

Member = Callable[[str], Client]
PAGE = "/console/learning/calibration/"
SIZE = {"size": "30"}


def get_page(client: Client) -> str:
    answer = client.get(PAGE)
    assert answer.status_code == 200
    return " ".join(str(answer.content.decode()).split())


def label_all(tenant: Tenant, *, apart: float = 0.0, **fields: Any) -> None:
    """Label every item `apart` from what the judge said, an hour after each other."""
    with in_workspace(tenant.workspace):
        for place, item in enumerate(CalibrationItem.objects.order_by("position")):
            item.label = min(1.0, max(0.0, item.judge_relevance + apart))
            item.labelled_by, item.labelled_at = "Ada", NOW + timedelta(hours=place)
            for name, value in fields.items():
                setattr(item, name, value)
            item.save()


def draw(tenant: Tenant, size: int = 20) -> None:
    assert tenant.reviewer.post("predictor/calibration/sample", {"size": size}).status_code == 201


def test_an_empty_page_says_when_a_sample_comes(tenant: Tenant, member: Member) -> None:
    html = get_page(member("reader"))
    assert "Nobody has rated yet." in html
    assert "After fifty scored sessions a sample is drawn by itself" in html
    assert "Draw a sample" not in html  # a reader may not
    assert "Draw a sample</button>" in get_page(member("reviewer"))


def test_a_reviewer_draws_a_sample_by_a_button(tenant: Tenant, member: Member) -> None:
    judged_world(tenant)
    client = member("reviewer")
    answer = client.post(PAGE, SIZE, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    html = " ".join(answer.content.decode().split())
    assert "A sample is drawn." in html
    assert len(stored(tenant)) == 30
    assert "Rate 30 memories" in html
    again = client.post(PAGE, SIZE, follow=True).content.decode()
    assert "Nothing more is drawn: a sample still waits." in again
    assert len(stored(tenant)) == 30


def test_one_chooses_how_many_are_drawn(tenant: Tenant, member: Member) -> None:
    judged_world(tenant)
    client = member("reviewer")
    html = get_page(client)
    offered = re.findall(r'<option value="(\d+)"( selected)?', html)
    assert offered == [("20", ""), ("30", " selected"), ("50", "")]
    assert "A sample adds up to as many questions as chosen" in html
    for size in ("", "0", "21", "5000", "-20", "20 "):
        refused = client.post(PAGE, {"size": size}, follow=True).content.decode()
        assert "Choose how many memories to draw." in refused
    assert stored(tenant) == {}
    client.post(PAGE, {"size": "20"})
    assert len(stored(tenant)) == 20


def drawn_after(client: Client) -> str:
    """Return the field of the form that names the newest draw, as the page shows it."""
    return re.findall(r'name="after" value="([^"]+)"', get_page(client))[0]


def test_another_sample_is_drawn_while_ratings_wait(tenant: Tenant, member: Member) -> None:
    judged_world(tenant, 10)
    client = member("reviewer")
    client.post(PAGE, SIZE)
    first = stored(tenant)
    assert "Draw another sample</button>" in get_page(client)
    on_screen = client.get("/console/inbox/?source=calibration").content.decode()
    shown = next(pk for pk in first if f'data-card="{pk}"' in on_screen)
    after = drawn_after(client)
    html = client.post(PAGE, {**SIZE, "after": after}, follow=True).content.decode()
    assert "A sample is drawn." in html
    both = stored(tenant)
    assert len(both) == 60
    assert len({(one.session_id, one.memory_id) for one in both.values()}) == 60
    assert "Rate 60 memories" in " ".join(html.split())
    # Pressed twice.
    again = client.post(PAGE, {**SIZE, "after": after}, follow=True).content.decode()
    assert "Nothing more is drawn" in again
    assert stored(tenant).keys() == both.keys()
    still = client.get("/console/inbox/?source=calibration").content.decode()
    assert f'data-card="{shown}"' in still  # the new ones stand behind those that waited


def test_no_more_wait_than_one_draw_may_add_to(tenant: Tenant, member: Member) -> None:
    judged_world(tenant, 12)
    client = member("reviewer")
    client.post(PAGE, SIZE)
    for _ in range(2):
        client.post(PAGE, {**SIZE, "after": drawn_after(client)})
    assert len(stored(tenant)) == 90
    with in_workspace(tenant.workspace):
        after = CalibrationSample.objects.values_list("drawn_at", flat=True)[0]
    html = get_page(client)
    assert "Draw another" not in html
    assert "Another sample can be drawn once at most 80 wait." in html
    client.post(PAGE, {**SIZE, "after": after.isoformat()})
    assert len(stored(tenant)) == 90


@pytest.mark.parametrize("after", ["", "yesterday", "9" * 80, "0001-01-01T00:00:00+14:00", "\0"])
def test_what_names_no_draw_draws_nothing_more(tenant: Tenant, member: Member, after: str) -> None:
    judged_world(tenant, 10)
    client = member("reviewer")
    client.post(PAGE, SIZE)
    assert client.post(PAGE, {**SIZE, "after": after}).status_code in {302, 400, 422}
    assert len(stored(tenant)) == 30


def test_nothing_left_to_draw_is_said(tenant: Tenant, member: Member) -> None:
    answer = member("reviewer").post(PAGE, SIZE, follow=True)
    assert "Nothing is left to ask about" in answer.content.decode()


@pytest.mark.parametrize("role", ["reader", "agent"])
def test_readers_see_the_agreement_and_draw_nothing(
    tenant: Tenant, member: Member, role: str
) -> None:
    judged_world(tenant)
    client = member(role)
    assert client.post(PAGE, SIZE).status_code == 403
    assert stored(tenant) == {}
    draw(tenant)
    assert "Rate 20 memories" not in get_page(client)
    label_all(tenant)
    assert re.search(r"Agreement</span><span class=.value.>100 %<", get_page(client))


def test_people_and_the_judge_stand_on_one_scale(tenant: Tenant, member: Member) -> None:
    assert [on_scale(value) for value in (0.0, 0.25, 1.0)] == [1.0, 2.0, 5.0]
    judged_world(tenant)
    draw(tenant)
    with in_workspace(tenant.workspace):
        CalibrationItem.objects.update(judge_relevance=0.4)
    label_all(tenant, apart=0.35)
    html = get_page(member("reader"))
    row = html.split("The newest ratings")[1]
    assert row.count(">4/5<") == 20
    assert row.count(">2.6/5<") == 20
    assert re.search(r"Mean difference</span><span class=.value.>1.4<", html)
    assert re.search(r"Judge higher by</span><span class=.value.>−1.4<", html)
    assert "the judge is far off" in html


def test_a_judge_who_may_be_off_is_told_with_the_number_of_ratings(
    tenant: Tenant, member: Member
) -> None:
    judged_world(tenant)
    draw(tenant)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        CalibrationItem.objects.update(judge_relevance=0.5)
        by_session = defaultdict(list)
        for item in CalibrationItem.objects.order_by("position"):
            by_session[item.session_id].append(item)
        # The draw is random: as many ratings of each session, of which every other one is far off.
        sessions = list(by_session.values())[: len(by_session) // 2 * 2]
        most = min(map(len, sessions))
        items = [item for drawn in sessions for item in drawn[:most]]
        CalibrationItem.objects.exclude(pk__in=[item.pk for item in items]).delete()
        for place, item in enumerate(items):
            item.label = 1.0 if place // most % 2 else 0.5
            item.labelled_by, item.labelled_at = "Ada", NOW + timedelta(hours=place)
            item.save()
    html = get_page(client)
    assert f"the judge may be far off: {len(items)} ratings leave it open" in html
    assert "few ratings" not in html


def test_a_changed_label_is_told_apart_and_not_counted(tenant: Tenant, member: Member) -> None:
    judged_world(tenant)
    draw(tenant)
    label_all(tenant)
    with in_workspace(tenant.workspace):
        changed = CalibrationItem.objects.order_by("position")[0]
        changed.is_relabelled = True
        changed.save()
    html = get_page(member("reader"))
    assert html.count("changed after the judge’s word was seen</span>") == 1
    assert re.search(r"Ratings</span><span class=.value.>19<", html)
    assert "1 changed after the judge’s word was seen, not counted" in html


def test_what_is_forgotten_or_another_workspace_s_is_not_shown(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    for of in (tenant, neighbour):
        judged_world(of, name=of.workspace.slug)
        draw(of)
        label_all(of)
    with in_workspace(tenant.workspace):
        item = CalibrationItem.objects.select_related("memory").order_by("position")[0]
        same = CalibrationItem.objects.filter(memory=item.memory).count()
    text = item.memory.content
    assert text in get_page(member("reader"))
    tenant.admin.post("memories/forget", {"ids": [str(item.memory_id)], "confirm": True})
    html = get_page(member("agent"))
    assert html.count("No longer recalled") == same
    assert "zenith-" not in html


def test_the_trend_has_a_month_for_each_of_a_judge(tenant: Tenant, member: Member) -> None:
    judged_world(tenant)
    draw(tenant)
    label_all(tenant)
    with in_workspace(tenant.workspace):
        half = list(CalibrationItem.objects.values_list("pk", flat=True)[:10])
        CalibrationItem.objects.filter(pk__in=half).update(
            labelled_at=NOW - timedelta(days=40), label=0.0
        )
    html = get_page(member("reader"))
    assert html.count('class="whisker"') == 2
    assert html.count("n=10") == 2


def test_the_page_asks_as_often_for_many_ratings_as_for_few(tenant: Tenant, member: Member) -> None:
    judged_world(tenant)
    client = member("reader")
    draw(tenant)
    label_all(tenant)
    with in_workspace(tenant.workspace):
        CalibrationItem.objects.filter(position__gt=1).update(label=None, labelled_at=None)
    get_page(client)
    with CaptureQueriesContext(connection) as few:
        get_page(client)
    label_all(tenant)
    with CaptureQueriesContext(connection) as many:
        get_page(client)
    assert len(many) == len(few)
    with in_workspace(tenant.workspace):
        assert CalibrationSample.objects.count() == 1
