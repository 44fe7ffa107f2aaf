"""What people read about a review before they answer: the question, the values, what follows."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from memories.models import Review, ReviewKind
from memories.serializers.review_answers import answers_to, question_about, question_of
from tests.conftest import Tenant

Member = Callable[[str], Client]
REVIEWS = "/admin/memories/review/"
SAID = 'The "moat" is 5 m deep.'


def commit(tenant: Tenant, content: str, **fields: Any) -> dict[str, Any]:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201, 202}, answer.content
    found: dict[str, Any] = answer.json()
    return found


def words(html: str) -> str:
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html).split()))


def flag(tenant: Tenant) -> str:
    """Forget the source of a summary; return the review that asks about the summary."""
    source = commit(tenant, "Ada measured the moat.")["memory"]["id"]
    commit(tenant, SAID, derived_from=[source])
    tenant.admin.post("memories/forget", {"ids": [source], "confirm": True})
    rows = tenant.reviewer.get("reviews").json()["results"]
    [review] = [row["id"] for row in rows if row["kind"] == "source_forgotten"]
    return str(review)


def ask_to_replace(tenant: Tenant, **fields: Any) -> str:
    stated = commit(tenant, "The budget is 5000 euros.", provenance="user_stated")["memory"]["id"]
    asked = commit(tenant, "The budget is 9 euros.", supersedes=stated, **fields)
    return str(asked["review"])


def test_a_request_is_told_in_the_words_of_pages(tenant: Tenant, member: Member) -> None:
    review = ask_to_replace(tenant, kind="decision", confidence=0.55, importance=0.085)
    client = member("reviewer")
    pages = [
        client.get(f"{REVIEWS}{review}/change/"),
        client.get("/console/inbox/", {"item": f"reviews:{review}"}),
    ]
    for page in pages:
        told = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page.content.decode()))
        assert {name: told[name] for name in ("Kind", "Confidence", "Importance")} == {
            "Kind": "Decision", "Confidence": "55 %", "Importance": "8.5 %",
        }  # fmt: skip


@pytest.mark.parametrize("role", ["agent", "reviewer"])
def test_consequences_stand_beside_the_answers_before_one_is_chosen(
    tenant: Tenant, member: Member, role: str
) -> None:
    review = ask_to_replace(tenant)
    client = member(role)
    page = client.get(f"{REVIEWS}{review}/change/").content.decode()
    part = page[page.index('id="decide-title"') :]
    said = words(part)
    assert said.startswith(f'id="decide-title">May {tenant.workspace.slug} agent replace this?')
    assert "the present memory is superseded by it" in said
    assert "Nothing changes. The requester may ask again." in said
    assert ('value="accept"' in part) == (role == "reviewer")
    assert ("Answering needs the role reviewer" in said) == (role == "agent")


def test_the_question_before_an_answer_says_what_it_does(tenant: Tenant, member: Member) -> None:
    reviews = [ask_to_replace(tenant), flag(tenant)]
    client = member("reviewer")

    def confirm(action: str, *ids: str) -> str:
        body = {"action": action, "_selected_action": list(ids), "select_across": "0"}
        return words(client.post(REVIEWS, body).content.decode())

    assert "the present memory is superseded by it" in confirm("accept", reviews[0])
    assert "The summary is forgotten too. It can be brought back." in confirm("accept", reviews[1])
    assert "The summary stays as it is." in confirm("reject", reviews[1])
    assert "Each is carried out as the one who asked" in confirm("accept", *reviews)


def test_an_answered_review_offers_no_answer(tenant: Tenant, member: Member) -> None:
    review = ask_to_replace(tenant)
    tenant.reviewer.post(f"reviews/{review}/reject")
    page = member("reviewer").get(f"{REVIEWS}{review}/change/").content.decode()
    assert "decide-title" not in page
    assert 'value="accept"' not in page


def test_the_inbox_asks_about_a_summary_in_a_plain_sentence(tenant: Tenant, member: Member) -> None:
    flag(tenant)
    [item] = tenant.reviewer.get("inbox").json()["results"]
    asked = "A source of “The 'moat' is 5 m deep” was forgotten. Forget this summary too?"
    assert item["title"] == asked
    listed = member("reviewer").get("/console/inbox/", {"q": "moat"}).content.decode()
    assert ": “" not in words(listed)


def test_every_kind_has_a_question_and_two_answers() -> None:
    for kind in ReviewKind:
        review = Review(kind=kind, actor_label="Ada")
        assert question_of(review).endswith("?")
        assert "“x”" in question_about(review, "“x”")
        unnamed = question_about(review, "")
        assert unnamed[0].isupper()
        assert "a forgotten" in unnamed
        for one in (question_about(review, "“x”"), unnamed):
            assert one.endswith("?")
            assert ": “" not in one
        yes, no = answers_to(review)
        assert (yes.name, no.name) == ("accept", "reject")
        assert all(one.label and one.effect.endswith(".") for one in (yes, no))
