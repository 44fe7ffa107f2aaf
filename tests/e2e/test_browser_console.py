"""People in front of a running product: keys, undo, live arrival, small screens, no scripts."""

from __future__ import annotations

import os
import re
import signal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import NARROW, press, width_over
from tests.e2e.conftest import Visit
from tests.e2e.service import Service, contradict, status
from tests.homes import eventually, processes_of

pytestmark = pytest.mark.browser

TRIAGE, INBOX, GATE = "/console/triage/", "/console/inbox/", "/console/gate/"


def shown(page: Page) -> str | None:
    return page.locator("[data-card]").get_attribute("data-card")


def test_keyboard_leads_through_a_decision_and_back(
    service: Service, visit: Visit, subject: str
) -> None:
    contradict(service, f"{subject}one")
    contradict(service, f"{subject}two")
    person = visit()
    page = person.sign_in(TRIAGE)
    first = shown(page)
    assert first is not None
    press(page, "j")
    expect(page.locator("[data-card]")).not_to_have_attribute("data-card", first)
    press(page, "k")
    expect(page.locator("[data-card]")).to_have_attribute("data-card", first)
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "1")
    press(page, "Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert status(service, first) == "open"
    press(page, "/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("123")
    press(page, "Escape")
    assert status(service, first) == "open"
    press(page, "3")
    expect(page.get_by_text("Tick “Keep” beside the memories")).to_be_visible()
    assert status(service, first) == "open"
    press(page, "1")
    expect(page.locator("[data-undo-bar]")).to_contain_text("Kept 5000 requests per second")
    assert status(service, first) == "resolved"
    press(page, "u")
    expect(page.get_by_text("the question is open again")).to_be_visible()
    expect(page.locator("[data-card]")).to_have_attribute("data-card", first)
    assert status(service, first) == "open"
    press(page, "s")
    press(page, "2")  # of the open choices, not of the answers
    expect(page.locator("[data-undo-bar]")).to_contain_text("Snoozed until")
    assert status(service, first) == "snoozed"
    press(page, "u")
    expect(page.get_by_text("the question is open again")).to_be_visible()
    assert person.complaints == []


def test_keyboard_answers_the_gate(service: Service, visit: Visit, subject: str) -> None:
    plain, finer = f"The {subject} runs on Monday.", f"The {subject} runs on Monday at 14:00 UTC."
    for place, provenance in (("a", "user_stated"), ("b", "user_stated"), ("c", "")):
        sent = {"content": plain, "scope": f"{subject}/{place}"}
        if provenance:
            sent["provenance"] = provenance
        service.call("admin" if provenance else "agent", "memories", sent)
        service.call("agent", "memories", {"content": finer, "scope": f"{subject}/{place}"})
    person = visit()
    page = person.sign_in(GATE)
    suggestions = page.locator("[id^=suggestion-]")
    merges = page.locator("[id^=merge-]")
    expect(suggestions).to_have_count(2)
    expect(merges).to_have_count(1)
    press(page, "2")  # no pair is chosen yet
    keys = page.locator("[data-pair] kbd:visible")
    expect(keys).to_have_count(0)
    press(page, "j")
    expect(suggestions.nth(0)).to_be_focused()
    press(page, "j")
    expect(suggestions.nth(1)).to_be_focused()
    expect(keys).to_have_text(["1", "2", "3", "4"])
    expect(suggestions.nth(1).locator("kbd:visible")).to_have_count(4)
    press(page, "k")
    press(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    press(page, "2")
    press(page, "Escape")
    second = suggestions.nth(1).get_attribute("id")
    waiting = merges.nth(0).get_attribute("id")  # the next one is to be judged too, in any order
    first, toast = suggestions.nth(0).get_attribute("id"), page.locator(".toast")
    top = page.locator(".gate-columns").evaluate("pairs => pairs.offsetTop")
    press(page, "2")
    expect(toast).to_contain_text("Kept apart.")
    expect(suggestions).to_have_count(1)
    expect(page.locator(f"#{second}")).to_be_focused()
    assert page.locator(".gate-columns").evaluate("pairs => pairs.offsetTop") == top
    press(page, "u")
    expect(toast).to_contain_text("Undone: the pair waits again.")
    expect(page.locator(f"#{first}")).to_be_focused()
    press(page, "2")
    expect(page.locator(f"#{second}")).to_be_focused()
    press(page, "1")
    expect(toast).to_contain_text("Merged.")
    expect(suggestions).to_have_count(0)
    expect(page.locator(f"#{waiting}")).to_be_focused()
    for key, said in (("1", "Noted: a right merge."), ("2", "Taken apart: both are recalled")):
        press(page, key)
        expect(toast).to_contain_text(said)
        expect(page.locator(f"#{waiting}")).to_have_count(0)
        toast.get_by_role("button", name="Hide this").click()
        press(page, "u")
        expect(toast).to_contain_text("Undone: the pair waits again.")
        expect(page.locator(f"#{waiting}")).to_be_focused()
    assert person.complaints == []


def test_what_arrives_is_counted_and_nothing_moves(
    service: Service, visit: Visit, subject: str
) -> None:
    contradict(service, f"{subject}one")
    page = visit().sign_in(TRIAGE)
    expect(page.locator("[data-pulse]")).to_have_text("live")
    before = shown(page)
    page.get_by_label("Note for the record").fill("half a thought")
    contradict(service, f"{subject}two")
    expect(page.get_by_role("button", name="1 new")).to_be_visible()
    expect(page.get_by_label("Note for the record")).to_have_value("half a thought")
    assert shown(page) == before
    page.get_by_role("button", name="1 new").click()
    expect(page.locator("[data-card]")).to_have_attribute("data-card", before or "")


def test_card_that_somebody_else_decided_says_so(
    service: Service, visit: Visit, subject: str
) -> None:
    _, _, card = contradict(service, subject)
    page = visit().sign_in(f"/console/conflicts/{card}/")
    expect(page.locator("[data-pulse]")).to_have_text("live")
    service.call("reviewer", f"conflicts/{card}/resolve", {"verdict": "both_valid"})
    expect(page.get_by_text("Somebody else has just decided")).to_be_visible()
    page.get_by_label("Note for the record").fill("my reasons")
    page.get_by_role("button", name="Not a conflict").click()
    expect(page.get_by_role("alert").first).to_contain_text("this card has changed meanwhile")
    expect(page.get_by_role("alert").first).to_contain_text("my reasons")


def test_decision_in_the_browser_changes_what_agents_recall(
    service: Service, visit: Visit, subject: str
) -> None:
    old, new, card = contradict(service, subject)
    page = visit().sign_in(f"{TRIAGE}?card={card}")
    page.locator(f'input[name="keep"][value="{old}"]').check()
    page.get_by_role("button", name="Keep the ticked ones").click()
    expect(page.locator("[data-undo-bar]")).to_be_visible()
    _, answer = service.call("agent", "memories/recall", {"query": f"{subject} rate limit"})
    recalled = [result["memory"]["id"] for result in answer["results"]]
    assert old in recalled
    assert new not in recalled


def test_dashboard_tells_at_once_and_holds_back_when_paused(
    service: Service, visit: Visit, subject: str
) -> None:
    page = visit().sign_in("/")
    expect(page.locator("[data-pulse]")).to_have_text("live")
    feed = page.locator("[data-feed]")
    service.call("agent", "memories", {"content": f"The {subject} lamp is green."})
    expect(feed).to_contain_text(f"The {subject} lamp is green.")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("[data-pulse]")).to_have_text("paused")
    service.call("agent", "memories", {"content": f"The {subject} door is oak."})
    expect(page.locator("[data-held]")).to_contain_text("waiting")
    expect(feed).not_to_contain_text("door is oak")
    page.get_by_role("button", name="Resume").click()
    expect(feed).to_contain_text(f"The {subject} door is oak.")


def test_dashboard_reconnects_and_catches_up(service: Service, visit: Visit, subject: str) -> None:
    page = visit().sign_in("/")
    expect(page.locator("[data-pulse]")).to_have_text("live")
    web = [pid for pid, line in processes_of(service.up.home).items() if "supervisor.web" in line]
    for pid in web:
        os.kill(pid, signal.SIGKILL)
    expect(page.locator("[data-pulse]")).to_contain_text("not connected")
    assert eventually(service.up.answers)
    service.call("agent", "memories", {"content": f"The {subject} roof is slate."})
    expect(page.locator("[data-feed]")).to_contain_text(f"The {subject} roof is slate.")
    expect(page.locator("[data-pulse]")).to_have_text("live")
    told = page.locator("[data-feed] li[data-seq]")
    seqs = [row.get_attribute("data-seq") for row in told.all()]
    assert len(seqs) == len(set(seqs))


def test_everything_works_without_scripts(service: Service, visit: Visit, subject: str) -> None:
    _, _, card = contradict(service, subject)
    page = visit(java_script_enabled=False).sign_in(f"{TRIAGE}?card={card}")
    expect(page.locator("kbd").first).to_be_hidden()
    page.get_by_label("Note for the record").fill("by hand")
    page.get_by_role("button", name="Keep 5000 requests per second").click()
    expect(page.locator("#done-words")).to_contain_text("Kept 5000 requests per second")
    assert status(service, card) == "resolved"
    page.get_by_role("button", name="Undo").first.click()
    expect(page.get_by_text("the question is open again")).to_be_visible()
    assert status(service, card) == "open"
    page.locator("[data-snooze] summary").click()
    page.get_by_role("button", name="Next week").click()
    assert status(service, card) == "snoozed"
    page.goto("/")
    expect(page.get_by_role("heading", name="Activity")).to_be_visible()
    page.get_by_role("button", name="Sign out").first.click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.parametrize("viewport", [NARROW, {"width": 1920, "height": 1080}])
def test_no_page_is_wider_than_its_screen(
    service: Service, visit: Visit, subject: str, viewport: dict[str, int]
) -> None:
    word = "SETTING_" * 20
    service.call("agent", "memories", {"content": f"The {subject} flag {word} is on."})
    _, _, card = contradict(service, f"{subject}{viewport['width']}")
    person = visit(viewport=viewport)
    page = person.sign_in("/")
    for path in (
        "/", TRIAGE, INBOX, "/console/conflicts/", f"/console/conflicts/{card}/", "/nowhere/",
        GATE, "/admin/memories/memory/", "/admin/memories/review/", "/admin/memories/janitorrun/",
    ):  # fmt: skip
        page.goto(path)
        assert (path, width_over(page)) == (path, 0)


def test_narrow_screen_has_the_menu_and_the_verdicts(
    service: Service, visit: Visit, subject: str
) -> None:
    _, _, card = contradict(service, subject)
    page = visit(viewport=NARROW, has_touch=True).sign_in("/")
    page.locator(".topbar summary").tap()
    page.locator(".topbar").get_by_role("link", name="Inbox").tap()
    page.locator(".section").get_by_role("link", name="Triage").tap()
    expect(page.locator("[data-card]")).to_be_visible()  # else the tap's visit ends the next one
    page.goto(f"{TRIAGE}?card={card}")
    page.get_by_role("button", name="Both are valid").tap()
    expect(page.locator("[data-undo-bar]")).to_contain_text("both are valid")
    assert status(service, card) == "resolved"


def test_chosen_theme_is_remembered_and_shared_with_the_admin(
    service: Service, visit: Visit
) -> None:
    page = visit(color_scheme="light").sign_in("/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.locator(".side").get_by_role("button", name="Dark").click()
    assert page.evaluate(background) != light
    page.goto(TRIAGE)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/admin/memories/memory/")
    expect(page.locator("html")).to_have_class(re.compile(r"\bdark\b"))
