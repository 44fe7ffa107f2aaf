"""Claims of texts that were forgotten: they are shown nowhere, and bring nothing back."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.conftest import Caller, Tenant, issue_agent

CANARY = "zyzzyvaquux"
TEXT = f"The north vault opens with {CANARY}."


@pytest.fixture
def plain(tenant: Tenant) -> Caller:
    """Return the caller whose claims wait for a reviewer."""
    return issue_agent(tenant.workspace)


def claimed(plain: Caller, content: str, **fields: Any) -> str:
    """Return the review of a claim that a plain key made."""
    asked = {"content": content, "pinned": True, "source": CANARY, **fields}
    answer = plain.post("memories", asked)
    assert answer.status_code == 202, answer.json()
    review: str = answer.json()["review"]
    return review


def forget(tenant: Tenant, *ids: str) -> None:
    answer = tenant.admin.post("memories/forget", {"ids": list(ids), "confirm": True})
    assert answer.json()["forgotten"] == len(ids)


def shown_to_agents(plain: Caller, person: Any, review: str) -> str:
    """Return all that people of the role agent and the key that asked read of a review."""
    pages = ("?status=accepted", "?status=all", f"{review}/change/")
    texts = [person.get(f"/admin/memories/review/{page}").content.decode() for page in pages]
    api = [plain.get(f"reviews/{review}"), plain.get("reviews?status=all")]
    inbox = person.get(f"/console/inbox/?item=reviews:{review}")
    return "".join([*texts, *(a.content.decode() for a in api), inbox.content.decode()])


@pytest.mark.parametrize("verb", ["accept", "reject"])
@pytest.mark.parametrize("kind", ["claim", "supersede"])
def test_an_answered_request_does_not_show_what_was_forgotten(
    tenant: Tenant, plain: Caller, member: Any, verb: str, kind: str
) -> None:
    fields = {}
    if kind == "supersede":
        old = tenant.reviewer.post("memories", {"content": "The vault has no word."}).json()
        fields = {"supersedes": old["memory"]["id"]}
    review = claimed(plain, TEXT, **fields)
    done = tenant.reviewer.post(f"reviews/{review}/{verb}", {"note": f"About {CANARY}."}).json()
    person = member("agent")
    assert CANARY in shown_to_agents(plain, person, review)
    known = (
        done["result"] or tenant.agent.post("memories", {"content": TEXT}).json()["memory"]["id"]
    )
    forget(tenant, known)
    assert CANARY not in shown_to_agents(plain, person, review)
    body = plain.get(f"reviews/{review}").json()
    assert (body["request"], body["note"]) == ({}, "")
    assert body["status"] == f"{verb}ed"


def test_a_waiting_request_does_not_quote_what_was_forgotten_beside_its_content(
    tenant: Tenant, plain: Caller, member: Any
) -> None:
    known = tenant.agent.post("memories", {"content": TEXT}).json()["memory"]["id"]
    asked = {"source": TEXT, "metadata": {"quotes": [TEXT]}}
    review = claimed(plain, "Vaults have words.", **asked)
    person = member("agent")
    assert CANARY in shown_to_agents(plain, person, review)
    forget(tenant, known)
    assert CANARY not in shown_to_agents(plain, person, review)
    assert tenant.reviewer.post(f"reviews/{review}/accept", {}).status_code == 200


def test_what_an_accepted_claim_wrote_is_withheld_in_all_its_wordings(
    tenant: Tenant, plain: Caller, member: Any
) -> None:
    review = claimed(plain, TEXT)
    result = tenant.reviewer.post(f"reviews/{review}/accept", {}).json()["result"]
    tenant.reviewer.patch(f"memories/{result}", {"content": "The north vault is open."})
    forget(tenant, result)
    assert CANARY not in shown_to_agents(plain, member("agent"), review)


def test_lists_of_reviews_ask_the_database_as_often_for_many_as_for_one(
    tenant: Tenant, plain: Caller, member: Any
) -> None:
    person = member("agent")
    paths = ("/admin/memories/review/?status=all", "/api/v1/reviews?status=all", "/console/inbox/")

    def count_queries() -> list[int]:
        counts = []
        for path in paths:
            with CaptureQueriesContext(connection) as made:
                assert person.get(path).status_code == 200
            counts.append(len(made))
        return counts

    claimed(plain, "Rita rows.")
    count_queries()  # what a process asks once
    few = count_queries()
    for n in range(5):
        claimed(plain, f"Rita owns {n + 2} boats.")
    assert count_queries() == few


def test_a_claim_of_a_former_wording_lapses_when_its_memory_is_forgotten(
    tenant: Tenant, plain: Caller
) -> None:
    known = tenant.agent.post("memories", {"content": TEXT}).json()["memory"]["id"]
    tenant.reviewer.patch(f"memories/{known}", {"content": "The north vault is open."})
    review = claimed(plain, TEXT, revive=True, scope="elsewhere")
    forget(tenant, known)
    assert plain.get(f"reviews/{review}").json()["status"] == "lapsed"
    assert tenant.reviewer.post(f"reviews/{review}/accept", {}).status_code == 409
    assert tenant.agent.get(f"memories/{known}").json()["state"] == "forgotten"


def test_accepting_brings_nothing_back_that_was_forgotten_after_it_was_asked(
    tenant: Tenant, plain: Caller
) -> None:
    """Also when the request names a memory, and so does not lapse by its statement."""
    old = tenant.reviewer.post("memories", {"content": "The vault has no word."}).json()["memory"]
    known = tenant.agent.post("memories", {"content": TEXT, "scope": "a"}).json()["memory"]["id"]
    tenant.reviewer.patch(f"memories/{known}", {"content": "The north vault is open."})
    review = claimed(plain, TEXT, revive=True, supersedes=old["id"])
    forget(tenant, known)
    answer = tenant.reviewer.post(f"reviews/{review}/accept", {})
    assert (answer.status_code, answer.json()["type"].split("/")[-1]) == (409, "review-lapsed")
    assert tenant.agent.get(f"memories/{known}").json()["state"] == "forgotten"
    assert tenant.agent.get(f"memories/{old['id']}").json()["state"] == "active"
    assert plain.get(f"reviews/{review}").json()["status"] == "lapsed"


def test_a_revival_that_is_asked_after_forgetting_is_still_done(
    tenant: Tenant, plain: Caller
) -> None:
    known = tenant.agent.post("memories", {"content": TEXT}).json()["memory"]["id"]
    forget(tenant, known)
    review = claimed(plain, TEXT, revive=True)
    assert tenant.reviewer.post(f"reviews/{review}/accept", {}).status_code == 200
    assert tenant.agent.get(f"memories/{known}").json()["state"] == "active"
