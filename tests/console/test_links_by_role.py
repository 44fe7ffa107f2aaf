"""Every link that a role is shown in the demo opens for that role."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from engram.kernel.models import Membership, Role, Workspace
from tests.console.test_demo import demo

__all__ = ["demo"]

_LINK = re.compile(r'<a\s[^>]*?href="([^"]*)"')
_ROW = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|\b\d+\b")
_NO_PAGE = re.compile(r"/sign-out/|/logout/|^/api/v1/|^/static/|\.\w{2,5}$")
_GUIDE = re.compile(r"/guides/[^/]+/")
LEAST_PAGES = 45


def route_of(address: str) -> str:
    """Return what pages of one kind have in common: the path without ids."""
    return _GUIDE.sub("/guides/*/", _ROW.sub("*", urlsplit(address).path))


@pytest.mark.parametrize("role", [Role.READER, Role.REVIEWER])
def test_every_link_opens_for_who_sees_it(demo: Workspace, role: Role) -> None:
    user = User.objects.create_user("somebody", is_staff=True)
    Membership.objects.create(workspace=demo, user=user, role=role)
    client = Client()
    client.force_login(user)
    waiting, seen, refused = [("/", "")], set[str](), []
    while waiting:
        address, shown_at = waiting.pop()
        if route_of(address) in seen:
            continue
        seen.add(route_of(address))
        answer = client.get(address, follow=True)
        if answer.status_code != 200:
            refused.append((answer.status_code, address, shown_at))
            continue
        html = answer.content.decode() if "html" in answer["Content-Type"] else ""
        for link in _LINK.findall(html):
            to = urljoin(f"http://testserver{address}", unescape(link))
            if to.startswith("http://testserver/") and not _NO_PAGE.search(urlsplit(to).path):
                waiting.append((to.removeprefix("http://testserver").partition("#")[0], address))
    assert refused == []
    assert len(seen) > LEAST_PAGES
