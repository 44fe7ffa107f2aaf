"""The sidebar, the tabs and the home page in front of people: wide, narrow, dark, by keyboard."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import LOWEST_CONTRAST, NARROW, WIDE, press, width_over
from tests.e2e.conftest import Visit
from tests.e2e.service import Service, contradict
from tests.homes import eventually

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
MEMORIES = "/admin/memories/memory/"
PLACES = [
    "Home", "Inbox", "Memories", "Questions", "Notes", "Detective", "Learning", "Activity",
    "Settings", "Administration",
]  # fmt: skip
LOOKS = """
(selector) => {
  const style = getComputedStyle(document.querySelector(selector));
  const box = document.querySelector(selector).getBoundingClientRect();
  return [style.fontFamily, style.color, style.backgroundColor, style.fontSize, box.x, box.width];
}
"""

# What stays at the bottom of the window while the page below it is scrolled.
FLOATING = """
() => [...document.querySelectorAll("#main *")]
  .filter((one) => ["fixed", "sticky"].includes(getComputedStyle(one).position))
  .filter((one) => one.checkVisibility())
  .filter((one) => one.getBoundingClientRect().bottom >= innerHeight - 1)
  .map((one) => one.outerHTML.slice(0, 80))
"""


def entries(page: Page) -> Locator:
    """Return the links of the places of a wide screen."""
    return page.locator(".side .nav a")


def test_name_theme_and_sign_out_are_in_sight_without_scrolling(
    service: Service, visit: Visit
) -> None:
    page = visit().sign_in("/")
    for path in ("/", MEMORIES, "/console/gate/", "/admin/"):
        page.goto(path)
        side = page.locator(".side")
        assert side.evaluate("side => side.scrollHeight <= side.clientHeight"), path
        for shown in (
            side.get_by_text(service.person),
            side.get_by_role("button", name="Dark"),
            side.get_by_role("button", name="Sign out"),
            entries(page).last,
        ):
            expect(shown).to_be_in_viewport(ratio=1)


def test_console_and_admin_are_one_product(service: Service, visit: Visit) -> None:
    page = visit().sign_in("/")
    parts = (".side", ".side .nav a:not([aria-current])", ".side .brand", ".side .who strong")
    console = [page.evaluate(LOOKS, part) for part in parts]
    assert [name.split("\n")[0] for name in entries(page).all_inner_texts()] == PLACES
    page.goto(MEMORIES)
    assert [page.evaluate(LOOKS, part) for part in parts] == console
    assert [name.split("\n")[0] for name in entries(page).all_inner_texts()] == PLACES
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px Inter'))")
    fonts = "getComputedStyle(document.body).fontFamily.split(',')[0].replaceAll('\"', '')"
    assert page.evaluate(fonts) == "Inter"
    page.goto("/")
    assert page.evaluate(fonts) == "Inter"


def test_the_menu_of_a_phone_leads_to_a_tab(service: Service, visit: Visit) -> None:
    page = visit(viewport=PHONE, has_touch=True).sign_in("/")
    for start in ("/", MEMORIES):
        page.goto(start)
        expect(page.locator(".side")).to_be_hidden()
        page.locator(".topbar summary").tap()
        expect(page.locator(".topbar").get_by_role("button", name="Sign out")).to_be_visible()
        page.locator(".topbar").get_by_role("link", name="Settings").tap()
        page.locator(".section").get_by_role("link", name="Deletions").tap()
        expect(page.get_by_role("heading", name="Deleted workspaces")).to_be_visible()
        expect(page.locator(".topbar summary")).to_contain_text("Deletions")
        expect(page.locator(".section [aria-current=page]")).to_be_in_viewport(ratio=1)


def test_the_keyboard_reaches_places_and_tabs(service: Service, visit: Visit) -> None:
    page = visit().sign_in("/")
    for start in ("/", MEMORIES):
        page.goto(start)
        focused = page.locator(":focus")
        press(page, "Tab")
        expect(focused).to_have_text("Skip to content")
        expect(focused).to_be_in_viewport(ratio=1)
        for _ in range(30):
            press(page, "Tab")
            if focused.inner_text().startswith("Learning"):
                break
        assert focused.evaluate("link => getComputedStyle(link).outlineStyle") == "solid"
        press(page, "Enter")
        page.wait_for_url("**/console/learning/")
        expect(page.locator(".section [aria-current=page]")).to_have_text("Overview")
        expect(page.locator(".side [aria-current]")).to_have_text("Learning")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_shell_and_home_have_contrast(
    service: Service, visit: Visit, subject: str, scheme: str
) -> None:
    contradict(service, f"{subject}{scheme}")
    for viewport in (WIDE, PHONE):
        page = visit(color_scheme=scheme, viewport=viewport).sign_in("/")
        for path in ("/", "/console/deletions/", "/console/digest/"):
            page.goto(path)
            if viewport is PHONE:
                page.locator(".topbar summary").click()
            ratio, where = page.evaluate(LOWEST_CONTRAST)
            assert ratio >= 4.5, f"{path}: {ratio:.2f} at {where}"


def test_a_theme_chosen_in_the_admin_is_the_theme_of_the_console(
    service: Service, visit: Visit
) -> None:
    page = visit(color_scheme="light").sign_in(MEMORIES)
    page.locator(".side").get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark\b"))
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.locator(".side").get_by_role("button", name="Light").click()
    page.goto(MEMORIES)
    expect(page.locator("html")).to_have_class(re.compile(r"\blight\b"))
    expect(page.locator(".side").get_by_role("button", name="Light")).to_have_attribute(
        "aria-pressed", "true"
    )


def waiting(service: Service) -> int:
    """Return how many items wait, by the API."""
    return int(service.call("reviewer", "inbox")[1]["count"])


def test_home_says_live_what_needs_one(service: Service, visit: Visit, subject: str) -> None:
    person = visit()
    person.page.clock.install()
    page = person.sign_in("/")
    expect(page.locator("[data-pulse]")).to_have_text("live")
    _, _, card = contradict(service, subject)
    number = waiting(service)
    needs = page.locator("#needs")
    verb = "item needs" if number == 1 else "items need"
    expect(needs).to_contain_text(f"{number} {verb} you")
    expect(page).to_have_title(f"({number}) Home · Engram")
    expect(page.locator(".side [data-count=inbox]")).to_have_text(str(number))
    expect(page.locator("#figure-commits .value")).not_to_have_text("0")
    start = needs.get_by_role("link", name="Start")
    start.focus()
    service.call("reviewer", f"conflicts/{card}/resolve", {"verdict": "both_valid"})
    assert eventually(lambda: waiting(service) == number - 1)
    if number > 1:
        expect(page).to_have_title(f"({number - 1}) Home · Engram")
        expect(needs.get_by_role("link", name="Start")).to_be_focused()
    else:
        expect(needs).to_contain_text("Nothing needs you")
        expect(page).to_have_title("Home · Engram")
    before = page.locator("#as-of").inner_text()
    time.sleep(1)  # figures of another second
    page.clock.fast_forward(15_000)
    expect(page.locator("#as-of")).not_to_have_text(before)  # read again every fifteen seconds
    assert person.complaints == []


def test_start_leads_to_the_first_item(service: Service, visit: Visit, subject: str) -> None:
    contradict(service, subject)
    page = visit(viewport=PHONE).sign_in("/")
    page.locator("#needs").get_by_role("link", name="Start").click()
    expect(page.locator("[data-card]")).to_be_visible()


def test_pages_show_their_figures_and_lists_without_scripts(
    service: Service, visit: Visit, subject: str
) -> None:
    service.call("agent", "memories", {"content": f"The {subject} door is oak."})
    for viewport in (WIDE, PHONE):
        page = visit(java_script_enabled=False, viewport=viewport).sign_in("/")
        expect(page.locator("#figure-memories .value")).not_to_have_text("0")
        expect(page.locator("#as-of")).to_be_visible()
        expect(page.locator("noscript .notice")).to_be_visible()
        expect(page.locator("#health li")).to_have_count(8)
        expect(page.locator("[data-feed]")).to_contain_text(f"The {subject} door is oak.")
        page.goto(MEMORIES)
        expect(page.locator("noscript .notice")).to_be_visible()
        expect(page.locator("#changelist-search kbd")).to_be_hidden()
        assert width_over(page) == 0
        if viewport is PHONE:
            page.get_by_role("checkbox", name="Filters", exact=True).check()
        page.locator("summary", has_text="State: Active").click()
        page.get_by_role("link", name="All", exact=True).click()
        expect(page.locator("summary", has_text="State: All")).to_be_visible()
        page.locator("#result_list").get_by_role("link", name=f"The {subject} door").click()
        page.wait_for_url("**/console/memories/*/")


def test_the_filters_of_a_list_open_close_and_cover_no_rows(
    service: Service, visit: Visit, subject: str
) -> None:
    service.call("agent", "memories", {"content": f"The {subject} door is oak."})
    person = visit()
    page = person.sign_in(MEMORIES)
    for viewport in (PHONE, WIDE):
        page.set_viewport_size(viewport)
        if viewport is PHONE:
            page.get_by_role("checkbox", name="Filters", exact=True).check()
        state = page.locator("details.menu").filter(has=page.locator("summary", has_text="State"))
        state.locator("summary").click()
        expect(state.get_by_role("link", name="Forgotten")).to_be_in_viewport()
        assert width_over(page) == 0
        page.keyboard.press("Escape")
        expect(state.locator("ul")).to_be_hidden()
        expect(state.locator("summary")).to_be_focused()
        state.locator("summary").press("Enter")
        expect(state.locator("ul")).to_be_visible()
        page.locator("h1").first.click()
        expect(state.locator("ul")).to_be_hidden()
        assert page.evaluate(FLOATING) == []
    assert person.complaints == []


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_api_docs_list_operations_without_scripts(
    service: Service, visit: Visit, viewport: dict[str, int]
) -> None:
    page = visit(java_script_enabled=False, viewport=viewport).page
    page.goto("/api/docs/")
    row = page.locator(".operations tr", has_text="/api/v1/memories/recall").first
    expect(row).to_be_visible()
    expect(row).to_contain_text("POST")
    assert width_over(page) == 0


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "none"])
@pytest.mark.parametrize(
    ("path", "narrowed", "folded"),
    [
        ("/console/memories/", "?scope=infra", "#scope"),
        ("/console/questions/", "?scope=infra", "#scope"),
        ("/console/notes/", "?tag=work", "#tag"),
        (MEMORIES, "?kind__exact=semantic", "summary:has-text('Kind')"),
        ("/admin/memories/session/", "?state=ended", "summary:has-text('State')"),
    ],
)
def test_a_phone_shows_filters_when_asked_and_when_one_is_set(
    visit: Visit, path: str, narrowed: str, folded: str, scripts: bool
) -> None:
    page = visit(viewport=NARROW, java_script_enabled=scripts).sign_in(path)
    expect(page.locator(folded)).to_be_hidden()
    page.get_by_role("checkbox", name="Filters", exact=True).check()
    expect(page.locator(folded)).to_be_visible()
    page.goto(path + narrowed)
    expect(page.locator(folded)).to_be_visible()
    page.set_viewport_size(WIDE)
    page.goto(path)
    expect(page.locator(folded)).to_be_visible()
    expect(page.get_by_role("checkbox", name="Filters", exact=True)).to_be_hidden()


def test_a_phone_shows_the_whole_title_of_an_event(
    service: Service, visit: Visit, subject: str
) -> None:
    service.call("agent", "memories", {"content": f"The {subject} door is oak."})
    page = visit(viewport=NARROW).sign_in("/admin/kernel/event/")
    page.locator("#result_list .data-row a").first.click()
    title = page.locator("h1 > :visible")
    expect(title).to_have_count(1)
    expect(title).to_contain_text(re.compile(r"^\s*[A-Z][a-z ]+, .*\d\d:\d\d\s*$"))
    assert title.evaluate("title => title.scrollWidth <= title.clientWidth")


def test_cards_of_a_list_are_labelled_in_sentence_case(
    service: Service, visit: Visit, subject: str
) -> None:
    service.call("agent", "memories", {"content": f"The {subject} door is oak.", "scope": subject})
    page = visit(viewport=NARROW).sign_in(MEMORIES)
    scope = page.locator("#result_list td", has_text=subject).filter(has_not_text="door").first
    shown = scope.evaluate(
        "cell => ['::before', '::first-letter'].map("
        "part => getComputedStyle(cell, part).textTransform)"
    )
    assert shown == ["none", "uppercase"]  # "Last seen", not "Last Seen"
    assert scope.evaluate("cell => cell.getClientRects()[0].height < 30")  # on one line
