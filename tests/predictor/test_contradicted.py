"""What a transcript contradicts is evidence against a memory: no label, a question to people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.test import Client

from engram.kernel.tenancy import in_workspace
from memories.core.comparing import Comparer
from memories.models import Memory, PredictionError, Session
from memories.services.lifecycle.forget import forget
from memories.services.sessions.erase import delete_session
from predictor.core.contradicted import find_contradicted, read_sayings
from predictor.core.labels import CONTRADICTED, Evidence, label
from predictor.models import Comparison, Label
from tests.conftest import NOW, Tenant
from tests.predictor.contradicting_talks import Talk, read_talks
from tests.predictor.judged_sessions import (
    PERSON,
    begin,
    commit,
    end,
    fresh,
    judge_all,
)

LIMIT = "The harbour crane lifts 12 tonnes."
BESIDE = "The harbour crane is painted green."
SAID = "The harbour crane lifts 16 tonnes"
FILLER = (
    "\nUser: Let's plan the harbour crane for Thursday then, the yacht comes out of the water.\n"
    "Assistant: I reserve the crane for Thursday and write to the owner of the yacht.\n"
    "User: And ask the yard whether the cradle is free, it was lent out in spring.\n"
    "Assistant: The yard answers that the cradle is back since Monday. I noted the slot.\n"
)
TRANSCRIPT = (
    f"User: How heavy may the yacht be?\nAssistant: {LIMIT}\n"
    f"User: No, that was before the refit. {SAID}.{FILLER}"
    "Assistant: Then the yacht of 14 tonnes fits, and the green crane is the right one."
)


def found_in(talk: Talk) -> list[int]:
    sayings = read_sayings(talk.memories, talk.transcript)
    return sorted(find_contradicted(talk.memories, sayings, Comparer()))


@pytest.mark.parametrize(("part", "least"), [("seen", 10), ("unseen", 7)])
def test_plain_contradictions_are_found_and_look_alikes_are_not(part: str, least: int) -> None:
    found = [(set(found_in(talk)), set(talk.contradicted)) for talk in read_talks(part)]
    assert [own - wanted for own, wanted in found] == [set()] * len(found)
    assert sum(len(own & wanted) for own, wanted in found) >= least


@pytest.mark.parametrize(
    "said",
    [
        "User: Does the harbour crane lift 16 tonnes?",
        "User: I want the harbour crane to lift 16 tonnes.",
        "User: Suppose the harbour crane lifted 16 tonnes.",
        "User: Please don't store this: the harbour crane lifts 16 tonnes.",
        "User: The harbour crane lifts 16 tonnes. No, sorry. The harbour crane lifts 12 tonnes.",
        "User: The mail says:\n> The harbour crane lifts 16 tonnes.\nWhat do I answer?",
        "User: The shipyard's crane lifts 16 tonnes.",
    ],
)
def test_what_nobody_asserts_contradicts_nothing(said: str) -> None:
    assert found_in(Talk([LIMIT], said)) == []


def test_what_repeats_another_memory_is_no_evidence_of_its_own() -> None:
    """Two memories that contradict each other are the detective's; a copy of itself is none."""
    other = f"{SAID}."
    said = f"User: how heavy?\nAssistant: The team's memory says: {other}\nUser: fine"
    assert found_in(Talk([LIMIT, other], said)) == []
    rule = "Invoice numbers must be consecutive, without gaps."
    asked = f"User: May invoice numbers have gaps?\nAssistant: That is settled: {rule}\nUser: good"
    assert found_in(Talk([rule], asked)) == []


def test_many_memories_and_statements_are_compared_within_bounds() -> None:
    memories = [f"The harbour crane {n} lifts {n} tonnes." for n in range(100)]
    said = "".join(f"User: The harbour crane {n} lifts {n + 1} tonnes.\n" for n in range(60))
    comparer = Comparer(20_000)
    found = find_contradicted(memories, read_sayings(memories, said), comparer)
    assert len(found) <= 100


def test_a_contradicted_memory_has_no_label_but_what_the_agent_says() -> None:
    evidence = Evidence(relevance=None, hit_count=2, is_contradicted=True)
    assert label(evidence, session_score=0.8).final is None
    assert label(evidence, session_score=0.8).reasons == (CONTRADICTED,)
    used = label(Evidence(used=1.0, is_contradicted=True), session_score=0.8)
    assert used.final == 1.0


@pytest.fixture
def judged(tenant: Tenant) -> dict[str, UUID]:
    """Return the ids of two memories after a session that contradicts one was judged."""
    ids = {text: commit(tenant, text) for text in (LIMIT, BESIDE)}
    for n in range(6):
        commit(tenant, f"The canteen serves soup number {n} in week {n}.")
    begin(tenant, context="harbour crane")
    end(tenant, transcript=TRANSCRIPT)
    judge_all(tenant)
    return ids


def open_errors(tenant: Tenant) -> list[PredictionError]:
    with in_workspace(tenant.workspace):
        return list(PredictionError.objects.filter(resolved_at=None))


def test_what_a_transcript_contradicts_waits_in_the_inbox_and_has_no_label(
    tenant: Tenant, judged: dict[str, UUID]
) -> None:
    [error] = open_errors(tenant)
    assert (error.memory_id, error.source) == (judged[LIMIT], "transcript")
    assert SAID not in str(error.context)  # the words stay in the transcript alone
    with in_workspace(tenant.workspace):
        own = Label.objects.get(memory=judged[LIMIT])
        assert (own.relevance, own.final, own.reasons) == (None, None, [CONTRADICTED])
        assert Label.objects.get(memory=judged[BESIDE]).relevance is not None
        assert Memory.objects.get(pk=judged[LIMIT]).superseded_at is None  # people decide
        assert str(judged[LIMIT]) not in Comparison.objects.get().relevance


def test_the_inbox_shows_the_quote(
    tenant: Tenant, member: Callable[[str], Client], judged: dict[str, UUID]
) -> None:
    [error] = open_errors(tenant)
    page = member("reviewer").get(f"/console/inbox/?item=drift:{error.pk}").content.decode()
    assert f"{SAID}." in page
    assert "Said in a session" in page
    assert "quote_at" not in page


def test_the_quote_goes_with_its_transcript_and_what_it_may_repeat(
    tenant: Tenant, member: Callable[[str], Client], judged: dict[str, UUID]
) -> None:
    [error] = open_errors(tenant)
    client = member("reviewer")
    address = f"/console/inbox/?item=drift:{error.pk}"
    forget(fresh(tenant), [judged[BESIDE]], actor=PERSON, now=NOW + timedelta(hours=2))
    withheld = client.get(address).content.decode()
    assert "Said in a session" in withheld
    assert SAID not in withheld
    delete_session(fresh(tenant), "s1", actor=PERSON, now=NOW + timedelta(hours=3))
    gone = client.get(address).content.decode()
    assert "The transcript is not kept any more." in gone
    assert SAID not in gone


def test_a_memory_reworded_since_or_in_doubt_already_is_not_put_to_people(
    tenant: Tenant,
) -> None:
    memory = commit(tenant, LIMIT)
    commit(tenant, BESIDE)
    begin(tenant, context="harbour crane")
    end(tenant, transcript=TRANSCRIPT)
    answer = tenant.reviewer.patch(f"memories/{memory}", {"content": f"{SAID}."})
    assert answer.status_code == 200, answer.json()
    judge_all(tenant)
    assert open_errors(tenant) == []
    with in_workspace(tenant.workspace):
        assert Label.objects.get(memory=memory).reasons == [CONTRADICTED]
        assert Session.objects.get().judged_at is not None
