"""The tour in front of a person: by keyboard, on a narrow screen, without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import NARROW, press, width_over
from tests.e2e.conftest import Visit
from tests.e2e.service import Service

pytestmark = pytest.mark.browser
PLACES = ["/", "/console/inbox/", "/console/memories/", "/console/recall/", "/console/learning/"]


def test_the_keyboard_walks_through_it_and_closes_it_for_good(
    service: Service, visit: Visit
) -> None:
    person = visit()
    page = person.sign_in("/")
    page.get_by_role("button", name="Start the tour").focus()
    press(page, "Enter")
    heights = set()
    for number, place in enumerate(PLACES, start=1):
        page.wait_for_url(f"**{place}#tour")
        heights.add(page.locator("#tour").evaluate("step => step.offsetHeight"))
        expect(page.locator("#tour")).to_contain_text(f"step {number} of 5")
        expect(page.locator("#tour")).to_be_in_viewport()
        # The step has the focus: its last button is a few keys away.
        for _ in range(4):
            press(page, "Tab")
            if page.locator(":focus").inner_text() in {"Next", "Done"}:
                break
        press(page, "Enter")
    assert len(heights) == 1  # its buttons stay where they are
    page.wait_for_url(f"{service.up.url}/")
    expect(page.get_by_role("button", name="Start the tour")).to_have_count(0)
    again = visit().sign_in("/")
    expect(again.get_by_role("heading", level=1)).to_be_visible()
    expect(again.get_by_role("button", name="Start the tour")).to_have_count(0)
    assert person.complaints == []


@pytest.mark.parametrize(
    "options",
    [{"viewport": NARROW, "color_scheme": "dark"}, {"java_script_enabled": False}],
    ids=["narrow", "without scripts"],
)
def test_it_works_narrow_and_without_scripts(
    service: Service, visit: Visit, options: dict[str, Any]
) -> None:
    page = visit(**options).sign_in("/console/tour/")
    expect(page.locator(".tour-steps li").first).to_have_css("list-style-type", "decimal")
    page.get_by_role("button", name="Start the tour").click()
    for place in PLACES:
        page.wait_for_url(f"**{place}#tour")
        assert "java_script_enabled" in options or width_over(page) == 0
        page.get_by_role("button", name="Done" if place == PLACES[-1] else "Next").click()
    page.wait_for_url(f"{service.up.url}/")
