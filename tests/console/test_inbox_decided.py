"""A decided item of the inbox: who decided what, the memory that is left, and the undo."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.test import Client

from engram.kernel.tenancy import in_workspace
from memories.models import MergeSuggestion, Review
from tests.conftest import Tenant
from tests.console.test_inbox import INBOX, PLAIN, act, ask_for_review, page, suggest
from tests.memories.drift_world import drifted, errors

Member = Callable[[str], Client]
UNDO = re.compile(
    r'<form method="post" action="([^"]+)" data-undo-bar>.*?name="back" value="([^"]+)"', re.S
)


def panel(client: Client, source: str, item: str) -> str:
    """Return the answer panel of an item, without the toast of an address."""
    html = page(client, f"{INBOX}?item={source}:{item}")
    found = re.search(r'<section class="panel decide.*?</section>', html, re.S)
    assert found is not None
    return found[0]


def press_undo(client: Client, source: str, item: str) -> str:
    """Undo by the button of the panel; return where that leads."""
    found = UNDO.search(panel(client, source, item))
    assert found is not None
    answer = client.post(found[1], {"back": found[2].replace("&amp;", "&")})
    return str(answer["Location"])


def test_a_merged_pair_names_its_memory_and_is_undone_after_other_decisions(
    tenant: Tenant, member: Member
) -> None:
    older, _, suggestion = suggest(tenant)
    _, review = ask_for_review(tenant)
    client = member("reviewer")
    act(client, "suggestions", suggestion, "keep-2")
    act(client, "reviews", review, "reject")
    html = page(client, f"{INBOX}?item=suggestions:{suggestion}")
    assert "wording would survive" not in html
    assert html.count("wording survived") == 1
    assert '<mark class="new"> at 14:00 UTC</mark>' in html  # both as they were before
    shown = panel(client, "suggestions", suggestion)
    assert "<strong>Merged.</strong>" in shown
    assert "reviewer-person" in shown
    assert f"/console/memories/{older}/" in shown
    assert press_undo(client, "suggestions", suggestion) == (
        f"{INBOX}?item=suggestions%3A{suggestion}"
    )
    with in_workspace(tenant.workspace):
        assert MergeSuggestion.objects.get().status == "open"
    assert "wording would survive" in page(client, f"{INBOX}?item=suggestions:{suggestion}")


def test_a_pair_that_is_kept_apart_shows_no_wording_that_would_survive(
    tenant: Tenant, member: Member
) -> None:
    _, _, suggestion = suggest(tenant)
    client = member("reviewer")
    act(client, "suggestions", suggestion, "reject")
    html = page(client, f"{INBOX}?item=suggestions:{suggestion}")
    assert "wording" not in re.sub(r"<form.*?</form>", "", html.split('id="pair-title"')[1])
    press_undo(client, "suggestions", suggestion)
    with in_workspace(tenant.workspace):
        assert MergeSuggestion.objects.get().status == "open"


def test_a_rejected_review_says_who_rejected_it_and_is_undone(
    tenant: Tenant, member: Member
) -> None:
    _, review = ask_for_review(tenant)
    client = member("reviewer")
    act(client, "reviews", review, "reject")
    shown = panel(client, "reviews", review)
    assert '<h2 id="decide-title">Rejected</h2>' in shown
    assert "<strong>Rejected.</strong>" in shown
    assert "reviewer-person" in shown
    press_undo(client, "reviews", review)
    with in_workspace(tenant.workspace):
        assert Review.objects.get().status == "pending"


def test_an_accepted_review_leads_to_the_memory_that_it_changed(
    tenant: Tenant, member: Member
) -> None:
    stated, review = ask_for_review(tenant)
    client = member("reviewer")
    act(client, "reviews", review, "accept")
    shown = panel(client, "reviews", review)
    assert f"/console/memories/{stated}/" in shown
    assert UNDO.search(shown) is None


def test_answered_drift_is_undone_on_its_card(tenant: Tenant, member: Member) -> None:
    drifted(tenant)
    error = str(errors(tenant.reader)[0]["id"])
    client = member("reviewer")
    act(client, "drift", error, "still_true")
    assert "<strong>Still true.</strong>" in panel(client, "drift", error)
    press_undo(client, "drift", error)
    assert "Your answer" in panel(client, "drift", error)


def test_what_was_snoozed_and_then_answered_is_undone_as_an_answer(
    tenant: Tenant, member: Member
) -> None:
    _, _, suggestion = suggest(tenant)
    client = member("reviewer")
    client.post(f"{INBOX}suggestions/{suggestion}/snooze/", {"until": "week", "back": INBOX})
    act(client, "suggestions", suggestion, "reject")
    assert "Kept apart." in page(client, f"{INBOX}?done=suggestions:{suggestion}")
    press_undo(client, "suggestions", suggestion)
    with in_workspace(tenant.workspace):
        assert MergeSuggestion.objects.get().status == "open"


def test_readers_see_the_decision_without_a_button(tenant: Tenant, member: Member) -> None:
    _, _, suggestion = suggest(tenant)
    act(member("reviewer"), "suggestions", suggestion, "reject")
    shown = panel(member("reader"), "suggestions", suggestion)
    assert "Kept apart." in shown
    assert "<button" not in shown
    assert PLAIN not in shown
