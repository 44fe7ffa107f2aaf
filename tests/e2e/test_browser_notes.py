"""People who read notes: search, a note with the memories beside its passages, small screens."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import LOWEST_CONTRAST, NARROW
from tests.e2e.conftest import Visit
from tests.e2e.service import Service

pytestmark = pytest.mark.browser

PAGE = "/console/notes/"
ADMIN = "/admin/memories/note/"
BILLING = """---
aliases: [Invoices]
tags: [money, work/ops]
---
# Billing

Invoices are sent on the first of the month, see [[contracts]] and [[nowhere]].

## Retries

A failed payment is tried again after three days.
"""


def furnish(service: Service) -> None:
    """Store notes that link each other, one of them without a blank, and a memory."""
    unbroken = "u" * 250
    for path, content in (
        ("work/billing.md", BILLING),
        ("work/contracts.md", "# Contracts\n\nThey name [[Invoices]]."),
        (f"{unbroken}.md", f"# {unbroken}\n\n{unbroken} #{unbroken[:90]}"),
    ):
        body = {"content": content}
        assert service.call("agent", f"notes/{quote(path)}", body, method="PUT")[0] in {200, 201}
    text = "A failed payment is retried after three days [[billing]]."
    assert service.call("agent", "memories", {"content": text})[0] in {200, 201}


def test_a_person_finds_a_note_and_the_memory_beside_its_passage(
    service: Service, visit: Visit
) -> None:
    furnish(service)
    person = visit()
    page = person.sign_in(PAGE)
    page.get_by_label("Search notes").fill("tried again")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Billing", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Billing")
    passage = page.get_by_role("listitem").filter(has_text="Billing > Retries")
    beside = passage.get_by_role("list", name="Memories beside this passage")
    expect(beside).to_contain_text("retried after three days")
    page.locator(".of-note").get_by_role("link", name="contracts", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Contracts")
    page.get_by_role("link", name="All notes").click()
    page.get_by_role("link", name="#money").click()
    page.wait_for_url(re.compile(r"\?tag=money$"))
    expect(page.get_by_role("row")).to_have_count(2)  # with the head
    assert person.complaints == []


def test_a_drifted_memory_is_marked_beside_its_passage_and_leads_to_its_card(
    service: Service, visit: Visit
) -> None:
    furnish(service)
    changed = {"content": BILLING.replace("after three days", "after nine days")}
    assert service.call("agent", "notes/work/billing.md", changed, method="PUT")[0] == 200
    query = {"query": "when is a failed payment retried"}
    assert service.call("agent", "memories/recall", query)[1]["results"]
    person = visit()
    page = person.sign_in(f"{PAGE}?q=billing.md")
    page.get_by_role("link", name="Billing", exact=True).click()
    passage = page.get_by_role("listitem").filter(has_text="Billing > Retries")
    beside = passage.get_by_role("list", name="Memories beside this passage")
    expect(beside).to_contain_text("retried after three days")
    beside.get_by_role("link", name="drifted").click()
    expect(page.locator("[data-card]")).to_contain_text("retried after three days")
    expect(page.locator("[data-card]")).to_contain_text("nine")
    assert person.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_notes_fit_a_narrow_screen(service: Service, visit: Visit, scheme: str) -> None:
    furnish(service)
    page = visit(viewport=NARROW, color_scheme=scheme).sign_in(PAGE)
    notes = [
        link.get_attribute("href")
        for link in page.get_by_role("table").get_by_role("link").all()
        if "tag=" not in (link.get_attribute("href") or "")
    ]
    assert len(notes) == 3
    sources = [f"{ADMIN}{str(path).rstrip('/').rpartition('/')[2]}/change/" for path in notes]
    for path in (PAGE, f"{PAGE}?q=payment", f"{PAGE}?q=nothing+matches", *notes, *sources):
        page.goto(str(path))
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not page.evaluate(wide), path
        ratio, text = page.evaluate(LOWEST_CONTRAST)
        assert ratio >= 4.5, (path, text)
