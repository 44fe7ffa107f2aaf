"""People who answer drift cards: one key an answer, the text edited in place, small screens."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import LOWEST_CONTRAST, NARROW, press
from tests.e2e.conftest import Visit
from tests.e2e.service import Service

pytestmark = pytest.mark.browser

INBOX = "/console/inbox/?source=drift"
BAR = "form.toast[role=status]"
NOTE = "# {0}\n\nThe {0} review is an open blocker for the release. Builds run on Tuesdays.\n"


# The text of what has the focus if a sticky answer covers its middle.
BEHIND_THE_BAR = """
() => {
  const focused = document.activeElement, box = focused.getBoundingClientRect();
  const over = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const covers = over?.closest(".verdict");
  return covers && !covers.contains(focused) ? focused.outerHTML : "";
}
"""


def drift(service: Service, subject: str) -> str:
    """Let a memory drift from its note; return the prediction error."""
    path = f"notes/{quote(f'{subject}.md')}"
    before = NOTE.format(subject)
    after = before.replace("is an open blocker for the release", "was resolved last week")
    text = f"The {subject} review is an open blocker for the release ([[{subject}]])."
    assert service.call("agent", path, {"content": before}, method="PUT")[0] == 201
    assert service.call("agent", "memories", {"content": text})[0] == 201
    assert service.call("agent", path, {"content": after}, method="PUT")[0] == 200
    query = {"query": f"{subject} review blocker"}
    assert service.call("agent", "memories/recall", query)[1]["results"]
    _, found = service.call("agent", f"prediction-errors?note_path={quote(f'{subject}.md')}")
    [error] = found["results"]
    return str(error["id"])


def test_a_drift_card_is_answered_by_keys_and_its_text_is_edited_in_place(
    service: Service, visit: Visit, subject: str
) -> None:
    error = drift(service, subject)
    person = visit()
    page = person.sign_in(f"{INBOX}&q={subject}")
    expect(page.locator("[data-card]")).to_have_attribute("data-key", f"drift:{error}")
    expect(page.locator("ins").first).to_be_visible()
    press(page, "1")
    expect(page.locator(BAR)).to_contain_text("Still true.")
    press(page, "u")
    expect(page.locator("[data-card]")).to_have_attribute("data-key", f"drift:{error}")
    press(page, "3")
    text = page.get_by_label("The memory from now on")
    expect(text).to_be_focused()
    text.fill(f"The {subject} review was resolved ([[{subject}]]).")
    text.press("Control+Enter")
    expect(page.locator(BAR)).to_contain_text("Updated.")
    _, found = service.call("agent", f"prediction-errors/{error}")
    assert (found["resolution"], "was resolved" in found["memory"]["content"]) == ("updated", True)
    assert person.complaints == []


def test_without_scripts_and_on_a_small_screen_a_card_is_answered_as_well(
    service: Service, visit: Visit, subject: str
) -> None:
    error = drift(service, subject)
    options: dict[str, Any] = {
        "java_script_enabled": True, "viewport": NARROW, "color_scheme": "dark",
    }  # fmt: skip
    page = visit(**options).sign_in(f"{INBOX}&q={subject}")
    page.locator("[data-edit] summary").click()
    assert page.evaluate(LOWEST_CONTRAST)[0] >= 4.5
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= NARROW["width"]
    plain = visit(java_script_enabled=False).sign_in(f"{INBOX}&q={subject}")
    plain.get_by_role("button", name="Forget it").click()
    expect(plain.locator(BAR)).to_contain_text("Forgotten.")
    _, found = service.call("agent", f"prediction-errors/{error}")
    assert (found["resolution"], found["memory"]) == ("memory_forgotten", None)


def test_on_a_phone_every_answer_is_in_the_bar_and_nothing_is_behind_it(
    service: Service, visit: Visit, subject: str
) -> None:
    drift(service, subject)
    person = visit(viewport=NARROW, has_touch=True)
    page = person.sign_in(f"{INBOX}&q={subject}")
    text = page.get_by_label("The memory from now on")
    answers = [
        page.get_by_role("button", name="Still true"),
        page.get_by_role("button", name="Forget it"),
        page.get_by_role("link", name="Update it"),
    ]
    for answer in answers:
        expect(answer).to_be_in_viewport(ratio=1)
    tops = {box["y"] for answer in answers if (box := answer.bounding_box())}
    assert len(tops) == 1
    expect(text).to_be_hidden()
    answers[2].tap()
    expect(text).to_be_focused()
    page.reload()
    answers[0].focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(answers[2]).to_be_focused()
    page.keyboard.press("Enter")
    expect(text).to_be_focused()
    page.reload()
    # Going through the page by keyboard, what has the focus is not behind the bar.
    page.get_by_role("link", name="history").focus()
    for _ in range(4):
        page.keyboard.press("Tab")
        behind = page.evaluate(BEHIND_THE_BAR)
        assert not behind, behind
    plain = visit(java_script_enabled=False, viewport=NARROW).sign_in(f"{INBOX}&q={subject}")
    plain.get_by_role("link", name="Update it").click()
    expect(plain.get_by_label("The memory from now on")).to_be_in_viewport()
    assert person.complaints == []


AREAS = ("north", "south", "east")


def drift_of_edit(service: Service, subject: str) -> str:
    """Let a memory of each area drift by one edit of a note; return the note's path."""
    path = f"{subject}.md"
    lines = [f"The {area} gate of {subject} opens at {{0}}:00." for area in AREAS]
    before, after = ("\n\n".join(lines).format(hour) for hour in (8, 10))
    assert (
        service.call("agent", f"notes/{quote(path)}", {"content": before}, method="PUT")[0] == 201
    )
    for area in AREAS:
        text = f"The {area} gate of {subject} opens at 8:00 ([[{subject}]])."
        assert service.call("agent", "memories", {"content": text})[0] == 201
    assert service.call("agent", f"notes/{quote(path)}", {"content": after}, method="PUT")[0] == 200
    service.call("agent", "memories/recall", {"query": f"gates of {subject}", "min_score": None})
    _, found = service.call("agent", f"prediction-errors?note_path={quote(path)}")
    assert found["total"] == len(AREAS)
    return path


def test_all_drift_of_one_edit_is_answered_by_one_key_and_undone_by_another(
    service: Service, visit: Visit, subject: str
) -> None:
    path = drift_of_edit(service, subject)
    person = visit()
    page = person.sign_in(f"{INBOX}&q={subject}")
    title = page.get_by_role("heading", name="Are these 3 still true?")
    expect(title).to_be_visible()
    expect(page.locator(".of-edit")).to_have_count(3)
    expect(page.locator(".of-edit ins")).to_have_count(3)
    press(page, "3")
    expect(page.locator(".stepper .num").first).to_have_text("1 of 3")
    press(page, "1")
    expect(page.locator(BAR)).to_contain_text("Still true.")
    page.get_by_role("link", name="All 2 memories of this edit").click()
    expect(page.get_by_role("heading", name="Are these 2 still true?")).to_be_visible()
    press(page, "2")
    expect(page.locator(BAR)).to_contain_text("Forgotten: 2 memories.")
    press(page, "u")
    expect(page.get_by_role("heading", name="Are these 2 still true?")).to_be_visible()
    _, found = service.call("agent", f"prediction-errors?note_path={quote(path)}")
    assert found["total"] == 2
    assert person.complaints == []


def test_a_group_is_read_and_answered_on_a_small_screen_and_without_scripts(
    service: Service, visit: Visit, subject: str
) -> None:
    drift_of_edit(service, subject)
    page = visit(viewport=NARROW, color_scheme="dark").sign_in(f"{INBOX}&q={subject}")
    assert page.evaluate(LOWEST_CONTRAST)[0] >= 4.5
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    plain = visit(java_script_enabled=False).sign_in(f"{INBOX}&q={subject}")
    plain.get_by_role("button", name="Forget memory B").click()
    expect(plain.locator(BAR)).to_contain_text("Forgotten.")
    expect(plain.get_by_role("heading", name="Are these 2 still true?")).to_be_visible()
    plain.get_by_role("button", name="Still true, all 2").click()
    expect(plain.locator(BAR)).to_contain_text("Still true: 2 memories.")
