"""Plain statements say by themselves what they answer: owners, versions, places, hours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from memories.core.answers import Answer
from memories.core.typed_answers import typed_answers
from tests.conftest import Caller, Tenant, issue_agent


@pytest.mark.parametrize(
    ("statement", "question", "answer"),
    [
        ("The platform team owns the DNS zones.", "Who owns the DNS zones?", "The platform team"),
        ("The DNS zones are owned by the network team.", "Who owns the DNS zones?",
         "the network team"),
        ("Sunniva leads the network squad.", "Who leads the network squad?", "Sunniva"),
        ("pricing-engine runs on Python 3.11.",
         "Which version of Python does pricing-engine use?", "3.11"),
        ("Consent forms are kept in the locked cabinet.", "Where are consent forms kept?",
         "in the locked cabinet"),
        ("The owner of the pump log is Ana Reis.", "Who owns the pump log?", "Ana Reis"),
        ("The audio group is headed by Ana Reis.", "Who leads the audio group?", "Ana Reis"),
        ("Ana Reis heads the audio group.", "Who leads the audio group?", "Ana Reis"),
        ("Ana Reis lives in Madrid.", "Where does Ana Reis live?", "Madrid"),
        ("The depot opens at 07:45.", "When does the depot open?", "07:45"),
        ("Travel requests are approved by Ana Reis.", "Who approves travel requests?", "Ana Reis"),
        ("Travel Desk 2 is led by Ana Reis.", "Who leads Travel Desk 2?", "Ana Reis"),
        ("VAT returns are approved by Ana Reis.", "Who approves VAT returns?", "Ana Reis"),
        ("Paris is led by Ana Reis.", "Who leads Paris?", "Ana Reis"),
        ("Refunds are approved by Ana Reis.", "Who approves refunds?", "Ana Reis"),
        ("Ledger runs on Python 3.11.", "Which version of Python does Ledger use?", "3.11"),
        ("Ana Reis owns Travel.", "Who owns Travel?", "Ana Reis"),
    ],
)  # fmt: skip
def test_a_plain_statement_answers_its_question(statement: str, question: str, answer: str) -> None:
    assert typed_answers(statement) == (Answer(question, answer),)


@pytest.mark.parametrize(
    "statement",
    [
        "The platform team no longer owns the DNS zones.",
        "The platform team might own the DNS zones.",
        "If the rota is empty, the lead owns the pager.",
        "A failed scan leads to the PIN.",
        "The frozen hall is kept at minus eighteen.",
        "Preview server runs on port 4100.",
        "From October to April the shop closes at 17:00.",
        "It runs on Python 3.11.",
        "Nobody owns the crane.",
        "The crane is owned by Everybody.",
        "The depot opens at 07:45, the yard at 8.",
        "Who owns the DNS zones?",
        "DNSゾーンはネットワークチームが所有しています。",
        "x" * 8_000,
        "",
    ],
)
def test_what_no_rule_is_sure_of_answers_nothing(statement: str) -> None:
    assert typed_answers(statement) == ()


def test_a_commit_without_answers_gets_those_of_its_text(tenant: Tenant) -> None:
    made = tenant.agent.post("memories", {"content": "The depot opens at 07:45."}).json()["memory"]
    told = {
        "question": "When does the depot open?",
        "answer": "07:45",
        "was": None,
        "source": "rule",
    }
    assert made["answers"] == [told]


def test_an_answer_that_a_rule_reads_says_so_wherever_it_is_shown(
    tenant: Tenant, member: Callable[[str], Client]
) -> None:
    made = tenant.agent.post("memories", {"content": "The depot opens at 07:45."}).json()["memory"]
    [listed] = tenant.reader.get("memories").json()["results"]
    [recalled] = tenant.reader.post("memories/recall", {"query": "depot"}).json()["results"]
    [known] = tenant.reader.get("questions").json()["results"]
    [given] = tenant.reader.get(f"questions/{known['id']}").json()["history"]
    for shown in (*listed["answers"], *recalled["memory"]["answers"], known, given):
        assert shown["source"] == "rule"
    pages = (
        f"/console/memories/{made['id']}/",
        f"/console/questions/{known['id']}/",
    )
    client = member("reader")
    for page in pages:
        assert "read from the statement by a rule" in client.get(page).content.decode()


def test_answers_may_be_sent_as_they_were_read(tenant: Tenant) -> None:
    made = tenant.agent.post("memories", {"content": "The depot opens at 07:45."}).json()["memory"]
    path, told = f"memories/{made['id']}", made["answers"]
    again = tenant.agent.patch(path, {"answers": told})
    assert (again.status_code, again.json()["answers"]) == (
        200,
        [told[0] | {"source": "written"}],
    )


def test_what_a_writer_says_comes_first(tenant: Tenant) -> None:
    own = {
        "question": "When can vans come to the depot?",
        "answer": "07:45",
        "was": None,
        "source": "written",
    }
    body = {"content": "The depot opens at 07:45.", "answers": [own]}
    made = tenant.agent.post("memories", body).json()["memory"]
    assert made["answers"] == [own]
    path = f"memories/{made['id']}"
    same = tenant.agent.patch(path, {"content": "Our depot opens at 07:45."}).json()
    assert same["answers"] == [own]
    other = tenant.agent.patch(path, {"content": "The depot opens at 8."}).json()
    assert [one["answer"] for one in other["answers"]] == ["8"]


def test_a_new_wording_answers_anew(tenant: Tenant) -> None:
    made = tenant.agent.post("memories", {"content": "The depot opens at 07:45."}).json()["memory"]
    path = f"memories/{made['id']}"
    changed = tenant.agent.patch(path, {"content": "The depot opens at 08:15."}).json()
    assert [one["answer"] for one in changed["answers"]] == ["08:15"]
    assert tenant.agent.patch(path, {"content": "The depot is closed."}).json()["answers"] == []


CRATES = "The crates are kept in the Frankfurt depot."


def test_a_new_wording_has_no_answers_where_a_writer_removed_them(tenant: Tenant) -> None:
    made = tenant.agent.post("memories", {"content": "The crates stand outside."}).json()["memory"]
    path = f"memories/{made['id']}"
    tenant.agent.patch(path, {"answers": []})
    assert tenant.agent.patch(path, {"content": CRATES}).json()["answers"] == []
    assert tenant.agent.patch(path, {"content": f"Now: {CRATES}"}).json()["answers"] == []
    both = {"content": "The crates are kept in the Bonn depot.", "answers": []}
    assert tenant.agent.patch(path, both).json()["answers"] == []
    assert tenant.agent.patch(path, {"content": CRATES}).json()["answers"] == []


def test_a_rule_s_answer_says_so_where_what_a_writer_set_is_told_no_more(tenant: Tenant) -> None:
    made = tenant.agent.post("memories", {"content": "The crates stand outside."}).json()["memory"]
    path = f"memories/{made['id']}"
    own = {"question": "Where do the crates stand?", "answer": "outside", "was": None}
    tenant.agent.patch(path, {"answers": [own]})
    same = tenant.agent.patch(path, {"content": "All crates stand outside."}).json()
    assert same["answers"] == [own | {"source": "written"}]
    [read] = tenant.agent.patch(path, {"content": CRATES}).json()["answers"]
    assert (read["answer"], read["source"]) == ("in the Frankfurt depot", "rule")


def test_answers_that_a_writer_set_as_a_rule_had_read_them_are_the_writer_s(tenant: Tenant) -> None:
    made = tenant.agent.post("memories", {"content": CRATES}).json()["memory"]
    path = f"memories/{made['id']}"
    [set_] = tenant.agent.patch(path, {"answers": made["answers"]}).json()["answers"]
    assert set_["source"] == "written"
    moved = {"content": "Both crates are kept in the Frankfurt depot."}
    assert tenant.agent.patch(path, moved).json()["answers"] == [set_]


def test_a_rollback_of_removed_answers_restores_them_as_a_rule_s(tenant: Tenant) -> None:
    made = tenant.agent.post("memories", {"content": CRATES}).json()["memory"]
    path, since = f"memories/{made['id']}", timezone.now().isoformat()
    roll_back(tenant, since, lambda mallory: mallory.patch(path, {"answers": []}))
    assert tenant.reader.get(path).json()["answers"] == made["answers"]
    assert made["answers"][0]["source"] == "rule"
    change = {"content": CRATES.replace("Frankfurt", "Bonn")}
    [moved] = tenant.admin.patch(path, change).json()["answers"]
    assert (moved["answer"], moved["source"]) == ("in the Bonn depot", "rule")


def test_a_rollback_leaves_what_another_writer_set_before(tenant: Tenant) -> None:
    made = tenant.agent.post("memories", {"content": CRATES}).json()["memory"]
    path = f"memories/{made['id']}"
    tenant.agent.patch(path, {"answers": []})
    since = timezone.now().isoformat()
    roll_back(tenant, since, lambda mallory: mallory.patch(path, {"answers": made["answers"]}))
    assert tenant.reader.get(path).json()["answers"] == []
    assert tenant.admin.patch(path, {"content": f"Now: {CRATES}"}).json()["answers"] == []
    assert tenant.admin.patch(path, {"content": CRATES}).json()["answers"] == []


def roll_back(tenant: Tenant, since: str, does: Callable[[Caller], Any]) -> None:
    """Roll back what another key does."""
    assert does(issue_agent(tenant.workspace, "mallory")).status_code == 200
    keys = tenant.admin.get("keys").json()["results"]
    [key] = [row["id"] for row in keys if row["name"] == "mallory"]
    body = {"since": since, "key_id": key, "confirm": True}
    assert tenant.admin.post("memories/rollback", body).json()["reworded"] == 1
