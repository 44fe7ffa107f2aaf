"""A decided pair is asked about again when its members get other answers, not for the same ones."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import ConflictMember
from conflicts.services.cards.answered_anew import pairs_answered_anew
from conflicts.services.cards.decided import wordings
from conflicts.services.cards.former import read_former
from conflicts.services.detection.detect import detect_due
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer
from memories.models import MemoryAnswer
from memories.services.lifecycle.model_answers import select_unanswered, write_model_answers
from tests.conftest import Tenant

LEAD = "Refunds cross the desk of the support lead."
TREASURER = "Money back? The treasurer has the last word."
WHO, HOW_LONG = "Who approves refunds?", "How long does a refund take?"
ASKED = {"question": WHO, "answer": "the support lead"}
ALSO = {"question": WHO, "answer": "the treasurer"}


def told(question: str, answer: str) -> dict[str, str]:
    return {"question": question, "answer": answer}


def commit(tenant: Tenant, content: str, *answers: dict[str, str]) -> str:
    made = tenant.reviewer.post("memories", {"content": content, "answers": list(answers)})
    return str(made.json()["memory"]["id"])


def change(tenant: Tenant, memory: str, *answers: dict[str, str]) -> list[dict[str, Any]]:
    """Change the answers of a memory alone; return the cards that are open then."""
    changed = tenant.reviewer.patch(f"memories/{memory}", {"answers": list(answers)})
    assert changed.status_code == 200, changed.json()
    return detect(tenant)


def detect(tenant: Tenant) -> list[dict[str, Any]]:
    detect_due(tenant.workspace, clock=timezone.now)
    cards: list[dict[str, Any]] = tenant.reader.get("conflicts", {"status": "open"}).json()[
        "results"
    ]
    return cards


@pytest.fixture
def decided(tenant: Tenant) -> tuple[str, str, str]:
    """Two memories that answer one question differently, decided as both valid, and the card."""
    lead = commit(tenant, LEAD, ASKED)
    treasurer = commit(tenant, TREASURER, ALSO, told(HOW_LONG, "a week"))
    [card] = detect(tenant)
    body = {"verdict": "both_valid", "version": card["version"]}
    assert tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body).status_code == 200
    return lead, treasurer, card["id"]


def test_another_question_that_they_answer_differently_is_asked(
    tenant: Tenant, decided: tuple[str, str, str]
) -> None:
    lead, treasurer, before = decided
    [card] = change(tenant, lead, ASKED, told(HOW_LONG, "three months"))
    assert {member["id"] for member in card["memories"]} == {lead, treasurer}
    assert card["reopened_from"] == before
    body = {"verdict": "both_valid", "version": card["version"]}
    assert tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body).status_code == 200
    assert change(tenant, lead, told(HOW_LONG, "three  months"), ASKED) == []


@pytest.mark.parametrize(
    "answers",
    [
        [told("who approves refunds", "The support lead.")],
        [ASKED, told("Where is the desk?", "upstairs")],
        [ASKED, told(HOW_LONG, "A week.")],
        [],
    ],
)
def test_the_same_answers_stay_decided(
    tenant: Tenant, decided: tuple[str, str, str], answers: list[dict[str, str]]
) -> None:
    assert change(tenant, decided[0], *answers) == []
    tenant.reviewer.post("conflicts/detect", {})
    assert detect(tenant) == []


def test_answers_that_the_decided_texts_give_stay_decided(tenant: Tenant) -> None:
    low, high = (commit(tenant, f"The API rate limit is {n} requests per second.")
                 for n in (1000, 5000))  # fmt: skip
    [card] = detect(tenant)
    body = {"verdict": "both_valid", "version": card["version"]}
    assert tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body).status_code == 200
    question = "What is the rate limit of the API?"
    assert change(tenant, low, told(question, "1000 requests per second")) == []
    assert change(tenant, high, told(question, "5000 requests per second")) == []


def write_by_model(tenant: Tenant, memory: str, question: str, answer: str) -> None:
    """Write an answer as a model does: without a revision."""
    with in_workspace(tenant.workspace):
        [asked] = select_unanswered([UUID(memory)], timezone.now())
        write_model_answers({asked.id: [Answer(question, answer)]}, [asked], now=timezone.now())


def test_answers_that_a_model_wrote_down_stay_decided_after_other_changes(tenant: Tenant) -> None:
    low, high = (commit(tenant, f"The API rate limit is {n} requests per second.")
                 for n in (1000, 5000))  # fmt: skip
    [card] = detect(tenant)
    body = {"verdict": "both_valid", "version": card["version"]}
    assert tenant.reviewer.post(f"conflicts/{card['id']}/resolve", body).status_code == 200
    with in_workspace(tenant.workspace):  # as of memories older than the typed rules
        MemoryAnswer.objects.all().delete()
    for memory in (low, high):
        changed = tenant.reviewer.patch(f"memories/{memory}", {"importance": 0.9})
        assert changed.status_code == 200, changed.json()
    write_by_model(tenant, low, WHO, "the support lead")
    write_by_model(tenant, high, WHO, "the treasurer")
    with in_workspace(tenant.workspace):
        members = list(ConflictMember.objects.select_related("memory"))
        assert all(m.memory.revision > m.revision for m in members)
        assert pairs_answered_anew(members) == set()
    [again] = change(tenant, low, told(WHO, "the support desk"))  # by its writer
    assert again["reopened_from"] == card["id"]


def test_only_the_revision_of_the_question_is_read(
    tenant: Tenant, decided: tuple[str, str, str]
) -> None:
    for memory in decided[:2]:
        for importance in (0.1, 0.2, 0.3):
            tenant.reviewer.patch(f"memories/{memory}", {"importance": importance})
    with in_workspace(tenant.workspace):
        members = list(ConflictMember.objects.select_related("memory"))
        assert wordings(members) == {m.pk: m.memory.content for m in members}
        assert read_former(members, "content").keys() == {
            (m.memory_id, m.revision) for m in members
        }


def test_changed_answers_are_read_by_two_queries(
    tenant: Tenant, decided: tuple[str, str, str]
) -> None:
    def count() -> int:
        with in_workspace(tenant.workspace):
            members = list(ConflictMember.objects.select_related("memory"))
            with CaptureQueriesContext(connection) as seen:
                pairs_answered_anew(members)
        return len(seen)

    assert count() == 0
    for memory in decided[:2]:
        tenant.reviewer.patch(f"memories/{memory}", {"answers": []})
        assert count() == 2
