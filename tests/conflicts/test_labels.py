"""What names a subject: not only capitalised names, and in every form of sentence.

A story tells several values of several things, in one form of sentence. Two of one thing are never
told apart; each thing is a card of its own, and a verdict changes what belongs to it alone.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.detective import detect
from conflicts.core.facts import Fact
from conflicts.core.subjects import (
    LocatedText,
    are_of_other_subjects,
    group_by_subject,
    select_answering,
)
from conflicts.services.detection.detect import detect_due
from engram.kernel.embedding import embed_windows
from memories.core.claims import compare
from tests.conftest import Tenant

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = {
    "capitalised": ("Etna", "Ural", "Vega"),
    "lower case": ("acme", "globex", "initech"),
    "lower-case label": ("tenant acme", "tenant globex", "tenant initech"),
    "another label": ("pump alpha", "pump beta", "pump gamma"),
    "room": ("room 101", "room 202", "room 303"),
    "order": ("order 7712", "order 7713", "order 7714"),
    "building": ("building 3", "building 5", "building 7"),
    "tank": ("tank 3", "tank 5", "tank 7"),
    "port": ("port 8080", "port 8081", "port 9090"),
    "ticket": ("ticket #5", "ticket #7", "ticket #9"),
    "id": ("ORD-17", "ORD-18", "ORD-19"),
    "code": ("a1b2", "c3d4", "e5f6"),
    "quoted": ('service "gold"', 'service "silver"', 'service "basic"'),
    "quoted phrase": ("the “gold” tier", "the “silver” tier", "the “basic” tier"),
    "two words": ("San Marino", "New Delhi", "Cape Town"),
    "two common words": ("the green room", "the blue hall", "the red attic"),
}
FORMS = {
    "The limit of {s} is {v} litres.": ("10", "20", "35"),
    "{s} holds {v} litres.": ("10", "20", "35"),
    "{s}'s limit is {v} litres.": ("10", "20", "35"),
    "In {s}, the limit is {v} litres.": ("10", "20", "35"),
    "The boiler in {s} runs at {v} degrees.": ("40", "60", "75"),
    "We fill the tank of {s} with {v} litres.": ("10", "20", "35"),
    "{s}: {v} litres": ("10", "20", "35"),
    "The rate limit of {s} is {v} requests per second.": ("10", "20", "35"),
    "The quota for {s} is {v} requests per second.": ("10", "20", "35"),
    "{s} ships in {v} days.": ("10", "20", "35"),
    "The owner of {s} is {v}.": ("Ana", "Boris", "Chen"),
    "{s} is maintained by {v}.": ("Ana", "Boris", "Chen"),
    "The stand-up of {s} is on {v}.": ("Monday", "Thursday", "Friday"),
    "The cache of {s} is {v}.": ("enabled", "disabled"),
    "Backups of {s} are kept for {v} days.": ("30", "90", "14"),
}
EVERY = [(form, kind) for form in FORMS for kind in NAMES]
_vectors: dict[str, Any] = {}


def make_texts(form: str, kind: str, most: int = 3) -> dict[tuple[str, str], str]:
    """Return the text of each thing and value."""
    texts = {(s, v): form.format(s=s, v=v) for s in NAMES[kind][:most] for v in FORMS[form]}
    return {key: text[0].upper() + text[1:] for key, text in texts.items()}


@pytest.mark.parametrize(("form", "kind"), EVERY)
def test_two_things_are_told_apart_in_each_form(form: str, kind: str) -> None:
    texts = make_texts(form, kind)
    for (one, value), text in texts.items():
        for (other, another), against in texts.items():
            found = are_of_other_subjects(LocatedText(text), LocatedText(against))
            if one == other:
                assert not found, (text, against)
            elif value != another:
                assert found, (text, against)


@pytest.mark.parametrize(("form", "kind"), EVERY)
def test_a_verdict_on_a_mixed_card_is_about_the_thing_that_is_named(form: str, kind: str) -> None:
    notes = {key: LocatedText(text) for key, text in make_texts(form, kind).items()}
    for (thing, _), named in notes.items():
        own = {note for (other, _), note in notes.items() if other == thing}
        assert set(select_answering(list(notes.values()), lambda note: note, [named])) == own


def vector(text: str) -> Any:
    if text not in _vectors:
        _vectors[text] = embed_windows([text], str(settings.ENGRAM_EMBEDDING["model"]))[0][0]
    return _vectors[text]


@given(of=st.sampled_from(EVERY), things=st.integers(2, 3), data=st.data())
def test_each_thing_is_asked_about_by_itself(
    of: tuple[str, str], things: int, data: st.DataObject
) -> None:
    texts = make_texts(*of, most=things)
    told = data.draw(st.permutations(sorted(texts)))
    facts = [
        Fact(f"{s}|{v}", f"{s}|{v}", texts[s, v], "ops", "", "a", "", BEGIN + timedelta(days=i), "")
        for i, (s, v) in enumerate(told)
    ]
    vectors = np.array([vector(fact.content) for fact in facts], dtype=np.float32)
    found = detect(facts, vectors, now=BEGIN + timedelta(days=400))
    members = [{i.split("|")[0] for i in finding.fact_ids} for finding in found]
    assert all(len(of_finding) == 1 for of_finding in members), found
    assert {thing for of_finding in members for thing in of_finding} == {s for s, _ in texts}


TOGETHER = [
    ("The stand-up at 9:00 is in the green room", "The stand-up at 9:00 is in the blue hall"),
    ("The meeting is in room 101", "The meeting is in room 202"),
    ("The service listens on port 8080", "The service listens on port 9090"),
    ("The job retries 3 times every 10 seconds", "The job retries 5 times every 30 seconds"),
    ("Order 20 chairs for the office", "Order 30 chairs for the office"),
    ("Uploads are limited to 10 MB", "Uploads are capped at 20 MB"),
    ("Ana writes the weekly report", "Boris writes the weekly report"),
    ("The 10 EUR fee is paid by Ana", "The 10 EUR fee is paid by Boris"),
    ("Session tokens are stored on the server", "Session tokens are stored in the browser"),
    ("Bills are sent on the first of the month", "Bills go out on the 15th of each month"),
]


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_what_may_be_the_answer_is_no_name_of_the_thing(one: str, other: str) -> None:
    assert not are_of_other_subjects(LocatedText(one), LocatedText(other))
    assert not are_of_other_subjects(LocatedText(other), LocatedText(one))


def test_what_may_belong_to_several_things_is_a_group_by_itself() -> None:
    texts = ["Tank of Etna: 10", "Tank of Ural: 10", "Tank of Ural: 20", "It is 10 litres, I think"]
    groups = group_by_subject(texts, LocatedText)
    assert groups == [[texts[0]], texts[1:3], [texts[3]]]


def test_a_numbered_order_is_no_command_to_order() -> None:
    assert compare("Order 7712 ships in 10 days.", "Order 7713 ships in 10 days.").relation == (
        "different"
    )
    assert compare(
        "Order 20 chairs for the office.", "Order 30 chairs for the office."
    ).relation == ("contradicts")


def commit(tenant: Tenant, content: str, agent: str) -> str:
    answer = tenant.agent.post("memories", {"content": content, "scope": "x", "agent": agent})
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["memory"]["id"])


@pytest.mark.parametrize(
    ("form", "things"),
    [
        ("The rate limit of {s} is {v} requests per second.", ("tenant acme", "tenant globex")),
        ("The limit of {s} is {v} litres.", ("room 101", "room 202")),
        ("{s} ships in {v} days.", ("Order 7712", "Order 7713")),
        ("The boiler in {s} runs at {v} degrees.", ("building 3", "building 5")),
        ("{s} delivers {v} litres a minute.", ("Pump alpha", "Pump beta")),
    ],
)
def test_yes_changes_no_memory_of_another_thing(
    tenant: Tenant, form: str, things: tuple[str, str]
) -> None:
    ids: dict[str, list[str]] = {thing: [] for thing in things}
    for agent, value in (("one", 10), ("two", 20)):
        for thing in things:
            ids[thing].append(commit(tenant, form.format(s=thing, v=value), agent))
    detect_due(tenant.workspace, clock=timezone.now)
    found = tenant.reader.get("conflicts").json()["results"]
    cards = {frozenset(m["id"] for m in card["memories"]): card["id"] for card in found}
    assert cards.keys() == {frozenset(of_thing) for of_thing in ids.values()}
    mine, theirs = ids.values()
    asked = tenant.reader.get(f"conflicts/{cards[frozenset(mine)]}").json()
    body = {"verdict": "yes", "listing": asked["listing"]}
    answer = tenant.reviewer.post(f"conflicts/{asked['id']}/resolve", body)
    assert answer.status_code == 200, answer.json()
    states = {i: tenant.reader.get(f"memories/{i}").json()["state"] for i in mine + theirs}
    assert sorted(states[i] for i in mine) == ["active", "superseded"]
    assert {states[i] for i in theirs} == {"active"}
