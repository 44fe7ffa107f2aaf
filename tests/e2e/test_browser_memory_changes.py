"""A person changes all memories that a filter lets pass, watches the work, and takes it back."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import LOWEST_CONTRAST, NARROW, WIDE, width_over
from tests.e2e.conftest import Visit
from tests.e2e.service import Service

pytestmark = pytest.mark.browser

LIST = "/console/memories/"
MANY = 103  # more than the page changes by itself, on three pages
COLOURS = ["amber", "birch", "copper", "dune", "ember", "fjord", "garnet", "heron", "iris", "kelp"]
LAPTOP = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def scope(service: Service) -> str:
    """Return a scope of many memories, which nothing merges; each test leaves them recallable."""
    memories = [
        {
            "content": f"Parcel {n} of the {COLOURS[n % 10]} load waits in bay {7 * n}.",
            "scope": "wharf",
        }
        for n in range(MANY)
    ]
    for start in range(0, MANY, 50):
        sent = {"memories": memories[start : start + 50]}
        status, answer = service.call("agent", "memories/batch", sent)
        assert status in {200, 201}, answer
        assert "merged" not in {row["outcome"] for row in answer["results"]}
    return "wharf"


def counted(page: Page, words: str) -> None:
    """Assert how many memories the list says that there are."""
    expect(page.locator(".pagehead .muted")).to_have_text(words)


def test_all_that_match_are_tagged_and_the_tag_is_taken_back(
    service: Service, visit: Visit, scope: str
) -> None:
    person = visit()
    page = person.sign_in(f"{LIST}?scope={scope}")
    counted(page, f"{MANY} memories that agents can recall")
    whole = page.get_by_role("checkbox", name=f"Choose all {MANY} that match")
    expect(whole).to_be_hidden()  # what is not on the page is not chosen unseen
    page.get_by_role("checkbox", name="Tick All on this page").check()
    expect(page.locator("[data-ticked]")).to_have_text("50 of 50 ticked")
    whole.check()
    expect(page.locator("[data-ticked]")).to_have_text("All that match, on all pages")
    page.get_by_placeholder("Tag", exact=True).fill("harbour")
    page.get_by_role("button", name="Add tag…").click()

    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(f"Add the tag “harbour” to {MANY} memories?")
    expect(heading).to_be_in_viewport()
    expect(page.get_by_text(f"and {MANY - 10} more")).to_be_visible()
    page.get_by_role("button", name="Add the tag").click()

    page.wait_for_url(re.compile(rf"{LIST}changes/[0-9a-f-]+/\?scope={scope}$"))
    expect(heading).to_have_text(f"{MANY} memories tagged")  # the page comes again by itself
    expect(page.get_by_role("progressbar")).to_have_js_property("value", 1)
    page.get_by_role("link", name="The memories").click()
    page.wait_for_url(f"{service.up.url}{LIST}?scope={scope}")
    page.goto(f"{LIST}?scope={scope}&tag=harbour")
    counted(page, f"{MANY} memories that agents can recall")

    page.go_back()
    page.go_back()
    page.wait_for_load_state()
    page.keyboard.press("u")
    expect(heading).to_have_text(f"Undone: {MANY} memories without the tag")
    page.get_by_role("link", name="an earlier change").click()
    expect(page.get_by_role("link", name="It was undone")).to_be_visible()
    page.goto(f"{LIST}?scope={scope}&tag=harbour")
    expect(page.get_by_role("heading", name="No memory matches")).to_be_visible()
    assert person.complaints == []


def test_all_that_match_are_forgotten_and_brought_back_without_scripts(
    visit: Visit, scope: str
) -> None:
    page = visit(java_script_enabled=False).sign_in(f"{LIST}?scope={scope}")
    page.get_by_role("checkbox", name=f"Choose all {MANY} that match").check()
    page.get_by_role("button", name="Forget…").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(f"Forget {MANY} memories?")
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(heading).to_have_text(f"{MANY} memories forgotten")  # reloaded by the page's head
    page.get_by_role("link", name="The memories").click()
    expect(page.get_by_role("heading", name="No memory matches")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name=f"Undo for all {MANY}").click()
    expect(heading).to_have_text(f"Undone: {MANY} memories brought back")
    page.get_by_role("link", name="The memories").click()
    counted(page, f"{MANY} memories that agents can recall")


def test_a_tick_that_is_taken_back_takes_the_other_pages_back(visit: Visit, scope: str) -> None:
    page = visit().sign_in(f"{LIST}?scope={scope}")
    page.get_by_role("checkbox", name="Tick All on this page").check()
    whole = page.get_by_role("checkbox", name=f"Choose all {MANY} that match")
    whole.check()
    page.locator("[data-tick]").first.uncheck()
    expect(whole).to_be_hidden()
    page.get_by_role("button", name="Pin…", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pin 49 memories?")


def look(page: Page) -> None:
    """Assert that a page fits its screen and can be read."""
    assert width_over(page) == 0, page.url
    ratio, text = page.evaluate(LOWEST_CONTRAST)
    assert ratio >= 4.5, (page.url, text)


def ask_for_a_tag(page: Page, scope: str) -> None:
    """Choose all that match, and ask to tag them with a word that nothing breaks."""
    page.goto(f"{LIST}?scope={scope}")
    page.get_by_role("checkbox", name="Tick All on this page").check()
    page.get_by_role("checkbox", name=f"Choose all {MANY} that match").check()
    look(page)
    page.get_by_placeholder("Tag", exact=True).fill("unbroken" * 12)
    page.get_by_role("button", name="Add tag…").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Add the tag")


def test_the_pages_of_a_change_fit_and_can_be_read(visit: Visit, scope: str) -> None:
    page = visit().sign_in(LIST)
    ask_for_a_tag(page, scope)
    page.get_by_role("button", name="Add the tag").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(f"{MANY} memories tagged")
    change = page.url
    page.get_by_role("button", name="Undo for all").click()
    expect(heading).to_contain_text("Undone")
    for viewport, scheme in ((WIDE, "light"), (LAPTOP, "dark"), (NARROW, "dark")):
        page = visit(viewport=viewport, color_scheme=scheme).sign_in(LIST)
        ask_for_a_tag(page, scope)
        expect(page.get_by_role("heading", level=1)).to_be_in_viewport()
        expect(page.get_by_role("button", name="Add the tag")).to_be_in_viewport(ratio=1)
        look(page)
        for address in (change, f"{LIST}?scope={scope}&tag=none"):
            page.goto(address)
            look(page)
