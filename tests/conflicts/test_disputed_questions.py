"""Which questions a waiting card disputes: those whose answer it asks about, and no others."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.services.detection.detect import detect_due
from tests.conflicts.test_questions_api import commit, days_ago, detail, known
from tests.conftest import Tenant

HOST = "Which host backs up the ledger?"
WHEN = "When are backups of the ledger run?"
EARLY = "Backups of the ledger run at 02:00 on host Kiwi."
LATE = "Backups of the ledger run at 04:00 on host Kiwi."


def card_about(tenant: Tenant, early: list[tuple[str, str]], late: list[tuple[str, str]]) -> str:
    """Let a card ask about the time of the backups; the memories answer what is given."""
    commit(tenant, EARLY, *early, observed_at=days_ago(3))
    commit(tenant, LATE, *late, observed_at=days_ago(1))
    detect_due(tenant.workspace, clock=timezone.now)
    [card] = tenant.reader.get("conflicts").json()["results"]
    assert card["kind"] == "ambiguity"
    found: str = card["id"]
    return found


def disputed(tenant: Tenant) -> dict[str, bool]:
    """Return whether each question is disputed, and check that the filters agree."""
    shown = {row["question"]: row["disputed"] for row in known(tenant)}
    for row in known(tenant):
        assert row["disputed"] == bool(row["conflicts"])
        one = detail(tenant, row["id"])
        assert one["disputed"] == row["disputed"]
        states = {given["state"] for given in one["history"]}
        assert states == ({"disputed"} if row["disputed"] else {"holds"})
    for value in (True, False):
        kept = {row["question"] for row in known(tenant, disputed=str(value).lower())}
        assert kept == {question for question, is_so in shown.items() if is_so == value}
    return shown


@pytest.mark.parametrize(
    ("one", "other"),
    [("Kiwi", "Kiwi"), ("Kiwi", "host kiwi"), ("unknown", "Unknown"), ("k" * 400, "k" * 400)],
)
def test_what_all_members_answer_alike_is_not_disputed(
    tenant: Tenant, one: str, other: str
) -> None:
    card_about(tenant, [(HOST, one)], [(HOST, other)])
    assert disputed(tenant) == {HOST: False}


def test_of_two_shared_questions_the_one_answered_differently_is_disputed(tenant: Tenant) -> None:
    card_about(tenant, [(HOST, "Kiwi"), (WHEN, "02:00")], [(HOST, "Kiwi"), (WHEN, "04:00")])
    assert disputed(tenant) == {HOST: False, WHEN: True}


@pytest.mark.parametrize("late", [[], [(HOST, "Kiwi")]])
def test_what_one_member_answers_is_disputed_unless_the_other_text_has_it(
    tenant: Tenant, late: list[tuple[str, str]]
) -> None:
    card_about(tenant, [(HOST, "Kiwi"), (WHEN, "02:00")], late)
    assert disputed(tenant) == {HOST: False, WHEN: True}


def test_a_card_that_something_is_gone_disputes_the_answer_that_names_it(tenant: Tenant) -> None:
    reads, runs = "What are nightly reports read from?", "Who runs the reports?"
    commit(
        tenant, "Nightly reports are read from replica orion-2.",
        (reads, "replica orion-2"), (runs, "Ana"), observed_at=days_ago(9),
    )  # fmt: skip
    commit(
        tenant, "Terraform destroyed orion-2 and its volume.", (runs, "Ana"),
        observed_at=days_ago(1),
    )  # fmt: skip
    detect_due(tenant.workspace, clock=timezone.now)
    assert [card["kind"] for card in tenant.reader.get("conflicts").json()["results"]] == ["stale"]
    assert disputed(tenant) == {reads: True, runs: False}


def test_a_card_over_answers_disputes_both_questions(tenant: Tenant) -> None:
    is_charged = "Is a fine charged for late sledges?"
    how_high = "How high is the fine charged for late sledges?"
    commit(
        tenant, "Nothing more is due for a sledge that comes back late.",
        (is_charged, "no"), observed_at=days_ago(9),
    )  # fmt: skip
    commit(
        tenant, "Late sledges: take three euros an hour at the desk.",
        (how_high, "three euros an hour"), observed_at=days_ago(1),
    )  # fmt: skip
    detect_due(tenant.workspace, clock=timezone.now)
    [card] = tenant.reader.get("conflicts").json()["results"]
    assert card["rule"]["id"] == "ambiguity.answer-denied"
    assert disputed(tenant) == {is_charged: True, how_high: True}


def test_a_question_was_not_disputed_then_either(tenant: Tenant) -> None:
    card = card_about(tenant, [(HOST, "Kiwi"), (WHEN, "02:00")], [(HOST, "Kiwi")])
    waited = timezone.now().isoformat()
    tenant.reviewer.post(f"conflicts/{card}/resolve", {"verdict": "both_valid"})
    rows = known(tenant, as_of=waited)
    assert {row["question"]: row["conflicts"] for row in rows} == {HOST: [], WHEN: [card]}
    assert disputed(tenant) == {HOST: False, WHEN: False}


def test_many_questions_and_cards_cost_the_queries_of_one(tenant: Tenant) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(connection) as caught:
            assert tenant.reader.get(path).status_code == 200
        return len(caught)

    card_about(tenant, [(HOST, "Kiwi")], [(HOST, "Kiwi")])
    paths = ("questions?limit=100", "questions?limit=100&disputed=false")
    before = [queries(path) for path in paths]
    rooms = [
        {"content": f"Room {number} is {colour}.",
         "answers": [{"question": f"Who has painted room {number}?", "answer": "Ana"}]}
        for number in range(50) for colour in ("green", "blue")
    ]  # fmt: skip
    made = tenant.agent.post("memories/batch", {"memories": rooms})
    assert made.status_code == 201
    pairs = [one["memory"]["id"] for one in made.json()["results"]]
    for first, second in zip(pairs[::10], pairs[1::10], strict=True):
        reported = tenant.agent.post("conflicts", {"memory_ids": [first, second]})
        assert reported.status_code in {200, 201}, reported.content
    assert len(tenant.reader.get("conflicts", {"limit": "100"}).json()["results"]) == 11
    assert len(known(tenant, limit="100")) == 51
    assert [queries(path) for path in paths] == before
