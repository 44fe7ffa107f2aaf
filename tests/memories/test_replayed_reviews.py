"""A kept answer about a review shows nothing that was forgotten since."""

from __future__ import annotations

import pytest

from tests.conftest import Tenant, issue_agent

SECRETIVE = "The north vault opens with zyzzyvaquux."
OTHER = "The south gate closes at ten."
KEY = {"Idempotency-Key": "once"}


@pytest.mark.parametrize("kind", ["claim", "revise"])
def test_an_answer_about_a_review_of_a_forgotten_statement_is_not_repeated(
    tenant: Tenant, kind: str
) -> None:
    plain = issue_agent(tenant.workspace)
    if kind == "claim":
        asked = plain.post("memories", {"content": SECRETIVE, "pinned": True})
    else:
        mine = tenant.reviewer.post("memories", {"content": OTHER, "provenance": "user_stated"})
        memory = mine.json()["memory"]["id"]
        asked = plain.patch(f"memories/{memory}", {"content": SECRETIVE})
    path = f"reviews/{asked.json()['review']}/reject"
    first = tenant.reviewer.post(path, {}, **KEY)
    assert (first.status_code, SECRETIVE in first.content.decode()) == (200, True)
    other = plain.post("memories", {"content": OTHER + " Always.", "pinned": True})
    beside = f"reviews/{other.json()['review']}/reject"
    kept = tenant.reviewer.post(beside, {}, **{"Idempotency-Key": "beside"})
    said = tenant.agent.post("memories", {"content": SECRETIVE}).json()["memory"]["id"]
    again = tenant.reviewer.post(path, {}, **KEY)
    assert (again.status_code, again.json()) == (200, first.json())
    forgot = tenant.admin.post("memories/forget", {"ids": [said], "confirm": True})
    assert forgot.json()["forgotten"] == 1
    replayed = tenant.reviewer.post(path, {}, **KEY)
    assert replayed.json()["type"] == "/problems/answer-not-kept"
    assert "zyzzyvaquux" not in replayed.content.decode()
    untouched = tenant.reviewer.post(beside, {}, **{"Idempotency-Key": "beside"})
    assert untouched.json() == kept.json()
