"""People who look at what is learned: an empty page, sessions, a comparison, ratings, the mode."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.browser import LOWEST_CONTRAST, NARROW, WIDE, Person, press, width_over
from tests.e2e.conftest import Visit
from tests.e2e.service import FACTS, Service, work
from tests.homes import eventually

pytestmark = pytest.mark.browser

PAGE, CALIBRATION = "/console/learning/", "/console/learning/calibration/"
INBOX = "/console/inbox/?source=calibration"


def held(service: Service) -> int:
    """Let three sessions be judged, the first time it is called; return the number of all."""
    compared = "predictor/comparisons?limit=1"
    if not service.call("agent", compared)[1]["count"]:
        drafts = [{"content": text} for text in FACTS.values()]
        assert service.call("agent", "memories/batch", {"memories": drafts})[0] in {200, 201}
        for number in range(3):
            work(service, number)
    return int(eventually(lambda: service.call("agent", compared)[1]["count"] == 3 and 3))


@pytest.fixture
def newcomer(browser: Browser, service_of: Callable[[str], Service]) -> Iterator[Person]:
    """Return somebody in a workspace in which no session was held."""
    service = service_of("learning-newcomer")
    person = Person(browser, service)
    yield person
    person.leave()


def test_a_new_workspace_is_told_what_to_do_next(newcomer: Person) -> None:
    page = newcomer.sign_in(PAGE)
    expect(page.get_by_role("heading", name="No session has ended yet")).to_be_visible()
    page.get_by_role("link", name="How agents start sessions").click()
    expect(page).to_have_url(re.compile("/api/docs/"))
    assert newcomer.complaints == []


def test_from_the_overview_to_what_decided_a_comparison_and_its_transcript(
    service: Service, visit: Visit
) -> None:
    held(service)
    person = visit()
    page = person.sign_in(PAGE)
    expect(page.locator(".standing")).to_contain_text("The baseline ranks alone")
    expect(page.locator(".board tbody tr").first).to_be_visible()
    expect(page.locator(".outcomes .void")).to_have_count(3)  # there is no model yet
    expect(page.get_by_text("Nothing was learned yet.")).to_be_visible()
    page.locator(".compared").first.get_by_role("link").first.click()
    expect(page.locator(".explained")).to_contain_text("nothing was learned yet")
    expect(page.locator(".ranking").first.locator(".entry").first).to_contain_text("relevance")
    page.get_by_role("link", name="The session", exact=True).click()
    expect(page.locator(".transcript")).to_contain_text("print it twice")
    page.get_by_role("link", name="The judgement").click()
    expect(page.get_by_role("heading", name="Memory by memory")).to_be_visible()
    assert person.complaints == []


def test_a_sample_is_drawn_and_rated_and_stands_on_one_scale(
    service: Service, visit: Visit
) -> None:
    held(service)
    person = visit()
    page = person.sign_in(CALIBRATION)
    page.get_by_role("button", name="Draw a sample").click()
    expect(page.get_by_text("A sample is drawn.")).to_be_visible()
    page.get_by_role("link", name=re.compile(r"Rate \d+ memories")).click()
    card = page.locator("[data-card]")
    first = card.get_attribute("data-key")
    press(page, "4")
    expect(card).not_to_have_attribute("data-key", str(first))
    page.goto(CALIBRATION)
    row = page.locator("table.rows").last.locator("tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("4/5")
    expect(row).to_contain_text(re.compile(r"[1-5](\.\d)?/5"))
    expect(row).to_contain_text(service.person)
    assert person.complaints == []


def test_the_mode_is_changed_by_keyboard_after_a_question(service: Service, visit: Visit) -> None:
    page = visit().sign_in(PAGE)
    was = service.call("admin", "predictor/status")[1]["mode"]
    wanted = "on" if was != "on" else "collect"
    name = "Switch on…" if was != "on" else "Change the mode…"
    page.get_by_role("link", name=name).focus()
    press(page, "Enter")
    button = page.get_by_role("button", name="Switch on" if wanted == "on" else "Learn only")
    assert service.call("admin", "predictor/status")[1]["mode"] == was
    button.focus()
    press(page, "Enter")
    stands = "switched on" if wanted == "on" else "learns only"
    expect(page.get_by_text(f"The learned ranking: {stands} now.")).to_be_visible()
    assert service.call("admin", "predictor/status")[1]["mode"] == wanted


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_have_contrast_and_fit(service: Service, visit: Visit, scheme: str) -> None:
    held(service)
    (first,) = service.call("agent", "predictor/comparisons?limit=1")[1]["results"]
    comparison = f"/admin/predictor/comparison/{first['id']}/change/"
    for viewport in (WIDE, NARROW):
        page = visit(color_scheme=scheme, viewport=viewport).sign_in(PAGE)
        for path in (PAGE, CALIBRATION, f"{PAGE}mode/?to=on", comparison):
            page.goto(path)
            ratio, where = page.evaluate(LOWEST_CONTRAST)
            assert ratio >= 4.5, f"{path}: {ratio:.2f} at {where}"
            assert (path, width_over(page)) == (path, 0)


def test_without_scripts_all_of_it_is_there(service: Service, visit: Visit) -> None:
    held(service)
    page = visit(java_script_enabled=False, viewport=NARROW).sign_in(PAGE)
    expect(page.locator(".board").first).to_be_visible()
    page.locator("summary", has_text="as a table").first.click()
    expect(page.locator(".compared").last.get_by_role("link").first).to_be_visible()
    page.goto(CALIBRATION)
    expect(page.get_by_role("heading", name="The scale")).to_be_visible()
