"""The tour: five steps on their pages, closed for good by an account, offered to each anew."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from engram.console.feed import last_seq
from engram.console.tour import STEPS
from engram.kernel.models import Event, Membership
from engram.kernel.tenancy import in_workspace
from tests.conftest import Tenant
from tests.console.cards import remember

Member = Callable[[str], Client]
TOUR = "/console/tour/"
OFFER = "Start the tour"


def go(client: Client, where: str) -> str:
    """Press a button of the tour; return the address that it leads to."""
    answer = client.post(TOUR, {"go": where})
    assert answer.status_code == 302
    return answer.headers["Location"]


def shown(client: Client, path: str) -> str:
    """Return a page's text without line breaks."""
    answer = client.get(path)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer", "admin"])
def test_every_role_walks_through_five_steps(tenant: Tenant, member: Member, role: str) -> None:
    client = member(role)
    assert OFFER in shown(client, "/")
    assert len(STEPS) == 5
    address = go(client, "start")
    for number, step in enumerate(STEPS, start=1):
        assert address == f"{step.link}#tour"
        html = shown(client, step.link)
        assert f"Tour, step {number} of 5" in html
        assert step.title in html
        assert OFFER not in html
        assert ('value="back"' in html) == (number > 1)
        assert ('value="next"' in html) == (number < 5)
        address = go(client, "next") if number < 5 else go(client, "close")
    assert address == "/"
    html = shown(client, "/")
    assert "Tour, step" not in html
    assert OFFER not in html


def test_one_goes_back_and_stays_between_the_ends(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    go(client, "start")
    assert go(client, "back") == f"{STEPS[0].link}#tour"
    assert go(client, "next") == f"{STEPS[1].link}#tour"
    assert go(client, "back") == f"{STEPS[0].link}#tour"
    for _ in range(7):
        address = go(client, "next")
    assert address == f"{STEPS[4].link}#tour"


def test_another_page_leads_back_to_the_step(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    go(client, "start")
    assert 'href="/#tour"' in shown(client, "/console/notes/")
    assert 'href="/#tour"' not in shown(client, "/")


def test_neither_an_error_nor_a_question_whether_to_act_has_the_bar(
    tenant: Tenant, member: Member
) -> None:
    memory = remember(tenant.workspace, "The boat house is painted green.").pk
    client, reader = member("admin"), member("reader")
    for one in (client, reader):
        go(one, "start")
    form = {"ids": str(memory), "do": "forget", "what": "wrong", "verb": "dismiss", "across": "1"}
    answers = {
        404: [client.get("/nothing/"), client.get(f"/console/questions/{memory}/")],
        200: [
            client.post("/console/memories/act/", {k: form[k] for k in ("ids", "do")}),
            client.post("/console/memories/report/", {k: form[k] for k in ("ids", "what")}),
            client.post("/console/conflicts/bulk/", {k: form[k] for k in ("verb", "across")}),
            client.get("/console/learning/mode/?to=off"),
        ],
    }
    for status, pages in answers.items():
        for page in pages:
            assert page.status_code == status
            assert "Tour, step" not in page.content.decode()
    refused = reader.get("/console/settings/")
    assert refused.status_code == 403
    assert "Tour, step" not in refused.content.decode()
    assert "Tour, step" in shown(client, "/console/notes/")


def test_it_is_closed_for_the_account_in_every_browser_and_workspace(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    client = member("reader")
    user = User.objects.get(username="reader-person")
    other = Membership.objects.create(workspace=neighbour.workspace, user=user, role="reader")
    go(client, "close")
    again = Client()
    again.force_login(user)
    assert OFFER not in shown(again, "/")
    again.post("/console/switch/", {"workspace": str(neighbour.workspace.pk)})
    assert OFFER not in shown(again, "/")
    other.delete()
    later = Membership.objects.create(workspace=neighbour.workspace, user=user, role="reader")
    again.post("/console/switch/", {"workspace": str(neighbour.workspace.pk)})
    assert later.tour_closed_at is None
    assert OFFER not in shown(again, "/")
    # Another account is offered it, and who closed it may still take it.
    assert OFFER in shown(member("admin"), "/")
    assert OFFER in shown(again, TOUR)
    assert go(again, "start") == "/#tour"


@pytest.mark.parametrize("sent", ["", "x", "start", "7"])
def test_whatever_is_sent_begins_it(tenant: Tenant, member: Member, sent: str) -> None:
    assert go(member("reader"), sent) == "/#tour"


def test_a_session_with_another_value_is_outside_of_the_tour(
    tenant: Tenant, member: Member
) -> None:
    client = member("reader")
    for value in (0, 6, "2", None):
        session = client.session
        session["engram_tour"] = value
        session.save()
        assert "Tour, step" not in shown(client, "/")


def test_the_activity_of_home_tells_times_of_the_workspace(tenant: Tenant, member: Member) -> None:
    remember(tenant.workspace, "The boat house is painted green.")
    tenant.workspace.settings = {"time_zone": "Asia/Kathmandu"}  # whole hours apart from none
    tenant.workspace.save()
    with in_workspace(tenant.workspace):
        event = Event.objects.get(pk=last_seq())
    html = shown(member("reader"), "/")
    times = re.findall(r'<time datetime="([^"]+)">(\d\d:\d\d)</time> </li>', html)
    minutes = f"{timezone.localtime(event.at):%M}"
    told = dict(times)[event.at.isoformat()]
    assert int(told[3:]) == (int(minutes) + 45) % 60
