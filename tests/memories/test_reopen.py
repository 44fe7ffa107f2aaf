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
from memories.services.review.reopen import reopen_review, reopen_suggestion
from tests.conftest import House
from tests.memories.test_suggestions import FINER, PLAIN, answer, ask, commit, listed


def reopen(house: House, suggestion: str) -> Any:
    return reopen_suggestion(house.workspace, UUID(suggestion), actor=SYSTEM, now=timezone.now())


def test_a_rejected_suggestion_is_open_again_and_no_longer_kept_apart(
    house: House, neighbour: House
) -> None:
    _, _, suggestion = ask(house)
    answer(house, suggestion, "reject")
    with pytest.raises(MissingError):
        reopen(neighbour, suggestion)
    reopen(house, suggestion)
    (row,) = listed(house)
    assert (row["id"], row["status"]) == (suggestion, "open")
    assert answer(house, suggestion, "accept").status_code == 200


def test_what_is_open_or_merged_cannot_be_reopened(house: House) -> None:
    _, _, suggestion = ask(house)
    with pytest.raises(StaleError):
        reopen(house, suggestion)
    answer(house, suggestion, "accept")
    with pytest.raises(StaleError):
        reopen(house, suggestion)
    with pytest.raises(MissingError):
        reopen(house, str(uuid4()))


def test_a_rejection_of_words_that_are_gone_stands(house: House) -> None:
    _, newer, suggestion = ask(house)
    answer(house, suggestion, "reject")
    house.agent.patch(f"memories/{newer}", {"content": f"{FINER} As ever."})
    with pytest.raises(StaleError):
        reopen(house, suggestion)
    with in_workspace(house.workspace):
        assert MergeSuggestion.objects.get(pk=suggestion).status == "rejected"


def test_a_rejected_request_waits_again_unless_its_memory_changed(house: House) -> None:
    memory = commit(house, PLAIN, provenance="user_stated")["memory"]["id"]
    review = house.agent.patch(f"memories/{memory}", {"content": FINER}).json()["review"]
    house.reviewer.post(f"reviews/{review}/reject", {"note": "no"})
    now = timezone.now()
    reopened = reopen_review(house.workspace, UUID(review), actor=SYSTEM, now=now)
    assert (reopened.status, reopened.note, reopened.decided_at) == ("pending", "", None)
    house.reviewer.post(f"reviews/{review}/reject", {})
    house.reviewer.patch(f"memories/{memory}", {"content": "The deploy runs on Friday."})
    with pytest.raises(StaleError):
        reopen_review(house.workspace, UUID(review), actor=SYSTEM, now=now)
    with in_workspace(house.workspace):
        assert Review.objects.get(pk=review).status == "rejected"


def test_a_summary_that_was_kept_is_asked_about_again(house: House) -> None:
    source = commit(house, "Lesson one: back up.")["memory"]["id"]
    summary = commit(house, "We learned to back up.", derived_from=[source])["memory"]["id"]
    house.agent.post("memories/forget", {"ids": [source], "confirm": True})
    review = house.reviewer.get("reviews").json()["results"][0]["id"]
    house.reviewer.post(f"reviews/{review}/reject", {})
    now = timezone.now()
    assert reopen_review(house.workspace, UUID(review), actor=SYSTEM, now=now).status == "pending"
    house.reviewer.post(f"reviews/{review}/reject", {})
    house.agent.post("memories/restore", {"ids": [source]})
    with pytest.raises(StaleError):
        reopen_review(house.workspace, UUID(review), actor=SYSTEM, now=now)
    assert house.agent.get(f"memories/{summary}").json()["state"] == "active"
