"""Refused statements in the inbox: shown in their context, kept or left out, taken back."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.console.inbox.refusals import RefusalSource
from engram.console.inbox.source import InboxFilter
from engram.kernel.tenancy import in_workspace
from memories.models import ExtractionRefusal, Memory
from memories.services.extraction import run
from memories.services.extraction.write import BORDERLINE_OF_JOB
from tests.conftest import Tenant
from tests.console.test_inbox import INBOX, Member, act, page, undo

TALK = """\
User: good morning, the pump in the greenhouse is loud again
Agent: I'll look at the log.
User: The spare <pump> is in the red shed behind house 4, Ole knows the code.
Agent: Then swap them at lunch.
"""
SPARE = "The spare &lt;pump&gt; is in the red shed behind house 4, Ole knows the code."


@pytest.fixture
def asked(tenant: Tenant) -> UUID:
    """Extract from a transcript; return the refusal that a person is asked about."""
    tenant.agent.post("memories/extract", {"transcript": TALK, "scope": "garden"})
    run.extract_turn(tenant.workspace.pk, clock=timezone.now, seconds=60, may_ask=False)
    with in_workspace(tenant.workspace):
        ExtractionRefusal.objects.update(is_borderline=False)
        found = ExtractionRefusal.objects.get(text__startswith="The spare")
        ExtractionRefusal.objects.filter(pk=found.pk).update(is_borderline=True)
        return found.pk


def live(tenant: Tenant) -> list[str]:
    with in_workspace(tenant.workspace):
        return list(Memory.objects.recallable().values_list("content", flat=True))


def test_a_statement_waits_with_what_was_said_around_it(
    tenant: Tenant, neighbour: Tenant, member: Member, asked: UUID
) -> None:
    html = page(member("reviewer"))
    assert f'data-key="refusals:{asked}"' in html
    assert f'<mark>{SPARE}</mark><br> <span class="muted">Agent: Then swap' in html
    assert "look at the log" in html
    assert "swap them at lunch" in html
    assert "Keep it" in html
    listed = tenant.reviewer.get("inbox", {"source": "refusals"}).json()["results"]
    assert [(row["id"], row["severity"]) for row in listed] == [(str(asked), "low")]
    assert tenant.agent.get("inbox", {"source": "refusals"}).status_code == 422
    assert neighbour.reviewer.get("inbox").json()["count"] == 0


def test_filters_find_it(tenant: Tenant, member: Member, asked: UUID) -> None:
    client = member("reviewer")
    for wanted in ("scope=garden", "q=red+shed", "severity=low"):
        assert f"refusals:{asked}" in page(client, f"{INBOX}?{wanted}")
    for other in ("scope=gard", "q=blue", "severity=high", "mine=on"):
        assert f'data-key="refusals:{asked}"' not in page(client, f"{INBOX}?{other}")


def test_it_is_kept_and_taken_back(tenant: Tenant, member: Member, asked: UUID) -> None:
    client = member("reviewer")
    answer = act(client, "refusals", asked, "keep")
    assert "Kept." in page(client, answer["Location"])
    assert live(tenant) == [
        "The spare <pump> is in the red shed behind house 4, Ole knows the code."
    ]
    undo(client, "refusals", asked)
    assert live(tenant) == []
    html = page(client)
    assert f'data-key="refusals:{asked}"' in html
    assert f"<mark>{SPARE}</mark>" in html  # nobody asked for these words to be forgotten
    act(client, "refusals", asked, "keep")
    assert len(live(tenant)) == 1


def test_taking_back_does_not_show_words_that_somebody_forgot(
    tenant: Tenant, member: Member, asked: UUID
) -> None:
    client = member("reviewer")
    act(client, "refusals", asked, "keep")
    with in_workspace(tenant.workspace):
        kept = ExtractionRefusal.objects.get(pk=asked).memory_id
    body = {"ids": [str(kept)], "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).status_code == 200
    undo(client, "refusals", asked)
    assert SPARE not in page(client)


def test_it_is_left_out_and_taken_back(tenant: Tenant, member: Member, asked: UUID) -> None:
    client = member("reviewer")
    act(client, "refusals", asked, "leave_out")
    assert live(tenant) == []
    assert client.get(f"{INBOX}counts/").json()["refusals"] == 0
    assert act(client, "refusals", asked, "keep").status_code == 409
    undo(client, "refusals", asked)
    assert client.get(f"{INBOX}counts/").json()["refusals"] == 1


def test_a_transcript_full_of_doubts_asks_about_few(tenant: Tenant) -> None:
    said: list[Any] = [
        f"User: The spare key of house {n} is with Ole in the red shed.\nAgent: Fine.\n"
        for n in range(40)
    ]
    tenant.agent.post("memories/extract", {"transcript": "".join(said)})
    run.extract_turn(tenant.workspace.pk, clock=timezone.now, seconds=60, may_ask=False)
    with in_workspace(tenant.workspace):
        assert ExtractionRefusal.objects.filter(is_borderline=True).count() <= BORDERLINE_OF_JOB


def test_a_kept_statement_that_was_forgotten_is_not_shown(
    tenant: Tenant, member: Member, asked: UUID
) -> None:
    client = member("reviewer")
    act(client, "refusals", str(asked), "keep")
    address = f"{INBOX}?item=refusals:{asked}"
    assert SPARE in page(client, address)
    with in_workspace(tenant.workspace):
        kept = ExtractionRefusal.objects.get(pk=asked).memory_id
    body = {"ids": [str(kept)], "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).status_code == 200
    html = page(client, address)
    assert SPARE not in html
    assert "was forgotten" in html


def found(tenant: Tenant, client: Any, words: str) -> tuple[int, int]:
    """Return how many statements a search finds: in the count, and on the page."""
    wanted = InboxFilter(source="refusals", text=words)
    with in_workspace(tenant.workspace):
        counted = RefusalSource().due_now(wanted, timezone.now()).count()
    html = page(client, f"{INBOX}?source=refusals&q={words}")
    return counted, len(set(re.findall(r"refusals:[0-9a-f-]{36}", html)))


def test_no_search_tells_what_a_forgotten_statement_says(
    tenant: Tenant, member: Member, asked: UUID
) -> None:
    """A memory that was forgotten says the same: neither rows nor counts show a word of it."""
    client = member("reviewer")
    assert found(tenant, client, "shed") == (1, 1)
    other = "User: The spare key of the tractor hangs behind house 4, on the red hook.\n"
    tenant.agent.post("memories/extract", {"transcript": other})
    run.extract_turn(tenant.workspace.pk, clock=timezone.now, seconds=60, may_ask=False)
    with in_workspace(tenant.workspace):
        ExtractionRefusal.objects.filter(text__contains="tractor").update(is_borderline=True)
        statement = ExtractionRefusal.objects.get(pk=asked).fact
    body = {"content": statement, "scope": "elsewhere"}
    memory = tenant.agent.post("memories", body).json()["memory"]["id"]
    assert found(tenant, client, "shed") == (1, 1)
    answer = tenant.reviewer.post("memories/forget", {"ids": [memory], "confirm": True})
    assert answer.status_code == 200
    assert SPARE not in page(client, f"{INBOX}?item=refusals:{asked}")
    for words in ("shed", "pump", "nothing-says-this"):
        assert found(tenant, client, words) == (0, 0)
    assert found(tenant, client, "house") == (1, 1)  # the other statement
    listed = tenant.reviewer.get("memories/extraction-refusals").json()["results"]
    assert [row["text"] for row in listed if row["id"] == str(asked)] == [""]


def test_a_statement_that_a_person_forgot_once_stays_hidden_after_keeping_is_taken_back(
    tenant: Tenant, member: Member, asked: UUID
) -> None:
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        fact = ExtractionRefusal.objects.get(pk=asked).fact
    made = tenant.agent.post("memories", {"content": fact, "scope": "garden"}).json()["memory"]
    tenant.reviewer.post("memories/forget", {"ids": [made["id"]], "confirm": True})
    act(client, "refusals", asked, "keep")
    assert len(live(tenant)) == 1
    undo(client, "refusals", asked)
    assert live(tenant) == []
    assert SPARE not in page(client)
    assert found(tenant, client, "shed") == (0, 0)


@pytest.mark.parametrize("is_listed", [True, False])
def test_what_stands_around_a_statement_does_not_show_a_forgotten_one(
    tenant: Tenant, member: Member, asked: UUID, *, is_listed: bool
) -> None:
    """Neither a refusal of the same job, nor a sentence that is in no list."""
    client, beside = member("reviewer"), "Then swap them at lunch."
    with in_workspace(tenant.workspace):
        other = ExtractionRefusal.objects.get(text=beside)
        if not is_listed:
            other.delete()
    assert "swap them at lunch" in page(client, f"{INBOX}?item=refusals:{asked}")
    memory = tenant.agent.post("memories", {"content": beside}).json()["memory"]["id"]
    body = {"ids": [memory], "confirm": True}
    assert tenant.reviewer.post("memories/forget", body).status_code == 200
    html = page(client, f"{INBOX}?item=refusals:{asked}")
    assert SPARE in html
    assert "swap them at lunch" not in html
    listed = tenant.reviewer.get("memories/extraction-refusals").json()
    assert "swap them at lunch" not in str(listed["results"])
    tenant.reviewer.post("memories/restore", {"ids": [memory]})
    assert "swap them at lunch" in page(client, f"{INBOX}?item=refusals:{asked}")


def test_a_search_asks_as_many_queries_for_one_as_for_many(tenant: Tenant, asked: UUID) -> None:
    wanted = InboxFilter(source="refusals", text="red")

    def search() -> tuple[int, int]:
        source, now = RefusalSource(), timezone.now()
        with in_workspace(tenant.workspace), CaptureQueriesContext(connection) as counted:
            entries = source.entries(wanted, now, mark=None, limit=50)
            assert source.due_now(wanted, now).count() == len(entries)
        return len(entries), len(counted)

    found_of_one, queries_of_one = search()
    with in_workspace(tenant.workspace):
        row = ExtractionRefusal.objects.get(pk=asked)
        for n in range(40):
            row.pk, row.fact = uuid4(), f"The red hook number {n} is free."
            row.save(force_insert=True)
    assert search() == (found_of_one + 40, queries_of_one)
