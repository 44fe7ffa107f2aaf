"""People who look for what is known: search, history, a dispute and its card, small screens."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import LOWEST_CONTRAST, NARROW
from tests.e2e.conftest import Visit
from tests.e2e.service import Service
from tests.homes import eventually

pytestmark = pytest.mark.browser

PAGE = "/console/questions/"
WHO = "Who approves refunds?"


def commit(service: Service, content: str, question: str, answer: str, **more: Any) -> None:
    told = {"question": question, "answer": answer, "was": more.pop("was", None)}
    body = {"content": content, "answers": [told], **more}
    assert service.call("agent", "memories", body)[0] in {200, 201}


def furnish(service: Service) -> None:
    """Let a question be disputed, and another one have a history."""
    commit(service, "Refunds cross the desk of the support lead.", WHO, "the support lead",
           agent="scribe", scope="shop/refunds")  # fmt: skip
    commit(service, "Money back? The treasurer has the last word.", WHO, "the treasurer",
           agent="clerk", scope="finance")  # fmt: skip
    where = "Where are the backups kept?"
    commit(service, "Backups are kept in Dublin.", where, "Dublin", scope="infra",
           observed_at="2026-03-01T09:00:00Z")  # fmt: skip
    commit(service, "We moved the backups from Dublin to Frankfurt.", where, "Frankfurt",
           was="Dublin", agent="deploy-bot", scope="infra")  # fmt: skip
    eventually(lambda: service.call("agent", "questions?disputed=true")[1]["results"])


def test_a_person_finds_a_question_its_history_and_its_dispute(
    service: Service, visit: Visit
) -> None:
    furnish(service)
    person = visit()
    page = person.sign_in(PAGE)
    page.get_by_label("Search questions and answers").fill("backups dublin")
    page.keyboard.press("Enter")
    expect(page.get_by_role("row")).to_have_count(2)  # with the head
    page.get_by_role("link", name="Where are the backups kept?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Where are the backups kept?")
    history = page.get_by_role("listitem").filter(has=page.locator(".says"))
    expect(history.nth(0)).to_contain_text("holds")
    expect(history.nth(1)).to_contain_text("replaced")
    page.get_by_role("link", name="All questions").click()
    page.get_by_label("Disputed only").check()
    page.get_by_role("button", name="Filter").click()
    page.get_by_role("link", name=WHO, exact=True).click()
    page.get_by_role("link", name="Show the conflict").click()
    page.wait_for_url(re.compile(r"/console/conflicts/[0-9a-f-]+/$"))
    expect(page.locator("[data-card]")).to_be_visible()
    assert person.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_questions_fit_a_narrow_screen(service: Service, visit: Visit, scheme: str) -> None:
    furnish(service)
    unbroken = "a" * 250
    commit(service, f"Unbroken {unbroken}.", f"What is {unbroken}?", unbroken)
    person = visit(viewport=NARROW, color_scheme=scheme, java_script_enabled=False)
    page = person.sign_in(PAGE)
    looking = visit(viewport=NARROW, color_scheme=scheme).sign_in(PAGE)
    question = looking.get_by_role("link", name=WHO, exact=True).get_attribute("href")
    for path in (PAGE, f"{PAGE}?q=nothing+matches", f"{PAGE}?as_of=never", str(question)):
        assert page.goto(path) is not None
        looking.goto(path)
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not looking.evaluate(wide), path
        ratio, text = looking.evaluate(LOWEST_CONTRAST)
        assert ratio >= 4.5, (path, text)
        expect(page.locator("main")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_clear_stands_beside_filter_on_a_phone(service: Service, visit: Visit, scheme: str) -> None:
    person = visit(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = person.sign_in(PAGE)
    page.goto(f"{PAGE}?q=refunds")
    boxes = [
        page.get_by_role(role, name=name, exact=True).bounding_box()
        for role, name in (("button", "Filter"), ("link", "Clear"))
    ]
    mine, theirs = ((box["x"], box["y"], box["height"]) for box in boxes if box)
    assert mine[1:] == theirs[1:]
    assert mine[0] < theirs[0]
    assert mine[2] >= 40  # for a thumb
