"""Answers of memories over the API: commit, batch, PATCH, repetition, supersession, refusals."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conflicts.models import DetectionDue
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryAnswer, Observation, Review, Revision
from tests.conftest import Caller, Tenant, issue_agent

STATEMENT = "Refunds go across the desk of the support lead."
APPROVES = {
    "question": "Who approves refunds?",
    "answer": "the support lead",
    "was": None,
    "source": "written",
}
PAYS = {
    "question": "Who pays refunds?",
    "answer": "finance",
    "was": "the shop",
    "source": "written",
}
LIMIT = {
    "question": "What is the limit of a refund?",
    "answer": "500 EUR",
    "was": None,
    "source": "written",
}


def commit(caller: Caller, content: str = STATEMENT, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    body: dict[str, Any] = answer.json()
    return body


def rows_of(tenant: Tenant) -> list[tuple[str, str]]:
    with in_workspace(tenant.workspace):
        return list(MemoryAnswer.objects.order_by("pk").values_list("question", "answer"))


def as_stored(*answers: dict[str, Any]) -> list[dict[str, Any]]:
    """Without the source, which is found out when answers are shown."""
    return [{k: v for k, v in answer.items() if k != "source"} for answer in answers]


def test_a_commit_stores_and_shows_answers_in_order(tenant: Tenant) -> None:
    shown = commit(tenant.agent, answers=[PAYS, APPROVES])["memory"]
    assert shown["answers"] == [PAYS, APPROVES]
    assert tenant.reader.get(f"memories/{shown['id']}").json()["answers"] == [PAYS, APPROVES]
    (listed,) = tenant.reader.get("memories").json()["results"]
    assert listed["answers"] == [PAYS, APPROVES]


def test_a_memory_without_answers_shows_an_empty_list(tenant: Tenant) -> None:
    assert commit(tenant.agent)["memory"]["answers"] == []


def test_answers_are_stored_before_their_questions_are_embedded(tenant: Tenant) -> None:
    commit(tenant.agent, answers=[APPROVES])
    with in_workspace(tenant.workspace):
        row = MemoryAnswer.objects.get()
    assert (row.embedding, row.model) == (None, "")


def test_answers_cost_a_request_one_query(tenant: Tenant) -> None:
    shops = count()

    def queries(number: int, *answers: dict[str, Any]) -> int:
        texts = [f"Shop {next(shops)} sells tea." for _ in range(number)]
        # Of one session, so that nothing is asked about their neighbours, which costs queries.
        own = {"answers": answers, "session_key": "tea"}
        body = {"memories": [{"content": text, **own} for text in texts]}
        with CaptureQueriesContext(connection) as caught:
            assert tenant.agent.post("memories/batch", body).status_code == 201
        return len(caught)

    tenant.admin.patch("workspace/settings", {"gate_policy": "off"})
    queries(1)
    assert queries(1, PAYS, LIMIT) == queries(1) + 1
    assert queries(6, PAYS, LIMIT) == queries(6) + 1


def test_an_empty_earlier_answer_is_none(tenant: Tenant) -> None:
    shown = commit(tenant.agent, answers=[APPROVES | {"was": ""}])["memory"]
    assert shown["answers"] == [APPROVES]


def test_answers_in_other_scripts_are_stored(tenant: Tenant) -> None:
    asked = {"question": "誰が返金を承認しますか？", "answer": "サポートリーダー", "was": "経理"}
    asked["source"] = "written"
    assert commit(tenant.agent, answers=[asked])["memory"]["answers"] == [asked]


def test_the_same_answer_twice_counts_once(tenant: Tenant) -> None:
    again = {"question": "who approves refunds", "answer": "The support lead."}
    assert commit(tenant.agent, answers=[APPROVES, again])["memory"]["answers"] == [APPROVES]


@pytest.mark.parametrize(
    ("answers", "field"),
    [
        ([{"answer": "x"}], "answers.0.question"),
        ([{"question": "Who?"}], "answers.0.answer"),
        ([{"question": " ", "answer": "x"}], "answers.0.question"),
        ([{"question": "Who?", "answer": "\u200b"}], "answers.0.answer"),
        ([{"question": "Who?", "answer": "\u3164!"}], "answers.0.answer"),
        ([{"question": "Who?", "answer": "Who\u202e\n?"}], "answers.0.answer"),
        ([{"question": "Who?", "answer": "Kim Lee", "was": "Kim\nLee"}], "answers.0.was"),
        ([{"question": "W" * 301, "answer": "x"}], "answers.0.question"),
        ([{"question": "Who?", "answer": "x" * 501}], "answers.0.answer"),
        ([{"question": "Who?", "answer": "x", "was": "x" * 501}], "answers.0.was"),
        ([{"question": "Who?", "answer": "who"}], "answers.0.answer"),
        ([{"question": "Who?", "answer": "Ann", "was": "ann."}], "answers.0.was"),
        ([{"question": "Who?", "answer": "Ann", "was": "who?"}], "answers.0.was"),
        ([{"question": "Who?", "answer": "x", "why": "y"}], "answers.0.why"),
        ([{"question": 5, "answer": "x"}], "answers.0.question"),
        ([{"question": "Who?", "answer": ["x"]}], "answers.0.answer"),
        ([{"question": "Who?", "answer": 30}], "answers.0.answer"),
        (["Who?"], "answers.0"),
        ("Who?", "answers"),
        ({"question": "Who?", "answer": "x"}, "answers"),
        (None, "answers"),
        ([{"question": f"Who {n}?", "answer": "x"} for n in range(4)], "answers"),
        ([{"question": f"Who {n}?", "answer": "x"} for n in range(50)], "answers"),
        ([APPROVES, {"question": "who approves refunds", "answer": "finance"}], "answers.1.answer"),
        ([APPROVES, APPROVES | {"was": "finance"}], "answers.1.answer"),
    ],
)
def test_bad_answers_are_refused_and_nothing_is_stored(
    tenant: Tenant, answers: Any, field: str
) -> None:
    refused = tenant.agent.post("memories", {"content": STATEMENT, "answers": answers})
    assert refused.status_code == 422
    assert field in {one["field"] for one in refused.json()["errors"]}
    batch = {"memories": [{"content": "The sky is blue."}, {"content": "x", "answers": answers}]}
    refused = tenant.agent.post("memories/batch", batch)
    assert refused.status_code == 422
    assert f"memories.1.{field}" in {one["field"] for one in refused.json()["errors"]}
    with in_workspace(tenant.workspace):
        assert not Memory.objects.exists()


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ([{"question": f"Who {n}?", "answer": "x"} for n in range(4)], "At most 3; send others"),
        (["Who?"], "Must be an object with `question` and `answer`."),
        ({"question": "Who?", "answer": "x"}, "Must be a list of objects"),
    ],
)
def test_a_refusal_says_how_answers_are_sent(tenant: Tenant, answers: Any, said: str) -> None:
    refused = tenant.agent.post("memories", {"content": STATEMENT, "answers": answers})
    assert said in refused.json()["detail"]


def test_a_question_of_200_kilobytes_is_refused(tenant: Tenant) -> None:
    asked = {"question": "Who approves " + "refunds " * 25_000, "answer": "x"}
    refused = tenant.agent.post("memories", {"content": STATEMENT, "answers": [asked]})
    assert refused.status_code in {413, 422}
    assert rows_of(tenant) == []


def test_answers_are_stored_in_one_line_without_what_is_not_seen(tenant: Tenant) -> None:
    asked = {
        "question": "Who\n approves\u200b \u202erefunds?",
        "answer": "Kim\nLee\u2069",
        "was": "\u202ethe\tboard\x1b ",
        "source": "written",
    }
    plain = asked | {"question": "Who approves refunds?", "answer": "Kim Lee", "was": "the board"}
    memory = commit(tenant.agent, answers=[asked])["memory"]
    assert memory["answers"] == [plain]
    changed = asked | {"answer": "Lee\u2028Kim", "was": "\u200b\u202e"}
    answer = tenant.admin.patch(f"memories/{memory['id']}", {"answers": [changed]})
    assert answer.json()["answers"] == [plain | {"answer": "Lee Kim", "was": None}]
    batch = {"memories": [{"content": "Kim Lee approves all refunds.", "answers": [asked]}]}
    [made] = tenant.agent.post("memories/batch", batch).json()["results"]
    assert made["memory"]["answers"] == [plain]


@pytest.mark.parametrize("part", ["question", "answer", "was"])
def test_a_null_character_in_an_answer_is_refused(tenant: Tenant, part: str) -> None:
    asked = APPROVES | {part: "Who\u0000?"}
    refused = tenant.agent.post("memories", {"content": STATEMENT, "answers": [asked]})
    assert refused.status_code == 400
    assert rows_of(tenant) == []


@pytest.mark.parametrize("part", ["question", "answer", "was"])
def test_a_secret_in_an_answer_is_refused(tenant: Tenant, part: str) -> None:
    secret = APPROVES | {part: "password: hunter2-x9Q"}
    refused = tenant.agent.post("memories", {"content": STATEMENT, "answers": [secret]})
    assert refused.status_code == 422
    assert refused.json()["type"] == "/problems/credential"
    memory = commit(tenant.agent)["memory"]
    refused = tenant.agent.patch(f"memories/{memory['id']}", {"answers": [secret]})
    assert refused.json()["type"] == "/problems/credential"
    assert rows_of(tenant) == []


def test_a_batch_stores_answers_of_each_memory(tenant: Tenant) -> None:
    texts = [{"content": f"Fact {n} of the shop.", "answers": [APPROVES]} for n in range(3)]
    results = tenant.agent.post("memories/batch", {"memories": texts}).json()["results"]
    assert [one["memory"]["answers"] for one in results] == [[APPROVES]] * 3


def test_a_patch_replaces_answers_and_the_revision_keeps_them(tenant: Tenant) -> None:
    memory = commit(tenant.agent, answers=[APPROVES, PAYS])["memory"]
    path = f"memories/{memory['id']}"
    changed = APPROVES | {"answer": "the shift lead", "was": "the support lead"}
    shown = tenant.agent.patch(path, {"answers": [LIMIT, changed]}).json()
    assert shown["answers"] == [LIMIT, changed]
    assert shown["revision"] == 2
    assert tenant.agent.patch(path, {"importance": 0.9}).json()["answers"] == [LIMIT, changed]
    assert tenant.agent.patch(path, {"answers": []}).json()["answers"] == []
    with in_workspace(tenant.workspace):
        kept = Revision.objects.order_by("number").values_list("fields__answers", flat=True)
        states = ([APPROVES, PAYS], [LIMIT, changed], [LIMIT, changed])
        assert list(kept) == [as_stored(*answers) for answers in states]


def test_a_question_that_stays_keeps_its_row(tenant: Tenant) -> None:
    memory = commit(tenant.agent, answers=[APPROVES, PAYS])["memory"]
    with in_workspace(tenant.workspace):
        before = MemoryAnswer.objects.get(question=APPROVES["question"]).pk
    changed = {"question": "who approves refunds", "answer": "the shift lead"}
    tenant.agent.patch(f"memories/{memory['id']}", {"answers": [LIMIT, changed]})
    with in_workspace(tenant.workspace):
        row = MemoryAnswer.objects.get(question_hash__in=MemoryAnswer.objects.filter(
            question="who approves refunds").values("question_hash"))  # fmt: skip
    assert (row.pk, row.position, row.answer) == (before, 1, "the shift lead")


def test_an_agent_needs_a_review_to_change_answers_of_a_persons_memory(tenant: Tenant) -> None:
    memory = commit(tenant.reviewer, provenance="user_stated", answers=[APPROVES])["memory"]
    asked = APPROVES | {"answer": "finance", "was": "the support lead"}
    path = f"memories/{memory['id']}"
    waits = tenant.agent.patch(path, {"answers": [asked]})
    assert waits.status_code == 202
    assert tenant.reader.get(path).json()["answers"] == [APPROVES]
    accepted = tenant.reviewer.post(f"reviews/{waits.json()['review']}/accept", {})
    assert accepted.status_code == 200
    assert tenant.reader.get(path).json()["answers"] == [asked]


def test_a_commit_that_waits_keeps_its_answers(tenant: Tenant) -> None:
    plain = issue_agent(tenant.workspace)
    fields = {"provenance": "user_stated", "answers": [APPROVES, PAYS]}
    waits = plain.post("memories", {"content": STATEMENT, **fields})
    assert waits.status_code == 202
    (review,) = tenant.reviewer.get("reviews").json()["results"]
    assert review["request"]["answers"] == as_stored(APPROVES, PAYS)
    assert rows_of(tenant) == []
    tenant.reviewer.post(f"reviews/{review['id']}/accept", {})
    (memory,) = tenant.reader.get("memories").json()["results"]
    assert memory["answers"] == [APPROVES, PAYS]


def test_the_review_page_shows_answers_in_words(tenant: Tenant, member: Any) -> None:
    plain = issue_agent(tenant.workspace)
    script = APPROVES | {"answer": "<script>alert(1)</script>"}
    fields = {"provenance": "user_stated", "answers": [PAYS, script]}
    review = plain.post("memories", {"content": STATEMENT, **fields}).json()["review"]
    page = member("reviewer").get(f"/admin/memories/review/{review}/change/").content.decode()
    assert "Who pays refunds? finance (was: the shop)" in page
    assert "<script>alert(1)" not in page


def test_a_repetition_adds_only_missing_answers(tenant: Tenant) -> None:
    memory = commit(tenant.agent, answers=[APPROVES])["memory"]
    other = APPROVES | {"answer": "finance"}
    again = commit(tenant.agent, answers=[other, LIMIT])
    assert again["outcome"] == "duplicate"
    assert again["memory"]["answers"] == [APPROVES, LIMIT]
    assert again["memory"]["revision"] == 2
    third = commit(tenant.agent, answers=[other, LIMIT])["memory"]
    assert (third["answers"], third["revision"]) == ([APPROVES, LIMIT], 2)
    history = tenant.reader.get(f"memories/{memory['id']}/history").json()["results"]
    assert [e["data"]["fields"] for e in history if e["type"] == "memory.revised"] == [["answers"]]


@pytest.mark.parametrize("claims", [{}, {"provenance_ceiling": "user_stated"}])
def test_an_agent_adds_no_answers_to_a_persons_memory(
    tenant: Tenant, claims: dict[str, str]
) -> None:
    commit(tenant.reviewer, provenance="user_stated", answers=[APPROVES])
    plain = issue_agent(tenant.workspace, **claims)
    fields = {"provenance": "user_stated", "answers": [LIMIT]} if claims else {"answers": [LIMIT]}
    again = commit(plain, **fields)
    assert again["outcome"] == "duplicate"
    assert (again["memory"]["answers"], again["memory"]["revision"]) == ([APPROVES], 1)
    with in_workspace(tenant.workspace):
        sent = Observation.objects.get(outcome="duplicate")
        assert sent.fields["answers"] == as_stored(LIMIT)
        assert not Review.objects.exists()


def test_an_agent_adds_no_answers_to_a_memory_of_a_higher_class(tenant: Tenant) -> None:
    commit(tenant.agent, provenance="user_stated", answers=[APPROVES])
    again = commit(issue_agent(tenant.workspace), answers=[LIMIT])
    assert again["memory"]["answers"] == [APPROVES]


def test_a_reviewer_may_add_answers_to_any_memory(tenant: Tenant) -> None:
    commit(tenant.agent, provenance="user_stated", answers=[APPROVES])
    assert commit(tenant.reviewer, answers=[LIMIT])["memory"]["answers"] == [APPROVES, LIMIT]


def test_repetitions_fill_a_memory_up_to_a_limit(tenant: Tenant) -> None:
    for n in range(8):
        answers = [{"question": f"Who is {n}.{i}?", "answer": "Ann"} for i in range(3)]
        last = commit(tenant.agent, answers=answers)["memory"]
    assert len(last["answers"]) == 12
    assert last["answers"][0]["question"] == "Who is 0.0?"


def test_a_successor_inherits_no_answers(tenant: Tenant) -> None:
    old = commit(tenant.agent, answers=[APPROVES, PAYS])["memory"]
    changed = APPROVES | {"answer": "finance", "was": "the support lead"}
    new = commit(
        tenant.agent, "Finance approves refunds now.", supersedes=old["id"], answers=[changed]
    )["memory"]
    assert new["answers"] == [changed]
    assert tenant.reader.get(f"memories/{old['id']}").json()["answers"] == [APPROVES, PAYS]


def test_a_revived_memory_gets_missing_answers(tenant: Tenant) -> None:
    memory = commit(tenant.agent, answers=[APPROVES])["memory"]
    tenant.agent.post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    assert commit(tenant.agent, answers=[LIMIT])["outcome"] == "suppressed"
    back = commit(tenant.agent, answers=[LIMIT], revive=True)["memory"]
    assert (back["id"], back["answers"]) == (memory["id"], [APPROVES, LIMIT])


def test_answers_that_repeat_a_forgotten_statement_are_refused(tenant: Tenant) -> None:
    secret = "The vault is behind the painting in the hall."
    memory = commit(tenant.agent, secret)["memory"]
    tenant.agent.post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    quoting = {"question": "What is true?", "answer": secret.upper()}
    refused = tenant.agent.post("memories", {"content": STATEMENT, "answers": [quoting]})
    assert refused.status_code == 422
    assert refused.json()["type"] == "/problems/forgotten-before"
    assert "Answer 0 is exactly" in refused.json()["detail"]
    asking = {"question": secret.replace(".", "?"), "answer": "yes, since spring"}
    refused = tenant.agent.post("memories", {"content": STATEMENT, "answers": [asking]})
    assert refused.json()["type"] == "/problems/forgotten-before"
    other = commit(tenant.agent)["memory"]
    refused = tenant.agent.patch(f"memories/{other['id']}", {"answers": [quoting]})
    assert refused.json()["type"] == "/problems/forgotten-before"
    assert rows_of(tenant) == []


def test_a_forgotten_name_may_be_an_answer(tenant: Tenant) -> None:
    memory = commit(tenant.agent, "Berlin.")["memory"]
    tenant.agent.post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    place = {"question": "Where is the office?", "answer": "Berlin", "was": None}
    place["source"] = "written"
    assert commit(tenant.agent, answers=[place])["memory"]["answers"] == [place]


@pytest.mark.parametrize("source", ["model", "zzz", "", "s" * 100])
def test_a_source_that_is_sent_is_ignored(tenant: Tenant, source: str) -> None:
    sent = [APPROVES | {"source": source}]
    memory = commit(tenant.agent, answers=sent)["memory"]
    assert memory["answers"] == [APPROVES]
    changed = tenant.agent.patch(f"memories/{memory['id']}", {"answers": sent})
    assert (changed.status_code, changed.json()["answers"]) == (200, [APPROVES])


@pytest.mark.parametrize("source", ["s" * 101, 1, None, ["written"]])
def test_a_source_that_is_no_short_text_is_refused(tenant: Tenant, source: object) -> None:
    body = {"content": STATEMENT, "answers": [APPROVES | {"source": source}]}
    assert tenant.agent.post("memories", body).status_code == 422


def test_changed_answers_are_due_for_detection(tenant: Tenant) -> None:
    memory = commit(tenant.agent)["memory"]

    def is_due() -> bool:
        with in_workspace(tenant.workspace):
            found, _ = DetectionDue.objects.filter(memory=memory["id"]).delete()
            return found > 0

    assert is_due()
    tenant.agent.patch(f"memories/{memory['id']}", {"importance": 0.4})
    assert not is_due()
    tenant.agent.patch(f"memories/{memory['id']}", {"answers": [APPROVES]})
    assert is_due()
    commit(tenant.agent, answers=[LIMIT], observed_at="2020-01-01T00:00:00Z")
    assert is_due()


def test_answers_of_another_workspace_never_show(tenant: Tenant, neighbour: Tenant) -> None:
    theirs = commit(neighbour.agent, answers=[LIMIT])["memory"]
    mine = commit(tenant.agent, answers=[APPROVES])["memory"]
    assert mine["answers"] == [APPROVES]
    assert tenant.admin.get(f"memories/{theirs['id']}").status_code == 404
    assert tenant.admin.patch(f"memories/{theirs['id']}", {"answers": []}).status_code == 404
    assert rows_of(tenant) == [(APPROVES["question"], APPROVES["answer"])]
    assert rows_of(neighbour) == [(LIMIT["question"], LIMIT["answer"])]


def test_the_admin_shows_answers_as_text(tenant: Tenant, member: Any) -> None:
    script = {"question": "Who <b>approves</b>?", "answer": "<script>alert(1)</script>", "was": "x"}
    memory = commit(tenant.agent, answers=[script])["memory"]
    page = member("reader").get(f"/console/memories/{memory['id']}/").content.decode()
    assert "Who &lt;b&gt;approves&lt;/b&gt;?" in page
    assert "<script>alert(1)" not in page
    assert "(was: <bdi>x</bdi>)" in page
