"""A card in front of people: named values, a message that moves nothing, answers in reach."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.e2e.browser import NARROW, WIDE, press, width_over
from tests.e2e.conftest import Visit
from tests.e2e.service import Service, contradict, status

pytestmark = pytest.mark.browser

TRIAGE, LIST = "/console/triage/", "/console/conflicts/"
LETTERS = {1440: "a", 1280: "b", 390: "c", 360: "d"}  # another subject for each width
KEEP_NEW = "Keep 5000 requests per second"
KEEP_OLD = "Keep 1000 requests per second"


def top_of(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["y"]


def test_answers_name_the_values_and_the_message_moves_nothing(
    service: Service, visit: Visit, subject: str
) -> None:
    contradict(service, f"{subject}one")
    contradict(service, f"{subject}two")
    person = visit()
    page = person.sign_in(f"{TRIAGE}?q={subject}")
    expect(page.locator("#question")).to_contain_text("1000 or 5000 requests per second?")
    expect(page.get_by_role("button", name=KEEP_NEW)).to_be_visible()
    expect(page.get_by_role("button", name=KEEP_OLD)).to_be_visible()
    for number in (1, 2):  # the evidence is seen without scrolling
        assert top_of(page, f"#statement-{number} .says") < 850
    before = top_of(page, ".decision")
    press(page, "2")
    toast = page.locator("form.toast")
    expect(toast).to_contain_text(
        "Kept 1000 requests per second, retired 5000 requests per second."
    )
    assert top_of(page, ".decision") == before
    toast.get_by_role("button", name="Hide this").click()
    expect(toast).to_be_hidden()
    press(page, "u")
    expect(page.get_by_text("the question is open again")).to_be_visible()
    assert top_of(page, ".decision") == before
    assert person.complaints == []


def test_the_key_undoes_the_last_decision_after_one_went_on_or_says_that_there_is_none(
    service: Service, visit: Visit, subject: str
) -> None:
    card = contradict(service, f"{subject}one")[2]
    for name in ("two", "three"):
        contradict(service, f"{subject}{name}")
    person = visit()
    page = person.sign_in(f"{TRIAGE}?q={subject}&card={card}")
    shown, toast = page.locator("[data-card]"), page.locator(".toast")
    press(page, "u")
    expect(toast).to_contain_text("Nothing to undo: you have decided nothing in this visit")
    press(page, "6")
    expect(page.locator("form.toast")).to_be_visible()
    second = str(shown.get_attribute("data-card"))
    press(page, "j")
    expect(shown).not_to_have_attribute("data-card", second)
    expect(toast).to_have_count(0)
    press(page, "u")
    expect(toast).to_contain_text("the question is open again")
    expect(shown).to_have_attribute("data-card", card)
    assert status(service, card) == "open"
    before = top_of(page, ".decision")
    press(page, "u")
    expect(toast).to_have_count(1)
    expect(toast).to_contain_text("you have decided nothing in this visit, or have undone it")
    assert top_of(page, ".decision") == before
    toast.get_by_role("button", name="Hide this").click()
    expect(toast).to_be_hidden()
    assert person.complaints == []


def test_five_asks_for_the_answer_and_enter_gives_it(
    service: Service, visit: Visit, subject: str
) -> None:
    _, _, card = contradict(service, subject)
    person = visit()
    page = person.sign_in(f"{TRIAGE}?card={card}")
    field = page.get_by_label("What is true, if you know it")
    expect(field).to_be_hidden()
    press(page, "5")
    expect(field).to_be_focused()
    save = page.get_by_role("button", name="None is valid: retire them")
    expect(save.locator("xpath=..")).to_contain_text("Enter saves")
    footer = top_of(page, ".decide > .more")
    for seen in (field, save):
        box = seen.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= footer + 1  # a fraction of a pixel is rounded
    assert status(service, card) == "open"
    page.keyboard.type(f"The {subject} rate limit is 2500 requests per second.")
    press(page, "Enter")
    expect(page.locator("form.toast")).to_contain_text(
        f"Retired both: “The {subject} rate limit is 2500"
    )
    assert status(service, card) == "resolved"
    _, answer = service.call("agent", "memories/recall", {"query": f"{subject} rate limit"})
    assert "2500 requests" in answer["results"][0]["memory"]["content"]
    assert person.complaints == []


def test_snooze_says_the_days_and_no_two_are_the_same(
    service: Service, visit: Visit, subject: str
) -> None:
    _, _, card = contradict(service, subject)
    page = visit().sign_in(f"{TRIAGE}?card={card}")
    press(page, "s")
    moments = page.locator("[data-snooze] button time").all()
    days = [(moment.get_attribute("datetime") or "")[:10] for moment in moments]
    assert len(set(days)) == len(days) >= 3  # in three hours may be the next day
    choice = page.get_by_role("button", name="Next week")
    words = choice.locator("time").inner_text()
    assert words.endswith(", 08:00")
    choice.click()
    expect(page.locator("form.toast")).to_contain_text(f"Snoozed until {words}.")


def box_of(one: Locator) -> FloatRect:
    box = one.bounding_box()
    assert box is not None
    return box


@pytest.mark.parametrize("width", [390, 360])
def test_on_phones_both_statements_are_read_before_anything_is_scrolled(
    service: Service, visit: Visit, width: int
) -> None:
    said = [f"of house {width} opens at {time} on weekdays" for time in ("9:30", "10:00")]
    _, _, card = contradict(service, "canteen", said)
    person = visit(viewport={"width": width, "height": 780}, has_touch=True)
    page = person.sign_in(f"{TRIAGE}?card={card}")
    bar = [box_of(page.get_by_role("button", name=f"Keep {time}")) for time in ("9:30", "10:00")]
    says = [box_of(one) for one in page.locator(".statement .says").all()]
    assert len(says) == 2
    assert max(box["y"] + box["height"] for box in says) <= min(box["y"] for box in bar)
    # A name of one line stands in the middle of a button that is as high as its neighbour's.
    page.locator(".verdict .what").nth(1).evaluate("what => what.append(' and more'.repeat(9))")
    button, name = (box_of(page.locator(one).first) for one in (".verdict", ".verdict .what"))
    above, below = name["y"] - button["y"], button["height"] - name["height"]
    assert abs(2 * above - below) <= 2
    tabs = [box_of(tab)["y"] for tab in page.locator(".pagehead .tabs a").all()]
    assert len(set(tabs)) == 1
    page.goto(LIST)
    tabs = [box_of(tab)["y"] for tab in page.locator(".pagehead .tabs a").all()]
    assert len(set(tabs)) == 1
    assert (width_over(page), person.complaints) == (0, [])


def test_narrow_screens_keep_yes_and_no_in_reach_and_fold_the_filters(
    service: Service, visit: Visit, subject: str
) -> None:
    _, _, card = contradict(service, subject)
    person = visit(viewport=NARROW, has_touch=True)
    page = person.sign_in(f"{TRIAGE}?card={card}")
    for name in (KEEP_NEW, KEEP_OLD):
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        expect(page.locator(".effects dt", has_text=name)).to_be_visible()
    expect(page.get_by_label("Scope")).to_be_hidden()
    page.get_by_label("Filters").check()
    expect(page.get_by_label("Scope")).to_be_visible()
    page.get_by_role("button", name=KEEP_NEW).tap()
    toast = page.locator("form.toast")
    expect(toast).to_be_in_viewport(ratio=1)
    toast.get_by_role("button", name="Undo").tap()
    expect(page.get_by_text("the question is open again")).to_be_visible()
    assert status(service, card) == "open"
    assert person.complaints == []


def test_several_are_ticked_counted_and_dismissed(
    service: Service, visit: Visit, subject: str
) -> None:
    _, _, one = contradict(service, f"{subject}one")
    _, _, two = contradict(service, f"{subject}two")
    person = visit()
    page = person.sign_in(f"{LIST}?status=open&q={subject}")
    expect(page.locator("[data-ticked]")).to_have_text("0 ticked")
    page.get_by_label("All on this page").check()
    expect(page.locator("[data-ticked]")).to_have_text("2 ticked")
    page.get_by_role("button", name="Dismiss…").click()
    expect(page.get_by_role("heading", name="Dismiss 2 conflicts?")).to_be_visible()
    page.get_by_role("button", name="Dismiss", exact=True).click()
    expect(page.get_by_text("2 conflicts dismissed.")).to_be_visible()
    assert [status(service, card) for card in (one, two)] == ["dismissed"] * 2
    page.goto(f"{LIST}?status=dismissed&q={subject}")
    expect(page.locator(".conflicts li")).to_have_count(2)
    row = page.locator(".conflicts li").first
    expect(row).to_contain_text(re.compile(rf"not a conflict\s+decided by {service.person}, "))
    assert person.complaints == []


def test_a_key_undoes_what_was_done_to_several_and_nothing_moves(
    service: Service, visit: Visit, subject: str
) -> None:
    cards = [contradict(service, f"{subject}{name}")[2] for name in ("one", "two")]
    person = visit()
    page = person.sign_in(f"{LIST}?q={subject}")
    before = top_of(page, ".conflicts")
    page.get_by_label("All on this page").check()
    page.get_by_role("button", name="Snooze…").click()
    page.get_by_role("button", name="Snooze", exact=True).click()
    expect(page.locator("form.toast")).to_contain_text("2 conflicts snoozed.")
    assert top_of(page, ".conflicts") == before
    press(page, "u")
    expect(page.locator(".toast")).to_contain_text("Undone for 2 conflicts.")
    assert [status(service, card) for card in cards] == ["open"] * 2
    assert person.complaints == []


def test_what_is_typed_outlives_the_form_beside_it(
    service: Service, visit: Visit, subject: str
) -> None:
    _, _, card = contradict(service, subject)
    person = visit()
    page = person.sign_in(f"{TRIAGE}?card={card}")
    note, talk = page.get_by_label("Note for the record"), page.get_by_label("Add a comment")
    note.fill("because of the invoice")
    talk.fill("who knows more?")
    press_outside(page, "s")
    page.get_by_role("button", name="Until then").click()
    expect(page.locator("#refusal")).to_contain_text("Choose a day.")
    expect(note).to_have_value("because of the invoice")
    expect(talk).to_have_value("who knows more?")
    press_outside(page, "Escape")
    expect(page.get_by_role("button", name="Until then")).to_be_hidden()
    press_outside(page, "a")
    expect(page.get_by_role("button", name="Unassign me")).to_be_visible()
    expect(note).to_have_value("because of the invoice")
    expect(talk).to_have_value("who knows more?")
    talk.press("Control+Enter")
    expect(page.locator("ul.talk")).to_contain_text("who knows more?")
    expect(note).to_have_value("because of the invoice")
    expect(talk).to_have_value("")
    page.reload()
    expect(note).to_have_value("")
    assert len(person.complaints) == 1
    assert "422" in person.complaints[0]  # the refusal


@pytest.mark.parametrize("viewport", [WIDE, NARROW])
def test_what_is_typed_outlives_a_remark_without_scripts(
    service: Service, visit: Visit, subject: str, viewport: dict[str, int]
) -> None:
    _, _, card = contradict(service, f"{subject}{LETTERS[viewport['width']]}")
    page = visit(java_script_enabled=False, viewport=viewport).sign_in(f"{TRIAGE}?card={card}")
    note, talk = page.get_by_label("Note for the record"), page.get_by_label("Add a comment")
    note.fill("because of the invoice")
    talk.fill("who knows more?")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.locator("ul.talk")).to_contain_text("who knows more?")
    expect(note).to_have_value("because of the invoice")
    expect(talk).to_have_value("")
    page.get_by_role("button", name="Assign to me").click()
    expect(page.get_by_role("button", name="Unassign me")).to_be_visible()
    expect(note).to_have_value("because of the invoice")
    page.locator("[data-snooze] summary").click()
    page.get_by_label("Date").fill("2001-01-01")
    page.get_by_role("button", name="Until then").click()
    expect(page.locator("#refusal")).to_contain_text("Choose a day after today.")
    expect(page.get_by_label("Date")).to_have_value("2001-01-01")
    expect(note).to_have_value("because of the invoice")
    expect(page.locator("#question")).to_be_visible()
    assert width_over(page) == 0
    for field in (note, page.get_by_label("Date")):
        field.press("Enter")  # sends no answer
        expect(page.get_by_label("Date")).to_have_value("2001-01-01")
    page.get_by_label("Date").fill("2100-01-01")
    page.get_by_label("Date").press("Enter")
    expect(page.locator("form.toast")).to_contain_text("Snoozed until")
    assert status(service, card) == "snoozed"


def press_outside(page: Page, key: str) -> None:
    """Press a key while no field has the focus."""
    page.evaluate("document.activeElement?.blur()")
    press(page, key)


@pytest.mark.parametrize("width", [1440, 1280, 390, 360])
def test_no_word_is_broken_inside_a_pill(
    service: Service, visit: Visit, subject: str, width: int
) -> None:
    _, _, card = contradict(service, f"{subject}{LETTERS[width]}")
    contradict(service, f"{subject}{LETTERS[width]}other")
    verdict = {"verdict": "dismiss"}  # two statuses
    assert service.call("reviewer", f"conflicts/{card}/resolve", verdict)[0] == 200
    page = visit(viewport={"width": width, "height": 800}).sign_in(f"{LIST}?q={subject}")
    chips = page.locator(".conflicts .chip")
    heights = chips.evaluate_all("e => e.map(x => x.getClientRects().length)")
    assert heights
    assert set(heights) == {1}
    tall = chips.evaluate_all("e => Math.max(...e.map(x => x.offsetHeight))")
    assert tall < 32
    assert width_over(page) == 0
