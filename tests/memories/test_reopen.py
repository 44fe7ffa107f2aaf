"""Taking a rejection back: asked again as it was, or refused because it is not any more."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.models import MergeSuggestion, Review
from memories.services.decisions.reopen import reopen_review, reopen_suggestion
from tests.conftest import Tenant
from tests.memories.test_suggestions import FINER, PLAIN, answer, ask, commit, listed


def reopen(tenant: Tenant, suggestion: str) -> Any:
    return reopen_suggestion(tenant.workspace, UUID(suggestion), actor=SYSTEM, now=timezone.now())


def test_a_rejected_suggestion_is_open_again_and_no_longer_kept_apart(
    tenant: Tenant, neighbour: Tenant
) -> None:
    _, _, suggestion = ask(tenant)
    answer(tenant, suggestion, "reject")
    with pytest.raises(MissingError):
        reopen(neighbour, suggestion)
    reopen(tenant, suggestion)
    (row,) = listed(tenant)
    assert (row["id"], row["status"]) == (suggestion, "open")
    assert answer(tenant, suggestion, "accept").status_code == 200


def test_what_is_open_or_merged_cannot_be_reopened(tenant: Tenant) -> None:
    _, _, suggestion = ask(tenant)
    with pytest.raises(StaleError):
        reopen(tenant, suggestion)
    answer(tenant, suggestion, "accept")
    with pytest.raises(StaleError):
        reopen(tenant, suggestion)
    with pytest.raises(MissingError):
        reopen(tenant, str(uuid4()))


def test_a_rejection_of_words_that_are_gone_stands(tenant: Tenant) -> None:
    _, newer, suggestion = ask(tenant)
    answer(tenant, suggestion, "reject")
    tenant.agent.patch(f"memories/{newer}", {"content": f"{FINER} As ever."})
    with pytest.raises(StaleError):
        reopen(tenant, suggestion)
    with in_workspace(tenant.workspace):
        assert MergeSuggestion.objects.get(pk=suggestion).status == "rejected"


def test_a_rejected_request_waits_again_unless_its_memory_changed(tenant: Tenant) -> None:
    memory = commit(tenant, PLAIN, provenance="user_stated")["memory"]["id"]
    review = tenant.agent.patch(f"memories/{memory}", {"content": FINER}).json()["review"]
    tenant.reviewer.post(f"reviews/{review}/reject", {"note": "no"})
    now = timezone.now()
    reopened = reopen_review(tenant.workspace, UUID(review), actor=SYSTEM, now=now)
    assert (reopened.status, reopened.note, reopened.decided_at) == ("pending", "", None)
    tenant.reviewer.post(f"reviews/{review}/reject", {})
    tenant.reviewer.patch(f"memories/{memory}", {"content": "The deploy runs on Friday."})
    with pytest.raises(StaleError):
        reopen_review(tenant.workspace, UUID(review), actor=SYSTEM, now=now)
    with in_workspace(tenant.workspace):
        assert Review.objects.get(pk=review).status == "rejected"


def test_a_summary_that_was_kept_is_asked_about_again(tenant: Tenant) -> None:
    source = commit(tenant, "Lesson one: back up.")["memory"]["id"]
    summary = commit(tenant, "We learned to back up.", derived_from=[source])["memory"]["id"]
    tenant.agent.post("memories/forget", {"ids": [source], "confirm": True})
    review = tenant.reviewer.get("reviews").json()["results"][0]["id"]
    tenant.reviewer.post(f"reviews/{review}/reject", {})
    now = timezone.now()
    assert reopen_review(tenant.workspace, UUID(review), actor=SYSTEM, now=now).status == "pending"
    tenant.reviewer.post(f"reviews/{review}/reject", {})
    tenant.agent.post("memories/restore", {"ids": [source]})
    with pytest.raises(StaleError):
        reopen_review(tenant.workspace, UUID(review), actor=SYSTEM, now=now)
    assert tenant.agent.get(f"memories/{summary}").json()["state"] == "active"
