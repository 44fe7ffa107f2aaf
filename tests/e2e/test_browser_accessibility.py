"""Every page of the demo by axe-core, light and dark; none overflows or complains.

Each has one heading of the first level, breaks no word in a chip, and cuts no table or row of tabs
on a desk.

The pages are found by following links, one for each route. What unfolds in a page is open, and the
help of its keys is looked at as well. A further walk is without scripts.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize

from tests.e2e.browser import WIDE, width_over
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
from django.core.management import call_command
from django.utils import timezone
from conflicts.models import Muting
from engram.console.demo.loading import load
from engram.console.demo.outside import add_outside
from engram.kernel.models import Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace
told = Workspace.objects.create(slug="told", name="Told")
now = timezone.now()
with in_workspace(told):  # with a webhook and its deliveries, as "make up" adds them
    assert load(told, now, by=sys.argv[1])
    add_outside(told, by=sys.argv[1], now=now)
    Muting.objects.create(rule="ambiguity.number", decided=34, confirmed=8, created_at=now)
Membership.objects.filter(user__username=sys.argv[1]).delete()
user = User.objects.get(username=sys.argv[1])
Membership.objects.create(workspace=told, user=user, role=Role.ADMIN)
other = Workspace.objects.create(slug="other", name="Other")
call_command("invite", user.username, workspace="other")
"""
# What is not a page, or ends the visit; the histories of Django's admin are one template.
_NO_PAGE = re.compile(r"/sign-out/|/logout/|^/api/v1/|^/static/|/jsi18n/|/history/$|\.\w{2,5}$")
API_DOCS = "/api/docs/"
METHODS = ("get", "post", "put", "patch", "delete")
_GUIDE = re.compile(r"/guides/[^/]+/")
# The inbox is one route with a page for each kind of what waits.
_KIND = re.compile(r"^/console/inbox/\?(?:.*&)?(?:item|source)=(\w+)")
_ROW = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|\b\d+\b")
_LINKS = """
() => [...document.querySelectorAll("a[href]")].map((link) => {
  const to = link.getAttribute("href");
  return new URL(to, location.href).href;
})
"""
_AXE = """
([part, rules]) => axe.run(part ?? document, { resultTypes: ["violations"], ...rules })
  .then((found) => found.violations)
  .then((found) => found.map(
    (one) => `${one.id}: ${one.help}: ${one.nodes[0].html.slice(0, 200)}`))
"""
# Marks what differs in what its contrast hangs on: text, and the backgrounds that it stands before.
_MARK = """
([part, mark]) => {
  for (const one of document.querySelectorAll(`[${mark}]`)) one.removeAttribute(mark);
  const behind = new Map([[null, ""]]);
  const backgrounds = (one) => {
    if (!behind.has(one)) {
      const style = getComputedStyle(one);
      const own = [style.backgroundColor, style.backgroundImage, style.opacity].join();
      behind.set(one, `${own}|${backgrounds(one.parentElement)}`);
    }
    return behind.get(one);
  };
  const texts = (one) => [...one.childNodes].filter(
    (child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
  const seen = new Set();
  for (const one of document.querySelectorAll(`${part ?? "body"} *`)) {
    const says = one.matches("input, select, textarea") || texts(one).length;
    if (!says || !one.checkVisibility()) continue;
    const isLink = one.localName === "a" && texts(one.parentElement).length > 0;
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(one);
    const font = [isLink, color, fontSize, fontWeight, textDecorationLine].join();
    const looks = `${font} ${backgrounds(one)}`;
    if (!seen.has(looks)) one.setAttribute(mark, "");
    seen.add(looks);
  }
  return seen.size;
}
"""
# Chips of one word that stand on more than one line.
_BROKEN = """
() => [...document.querySelectorAll(".chip")]
  .filter((chip) => chip.checkVisibility() && !/\\s/.test(chip.textContent.trim()))
  .filter((chip) => chip.offsetHeight > 1.9 * parseFloat(getComputedStyle(chip).lineHeight))
  .map((chip) => `broken: ${chip.textContent}`)
"""
# Lists and tabs that would have to be scrolled sideways; drawings and sources may be.
_CUT = """
() => [...document.querySelectorAll("table, .section")]
  .map((one) => [one, one.closest(".simplebar-content-wrapper") ?? one.parentElement])
  .filter(([one, around]) => one.checkVisibility() && (
    around.scrollWidth > around.clientWidth + 1 || one.scrollWidth > one.clientWidth + 1))
  .map(([one]) => `cut: ${one.textContent.trim().slice(0, 80)}`)
"""
# Chooses a colour scheme as people do, and waits for it: the admin's theme follows a moment later.
_SHOW = """
async (scheme) => {
  const root = document.documentElement;
  const choice = document.querySelector(`[data-theme-choice=${scheme}]`);
  if (choice) choice.click();
  else root.dataset.theme = scheme;
  while (getComputedStyle(root).colorScheme !== scheme) await new Promise(requestAnimationFrame);
  for (const one of document.querySelectorAll("#main details:not(.menu)")) one.open = true;
  for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
}
"""
# What can be pressed but does nothing where no script listens to it.
_DEAD = """
() => [...document.querySelectorAll("button, [role=button], a:not([href])")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled
    && one.getBoundingClientRect().width > 1
    && !(one.form && ["submit", "reset"].includes(one.type))
    && !one.hasAttribute("popovertarget") && !one.hasAttribute("command"))
  .map((one) => `does nothing: ${one.outerHTML.slice(0, 120)}`)
"""
LEAST_PAGES = 60
LEAST_CHARS = 100  # of a page's main part
LAPTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
# Further widths at which nothing overflows, by that of a walk.
BETWEEN = {1440: [1280, 1180, 1024, 900, 768], 390: [700, 360]}
DESKS = (1440, 1280, 1024, 900, 768)  # the widths at which no table or row of tabs is cut
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# The rules that ask for colours; what the others ask for is the same in both schemes.
COLOURS = ("color-contrast", "link-in-text-block")
OF_COLOURS: dict[str, Any] = {"runOnly": COLOURS}
OF_THE_REST: dict[str, Any] = {"rules": {rule: {"enabled": False} for rule in COLOURS}}
MARK = "data-looks"
HELP = "dialog#help"


class Furnished(NamedTuple):
    """A workspace with the demo, and the addresses of pages that no link leads to."""

    url: str
    unlinked: list[str]


@pytest.fixture(scope="module")
def furnished(service: Service) -> Furnished:
    """Load the demo into a new workspace, the only one of the module's person."""
    environment = {
        **ENVIRONMENT,
        "ENGRAM_HOME": str(service.up.home),
        "DJANGO_SETTINGS_MODULE": "engram.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", _LOAD_DEMO, service.person],
        cwd=SOURCE,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    invitation = urlsplit(done.stdout.split()[-1]).path
    return Furnished(service.up.url, [invitation, "/invitation/void/", "/console/nowhere/"])


def walk(page: Page, url: str, *, all_guides: bool) -> Iterator[str]:
    """Open one page of each route that links lead to; yield its address, with the page open.

    Guides are one page with many long texts: all of them are opened only if asked for.
    """
    waiting, seen = ["/"], set[str]()
    while waiting:
        address = waiting.pop(0)
        route = _ROW.sub("*", urlsplit(address).path)
        route = route if all_guides else _GUIDE.sub("/guides/*/", route)
        route += kind[1] if (kind := _KIND.search(address)) else ""
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


def look(page: Page) -> list[str]:
    """Return what axe-core finds on the open page, light and dark, the help of its keys as well."""
    page.evaluate(AXE_SCRIPT)
    found = violations(page)
    help_ = page.locator(HELP)
    if help_.count():
        help_.evaluate("help => help.showModal()")
        found += [f"help: {one}" for one in violations(page, HELP)]
        help_.evaluate("help => help.close()")
    return found


def violations(page: Page, part: str | None = None) -> list[str]:
    """Return what axe-core finds in a part of a page: colours by what looks alike, in both."""
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.evaluate(_SHOW, scheme)
        if scheme == SCHEMES[0]:
            found += page.evaluate(_AXE, [part, OF_THE_REST])
        if page.evaluate(_MARK, [part, MARK]):
            coloured = page.evaluate(_AXE, [f"[{MARK}]", OF_COLOURS])
            found += [f"{scheme}: {one}" for one in coloured]
    return found


def overflows(page: Page, viewport: ViewportSize) -> list[str]:
    """Return at which widths the open page is wider than its window, or cuts what it shows."""
    found = []
    for width in (viewport["width"], *BETWEEN[viewport["width"]]):
        page.set_viewport_size({"width": width, "height": viewport["height"]})
        if (over := width_over(page)) > 0:
            found.append(f"{over} px too wide for {width}")
        if width in DESKS:
            found += [f"{width} px: {cut}" for cut in page.evaluate(_CUT)]
    page.set_viewport_size(viewport)
    return found


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_no_page_has_a_violation(
    furnished: Furnished, visit: Visit, viewport: ViewportSize
) -> None:
    person = visit(viewport=viewport)
    page = person.sign_in("/")
    found: list[str] = []
    linked = 0
    for address in walk(page, furnished.url, all_guides=viewport is WIDE):
        linked += 1
        if address == API_DOCS:
            open_operations(page)
        found += [f"{address}: {violation}" for violation in look(page)]
        if (headings := page.locator("h1:visible").count()) != 1:
            found.append(f"{address}: {headings} headings of the first level")
        found += [f"{address}: {broken}" for broken in page.evaluate(_BROKEN)]
        found += [f"{address}: {overflow}" for overflow in overflows(page, viewport)]
        found += [f"{address}: {complaint}" for complaint in person.complaints]
        person.complaints.clear()
    for address in furnished.unlinked:
        page.goto(address)
        found += [f"{address}: {violation}" for violation in look(page)]
    assert not found, "\n".join(found)
    assert linked >= LEAST_PAGES


def test_no_page_needs_scripts_to_be_read_and_none_shows_what_does_nothing(
    furnished: Furnished, visit: Visit
) -> None:
    person = visit(viewport=WIDE, java_script_enabled=False)
    page = person.sign_in("/")
    found: list[str] = []
    linked = 0
    for address in walk(page, furnished.url, all_guides=True):
        linked += 1
        for scheme, viewport in zip((*SCHEMES, SCHEMES[0]), (WIDE, LAPTOP, PHONE), strict=True):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size(viewport)
            if (over := width_over(page)) > 0:
                found.append(f"{address}: {over} px too wide for {viewport['width']}")
            found += [f"{address}: {dead}" for dead in page.evaluate(_DEAD)]
        if page.locator("h1").count() != 1:
            found.append(f"{address}: {page.locator('h1').count()} headings of the page")
        if len(page.locator("main").inner_text()) < LEAST_CHARS:
            found.append(f"{address}: says nothing")
    assert not found, "\n".join(found)
    assert linked >= LEAST_PAGES


def test_the_sign_in_has_no_violation(service: Service, visit: Visit) -> None:
    page = visit().page
    for viewport in (WIDE, LAPTOP, PHONE):
        page.set_viewport_size(viewport)
        page.goto("/")
        assert look(page) == []
