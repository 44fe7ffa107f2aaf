"""People in front of refused statements: one key keeps what a worker left out of a transcript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import press
from tests.e2e.conftest import Visit
from tests.e2e.service import Service
from tests.homes import eventually

pytestmark = pytest.mark.browser

BAR = "form.toast[role=status]"
KEPT = "The spare pump is in the red shed, Ole Brandt has the code."
TALK = f"""\
User: good morning, the pump in the greenhouse is loud again
Agent: I'll look at the log.
User: and?
Agent: The bearing is worn, it needs another one.
User: {KEPT} Maybe we order another one some day.
Agent: Then swap them at lunch.
User: it hums. For the record: from now on pumps are never stored in the cellar.
Agent: Noted.
"""


def test_a_sentence_of_a_transcript_is_kept_by_one_key_and_taken_back(
    service: Service, visit: Visit
) -> None:
    status, queued = service.call("agent", "memories/extract", {"transcript": TALK})
    assert status == 202
    job = f"jobs/{queued['job']}"
    assert eventually(lambda: service.call("agent", job)[1]["status"] == "done")
    result = service.call("agent", job)[1]["result"]
    assert any("never stored in the cellar" in one["fact"] for one in result["kept"])
    assert any(one["borderline"] and KEPT in one["text"] for one in result["refused"])
    person = visit()
    page = person.sign_in("/console/inbox/?source=refusals&q=red+shed")
    expect(page.locator("blockquote mark")).to_have_text(KEPT)
    press(page, "1")
    expect(page.locator(BAR)).to_contain_text("Kept.")
    listed = service.call("agent", "memories")[1]["results"]
    assert KEPT in {memory["content"] for memory in listed}
    press(page, "u")
    expect(page.locator("blockquote mark")).to_have_text(KEPT)
    listed = service.call("agent", "memories")[1]["results"]
    assert KEPT not in {memory["content"] for memory in listed}
