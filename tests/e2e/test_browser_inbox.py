"""People in front of the inbox: one keyboard for every kind, undo, arrivals, no scripts."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import NARROW, press
from tests.e2e.conftest import Visit
from tests.e2e.service import FACTS, Service, contradict, status, work
from tests.homes import eventually

pytestmark = pytest.mark.browser

INBOX = "/console/inbox/"
BAR = "form.toast[role=status]"


def suggest(service: Service, scope: str) -> str:
    """Let the gate ask whether two memories are the same; return the suggestion."""
    plain, finer = f"The {scope} runs on Monday.", f"The {scope} runs on Monday at 14:00 UTC."
    stated = {"content": plain, "scope": scope, "provenance": "user_stated"}
    service.call("admin", "memories", stated)
    _, answer = service.call("agent", "memories", {"content": finer, "scope": scope})
    assert answer["outcome"] == "suggested"
    _, open_ones = service.call("agent", "merge-suggestions")
    mine = answer["memory"]["id"]
    return next(
        str(row["id"])
        for row in open_ones["results"]
        if mine in {memory["id"] for memory in row["memories"]}
    )


def ask_for_review(service: Service, scope: str) -> str:
    """Let an agent ask to change what a user stated; return the review."""
    body = {"content": f"The {scope} costs 5000 euros.", "scope": scope}
    _, made = service.call("admin", "memories", {**body, "provenance": "user_stated"})
    change = {"content": f"The {scope} costs 9 euros.", "supersedes": made["memory"]["id"]}
    _, asked = service.call("agent", "memories", {**change, "scope": scope})
    return str(asked["review"])


def shown(page: Page) -> str | None:
    return page.locator("[data-card]").get_attribute("data-key")


def count(service: Service, source: str) -> int:
    _, answer = service.call("reviewer", "inbox")
    return int(next(row["count"] for row in answer["sources"] if row["name"] == source))


def test_one_keyboard_leads_through_three_kinds_and_back(
    service: Service,
    visit: Visit,
    subject: str,
) -> None:
    suggestion = suggest(service, f"{subject}merge")
    review = ask_for_review(service, f"{subject}ask")
    _, _, card = contradict(service, f"{subject}card")
    person = visit()
    page = person.sign_in(f"{INBOX}?q={subject}")
    seen = [shown(page)]
    for _ in range(2):
        press(page, "j")
        expect(page.locator("[data-card]")).not_to_have_attribute("data-key", str(seen[-1]))
        seen.append(shown(page))
    # The card may be dated before the review: by the start of the run that found it.
    assert seen[-1] == f"suggestions:{suggestion}"
    assert {*seen[:2]} == {f"reviews:{review}", f"conflicts:{card}"}
    page.goto(f"{INBOX}?q={subject}&item=suggestions:{suggestion}")
    expect(page.locator("#question")).to_be_focused()
    press(page, "2")
    expect(page.locator(BAR)).to_contain_text("Kept apart.")
    expect(page.locator("#question")).to_be_focused()
    press(page, "u")
    expect(page.get_by_text("Undone: it waits again.")).to_be_visible()
    expect(page.locator("[data-card]")).to_have_attribute("data-key", f"suggestions:{suggestion}")
    press(page, "1")
    expect(page.locator(BAR)).to_contain_text("Merged.")
    page.goto(f"{INBOX}?q={subject}&item=reviews:{review}")
    press(page, "s")
    page.get_by_role("button", name="Tomorrow").click()
    expect(page.locator(BAR)).to_contain_text("Snoozed until")
    press(page, "u")
    expect(page.get_by_text("Undone: it waits again.")).to_be_visible()
    page.goto(f"{INBOX}?q={subject}&item=reviews:{review}")
    press(page, "2")
    expect(page.locator(BAR)).to_contain_text("Rejected.")
    page.goto(f"{INBOX}?q={subject}&item=conflicts:{card}")
    press(page, "c")
    expect(page.locator("[data-comment]")).to_be_focused()
    press(page, "Escape")
    press(page, "a")
    expect(page.get_by_text(f"for {service.person}")).to_be_visible()
    press(page, "4")
    expect(page.locator(BAR)).to_contain_text("Kept both: both are valid.")
    assert status(service, card) == "resolved"
    press(page, "u")
    expect(page.locator("[data-card]")).to_have_attribute("data-key", f"conflicts:{card}")
    assert status(service, card) == "open"
    assert person.complaints == []


def draw(service: Service) -> list[str]:
    """Let three sessions be judged and ask people about them; return the items in their order."""
    drafts = [{"content": text} for text in FACTS.values()]
    assert service.call("agent", "memories/batch", {"memories": drafts})[0] == 201
    for number in range(3):
        work(service, number)
    compared = "predictor/comparisons?limit=1"
    assert eventually(lambda: service.call("agent", compared)[1]["count"] == 3)
    status, drawn = service.call("reviewer", "predictor/calibration/sample", {"size": 20})
    assert status == 201
    return [memory["id"] for session in drawn["sessions"] for memory in session["memories"]]


def test_what_memories_were_worth_is_said_by_keyboard_and_the_judge_comes_after(
    service: Service,
    visit: Visit,
) -> None:
    first, second, third, *_ = [f"calibration:{item}" for item in draw(service)]
    person = visit()
    page = person.sign_in(f"{INBOX}?source=calibration")
    card, bar = page.locator("[data-card]"), page.locator(BAR)
    expect(card).to_have_attribute("data-key", first)
    expect(card).to_contain_text("A day of work: ")
    expect(page.locator(".transcript")).to_contain_text("print it twice")
    assert "The judge said" not in page.content()
    press(page, "4")
    expect(bar).to_contain_text("Rated 4/5, of much use.")
    expect(bar).to_contain_text(
        re.compile(r"The judge said \d(\.\d)?/5, (the same|\d\.\d (higher|lower))\.")
    )
    expect(card).to_have_attribute("data-key", second)
    assert "The judge said" not in card.inner_text()
    expect(page.locator("#question")).to_be_focused()
    press(page, "6")
    expect(bar).to_contain_text("Answered: cannot be told.")
    expect(bar).not_to_contain_text("The judge said")
    expect(card).to_have_attribute("data-key", third)
    other_day = visit().sign_in(f"{INBOX}?source=calibration")
    assert shown(other_day) == third
    press(page, "j")
    expect(bar).to_have_count(0)
    press(page, "u")
    expect(page.get_by_text("Undone: it waits again.")).to_be_visible()
    expect(card).to_have_attribute("data-key", second)
    page.goto(f"{INBOX}?item={first}")
    expect(card).to_contain_text(f"{service.person} said")
    expect(card).to_contain_text("The judge said")
    assert person.complaints == []


def test_arrivals_of_any_kind_are_counted_and_nothing_moves(
    service: Service,
    visit: Visit,
    subject: str,
) -> None:
    ask_for_review(service, f"{subject}one")
    page = visit().sign_in(f"{INBOX}?source=reviews")
    expect(page.locator("[data-pulse]")).to_have_text("live")
    before = shown(page)
    page.get_by_label("Note for the record").fill("half a thought")
    suggest(service, f"{subject}two")
    ask_for_review(service, f"{subject}three")
    expect(page.get_by_role("button", name="2 new · show")).to_be_visible()
    expect(page.get_by_label("Note for the record")).to_have_value("half a thought")
    badge = page.locator(".section [data-count=reviews]")
    expect(badge).to_have_text(str(count(service, "reviews")))
    assert shown(page) == before
    page.get_by_label("Note for the record").blur()
    press(page, "n")
    expect(page.get_by_role("button", name="2 new · show")).to_be_hidden()
    assert shown(page) == before


def test_an_answer_that_came_too_late_is_refused_kindly(
    service: Service,
    visit: Visit,
    subject: str,
) -> None:
    review = ask_for_review(service, subject)
    page = visit().sign_in(f"{INBOX}?item=reviews:{review}")
    expect(page.locator("[data-pulse]")).to_have_text("live")
    service.call("reviewer", f"reviews/{review}/reject", {})
    expect(page.get_by_text("Somebody else has just decided")).to_be_visible()
    page.get_by_label("Note for the record").fill("my reasons")
    page.get_by_role("button", name="Accept").click()
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("this has changed meanwhile")
    expect(alert).to_contain_text("my reasons")


def test_the_inbox_works_without_scripts_on_a_narrow_screen(
    service: Service,
    visit: Visit,
    subject: str,
) -> None:
    suggestion = suggest(service, subject)
    options: dict[str, Any] = {"java_script_enabled": False, "viewport": NARROW}
    page = visit(**options).sign_in(f"{INBOX}?source=suggestions&q={subject}")
    expect(page.locator("kbd").first).to_be_hidden()
    assert shown(page) == f"suggestions:{suggestion}"
    page.get_by_role("button", name="Keep apart").click()
    expect(page.locator(BAR)).to_contain_text("Kept apart.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Undone: it waits again.")).to_be_visible()
    page.locator("[data-snooze] summary").click()
    page.get_by_role("button", name="Next week").click()
    expect(page.locator(BAR)).to_contain_text("Snoozed until")
    assert suggestion not in str(service.call("agent", "inbox")[1])
