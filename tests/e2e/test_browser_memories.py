"""People who look after memories: find, edit, pin, forget and bring back, by mouse and by keys."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import LOWEST_CONTRAST, NARROW, WIDE, width_over
from tests.e2e.conftest import Visit
from tests.e2e.service import Service

pytestmark = pytest.mark.browser

LIST = "/console/memories/"
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def commit(service: Service, content: str, **fields: Any) -> str:
    status, body = service.call("agent", "memories", {"content": content, **fields})[:2]
    assert status in {200, 201}
    return str(body["memory"]["id"])


def test_a_person_edits_a_memory_and_takes_it_back(
    service: Service, visit: Visit, subject: str
) -> None:
    commit(service, f"The {subject} gate is green.")
    person = visit()
    page = person.sign_in(LIST)
    page.get_by_label("Search memories").fill(f"{subject} green")
    page.keyboard.press("Enter")
    page.get_by_role("link", name=f"The {subject} gate is green.").click()
    page.wait_for_url(re.compile(rf"{LIST}[0-9a-f-]+/$"))
    page.keyboard.press("e")
    statement = page.get_by_label("Statement")
    expect(statement).to_be_focused()
    statement.fill(f"The {subject} gate is blue.")
    page.get_by_label("Tags, one a line").fill("gates")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"The {subject} gate is blue.")
    expect(page.get_by_role("status")).to_contain_text("Saved as revision 2.")
    expect(page.get_by_role("link", name="#gates")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"The {subject} gate is green.")
    expect(page.get_by_role("link", name="#gates")).to_have_count(0)
    assert person.complaints == []


def test_several_are_ticked_by_key_forgotten_and_brought_back(
    service: Service, visit: Visit, subject: str
) -> None:
    for colour in ("red", "black", "white"):
        commit(service, f"One {subject} kite is {colour}.")
    person = visit()
    page = person.sign_in(f"{LIST}?q={subject}")
    expect(page.get_by_role("row")).to_have_count(4)  # with the head
    for key in "jxjx":
        page.keyboard.press(key)
    expect(page.locator("[data-ticked]")).to_have_text("2 of 3 ticked")
    page.get_by_role("button", name="Forget…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Forget 2 memories?")
    page.get_by_role("button", name="Forget", exact=True).click()
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("status").first).to_contain_text("2 memories forgotten.")
    page.keyboard.press("u")
    expect(page.get_by_role("row")).to_have_count(4)
    assert person.complaints == []


def test_a_try_of_a_recall_shows_factors_and_what_is_missing(
    service: Service, visit: Visit, subject: str
) -> None:
    memory = commit(service, f"The {subject} ferry leaves at nine.")
    person = visit()
    page = person.sign_in(f"{LIST}{memory}/")
    page.get_by_role("searchbox", name="Query").fill(f"When does the {subject} ferry leave?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="It is among the results")).to_be_visible()
    expect(page.locator(".results .steps").first).to_contain_text("Meaning")
    page.get_by_label("Scope").fill("elsewhere")
    page.get_by_role("button", name="Recall").click()
    expect(page.get_by_role("heading", name="Why it is not among the results")).to_be_visible()
    expect(page.locator(".reasons")).to_contain_text("It lies outside of the scope.")
    assert person.complaints == []


def look(page: Page, path: str) -> None:
    """Assert that a page fits its screen and can be read."""
    page.goto(path)
    assert not page.evaluate(WIDER), path
    ratio, text = page.evaluate(LOWEST_CONTRAST)
    assert ratio >= 4.5, (path, text)


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_memories_fit_and_can_be_read(
    service: Service, visit: Visit, subject: str, viewport: Any, scheme: str
) -> None:
    unbroken = subject + "u" * 250
    memory = commit(
        service, f"The {subject} {unbroken} is long.", scope=unbroken[:90], tags=[unbroken[:90]],
        agent=unbroken[:90],
    )  # fmt: skip
    page = visit(viewport=viewport, color_scheme=scheme).sign_in(LIST)
    every = "&columns=".join(["", "tags", "scope", "agent", "confidence", "learned", "state"])
    for path in (
        LIST, f"{LIST}?q=nothing+{subject}", f"{LIST}?q={subject}{every}",
        f"{LIST}{memory}/", f"/console/recall/?query={subject}+long&cut=all&expected={memory}",
    ):  # fmt: skip
        look(page, path)
    page.goto(f"{LIST}{memory}/")
    page.locator(".edit > summary").click()
    assert not page.evaluate(WIDER)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "none"])
def test_on_a_phone_the_list_comes_before_filters_and_actions(
    service: Service, visit: Visit, subject: str, scripts: bool
) -> None:
    commit(service, f"The {subject} lamp is lit.", scope=subject)
    page = visit(viewport=NARROW, java_script_enabled=scripts).sign_in(f"{LIST}?q={subject}")
    memory = page.get_by_role("link", name=f"The {subject} lamp is lit.")
    expect(memory).to_be_in_viewport(ratio=1)
    forget = page.get_by_role("button", name="Forget…")
    expect(forget).to_be_hidden()
    page.locator("[data-tick]").check()
    expect(forget).to_be_visible()
    page.locator("[data-tick]").uncheck()
    expect(forget).to_be_hidden()
    scope = page.get_by_role("textbox", name="Scope", exact=True)
    expect(scope).to_be_hidden()
    page.get_by_role("checkbox", name="Filters").check()
    scope.fill(subject)
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(memory).to_be_visible()
    expect(scope).to_have_value(subject)  # a filter that is set is not folded away
    assert width_over(page) == 0


def test_lists_and_changes_work_without_scripts(
    service: Service, visit: Visit, subject: str
) -> None:
    memory = commit(service, f"The {subject} mill is old.")
    page = visit(java_script_enabled=False).sign_in(f"{LIST}?q={subject}")
    page.get_by_role("checkbox", name=f"Tick: The {subject} mill").check()
    page.get_by_role("button", name="Pin…", exact=True).click()
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("1 memory pinned.")
    page.goto(f"{LIST}{memory}/")
    page.locator(".edit > summary").click()
    page.get_by_label("Scope").fill("mills")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="mills")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="mills")).to_have_count(0)


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_links_of_a_memory_are_drawn_followed_by_keys_and_listed(
    service: Service, visit: Visit, subject: str, viewport: dict[str, int]
) -> None:
    note = {"content": f"# {subject} bell\n\nIt rings at nine."}
    assert service.call("agent", f"notes/{subject}.md", note, method="PUT")[0] in {200, 201}
    source = commit(service, f"The {subject} bell was cast in 1901.")
    rings = f"The {subject} bell rings at nine, as [[{subject}]] says."
    derived = commit(service, rings, derived_from=[source])
    person = visit(viewport=viewport)
    page = person.sign_in(f"{LIST}{derived}/")
    drawing = page.get_by_role("group", name="The strongest links of this memory")
    expect(drawing).to_contain_text("This memory")
    to_source = drawing.locator(f'a[href="{LIST}{source}/"]')
    expect(to_source).to_be_visible()
    expect(drawing.get_by_role("link", name=f"this memory links it: {subject}")).to_be_visible()
    assert not page.evaluate(WIDER)
    page.get_by_text("The same as a list").click()
    listed = page.locator("details").filter(has_text="The same as a list")
    expect(listed.get_by_role("link", name=f"The {subject} bell was cast")).to_be_visible()
    to_source.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{LIST}{source}/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("cast in 1901")
    assert person.complaints == []
