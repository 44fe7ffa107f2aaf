"""Every page of the demo by axe-core, in three widths, light and dark; none overflows or complains.

The pages are found by following links, one for each route.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.e2e.browser import NARROW, WIDE, width_over
from tests.e2e.conftest import Visit
from tests.e2e.service import Service
from tests.homes import ENVIRONMENT, PATIENCE_SECONDS, SOURCE

pytestmark = pytest.mark.browser

_LOAD_DEMO = """
import sys
from engram import embedded
embedded.export_environment()
import django
django.setup()
from django.contrib.auth.models import User
from django.utils import timezone
from engram.console.demo.loading import load
from engram.kernel.models import Membership, Role, Workspace
told = Workspace.objects.create(slug="told", name="Told")
assert load(told, timezone.now())
Membership.objects.filter(user__username=sys.argv[1]).delete()
user = User.objects.get(username=sys.argv[1])
Membership.objects.create(workspace=told, user=user, role=Role.ADMIN)
"""
# What is not a page, or ends the visit; the histories of Django's admin are one template.
_NO_PAGE = re.compile(r"/sign-out/|/logout/|^/api/v1/|^/static/|/jsi18n/|/history/$|\.\w{2,5}$")
# Drawn by Swagger's script: our stylesheet mends its colours; its markup (a main within the main,
# buttons within buttons) cannot be mended from outside, so that only contrast is looked at.
API_DOCS = "/api/docs/"
METHODS = ("get", "post", "put", "patch", "delete")
_ROW = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|\b\d+\b")
_LINKS = """
() => [...document.querySelectorAll("a[href]")].map((link) => {
  const to = link.getAttribute("href");
  return new URL(to, location.href).href;
})
"""
_AXE = """
(rules) => axe.run(document, { resultTypes: ["violations"], ...rules }).then((found) =>
  found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes[0].html.slice(0, 200)}`))
"""
# Lists and tabs that would have to be scrolled sideways; drawings and sources may be.
_CUT = """
() => [...document.querySelectorAll("table, .section")]
  .map((one) => [one, one.closest(".simplebar-content-wrapper") ?? one.parentElement])
  .filter(([one, around]) => one.checkVisibility() && (
    around.scrollWidth > around.clientWidth + 1 || one.scrollWidth > one.clientWidth + 1))
  .map(([one]) => `cut: ${one.textContent.trim().slice(0, 80)}`)
"""
LEAST_PAGES = 60
LAPTOP = {"width": 1280, "height": 800}
CONTRAST: dict[str, Any] = {"runOnly": ["color-contrast"]}


@pytest.fixture(scope="module")
def furnished(service: Service) -> Service:
    """Load the demo into a new workspace, the only one of the module's person."""
    environment = {
        **ENVIRONMENT,
        "ENGRAM_HOME": str(service.up.home),
        "DJANGO_SETTINGS_MODULE": "engram.settings",
    }
    subprocess.run(
        [sys.executable, "-c", _LOAD_DEMO, service.person],
        cwd=SOURCE,
        env=environment,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    return service


def walk(page: Page, url: str) -> Iterator[str]:
    """Open one page of each route that links lead to; yield its address, with the page open."""
    waiting, seen = ["/"], set[str]()
    while waiting:
        address = waiting.pop(0)
        route = _ROW.sub("*", urlsplit(address).path)
        if route in seen:
            continue
        seen.add(route)
        answer = page.goto(address)
        assert answer is not None, address
        assert answer.status == 200, f"{address}: {answer.status}"
        yield address
        for link in page.evaluate(_LINKS):
            parts = urlsplit(link)
            if link.startswith(f"{url}/") and not _NO_PAGE.search(parts.path):
                waiting.append(f"{parts.path}?{parts.query}" if parts.query else parts.path)


def open_operations(page: Page) -> None:
    """Open an operation of each method, with its parameters, examples and answers."""
    for method in METHODS:
        operation = page.locator(f".opblock-{method}").first
        operation.locator(".opblock-summary-control").click()
        operation.locator(".responses-table .microlight").first.wait_for()


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ({"viewport": WIDE, "color_scheme": "light"}, {}),
        ({"viewport": LAPTOP, "color_scheme": "dark"}, CONTRAST),
        ({"viewport": NARROW, "color_scheme": "dark"}, CONTRAST),
    ],
    ids=["wide", "laptop and dark", "narrow and dark"],
)
def test_no_page_has_a_violation(
    furnished: Service, visit: Visit, options: dict[str, Any], rules: dict[str, Any]
) -> None:
    person = visit(**options)
    page = person.sign_in("/")
    found: list[str] = []
    count = 0
    for address in walk(page, furnished.up.url):
        count += 1
        if address == API_DOCS:
            open_operations(page)
        page.evaluate(AXE_SCRIPT)
        checked = CONTRAST if address == API_DOCS else rules
        found += [f"{address}: {violation}" for violation in page.evaluate(_AXE, checked)]
        if (over := width_over(page)) > 0:
            found.append(f"{address}: {over} px too wide")
        if options["viewport"] is not NARROW:
            found += [f"{address}: {cut}" for cut in page.evaluate(_CUT)]
        found += [f"{address}: {complaint}" for complaint in person.complaints]
        person.complaints.clear()
    assert not found, "\n".join(found)
    assert count >= LEAST_PAGES


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_sign_in_has_no_violation(service: Service, visit: Visit, scheme: str) -> None:
    page = visit(color_scheme=scheme).page
    page.goto("/")
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(_AXE, {}) == []
