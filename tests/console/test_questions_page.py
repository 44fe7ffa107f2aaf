"""The page of what the workspace knows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import MemoryAnswer
from tests.conflicts.test_questions_api import (
    LEAD,
    REFUNDS,
    TREASURER,
    commit,
    days_ago,
    dispute,
    known,
)
from tests.conftest import Tenant

PAGE = "/console/questions/"


@pytest.fixture
def person(member: Any) -> Client:
    signed_in: Client = member("reader")
    return signed_in


def shown(person: Client, path: str = PAGE, **filters: str) -> str:
    answer = person.get(path, filters)
    assert answer.status_code == 200
    text: str = answer.content.decode()
    return text


def test_without_answers_the_page_says_how_to_send_some(person: Client) -> None:
    page = shown(person)
    assert "No answers yet" in page
    assert "&quot;answers&quot;" in page or '"answers"' in page


def test_questions_are_listed_with_their_answers(tenant: Tenant, person: Client) -> None:
    commit(tenant, LEAD, (REFUNDS, "the support lead"), agent="scribe", scope="shop")
    page = shown(person)
    [row] = known(tenant)
    for text in (REFUNDS, "the support lead", "scribe", "shop", f"{PAGE}{row['id']}/"):
        assert text in page
    one = shown(person, f"{PAGE}{row['id']}/")
    assert LEAD in one
    assert f"/console/memories/{row['memory']}/" in one


def test_a_disputed_question_links_to_its_card(tenant: Tenant, person: Client) -> None:
    dispute(tenant)
    commit(tenant, "Backups run at night.", ("When do backups run?", "at night"))
    [row] = known(tenant, disputed="true")
    card = f"/console/conflicts/{row['conflicts'][0]}/"
    page = shown(person, disputed="1")
    assert card in page
    assert "When do backups run?" not in page
    assert card in shown(person, f"{PAGE}{row['id']}/")


def test_filters_narrow_the_page(tenant: Tenant, person: Client) -> None:
    commit(tenant, LEAD, (REFUNDS, "the support lead"), scope="shop")
    commit(tenant, "Backups run at night.", ("When do backups run?", "at night"), scope="infra")
    assert REFUNDS not in shown(person, q="night")
    assert REFUNDS in shown(person, scope="shop")
    assert "No question matches" in shown(person, q="purple")


def test_the_page_shows_what_was_known_on_a_day(tenant: Tenant, person: Client) -> None:
    old = commit(tenant, LEAD, (REFUNDS, "the support lead"), observed_at=days_ago(9))
    commit(tenant, TREASURER, (REFUNDS, "the treasurer"), observed_at=days_ago(3), supersedes=old)
    day = (timezone.localdate() - timedelta(days=6)).isoformat()
    page = shown(person, as_of=day)
    assert "the support lead" in page
    assert "the treasurer" not in page
    [row] = known(tenant)
    assert f"{PAGE}{row['id']}/?as_of={day}" in page
    assert "the treasurer" not in shown(person, f"{PAGE}{row['id']}/", as_of=day)


def test_the_page_of_a_day_shows_nothing_that_was_written_later(
    tenant: Tenant, person: Client
) -> None:
    memory = commit(tenant, LEAD, (REFUNDS, "the support lead"), observed_at=days_ago(9))
    night = ("When do backups run?", "at night")
    commit(tenant, "Backups run at night.", night, observed_at=days_ago(9))
    [backups], [refunds] = known(tenant, q="backups"), known(tenant, q="refunds")
    mayor = {
        "content": "The mayor decides about refunds.",
        "answers": [{"question": REFUNDS, "answer": "the mayor"}],
    }
    assert tenant.admin.patch(f"memories/{memory}", mayor).status_code == 200
    day = (timezone.localdate() - timedelta(days=6)).isoformat()
    page = shown(person, as_of=day)
    one = shown(person, f"{PAGE}{backups['id']}/", as_of=day)
    assert ("mayor" in page, "at night" in page, "at night" in one) == (False, True, True)
    for text in (page, one):
        assert "Memories that were reworded or moved since, answers that were given since" in text
    assert person.get(f"{PAGE}{refunds['id']}/", {"as_of": day}).status_code == 404
    assert "the mayor" in shown(person, f"{PAGE}{refunds['id']}/")


@pytest.mark.parametrize(
    "filters",
    [
        {"as_of": "yesterday"},
        {"as_of": "2199-01-01"},
        {"as_of": "0001-01-01"},
        {"q": "x" * 201},
        {"q": " ".join("abcdefghijklm")},
        {"q": "a\x00b"},
        {"scope": "s" * 301},
        {"disputed": "maybe"},
    ],
)
def test_wrong_filters_are_named(tenant: Tenant, person: Client, filters: dict[str, str]) -> None:
    commit(tenant, LEAD, (REFUNDS, "the support lead"))
    answer = person.get(PAGE, filters)
    assert answer.status_code == 422
    assert f'id="{next(iter(filters))}-error"' in answer.content.decode()
    [row] = known(tenant)
    assert person.get(f"{PAGE}{row['id']}/", filters).status_code == 200


def test_a_wrong_cursor_gives_the_first_page(tenant: Tenant, person: Client) -> None:
    commit(tenant, LEAD, (REFUNDS, "the support lead"))
    assert REFUNDS in shown(person, cursor="nonsense")


def test_every_text_has_its_own_direction(tenant: Tenant, person: Client) -> None:
    asked, answer, was = "מי מאשר החזרים?", "ראש הצוות", "הכספים"
    commit(tenant, "החזרים עוברים דרך ראש הצוות.", (asked, answer, was))
    [row] = known(tenant)
    page, one = shown(person), shown(person, f"{PAGE}{row['id']}/")
    memory = shown(person, f"/console/memories/{row['memory']}/")
    assert f'<a dir="auto" href="{PAGE}{row["id"]}/">{asked}</a>' in page
    assert f'<span class="answer" dir="auto">{answer}</span>' in page
    assert f'<h1 id="asked" dir="auto">{asked}</h1>' in one
    assert f'<p class="answer" dir="auto">{answer}</p>' in one
    assert '<p class="says" dir="auto">החזרים עוברים דרך ראש הצוות.</p>' in one
    assert f"<bdi>{answer}</bdi>" in one
    assert f"was: <bdi>{was}</bdi>" in one
    assert f"<bdi>{asked}</bdi>" in memory


def test_a_stored_text_that_changes_the_direction_does_so_for_itself_alone(
    tenant: Tenant, person: Client
) -> None:
    asked, answer = "Who approves \u202erefunds?", "the \u202elead"
    commit(tenant, LEAD, (asked, answer))
    commit(tenant, TREASURER, (asked, "the treasurer"))
    assert "\u202e" not in shown(person)
    with in_workspace(tenant.workspace):  # as before answers were stored in one line
        MemoryAnswer.objects.update(question=asked)
        MemoryAnswer.objects.filter(answer="the lead").update(answer=answer)
    [row] = known(tenant)
    page, one = shown(person), shown(person, f"{PAGE}{row['id']}/")
    assert f">{asked}</a>" in page
    assert f'<h1 id="asked" dir="auto">{asked}</h1>' in one
    for text in (page, one):
        assert f"<bdi>{answer}</bdi>" in text


def test_texts_are_escaped(tenant: Tenant, person: Client) -> None:
    bad = "<script>alert('x')</script>"
    commit(tenant, f"Says {bad}.", (f"What is {bad}?", bad, f"{bad} before"), agent="<b>agent</b>")
    [row] = known(tenant)
    for page in (shown(person), shown(person, f"{PAGE}{row['id']}/"), shown(person, q=bad)):
        assert bad not in page
        assert "<b>agent" not in page


def test_a_long_page_costs_the_queries_of_a_short_one(tenant: Tenant, person: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            shown(person)
        return len(caught)

    commit(tenant, LEAD, (REFUNDS, "the support lead"))
    shown(person)
    before = queries()
    rooms = [
        {
            "content": f"Room {number} is painted green.",
            "answers": [{"question": f"Which colour has room {number}?", "answer": "green"}],
        }
        for number in range(40)
    ]
    assert tenant.agent.post("memories/batch", {"memories": rooms}).status_code == 201
    assert queries() == before


def test_the_history_tells_what_replaced_a_former_answer(tenant: Tenant, person: Client) -> None:
    old = commit(tenant, TREASURER, (REFUNDS, "the treasurer"), observed_at=days_ago(9))
    new = commit(tenant, LEAD, (REFUNDS, "the lead"), observed_at=days_ago(3), supersedes=old)
    [row] = known(tenant)
    page = shown(person, f"{PAGE}{row['id']}/")
    assert "superseded</span> <strong><bdi>the treasurer</bdi>" in page
    assert f'replaced by <a href="/console/memories/{new}/"><bdi>the lead</bdi></a>' in page
    assert " until <time" in page
    forgotten = {"ids": [old], "confirm": True}
    assert tenant.admin.post("memories/forget", forgotten).status_code == 200
    assert "treasurer" not in shown(person, f"{PAGE}{row['id']}/")
