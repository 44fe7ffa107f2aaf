"""Cards that are opened by what memories answer: what they quote, and what finds their stories."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from conflicts.core.answers.questions import MIN_COSINE
from conflicts.models import Conflict
from conflicts.services.detection.detect import detect_due
from engram.kernel.tenancy import in_workspace
from memories.models import MemoryAnswer
from memories.services.index.answers import embed_questions
from memories.services.index.near_questions import memories_of_near_questions
from tests.conftest import Tenant

SIGNED = "Where is the contract signed?"
APPROVES = "Who approves refunds?"


def commit(tenant: Tenant, content: str, question: str, answer: str, **fields: Any) -> str:
    told = [{"question": question, "answer": answer}]
    made = tenant.agent.post("memories", {"content": content, "answers": told, **fields})
    assert made.status_code in {200, 201}, made.json()
    return str(made.json()["memory"]["id"])


def test_a_card_quotes_no_answer_of_a_memory_that_is_not_on_it(tenant: Tenant) -> None:
    other = ""
    for content, answer in (
        ("Acme wants its contract signed at the notary.", "at the notary"),
        ("For Acme the contract is signed in the embassy.", "in the embassy"),
        ("Globex wants its contract signed on zyzzyva premises.", "on zyzzyva premises"),
        ("The contract gets its signature in the lobby.", "in the lobby"),
    ):
        made = commit(tenant, content, SIGNED, answer)
        other = made if "zyzzyva" in answer else other
        detect_due(tenant.workspace, clock=timezone.now)
    assert tenant.admin.delete(f"memories/{other}").status_code == 204
    with in_workspace(tenant.workspace):
        texts = [f"{card.question} {card.reasoning}" for card in Conflict.objects.all()]
    assert texts
    assert not [text for text in texts if "zyzzyva" in text]


def test_a_card_has_both_sides_where_the_answer_is_the_subject(tenant: Tenant) -> None:
    told = {
        commit(tenant, f"{who} mixes the dough {how}.", "Who mixes the dough?", who): who
        for who, how in (
            ("Pia", "at two"),
            ("Pia", "in the big bowl"),
            ("Luc", "by machine"),
            ("Luc", "after his break"),
        )
    }
    detect_due(tenant.workspace, clock=timezone.now)
    [card] = tenant.reader.get("conflicts").json()["results"]
    asked = tenant.reviewer.get(f"conflicts/{card['id']}").json()
    assert {m["id"] for m in asked["memories"]} == told.keys()
    assert {told[i] for i in asked["yes_keeps"]} == {"Luc"}
    made = tenant.reviewer.post(
        f"conflicts/{card['id']}/resolve", {"verdict": "yes", "listing": asked["listing"]}
    )
    assert made.status_code == 200, made.json()
    left = {i for i in told if tenant.reader.get(f"memories/{i}").json()["state"] == "active"}
    assert {told[i] for i in left} == {"Luc"}
    assert len(left) == 2


def test_a_statement_that_is_said_again_opens_a_card_by_its_answer(tenant: Tenant) -> None:
    """A memory that was said again is two facts of the story, and one on the card."""
    lead = ("Refunds cross the desk of the support lead.", APPROVES, "the support lead")
    first = commit(tenant, *lead)
    other = commit(tenant, "The treasurer signs off on refunds.", APPROVES, "the treasurer")
    assert commit(tenant, *lead) == first
    [run] = detect_due(tenant.workspace, clock=timezone.now)
    assert (run.status, run.error) == ("done", "")
    [card] = tenant.reader.get("conflicts").json()["results"]
    assert {one["id"] for one in card["memories"]} == {first, other}


def test_a_card_quotes_neither_statement_nor_answer_with_characters_that_reorder_it(
    tenant: Tenant,
) -> None:
    for content, answer in (
        ("Refunds go across the desk of the \u202esupport lead.", "the \u202esupport\x1b lead"),
        ("The \u2066treasurer has the last word on money back.", "the \u2066treasurer"),
    ):
        made = commit(tenant, content, f"Who\u202e approves refunds?{chr(7)}", answer)
        shown = tenant.reader.get(f"memories/{made}").json()
        assert shown["content"] == content  # as it was sent,
        assert shown["answers"][0]["answer"].isprintable()  # and answers without such characters
        with in_workspace(tenant.workspace):  # but for those that were stored before
            rows = MemoryAnswer.objects.filter(memory=made)
            assert rows.update(question=f"Who\u202e approves refunds?{chr(7)}", answer=answer) == 1
    detect_due(tenant.workspace, clock=timezone.now)
    [card] = tenant.reader.get("conflicts").json()["results"]
    texts = card["question"] + card["reasoning"]
    assert "support" in texts
    assert "Who approves refunds" in texts
    assert [c for c in texts if not c.isprintable()] == []


def test_forgotten_memories_displace_no_live_one_that_answers_a_near_question(
    tenant: Tenant,
) -> None:
    live = commit(tenant, "Refunds need the treasurer.", "Who approves customer refunds?", "he")
    hidden = [
        commit(tenant, f"Refunds of desk {n} need me.", APPROVES, f"clerk {n}") for n in range(110)
    ]
    tenant.agent.post("memories/forget", {"ids": hidden, "confirm": True})
    new = commit(tenant, "Ask the board about refunds.", APPROVES, "the board")
    embed_questions(tenant.workspace)
    with in_workspace(tenant.workspace):
        model = tenant.workspace.embedding_model
        found = memories_of_near_questions([new], model, min_cosine=MIN_COSINE, now=timezone.now())
    assert {str(one) for one in found} >= {live}
    assert not {str(one) for one in found} & set(hidden)


def test_a_corrected_wording_leaves_no_answer_of_the_old_one_behind(tenant: Tenant) -> None:
    first = commit(tenant, "Refunds cross the desk of the support lead.", APPROVES, "support lead")
    tenant.agent.patch(f"memories/{first}", {"content": "Refunds cross the treasurer's desk."})
    commit(tenant, "Money back? The treasurer has the last word.", APPROVES, "the treasurer")
    detect_due(tenant.workspace, clock=timezone.now)
    with in_workspace(tenant.workspace):
        assert not Conflict.objects.exists()


def test_a_card_closes_when_the_answers_that_opened_it_are_corrected(tenant: Tenant) -> None:
    first = commit(tenant, "Refunds cross the desk of the support lead.", APPROVES, "support lead")
    second = commit(tenant, "Money back? The treasurer has the last word.", APPROVES, "treasurer")
    detect_due(tenant.workspace, clock=timezone.now)
    assert tenant.reader.get("conflicts", {"status": "open"}).json()["results"]
    tenant.agent.patch(f"memories/{second}", {"tags": ["money"]})
    detect_due(tenant.workspace, clock=timezone.now)
    assert tenant.reader.get("conflicts", {"status": "open"}).json()["results"]
    told = {"question": "Who may say no to a refund?", "answer": "support lead"}
    tenant.agent.patch(f"memories/{first}", {"answers": [told]})
    detect_due(tenant.workspace, clock=timezone.now)
    assert tenant.reader.get("conflicts", {"status": "open"}).json()["results"] == []


def test_a_card_stays_when_the_answers_still_contradict(tenant: Tenant) -> None:
    first = commit(tenant, "Refunds cross the desk of the support lead.", APPROVES, "support lead")
    commit(tenant, "Money back? The treasurer has the last word.", APPROVES, "treasurer")
    detect_due(tenant.workspace, clock=timezone.now)
    told = {"question": APPROVES, "answer": "the lead of support"}
    tenant.agent.patch(f"memories/{first}", {"answers": [told]})
    detect_due(tenant.workspace, clock=timezone.now)
    [card] = tenant.reader.get("conflicts", {"status": "open"}).json()["results"]
    assert card["rule"]["id"] == "ambiguity.two-answers"
