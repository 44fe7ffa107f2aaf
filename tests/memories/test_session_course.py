"""Prompts, feedback and the end of a session."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.db.models.sql.compiler import SQLCompiler
from django.test.utils import CaptureQueriesContext

from engram.celery import app
from engram.kernel.models import Event
from engram.kernel.refusals import MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.content import content_hash
from memories.core.hits import HITS_MAX, SENTENCES_MAX, STATEMENT_SENTENCES, statements_in
from memories.models import Session
from memories.services.lifecycle.forget import forget
from memories.services.sessions.end import close_idle, end_session, note_judged
from memories.services.sessions.feedback import give_feedback
from memories.services.sessions.prompts import PromptResult, prompt
from memories.signals import session_ended, session_started
from memories.tasks import close_idle_sessions
from tests.conftest import NOW, Tenant
from tests.memories.session_world import (
    AGENT,
    begin,
    counters,
    injected_ids,
    records,
    remember,
)
from tests.statements import statements

DOG = "The office dog is called Biscuit."


@pytest.fixture
def heard() -> Iterator[list[tuple[str, str, datetime]]]:
    """Collect what the signals of sessions tell."""
    told: list[tuple[str, str, datetime]] = []

    def start(sender: Any, *, session: Session, now: datetime, **_: Any) -> None:
        told.append(("started", session.session_key, now))

    def end(sender: Any, *, session: Session, now: datetime, **_: Any) -> None:
        told.append(("ended", session.session_key, now))

    session_started.connect(start)
    session_ended.connect(end)
    yield told
    session_started.disconnect(start)
    session_ended.disconnect(end)


def ask(tenant: Tenant, text: str, key: str = "s1", now: datetime = NOW) -> PromptResult:
    return prompt(tenant.workspace, key, text, actor=AGENT, now=now)


def end(tenant: Tenant, transcript: str = "", key: str = "s1", now: datetime = NOW) -> Session:
    return end_session(tenant.workspace, key, transcript, actor=AGENT, now=now)


def hits(tenant: Tenant, key: str = "s1") -> dict[UUID, tuple[str, int]]:
    with in_workspace(tenant.workspace):
        rows = Session.objects.get(session_key=key).candidates.filter(fts_hit_count__gt=0)
        return {row.memory_id: (row.source, row.fts_hit_count) for row in rows}


def test_a_prompt_counts_what_shares_its_words(tenant: Tenant, neighbour: Tenant) -> None:
    remember(neighbour, DOG)
    dog = remember(tenant, DOG)
    remember(tenant, "Backups of the database run at two in the morning.")
    begin(tenant)
    asked = ask(tenant, "Is Biscuit the dog of the office?")
    assert [hit.memory.id for hit in asked.hits] == [dog]
    assert hits(tenant) == {dog: ("effective", 1)}
    assert ask(tenant, "What does the dog Biscuit eat?").is_counted
    assert hits(tenant) == {dog: ("effective", 2)}
    assert counters(tenant, [dog]) == [(0, 1, 2)]


def test_the_same_prompt_counts_once(tenant: Tenant) -> None:
    dog = remember(tenant, DOG)
    begin(tenant)
    answers = [ask(tenant, "Is Biscuit the dog of the office?") for _ in range(3)]
    assert [one.is_counted for one in answers] == [True, False, False]
    assert [[h.memory.id for h in one.hits] for one in answers] == [[dog]] * 3
    assert hits(tenant) == {dog: ("effective", 1)}
    with in_workspace(tenant.workspace):
        assert Session.objects.get().prompt_count == 1
        assert Event.objects.filter(type="session.prompted").count() == 1


def test_what_was_no_candidate_is_added_and_not_given(tenant: Tenant) -> None:
    begin(tenant)
    dog = remember(tenant, DOG)
    ask(tenant, "Is Biscuit the dog of the office?")
    assert hits(tenant) == {dog: ("fts_only", 1)}
    ask(tenant, "Where does the dog Biscuit sleep?")
    assert hits(tenant) == {dog: ("fts_only", 2)}
    row = records(tenant, begin(tenant))[0]
    assert (row.rank, row.was_injected, row.baseline_rank) == (None, False, None)
    assert counters(tenant, [dog]) == [(0, 0, 2)]
    assert injected_ids(begin(tenant)) == []


COMMON = [
    "Is it the one that was there?",
    "and the of",
    "",
    "!?",
    "dog",
    "continue with the ledger",
    "7",
    "Number 14, then 21 and 28?",
    "Take 7 and continue with the ledger",
]


def test_common_words_and_single_ones_of_many_match_nothing(tenant: Tenant) -> None:
    for n in range(40):
        remember(tenant, f"Row {n} of the ledger names buyer {n * 7}.", scope=f"row/{n}")
    for text in COMMON:
        begin(tenant, f"about {text}")
        assert ask(tenant, text, f"about {text}").hits == [], text


def test_a_prompt_that_names_one_rare_thing_matches_what_speaks_of_it(tenant: Tenant) -> None:
    """Also when other memories hold the rest of the prompt, as far as they are several."""
    kafka = remember(tenant, "Kafka keeps events for a week.")
    remember(tenant, "Ann set up the printer.", scope="office")
    begin(tenant)
    assert hits_of(ask(tenant, "Is Kafka any good?")) == [kafka]
    assert ask(tenant, "How did we set up Kafka?").hits == []
    remember(tenant, "Bo set the table.", scope="kitchen")
    assert hits_of(ask(tenant, "How did we set up Kafka, again?")) == [kafka]


def test_a_word_that_half_of_the_memories_hold_matches_none_of_them(tenant: Tenant) -> None:
    for n in range(5):
        remember(tenant, f"The project began in hall {n}.", scope=f"hall/{n}")
        remember(tenant, f"Team {n} meets at noon.", scope=f"team/{n}")
    begin(tenant)
    assert ask(tenant, "project?").hits == []
    assert hits(tenant) == {}


def test_a_prompt_that_repeats_a_memory_matches_it_however_common_its_words(
    tenant: Tenant, neighbour: Tenant
) -> None:
    text = "The deploy waits for the green build."
    remember(neighbour, text)
    for service in "abcdefgh":
        remember(tenant, f"The deploy of service {service} waits until its green build is there.")
    said, forgotten = remember(tenant, text), remember(tenant, "A green build waits, deploys wait.")
    forget(tenant.workspace, [forgotten], actor=AGENT, now=NOW)
    begin(tenant)
    assert not ask(tenant, "Does a build wait, and which deploys are green today?").hits
    for prompted in (f"As you wrote: {text} Is that so?", "The deploy waits for a green build!"):
        assert [hit.memory.id for hit in ask(tenant, prompted).hits] == [said]
    assert hits(tenant)[said][1] == 2
    assert not ask(tenant, "A green build waits, deploys wait.").hits


@pytest.mark.parametrize(
    "said",
    [
        "{}",
        "{} Please look at it before we begin.",
        "Which services have to wait until their build is green? {} Then deploy the services.",
        "Which services wait, and for whom?\n- {}\nThen the service waits for its build.",
        'Service and build wait until it is there: "{}" Is the service there until then?',
        "As you wrote: {} So wait until each service has its green build there.",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "The deploy waits for the green build.",
        "The deploy waits for the green build. The service waits for the deploy.",
    ],
)
def test_a_repeated_memory_is_a_hit_whatever_else_the_prompt_says_and_others_say(
    tenant: Tenant, said: str, text: str
) -> None:
    for n in range(30):
        remember(
            tenant,
            f"Service {n} waits until its green build is there, and deploys the services then.",
            scope=f"service/{n}",
        )
    own = remember(tenant, text)
    begin(tenant)

    assert hits_of(ask(tenant, said.format(text))) == [own]


def test_copies_in_many_places_leave_room_for_what_else_is_repeated(tenant: Tenant) -> None:
    text = "The deploy waits for the green build."
    copies = {remember(tenant, text, scope=f"service/{n}") for n in range(25)}
    begin(tenant)

    found = hits_of(ask(tenant, f"Look at this. {text} What waits for a build?"))

    assert len(found) == HITS_MAX
    assert set(found) <= copies


def test_repeats_cost_a_prompt_one_statement_however_many_sentences_it_has(
    tenant: Tenant,
) -> None:
    for n in range(12):
        remember(tenant, f"The deploy of row {n} waits for the green build.", scope=f"row/{n}")
    begin(tenant)
    one = "The deploy of row 1 waits for the green build."

    def sent(text: str) -> list[str]:
        with statements() as seen:
            assert hits_of(ask(tenant, text))
        return seen

    sent(one)
    many = "".join(f" The deploy of row {n} waits for the green build." for n in range(12))
    assert len(sent(f"Now. {one}")) == len(sent(f"Now again.{many}"))


def test_only_so_many_sentences_of_a_prompt_are_looked_up() -> None:
    prompt = "".join(f"Row {n} waits for it. " for n in range(SENTENCES_MAX + 50))

    found = statements_in(prompt)

    last = content_hash(f"Row {SENTENCES_MAX - 1} waits for it.")
    assert last in found
    assert content_hash(f"Row {SENTENCES_MAX} waits for it.") not in found
    assert len(found) <= STATEMENT_SENTENCES * SENTENCES_MAX


def test_one_word_repeated_counts_once_a_session(tenant: Tenant) -> None:
    """Small talk that one memory happens to hold, in as many wordings as there are."""
    thanks = remember(tenant, "The office says thanks with cake.")
    dog = remember(tenant, DOG, scope="dog")
    begin(tenant)
    for text in ("Thanks!", "thanks", "Thanks, 7.", "THANKS :)", "Thanks a lot, really."):
        asked = ask(tenant, text)
        assert (hits_of(asked), asked.is_counted) == ([thanks], True)
    assert hits(tenant) == {thanks: ("effective", 1)}
    ask(tenant, "Biscuit?")
    ask(tenant, "The dog Biscuit?")
    ask(tenant, "Biscuit, the dog!")
    assert hits(tenant) == {thanks: ("effective", 1), dog: ("effective", 3)}
    assert counters(tenant, [thanks, dog]) == [(0, 1, 1), (0, 1, 3)]
    begin(tenant, "s2")
    ask(tenant, "Thanks!", key="s2")
    assert hits(tenant, "s2") == {thanks: ("effective", 1)}


def test_numbers_push_no_memory_out_of_what_is_read(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.services.sessions.matches.READ_MAX", 1)
    dog = remember(tenant, DOG)
    for n in range(3):
        remember(tenant, f"Shelf {n}: 4711.", scope=f"shelf/{n}")
        remember(tenant, f"A dog sleeps in hall {n}.", scope=f"hall/{n}")
    begin(tenant)
    assert hits_of(ask(tenant, "4711 dog Biscuit")) == [dog]


def test_one_telling_word_is_enough_of_a_whole_sentence_and_of_no_essay(tenant: Tenant) -> None:
    kafka = remember(
        tenant,
        "The order service reads from Kafka with twelve consumers that commit their offsets every"
        " five seconds, because a slower rhythm repeated thousands of invoices after each restart"
        " of the cluster in spring.",
    )
    remember(tenant, "Pulsar " + " ".join(f"word{n}" for n in range(80)))
    for n in range(40):
        remember(tenant, f"Shelf {n} holds the {n} parts of drawer {n}.", scope=f"shelf/{n}")
    begin(tenant)
    assert hits_of(ask(tenant, "What about Kafka?")) == [kafka]
    assert hits_of(ask(tenant, "What about Pulsar?")) == []


def test_a_memory_stuffed_with_words_is_not_matched(tenant: Tenant) -> None:
    """The poisoning bound: who wants to be matched by everything has to share more of it."""
    dog = remember(tenant, DOG)
    stuffing = " ".join(f"word{n}" for n in range(400))
    remember(tenant, f"Biscuit dog office call {stuffing}", importance=1.0)
    begin(tenant)
    assert list(hits_of(ask(tenant, "Is Biscuit the dog of the office?"))) == [dog]


def hits_of(asked: PromptResult) -> list[UUID]:
    return [hit.memory.id for hit in asked.hits]


def test_a_prompt_counts_no_more_than_twenty(tenant: Tenant) -> None:
    begin(tenant)
    for n in range(30):
        remember(tenant, f"The zebra of stall {n} likes quince number {n}.", scope=f"stall/{n}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memories.core.hits.RARE_AT_LEAST", 50)
        assert len(ask(tenant, "zebra quince").hits) == 20
    assert len(hits(tenant)) == 20


def test_the_orm_compiles_no_statement_of_a_prompt(tenant: Tenant) -> None:
    """Compiling the statements of the ORM took twelve of a prompt's twenty milliseconds."""
    remember(tenant, DOG)
    begin(tenant)
    ask(tenant, "Where does Biscuit sleep?")  # compiles the condition, once
    with patch.object(SQLCompiler, "as_sql", side_effect=AssertionError("compiled")):
        assert len(ask(tenant, "Is Biscuit the dog of the office?").hits) == 1


def test_a_prompt_locks_memories_before_its_session(tenant: Tenant) -> None:
    """Erasing locks them in this order; two that go opposite ways would deadlock."""
    remember(tenant, DOG)
    begin(tenant)
    with statements() as sent:
        assert ask(tenant, "Is Biscuit the dog of the office?").is_counted
    locking = [sql for sql in sent if "FOR NO KEY UPDATE" in sql]
    tables = [
        "memories_session" if "FROM memories_session\n" in sql else "memories" for sql in locking
    ]
    assert tables == ["memories", "memories_session", "memories"]


def test_what_was_forgotten_is_matched_by_nothing(tenant: Tenant) -> None:
    dog = remember(tenant, DOG)
    begin(tenant)
    forget(tenant.workspace, [dog], actor=AGENT, now=NOW)
    assert ask(tenant, "Is Biscuit the dog of the office?").hits == []
    assert counters(tenant, [dog]) == [(0, 1, 0)]


def test_prompts_after_the_end_and_of_unknown_sessions_are_refused(tenant: Tenant) -> None:
    """Pitfall 29: a late prompt is told, and counts nothing."""
    dog = remember(tenant, DOG)
    begin(tenant)
    end(tenant)
    with pytest.raises(StaleError):
        ask(tenant, "Is Biscuit the dog of the office?")
    with pytest.raises(MissingError):
        ask(tenant, "Is Biscuit the dog of the office?", key="s2")
    assert counters(tenant, [dog]) == [(0, 1, 0)]


def test_feedback_is_kept_until_the_session_is_judged(tenant: Tenant) -> None:
    dog = remember(tenant, DOG)
    session = begin(tenant).session
    give_feedback(tenant.workspace, "s1", dog, -0.5, actor=AGENT, now=NOW)
    end(tenant)
    row = give_feedback(tenant.workspace, "s1", dog, 1.0, actor=AGENT, now=NOW + timedelta(hours=1))
    assert (row.feedback, row.feedback_at) == (1.0, NOW + timedelta(hours=1))
    with pytest.raises(MissingError):
        give_feedback(tenant.workspace, "s1", uuid4(), 1.0, actor=AGENT, now=NOW)
    with in_workspace(tenant.workspace):
        session.refresh_from_db()
        note_judged(session, NOW)
    with pytest.raises(StaleError):
        give_feedback(tenant.workspace, "s1", dog, 0.0, actor=AGENT, now=NOW)
    assert [r.feedback for r in records(tenant, begin(tenant))] == [1.0]


def test_ending_twice_is_ending_once(
    tenant: Tenant, heard: list[tuple[str, str, datetime]]
) -> None:
    begin(tenant)
    later = NOW + timedelta(hours=2)
    assert end(tenant, "We talked.", now=later).ended_at == later
    assert end(tenant, "We talked.", now=later + timedelta(hours=1)).ended_at == later
    with pytest.raises(StaleError):
        end(tenant, "We talked about more.")
    assert heard == [("started", "s1", NOW), ("ended", "s1", later)]
    with in_workspace(tenant.workspace):
        assert Session.objects.get().transcript == "We talked."
        assert Event.objects.filter(type="session.ended").count() == 1


def test_the_end_tells_counts_from_the_records(tenant: Tenant) -> None:
    """Pitfall 29: what was given and matched is counted, not written down as 0."""
    remember(tenant, DOG)
    remember(tenant, "Backups of the database run at two in the morning.")
    begin(tenant, k=1)
    ask(tenant, "Is Biscuit the dog of the office?")
    end(tenant, "x" * 400_000)
    with in_workspace(tenant.workspace):
        data = Event.objects.get(type="session.ended").data
    assert data == {"injected": 1, "matched": 1, "prompts": 1, "transcript_chars": 400_000}


def test_a_clock_that_went_back_ends_nothing_before_it_began(tenant: Tenant) -> None:
    begin(tenant)
    assert end(tenant, now=NOW - timedelta(days=1)).ended_at == NOW


def test_idle_sessions_are_closed_without_a_transcript(
    tenant: Tenant, neighbour: Tenant, heard: list[tuple[str, str, datetime]]
) -> None:
    begin(neighbour, "theirs")
    begin(tenant, "silent")
    begin(tenant, "busy")
    begin(tenant, "ended")
    end(tenant, "Done.", key="ended")
    day = NOW + timedelta(hours=24)
    ask(tenant, "anything", key="busy", now=NOW + timedelta(hours=2))
    heard.clear()
    assert close_idle(tenant.workspace, now=day - timedelta(seconds=1)) == 0
    assert close_idle(tenant.workspace, now=day) == 1
    assert close_idle(tenant.workspace, now=day) == 0
    assert heard == [("ended", "silent", day)]
    with in_workspace(tenant.workspace):
        silent = Session.objects.get(session_key="silent")
        assert (silent.is_abandoned, silent.ended_at, silent.transcript) == (True, day, "")
    assert close_idle(tenant.workspace, now=day + timedelta(hours=2)) == 1


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_transcript_that_comes_after_an_end_without_is_taken_once(
    tenant: Tenant, heard: list[tuple[str, str, datetime]], is_closed: bool
) -> None:
    remember(tenant, DOG)
    begin(tenant)
    ended = NOW + timedelta(hours=24)
    told = [("started", "s1", NOW), ("ended", "s1", ended)]
    if is_closed:
        close_idle(tenant.workspace, now=ended)
        told.append(("ended", "s1", ended))
    for _ in range(2):
        found = end(tenant, "", now=ended)
        assert (found.ended_at, found.state, found.transcript) == (ended, "ended", "")
    assert heard == told
    late = ended + timedelta(days=9)
    for again in range(2):
        found = end(tenant, "We talked.", now=late + timedelta(hours=again))
        assert (found.ended_at, found.state, found.transcript) == (ended, "ended", "We talked.")
    assert heard == [*told, ("ended", "s1", late)]
    for other in ("We talked of something else.", ""):
        with pytest.raises(StaleError):
            end(tenant, other, now=late)
    with in_workspace(tenant.workspace):
        last = Event.objects.filter(object_type="session").order_by("seq").last()
    assert last is not None
    assert (last.type, last.at, last.data["transcript_chars"]) == (
        "session.transcript_taken",
        late,
        len("We talked."),
    )


def test_an_end_that_comes_after_the_closing_is_taken_once(
    tenant: Tenant, heard: list[tuple[str, str, datetime]]
) -> None:
    transcript = "We talked after all."
    remember(tenant, DOG)
    begin(tenant)
    closed = NOW + timedelta(hours=24)
    close_idle(tenant.workspace, now=closed)
    late = closed + timedelta(days=9)
    for again in range(2):
        found = end(tenant, transcript, now=late + timedelta(hours=again))
        assert (found.ended_at, found.state, found.transcript) == (closed, "ended", transcript)
    with pytest.raises(StaleError):
        end(tenant, "We talked of something else.", now=late)
    with pytest.raises(StaleError):
        ask(tenant, "Is Biscuit the dog of the office?", now=late)
    assert heard == [("started", "s1", NOW), ("ended", "s1", closed), ("ended", "s1", late)]
    with in_workspace(tenant.workspace):
        assert Session.objects.get().transcript == transcript
        told = Event.objects.filter(object_type="session").order_by("seq")
        assert list(told.values_list("type", "at", "actor_kind")) == [
            ("session.started", NOW, "user"),
            ("session.ended", closed, "system"),
            ("session.transcript_taken", late, "user"),
        ]
        assert told[2].data["transcript_chars"] == len(transcript)
    assert close_idle(tenant.workspace, now=late + timedelta(days=9)) == 0


@pytest.mark.parametrize("jump", [timedelta(days=-400), timedelta(hours=-1), timedelta(days=400)])
def test_a_clock_that_jumped_breaks_no_session(tenant: Tenant, jump: timedelta) -> None:
    """Asked, rated and closed with another time than it began with, it counts what it counts."""
    dog = remember(tenant, DOG)
    begin(tenant)
    assert ask(tenant, "Is Biscuit the dog of the office?", now=NOW + jump).is_counted
    give_feedback(tenant.workspace, "s1", dog, 1.0, actor=AGENT, now=NOW + jump)
    assert hits(tenant) == {dog: ("effective", 1)}
    soon, day = NOW + timedelta(hours=23), NOW + timedelta(hours=24)
    assert close_idle(tenant.workspace, now=soon) == 0
    assert close_idle(tenant.workspace, now=day) == 1
    assert end(tenant, "Done.", now=NOW + jump).ended_at == day


def test_a_session_that_began_by_a_clock_ahead_is_closed(tenant: Tenant) -> None:
    ahead = NOW + timedelta(days=400)
    begin(tenant, now=ahead)
    begin(tenant, "soon", now=NOW + timedelta(minutes=5))
    assert close_idle(tenant.workspace, now=NOW) == 1
    with in_workspace(tenant.workspace):
        assert Session.objects.get(session_key="s1").ended_at == ahead


def test_idle_sessions_are_read_no_further_than_a_turn_goes(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.services.sessions.end.CLOSED_A_TURN", 2)
    for n in range(3):
        begin(tenant, f"s{n}", now=NOW + timedelta(seconds=n))
    late = NOW + timedelta(days=2)
    with CaptureQueriesContext(connection) as seen:
        assert close_idle(tenant.workspace, now=late) == 2
    assert sum(query["sql"].endswith("LIMIT 2") for query in seen.captured_queries) == 1
    with in_workspace(tenant.workspace):
        assert Session.objects.get(ended_at=None).session_key == "s2"


def test_the_sweep_closes_idle_sessions_of_every_workspace(
    tenant: Tenant, neighbour: Tenant
) -> None:
    begin(tenant)
    begin(neighbour)
    assert "memories.close_idle_sessions" in app.conf.beat_schedule
    close_idle_sessions()
    for each in (tenant, neighbour):
        with in_workspace(each.workspace):
            assert Session.objects.get().is_abandoned
