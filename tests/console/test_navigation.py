"""The sidebar: the same places in the console and the admin, by role, the current one marked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from tests.conftest import Tenant

Member = Callable[[str], Client]
LEARNING = {
    "Sessions": ("/admin/memories/session/", "A session begins when an agent asks"),
    "Judgements": ("/admin/predictor/judgement/", "When a session ends with a transcript"),
    "Comparisons": ("/admin/predictor/comparison/", "Every judged session compares"),
    "Trainings": ("/admin/predictor/training/", "After ten scored sessions"),
    "Model versions": ("/admin/predictor/modelversion/", "Every training that passes its gates"),
}


def test_what_is_learned_has_its_place_beside_what_it_is_learned_from(
    tenant: Tenant, member: Member
) -> None:
    html = member("reader").get("/").content.decode()
    group = html[html.index(">Learning<") : html.index(">Workspace<")]
    links = re.findall(r'<a href="([^"]+)".*?</svg>\s*(?:<span[^>]*>)?([^<]+)', group, re.DOTALL)
    assert {title.strip(): link for link, title in links} == {
        title: link for title, (link, _) in LEARNING.items()
    }


@pytest.mark.parametrize("title", LEARNING)
def test_a_place_is_marked_and_says_what_comes_there(
    tenant: Tenant, member: Member, title: str
) -> None:
    link, empty = LEARNING[title]
    answer = member("reader").get(link)
    assert answer.status_code == 200
    assert empty in answer.content.decode()
    places = [item for group in answer.context["sidebar_navigation"] for item in group["items"]]
    assert [str(item["title"]) for item in places if item["active"]] == [title]


def test_every_place_of_a_reader_opens(tenant: Tenant, member: Member) -> None:
    reader = member("reader")
    html = reader.get("/").content.decode()
    side = html[html.index('class="side') : html.index("<main")]
    links = set(re.findall(r'href="(/[^"]*)"', side))
    assert len(links) > 12
    assert {link: reader.get(link).status_code for link in links} == dict.fromkeys(links, 200)
