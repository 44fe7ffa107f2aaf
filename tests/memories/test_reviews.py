"""What waits for a person: kept whole, changing nothing, done once, lapsing when it must."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Review
from memories.serializers.review_words import _free_in_words
from tests.conftest import Caller, Tenant, issue_agent

JSON = "application/json"


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


@pytest.fixture
def stated(tenant: Tenant) -> dict[str, Any]:
    """Return a memory that a user stated."""
    return commit(tenant.agent, "The budget is 5000 euros.", provenance="user_stated")


def ask_to_supersede(tenant: Tenant, memory: dict[str, Any], **fields: Any) -> str:
    body = {
        "content": "The budget is 9 euros.", "supersedes": memory["id"], "scope": "money",
        "tags": ["guess"], "session_key": "run-1", "agent": "penny", **fields,
    }  # fmt: skip
    answer = tenant.agent.post("memories", body)
    assert (answer.status_code, answer.json()["status"]) == (202, "pending")
    review: str = answer.json()["review"]
    return review


def shown(tenant: Tenant, memory: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = tenant.agent.get(f"memories/{memory['id']}").json()
    return body


def test_a_pending_request_is_kept_whole_and_changes_nothing(
    tenant: Tenant, stated: dict[str, Any]
) -> None:
    review = ask_to_supersede(tenant, stated)
    assert shown(tenant, stated) == stated
    body = tenant.agent.get(f"reviews/{review}").json()
    assert (body["kind"], body["status"], body["memory"]["id"]) == (
        "supersede", "pending", stated["id"],
    )  # fmt: skip
    asked = body["request"]
    assert (asked["content"], asked["tags"], asked["agent"], asked["session_key"]) == (
        "The budget is 9 euros.", ["guess"], "penny", "run-1",
    )  # fmt: skip
    assert body["asked_by"] == {"kind": "key", "label": "acme agent"}
    with in_workspace(tenant.workspace):
        assert Memory.objects.count() == 1


def test_an_accepted_request_is_done_as_the_one_who_asked(
    tenant: Tenant, stated: dict[str, Any]
) -> None:
    review = ask_to_supersede(tenant, stated)
    done = tenant.reviewer.post(f"reviews/{review}/accept", {"note": "It was cut."})
    assert (done.status_code, done.json()["status"]) == (200, "accepted")
    new = shown(tenant, {"id": done.json()["result"]})
    assert (new["content"], new["provenance"], new["agent"], new["tags"], new["scope"]) == (
        "The budget is 9 euros.", "assistant_derived", "penny", ["guess"], "money",
    )  # fmt: skip
    assert (shown(tenant, stated)["state"], shown(tenant, stated)["superseded_by"]) == (
        "superseded", new["id"],
    )  # fmt: skip
    with in_workspace(tenant.workspace):
        memory = Memory.objects.select_related("key").get(pk=new["id"])
        assert memory.key is not None
        assert memory.key.name == "acme agent"
    told = tenant.agent.get("events", {"object": stated["id"]}).json()["results"]
    assert {"review.opened", "review.accepted", "memory.superseded"} <= {e["type"] for e in told}
    again = tenant.reviewer.post(f"reviews/{review}/accept", {})
    assert again.status_code == 409


def test_a_rejected_request_changes_nothing(tenant: Tenant, stated: dict[str, Any]) -> None:
    review = ask_to_supersede(tenant, stated)
    body = tenant.reviewer.post(f"reviews/{review}/reject", {"note": "No."}).json()
    assert (body["status"], body["note"], body["result"]) == ("rejected", "No.", None)
    assert shown(tenant, stated) == stated
    assert tenant.reviewer.get("reviews").json()["results"] == []
    assert len(tenant.reviewer.get("reviews", {"status": "rejected"}).json()["results"]) == 1


def test_a_pending_change_is_carried_out_when_accepted(
    tenant: Tenant, stated: dict[str, Any]
) -> None:
    change = {"content": "The budget is 6000 euros.", "expires_at": "2199-01-01T00:00:00Z"}
    asked = tenant.agent.patch(f"memories/{stated['id']}", change)
    assert asked.status_code == 202
    assert shown(tenant, stated) == stated
    done = tenant.reviewer.post(f"reviews/{asked.json()['review']}/accept", {})
    assert done.json()["result"] == stated["id"]
    now = shown(tenant, stated)
    assert (now["content"], now["expires_at"], now["provenance"], now["revision"]) == (
        "The budget is 6000 euros.", "2199-01-01T00:00:00Z", "user_stated", 2,
    )  # fmt: skip


def test_identical_requests_are_one_review(tenant: Tenant, stated: dict[str, Any]) -> None:
    assert ask_to_supersede(tenant, stated) == ask_to_supersede(tenant, stated)
    other = ask_to_supersede(tenant, stated, session_key="run-2")
    pending = tenant.reviewer.get("reviews").json()["results"]
    assert pending[0]["id"] == other
    assert len(pending) == 2


def test_a_request_lapses_when_its_memory_changes(tenant: Tenant, stated: dict[str, Any]) -> None:
    review = ask_to_supersede(tenant, stated)
    tenant.reviewer.patch(f"memories/{stated['id']}", {"content": "The budget is 5500 euros."})
    assert tenant.agent.get(f"reviews/{review}").json()["status"] == "lapsed"
    assert tenant.reviewer.post(f"reviews/{review}/accept", {}).status_code == 409
    assert shown(tenant, stated)["state"] == "active"


def test_a_lapse_outlives_the_refusal_under_a_key(tenant: Tenant, stated: dict[str, Any]) -> None:
    review = ask_to_supersede(tenant, stated)
    same = commit(tenant.agent, "The budget is 9 euros.", scope="elsewhere")
    tenant.agent.post("memories/forget", {"ids": [same["id"]], "confirm": True})
    key = {"Idempotency-Key": "accept-once"}
    answers = [tenant.reviewer.post(f"reviews/{review}/accept", {}, **key) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [409, 409]
    assert answers[0].json() == answers[1].json()
    assert {answer["Content-Type"] for answer in answers} == {"application/problem+json"}
    assert tenant.agent.get(f"reviews/{review}").json()["status"] == "lapsed"
    assert shown(tenant, stated)["state"] == "active"


def test_a_request_that_meets_another_writer_waits_on(
    tenant: Tenant, stated: dict[str, Any]
) -> None:
    asked = tenant.agent.patch(f"memories/{stated['id']}", {"content": "The budget is 9 euros."})
    review = asked.json()["review"]
    twin = commit(tenant.agent, "The budget is 9 euros.")
    assert tenant.reviewer.post(f"reviews/{review}/accept", {}).status_code == 409
    assert tenant.agent.get(f"reviews/{review}").json()["status"] == "pending"
    tenant.reviewer.patch(f"memories/{twin['id']}", {"content": "The spare budget is 9 euros."})
    assert tenant.reviewer.post(f"reviews/{review}/accept", {}).status_code == 200
    assert shown(tenant, stated)["content"] == "The budget is 9 euros."


def test_a_request_lapses_when_its_memory_leaves(tenant: Tenant, stated: dict[str, Any]) -> None:
    review = ask_to_supersede(tenant, stated)
    tenant.agent.post("memories/forget", {"ids": [stated["id"]], "confirm": True})
    assert tenant.reviewer.post(f"reviews/{review}/accept", {}).status_code == 409
    tenant.agent.post("memories/restore", {"ids": [stated["id"]]})
    assert tenant.agent.get(f"reviews/{review}").json()["status"] == "lapsed"


def test_a_request_for_words_forgotten_meanwhile_lapses(
    tenant: Tenant, stated: dict[str, Any]
) -> None:
    review = ask_to_supersede(tenant, stated)
    same = commit(tenant.agent, "The budget is 9 euros.", scope="elsewhere")
    tenant.agent.post("memories/forget", {"ids": [same["id"]], "confirm": True})
    assert tenant.reviewer.post(f"reviews/{review}/accept", {}).status_code == 409
    assert shown(tenant, stated)["state"] == "active"
    assert tenant.agent.get(f"reviews/{review}").json()["status"] == "lapsed"


def test_one_pending_item_leaves_the_rest_of_a_batch(
    tenant: Tenant, stated: dict[str, Any]
) -> None:
    batch = [
        {"content": "The hall is large."},
        {"content": "The budget is 9 euros.", "supersedes": stated["id"]},
        {"content": "Pears ripen in August."},
    ]
    answer = tenant.agent.post("memories/batch", {"memories": batch})
    rows = answer.json()["results"]
    assert answer.status_code == 201
    assert [row["outcome"] for row in rows] == ["created", "pending", "created"]
    assert (rows[1]["memory"], rows[0]["review"]) == (None, None)
    assert tenant.agent.get(f"reviews/{rows[1]['review']}").json()["status"] == "pending"
    assert shown(tenant, stated)["state"] == "active"


def test_what_a_person_decided_waits_for_a_person(tenant: Tenant, member: Any) -> None:
    """A person's word outranks an agent's of the same class."""
    person = member("reviewer")
    memory = commit(tenant.agent, "The office is in Ghent.")
    assert tenant.agent.patch(f"memories/{memory['id']}", {"tags": ["a"]}).status_code == 200
    person.patch(f"/api/v1/memories/{memory['id']}", {"pinned": True}, content_type=JSON)
    assert tenant.agent.patch(f"memories/{memory['id']}", {"tags": ["b"]}).status_code == 202
    replacing = {"content": "The office is in Bruges.", "supersedes": memory["id"]}
    assert tenant.agent.post("memories", replacing).status_code == 202
    assert tenant.reviewer.post("memories", replacing).status_code == 201


def test_what_a_verdict_kept_waits_for_a_person_until_it_is_undone(
    tenant: Tenant, member: Any
) -> None:
    person = member("reviewer")
    a, b = (commit(tenant.agent, f"The office is in {city}.") for city in ("Ghent", "Bruges"))
    card = tenant.agent.post("conflicts", {"memory_ids": [a["id"], b["id"]]}).json()
    path = f"/api/v1/conflicts/{card['id']}"
    kept = {"verdict": "keep", "keep": [a["id"]]}
    assert person.post(f"{path}/resolve", kept, content_type=JSON).status_code == 200
    asked = tenant.agent.patch(f"memories/{a['id']}", {"tags": ["x"]})
    assert asked.status_code == 202
    assert person.post(f"{path}/undo", {}, content_type=JSON).status_code == 200
    assert tenant.agent.patch(f"memories/{a['id']}", {"tags": ["y"]}).status_code == 200


def test_trust_pending_lists_what_waits(tenant: Tenant, stated: dict[str, Any]) -> None:
    commit(tenant.agent, "The hall is large.")
    ask_to_supersede(tenant, stated)
    listed = tenant.reader.get("memories", {"trust": "pending"}).json()["results"]
    assert [row["id"] for row in listed] == [stated["id"]]


def test_readers_do_not_see_reviews_and_agents_do_not_answer_them(
    tenant: Tenant, stated: dict[str, Any]
) -> None:
    review = ask_to_supersede(tenant, stated)
    assert tenant.reader.get("reviews").status_code == 403
    assert tenant.agent.post(f"reviews/{review}/accept", {}).status_code == 403
    assert shown(tenant, stated) == stated


def test_reviews_of_another_workspace_do_not_exist(
    tenant: Tenant, neighbour: Tenant, stated: dict[str, Any]
) -> None:
    review = ask_to_supersede(tenant, stated)
    for verb in ("accept", "reject"):
        assert neighbour.admin.post(f"reviews/{review}/{verb}", {}).status_code == 404
    assert neighbour.admin.get(f"reviews/{review}").status_code == 404
    assert neighbour.admin.get("reviews", {"status": "all"}).json()["results"] == []


def test_an_asked_revival_is_one_review_and_brings_it_back(tenant: Tenant, member: Any) -> None:
    memory = commit(tenant.agent, "Rita sings in a choir.")
    body = {"ids": [memory["id"]], "confirm": True}
    member("reviewer").post("/api/v1/memories/forget", body, content_type=JSON)
    waiting = tenant.agent.post("memories/restore", {"ids": [memory["id"]]}).json()["pending"]
    again = tenant.agent.post("memories/restore", {"ids": [memory["id"]]}).json()["pending"]
    assert waiting == again == [{"id": memory["id"], "review": waiting[0]["review"]}]
    done = tenant.reviewer.post(f"reviews/{waiting[0]['review']}/accept", {}).json()
    assert (done["status"], done["result"]) == ("accepted", memory["id"])
    assert shown(tenant, memory)["state"] == "active"


def test_a_request_that_needs_two_decisions_names_both(
    tenant: Tenant, member: Any, stated: dict[str, Any]
) -> None:
    old = commit(tenant.agent, "Never deploy on Friday.")
    body = {"ids": [old["id"]], "confirm": True}
    member("reviewer").post("/api/v1/memories/forget", body, content_type=JSON)
    sent = {"content": "Never deploy on Friday.", "revive": True, "supersedes": stated["id"]}
    asked = tenant.agent.post("memories", sent)
    assert asked.status_code == 202
    review = tenant.reviewer.get(f"reviews/{asked.json()['review']}").json()
    assert (review["kind"], review["memory"]["id"]) == ("supersede", stated["id"])
    assert review["reason"] == (
        "That memory is what a user said, what is asked is what an agent concluded. "
        f"It would also revive {old['id']}: A person made Engram forget this."
    )
    assert shown(tenant, old)["state"] == "forgotten"
    assert tenant.reviewer.post(f"reviews/{review['id']}/accept", {}).status_code == 200
    assert (shown(tenant, old)["state"], shown(tenant, stated)["state"]) == ("active", "superseded")


def test_summaries_of_summaries_are_flagged_once_and_unflagged(tenant: Tenant) -> None:
    """Pitfall 7: forget of a source flags derived summaries."""
    source = commit(tenant.agent, "Rita sings in a choir.")
    summary = commit(tenant.agent, "Rita is musical.", derived_from=[source["id"]])
    digest = commit(tenant.agent, "The team has hobbies.", derived_from=[summary["id"]])
    forget = {"ids": [source["id"]], "confirm": True}
    tenant.agent.post("memories/forget", forget)
    tenant.agent.post("memories/forget", forget)
    waiting = tenant.reviewer.get("reviews", {"kind": "source_forgotten"}).json()["results"]
    assert {row["memory"]["id"] for row in waiting} == {summary["id"], digest["id"]}
    assert all(row["request"] == {"sources": [source["id"]]} for row in waiting)
    assert "Rita sings" not in str(waiting)
    tenant.agent.post("memories/restore", {"ids": [source["id"]]})
    assert tenant.reviewer.get("reviews").json()["results"] == []


def test_a_flagged_summary_is_forgotten_or_kept(tenant: Tenant) -> None:
    source = commit(tenant.agent, "Rita sings in a choir.")
    summaries = [
        commit(tenant.agent, text, derived_from=[source["id"]])
        for text in ("Rita is musical.", "The choir has new members.")
    ]
    tenant.agent.post("memories/forget", {"ids": [source["id"]], "confirm": True})
    by_memory = {
        row["memory"]["id"]: row["id"] for row in tenant.reviewer.get("reviews").json()["results"]
    }
    tenant.reviewer.post(f"reviews/{by_memory[summaries[0]['id']]}/accept", {})
    tenant.reviewer.post(f"reviews/{by_memory[summaries[1]['id']]}/reject", {})
    assert shown(tenant, summaries[0])["state"] == "forgotten"
    assert shown(tenant, summaries[1])["state"] == "active"


def test_a_summary_that_is_back_waits_under_the_review_that_forgot_it(tenant: Tenant) -> None:
    source, other = (
        commit(tenant.agent, text) for text in ("Rita sings in a choir.", "Rita has a piano.")
    )
    summary = commit(tenant.agent, "Rita is musical.", derived_from=[source["id"], other["id"]])
    tenant.agent.post("memories/forget", {"ids": [source["id"]], "confirm": True})
    [asked] = tenant.reviewer.get("reviews").json()["results"]
    tenant.reviewer.post(f"reviews/{asked['id']}/accept", {"note": "gone with it"})
    assert tenant.reviewer.post("memories/restore", {"ids": [summary["id"]]}).status_code == 200
    [again] = tenant.reviewer.get("reviews").json()["results"]
    assert (again["id"], again["status"], again["created_at"]) == (
        asked["id"], "pending", asked["created_at"],
    )  # fmt: skip
    with in_workspace(tenant.workspace):
        found = Review.objects.get()
        assert (found.decided_at, found.decided_by, found.note) == (None, "", "")
        assert Event.objects.filter(type="review.reopened").count() == 1
    # Of another source it is asked anew.
    tenant.reviewer.post(f"reviews/{asked['id']}/accept", {})
    tenant.agent.post("memories/forget", {"ids": [other["id"]], "confirm": True})
    tenant.reviewer.post("memories/restore", {"ids": [summary["id"]]})
    [new] = tenant.reviewer.get("reviews").json()["results"]
    assert new["id"] != asked["id"]
    assert set(new["request"]["sources"]) == {source["id"], other["id"]}


def test_a_summary_that_people_kept_is_not_asked_about_when_a_sibling_is_back(
    tenant: Tenant,
) -> None:
    source, other = (
        commit(tenant.agent, text) for text in ("Rita sings in a choir.", "Rita has a piano.")
    )
    both = [source["id"], other["id"]]
    texts = ("Rita is musical.", "Rita sings alto.", "Choirs meet weekly in Rita's town.")
    kept, sibling, further = (commit(tenant.agent, text, derived_from=both) for text in texts)

    def forget(memory: dict[str, Any]) -> None:
        body = {"ids": [memory["id"]], "confirm": True}
        assert tenant.reviewer.post("memories/forget", body).status_code == 200

    def restore(memory: dict[str, Any]) -> None:
        assert tenant.reviewer.post("memories/restore", {"ids": [memory["id"]]}).status_code == 200

    def waiting() -> dict[str, str]:
        listed = tenant.reviewer.get("reviews").json()["results"]
        return {one["memory"]["id"]: one["id"] for one in listed}

    forget(source)
    asked = waiting()
    assert set(asked) == {kept["id"], sibling["id"], further["id"]}
    tenant.reviewer.post(f"reviews/{asked[kept['id']]}/reject", {})
    forget(sibling)
    restore(sibling)
    assert set(waiting()) == {sibling["id"], further["id"]}
    forget(kept)
    restore(kept)  # what was answered about itself stands, too
    assert set(waiting()) == {sibling["id"], further["id"]}
    forget(other)  # nobody was asked about this one
    assert set(waiting()) == {kept["id"], sibling["id"], further["id"]}
    restore(other)
    assert set(waiting()) == {sibling["id"], further["id"]}
    restore(source)
    forget(source)  # it is gone anew: that is another question
    assert set(waiting()) == {kept["id"], sibling["id"], further["id"]}


def test_a_tag_on_a_flagged_summary_leaves_the_question(tenant: Tenant) -> None:
    source = commit(tenant.agent, "Rita sings in a choir.")
    summary = commit(tenant.agent, "Rita is musical.", derived_from=[source["id"]])
    tenant.agent.post("memories/forget", {"ids": [source["id"]], "confirm": True})
    tenant.agent.patch(f"memories/{summary['id']}", {"tags": ["music"]})
    assert len(tenant.reviewer.get("reviews").json()["results"]) == 1


def test_the_list_of_reviews_takes_the_same_number_of_queries(tenant: Tenant) -> None:
    counts = []
    for n in range(3):
        memory = commit(tenant.agent, f"Bench {n} is wet.", provenance="user_stated", scope=f"s{n}")
        tenant.agent.patch(f"memories/{memory['id']}", {"tags": [f"t{n}"]})
        with CaptureQueriesContext(connection) as queries:
            assert len(tenant.reviewer.get("reviews").json()["results"]) == n + 1
        counts.append(len(queries))
    assert counts[1] == counts[2]  # the first one notes that the key is used


def test_a_credential_in_a_pending_request_is_refused(
    tenant: Tenant, stated: dict[str, Any]
) -> None:
    secret = {"content": "The password is hunter2hunter2x", "supersedes": stated["id"]}
    assert tenant.agent.post("memories", secret).status_code == 422
    with in_workspace(tenant.workspace):
        assert Review.objects.count() == 0


def test_the_page_of_a_request_shows_whatever_its_metadata_holds(
    tenant: Tenant, member: Any
) -> None:
    plain = issue_agent(tenant.workspace)
    metadata = {"seen_at": "last week", "until": 12, "answers": ["yes"], "made_at": [{"by": "Bo"}]}
    asked = plain.post(
        "memories",
        {"content": "The gate code is 4417.", "provenance": "user_stated", "metadata": metadata},
    )
    page = member("reviewer").get(f"/admin/memories/review/{asked.json()['review']}/change/")
    told = "until: 12, answers: yes, made at: by: Bo, seen at: last week"
    assert told in page.content.decode()


def test_numbers_of_a_request_are_shown_as_people_write_them() -> None:
    numbers = {12345.6: "12,345.6", 1000.0: "1,000", -2.5: "-2.5", 0.1 + 0.2: "0.3"}
    numbers |= {0.000123456: "0.0001235", 1e15: "1e+15", 999_999.99999: "1,000,000"}
    assert {n: _free_in_words("", n) for n in numbers} == numbers
