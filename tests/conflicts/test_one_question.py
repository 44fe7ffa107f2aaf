"""A card asks about one thing, and a verdict changes nothing else.

Stories of several subjects are told in one sentence shape, interleaved in any order. What makes
them hard: the sentences are near each other, share nearly all words, and often the values too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.comparisons import Comparisons
from conflicts.core.detective import detect
from conflicts.core.facts import Fact, Finding
from conflicts.core.identity import OpenCard, place
from conflicts.core.subjects import LocatedText, are_of_other_subjects, select_answering
from conflicts.models import Conflict, ConflictMember, ConflictPair
from conflicts.services.cards.file import file_findings
from conflicts.services.detection.detect import detect_due
from engram.kernel.embedding import embed_windows
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services.lifecycle.states import LIFECYCLE_FIELDS
from tests.conftest import Tenant

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SUBJECTS = ("Etna", "Ural", "Vega", "Oslo")
NAMED_IN_TEXT = {
    "Tank of {s} holds {v} litres.": ("10", "20", "35"),
    "We fill the tank at {s} to {v} litres.": ("10", "20", "35"),
    "{s} tank: {v} litres": ("10", "20", "35"),
    "Backups of {s} are kept for {v} days.": ("30", "90", "14"),
    "The {s} service listens on port {v}.": ("8080", "9090", "7070"),
    "The deadline of project {s} is {v}.": ("12 March 2026", "20 March 2026", "3 April 2026"),
    "The stand-up of {s} is on {v}.": ("Monday", "Thursday", "Friday"),
    "{s} is maintained by {v}.": ("Ana", "Boris", "Chen"),
    "{s} stores its data in {v}.": ("PostgreSQL", "MySQL", "MongoDB"),
    "The cache of {s} is {v}.": ("enabled", "disabled"),
    "The rate limit for tenant {s} is {v} requests per second.": ("100", "500", "50"),
}
NAMED_BY_PLACE = {
    "The tank holds {v} litres.": ("10", "20", "35"),
    "The service listens on port {v}.": ("8080", "9090", "7070"),
    "Backups are kept for {v} days.": ("30", "90", "14"),
    "The stand-up is on {v}.": ("Monday", "Thursday", "Friday"),
}
SCOPES = {
    "one": "ops",
    "none": "",
    "flat": "{s}",
    "path": "plant/{s}",
    "kind": "svc:{s}",
    "deep": "plant/{s}/tank",
}
_vectors: dict[str, Any] = {}


def vector(text: str) -> Any:
    if text not in _vectors:
        _vectors[text] = embed_windows([text], str(settings.ENGRAM_EMBEDDING["model"]))[0][0]
    return _vectors[text]


@st.composite
def tales(draw: st.DrawFn) -> tuple[list[tuple[str, str, str]], list[int]]:
    """Return (subject, text, scope) in the order of the story, and after which facts it is read."""
    is_named_by_place = draw(st.booleans())
    shapes = NAMED_BY_PLACE if is_named_by_place else NAMED_IN_TEXT
    shape = draw(st.sampled_from(sorted(shapes)))
    places = sorted(SCOPES.keys() - ({"one", "none"} if is_named_by_place else set()))
    scope = SCOPES[draw(st.sampled_from(places))]
    subjects = SUBJECTS[: draw(st.integers(2, len(SUBJECTS)))]
    values = shapes[shape][: draw(st.integers(2, len(shapes[shape])))]
    told = [
        (s, shape.format(s=s, v=v), scope.format(s=s.lower())) for s in subjects for v in values
    ]
    told = draw(st.permutations(told))
    cuts = draw(st.sets(st.integers(1, len(told) - 1)))
    return told, [*sorted(cuts), len(told)]


def as_facts(told: Sequence[tuple[str, str, str]]) -> list[Fact]:
    return [
        Fact(f"{s}-{i}", f"{s}-{i}", text, scope, "", "a", "", BEGIN + timedelta(days=i), "")
        for i, (s, text, scope) in enumerate(told)
    ]


def read_in_turns(facts: Sequence[Fact], turns: Sequence[int]) -> list[set[str]]:
    """Return the cards, as lineages, that come of reading a story in turns."""
    vectors = np.array([vector(fact.content) for fact in facts], dtype=np.float32)
    notes = {fact.lineage: LocatedText(fact.content, fact.scope) for fact in facts}
    cards: list[set[str]] = []
    begin = 0
    for end in turns:
        found = detect(
            facts[:end], vectors[:end], now=BEGIN + timedelta(days=400),
            triggers=[fact.id for fact in facts[begin:end]],
        )  # fmt: skip
        placements = place(
            found,
            lineage_of={fact.id: fact.lineage for fact in facts},
            claim_of={fact.lineage: fact.content for fact in facts},
            open_cards=[OpenCard(str(i), frozenset(card)) for i, card in enumerate(cards)],
            decided=[],
            is_other=lambda a, b: are_of_other_subjects(notes[a], notes[b]),
        )
        for placement in placements:
            if placement.action == "open":
                cards.append(set(placement.lineages))
            elif placement.action == "join":
                cards[int(placement.card or "")] |= set(placement.lineages)
        begin = end
    return cards


@given(tale=tales())
def test_interleaved_stories_of_n_subjects_are_n_cards(
    tale: tuple[list[tuple[str, str, str]], list[int]],
) -> None:
    told, turns = tale
    facts = as_facts(told)
    by_subject: dict[str, set[str]] = {}
    for fact in facts:
        by_subject.setdefault(fact.id.split("-")[0], set()).add(fact.id)
    cards = read_in_turns(facts, turns)
    assert sorted(map(sorted, cards)) == sorted(map(sorted, by_subject.values()))


APART = [
    (LocatedText("Tank of Etna holds 10 litres"), LocatedText("Tank of Ural holds 20")),
    (LocatedText("Tank of Etna holds 10"), LocatedText("Tank of Ural holds 10")),
    (
        LocatedText("We fill the tank at Etna to 10 litres"),
        LocatedText("We fill the tank at Ural to 20 litres"),
    ),
    (LocatedText("Etna is maintained by Ana"), LocatedText("Ural is maintained by Boris")),
    (
        LocatedText("The tank holds 10 litres", "etna"),
        LocatedText("The tank holds 20 litres", "ural"),
    ),
    (
        LocatedText("The tank holds 10 litres", "a/etna/x"),
        LocatedText("The tank holds 20 litres", "a/ural/x"),
    ),
    (
        LocatedText("The tank holds 10 litres", "", "etna"),
        LocatedText("The tank holds 20 litres", "", "ural"),
    ),
    (LocatedText("Limit for tenant Acme is 5"), LocatedText("Limit for tenant Basil is 6")),
]
TOGETHER = [
    # One place of the sentence differs: it is what they disagree about.
    (LocatedText("Etna is maintained by Ana"), LocatedText("Etna is maintained by Boris")),
    (LocatedText("Billing runs on PostgreSQL"), LocatedText("Billing runs on MySQL")),
    (LocatedText("PostgreSQL holds the invoices"), LocatedText("MySQL holds the invoices")),
    (LocatedText("Ana approves the budget"), LocatedText("Boris approves the budget")),
    (
        LocatedText("The meeting is on Monday at 10:00"),
        LocatedText("The meeting is on Friday at 11:00"),
    ),
    # Places that are no two of a kind, or that both speak of a thing with a name of its own.
    (
        LocatedText("The tank holds 10 litres", "plant"),
        LocatedText("The tank holds 20 litres", "plant/etna"),
    ),
    (LocatedText("The tank holds 10 litres"), LocatedText("The tank holds 20 litres", "etna")),
    (LocatedText("The API limit is 10", "docs"), LocatedText("The API limit is 20", "ops")),
    (
        LocatedText("Postgres listens on 5432", "infra"),
        LocatedText("Postgres listens on 5433", "ops"),
    ),
    # Other sentences: the rules cannot tell.
    (LocatedText("Deploys go through Jenkins"), LocatedText("Travis was switched off in May")),
]


@pytest.mark.parametrize(("one", "other"), APART)
def test_two_subjects_are_told_apart(one: LocatedText, other: LocatedText) -> None:
    assert are_of_other_subjects(one, other)
    assert are_of_other_subjects(other, one)


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_what_may_be_one_subject_is_left_together(one: LocatedText, other: LocatedText) -> None:
    assert not are_of_other_subjects(one, other)
    assert not are_of_other_subjects(other, one)


def test_a_verdict_is_about_the_subject_that_the_question_names() -> None:
    etna = [LocatedText(f"Tank of Etna holds {v} litres") for v in (10, 20)]
    ural = [LocatedText(f"Tank of Ural holds {v} litres") for v in (10, 20)]
    mixed = [etna[0], ural[0], etna[1], ural[1]]
    assert select_answering(mixed, lambda note: note, [ural[1]]) == ural
    assert select_answering(mixed, lambda note: note, [etna[1]]) == etna
    # Two that somebody put against each other are the question, whatever they speak of.
    assert select_answering([etna[0], ural[1]], lambda note: note, [ural[1]]) == [etna[0], ural[1]]
    assert select_answering([etna[0], etna[0], ural[1]], lambda note: note, [ural[1]]) == [
        etna[0], etna[0], ural[1],
    ]  # fmt: skip


def commit(tenant: Tenant, content: str, scope: str = "", **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, "scope": scope, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    return str(answer.json()["memory"]["id"])


def read(tenant: Tenant) -> None:
    assert {run.status for run in detect_due(tenant.workspace, clock=timezone.now)} <= {"done"}


def cards(tenant: Tenant, status: str = "open") -> list[dict[str, Any]]:
    answer = tenant.reader.get("conflicts", {"status": status}).json()
    found: list[dict[str, Any]] = answer["results"]
    return found


def card(tenant: Tenant, card_id: str) -> dict[str, Any]:
    found: dict[str, Any] = tenant.reader.get(f"conflicts/{card_id}").json()
    return found


def rows(tenant: Tenant) -> dict[str, tuple[Any, ...]]:
    """Return everything that a verdict could change of every memory."""
    with in_workspace(tenant.workspace):
        return {
            str(m.id): (m.content, m.revision, *(getattr(m, name) for name in LIFECYCLE_FIELDS))
            for m in Memory.objects.all()
        }


def commit_subjects(tenant: Tenant, shape: str, *, is_read_each: bool) -> dict[str, list[str]]:
    """Commit two values of two subjects, interleaved; return the ids by subject."""
    ids: dict[str, list[str]] = {"Etna": [], "Ural": []}
    for month, (value, subject) in enumerate(
        [(0, "Etna"), (1, "Ural"), (1, "Etna"), (0, "Ural")], start=1
    ):
        text = shape.format(s=subject, v=({**NAMED_IN_TEXT, **NAMED_BY_PLACE})[shape][value])
        at = f"2026-0{month}-05T09:00:00Z"
        ids[subject].append(commit(tenant, text, subject.lower(), observed_at=at))
        if is_read_each:
            read(tenant)
    read(tenant)
    return ids


@pytest.mark.parametrize("is_read_each", [False, True])
@pytest.mark.parametrize("shape", ["Tank of {s} holds {v} litres.", "The tank holds {v} litres."])
@pytest.mark.parametrize("verdict", ["yes", "no", "keep", "none_valid", "both_valid", "dismiss"])
def test_each_verdict_changes_what_was_listed_of_its_own_subject_and_undo_restores(
    tenant: Tenant, shape: str, verdict: str, is_read_each: bool
) -> None:
    ids = commit_subjects(tenant, shape, is_read_each=is_read_each)
    found = {frozenset(m["id"] for m in one["memories"]): one["id"] for one in cards(tenant)}
    assert found.keys() == {frozenset(ids["Etna"]), frozenset(ids["Ural"])}
    card_id = found[frozenset(ids["Etna"])]
    asked = card(tenant, card_id)
    listed = next(c for c in asked["consequences"] if c["verdict"] == verdict)
    before = rows(tenant)
    body = {"verdict": verdict, "listing": asked["listing"]}
    if verdict == "keep":
        body["keep"] = asked["yes_keeps"]
        listed = next(c for c in asked["consequences"] if c["verdict"] == "yes")
    assert tenant.reviewer.post(f"conflicts/{card_id}/resolve", body).status_code == 200
    after = rows(tenant)
    changed = {i for i in before if before[i] != after[i]}
    assert changed == {*listed["superseded"], *listed["retired"]}
    assert changed <= set(ids["Etna"])
    assert {i: after[i] for i in ids["Ural"]} == {i: before[i] for i in ids["Ural"]}
    assert [one["id"] for one in cards(tenant)] == [found[frozenset(ids["Ural"])]]
    assert tenant.reviewer.post(f"conflicts/{card_id}/undo", {}).status_code == 200
    assert rows(tenant) == before


def mixed_card(tenant: Tenant) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Return a card of two subjects, as they came about before subjects were told apart."""
    ids: dict[str, list[str]] = {"Etna": [], "Ural": []}
    for subject, value in (("Etna", 10), ("Etna", 20), ("Ural", 10), ("Ural", 20)):
        text = f"Tank of {subject} holds {value} litres."
        ids[subject].append(commit(tenant, text, subject.lower()))
    every = (*ids["Etna"], *ids["Ural"])
    finding = Finding(
        "ambiguity", every, (every[-1],), "Is it?", "r", "low", 0.5, None, ("ambiguity.choice",)
    )
    with in_workspace(tenant.workspace):
        filed = file_findings(
            [finding], Comparisons(), detected_by="rules", now=timezone.now(), is_reported=True
        )
    return ids, card(tenant, str(filed.cards[0]))


def test_a_verdict_on_an_old_card_of_two_subjects_changes_one_and_asks_about_the_other(
    tenant: Tenant,
) -> None:
    ids, mixed = mixed_card(tenant)
    read(tenant)
    assert [one["id"] for one in cards(tenant)] == [mixed["id"]]  # it is left as it is
    assert sorted(mixed["aside"]) == sorted(ids["Etna"])
    before = rows(tenant)
    refused = tenant.reviewer.post(
        f"conflicts/{mixed['id']}/resolve", {"verdict": "keep", "keep": ids["Etna"][:1]}
    )
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "keep")
    answer = tenant.reviewer.post(f"conflicts/{mixed['id']}/resolve", {"verdict": "yes"})
    assert answer.status_code == 200
    after = rows(tenant)
    assert [i for i in before if before[i] != after[i]] == [ids["Ural"][0]]
    read(tenant)  # nothing was decided about Etna: it is asked by itself
    [etna] = cards(tenant)
    assert {m["id"] for m in etna["memories"]} == set(ids["Etna"])
    assert tenant.reviewer.post(f"conflicts/{mixed['id']}/undo", {}).status_code == 200
    assert rows(tenant) == before


def test_what_joins_is_of_the_cards_subject(tenant: Tenant) -> None:
    ids, mixed = mixed_card(tenant)
    third = commit(tenant, "Tank of Etna holds 35 litres.", "etna")
    read(tenant)
    members = [{m["id"] for m in one["memories"]} for one in cards(tenant)]
    assert {*ids["Etna"], third} in members
    assert {*ids["Etna"], *ids["Ural"]} in members
    assert len(members) == 2
    assert card(tenant, mixed["id"])["version"] == mixed["version"]


@pytest.mark.parametrize("detected_by", ["narrative", "rules"])
def test_a_finding_that_names_two_subjects_is_filed_as_two_cards(
    tenant: Tenant, detected_by: str
) -> None:
    texts = [f"Tank of {s} holds {v} litres." for s in ("Etna", "Ural") for v in (10, 20)]
    ids = [commit(tenant, text) for text in texts]
    question = "Does the tank of Ural hold 20 litres?"
    finding = Finding(
        "ambiguity",
        tuple(ids),
        (ids[1], ids[3]),
        question,
        "r",
        "low",
        0.6,
        None,
        ("ambiguity.choice",),
    )
    alone = Finding(
        "ambiguity",
        (ids[0], ids[3]),
        (ids[3],),
        question,
        "r",
        "low",
        0.6,
        None,
        ("ambiguity.choice",),
    )
    with in_workspace(tenant.workspace):
        filed = file_findings(
            [finding, alone], Comparisons(), detected_by=detected_by, now=timezone.now()
        )
    assert (filed.opened, filed.joined, filed.skipped) == (2, 0, 1)
    found = {frozenset(m["id"] for m in one["memories"]): one for one in cards(tenant)}
    assert found.keys() == {frozenset(ids[:2]), frozenset(ids[2:])}
    assert [found[frozenset(ids[:2])]["yes_keeps"], found[frozenset(ids[2:])]["yes_keeps"]] == [
        [ids[1]], [ids[3]],
    ]  # fmt: skip
    assert "Ural" not in found[frozenset(ids[:2])]["question"]


def test_a_report_of_several_questions_is_refused_and_changes_nothing(tenant: Tenant) -> None:
    texts = [f"Tank of {s} holds {v} litres." for s in ("Etna", "Ural") for v in (10, 20)]
    ids = [commit(tenant, text) for text in texts]
    for client in (tenant.agent, tenant.reviewer):
        refused = client.post("conflicts", {"memory_ids": ids, "note": ""})
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "memory_ids")
    assert cards(tenant) == []
    assert tenant.agent.post("conflicts", {"memory_ids": ids[:2], "note": ""}).status_code == 201
    # Two that somebody names are a question, whatever the rules think; it joins no other card.
    assert tenant.agent.post("conflicts", {"memory_ids": ids[1:3], "note": ""}).status_code == 201
    assert sorted(len(one["memories"]) for one in cards(tenant)) == [2, 2]


def test_relations_told_pair_by_pair_make_a_card_a_subject(tenant: Tenant) -> None:
    ids = {
        s: [commit(tenant, f"Tank of {s} holds {v} litres.") for v in (10, 20, 35)]
        for s in ("Etna", "Ural")
    }
    pairs = [pair for of_subject in ids.values() for pair in combinations(of_subject, 2)]
    for one, other in [*pairs[::2], *pairs[1::2]]:
        told = {"other": other, "relation": "contradicts", "reason": "Another volume."}
        assert tenant.agent.post(f"memories/{one}/relations", told).status_code == 201
    found = {frozenset(m["id"] for m in one["memories"]) for one in cards(tenant)}
    assert found == {frozenset(ids["Etna"]), frozenset(ids["Ural"])}
    told = {"other": ids["Ural"][0], "relation": "contradicts", "reason": "?"}
    tenant.agent.post(f"memories/{ids['Etna'][0]}/relations", told)
    assert sorted(len(one["memories"]) for one in cards(tenant)) == [2, 3, 3]


def test_a_verdict_does_what_was_listed_or_nothing(tenant: Tenant) -> None:
    ids = [
        commit(tenant, f"Tank of Etna holds {v} litres.", observed_at=f"2026-0{m}-01T00:00:00Z")
        for m, v in ((1, 10), (2, 20), (3, 35))
    ]
    read(tenant)
    [one] = cards(tenant)
    asked = card(tenant, one["id"])
    # A member that goes by itself changes what a verdict would do, not the card.
    tenant.reviewer.post("memories/forget", {"ids": ids[:1], "confirm": True})
    before = rows(tenant)
    stale = tenant.reviewer.post(
        f"conflicts/{one['id']}/resolve", {"verdict": "yes", "listing": asked["listing"]}
    )
    assert stale.status_code == 409
    assert rows(tenant) == before
    now = card(tenant, one["id"])
    assert now["listing"] != asked["listing"]
    fresh = {"verdict": "yes", "listing": now["listing"]}
    assert tenant.reviewer.post(f"conflicts/{one['id']}/resolve", fresh).status_code == 200


def test_a_member_that_expires_changes_the_listing_and_nothing_else(tenant: Tenant) -> None:
    """No event tells of it, and the card's version stays."""
    soon = timezone.now() + timedelta(hours=1)
    for value, until in ((10, None), (20, soon.isoformat()), (35, None)):
        more = {"expires_at": until} if until else {}
        commit(tenant, f"Tank of Etna holds {value} litres.", **more)
    read(tenant)
    [one] = cards(tenant)
    asked = card(tenant, one["id"])
    with in_workspace(tenant.workspace):
        past = timezone.now() - timedelta(seconds=1)
        Memory.objects.filter(content__contains="20").update(expires_at=past)
    assert card(tenant, one["id"])["version"] == asked["version"]
    body = {"verdict": "yes", "listing": asked["listing"], "version": asked["version"]}
    assert tenant.reviewer.post(f"conflicts/{one['id']}/resolve", body).status_code == 409
    assert {m["state"] for m in card(tenant, one["id"])["memories"]} == {"active", "expired"}


def test_similar_facts_of_many_subjects_make_no_card_without_bound(tenant: Tenant) -> None:
    names = [f"Tower-{a}{b}" for a in "ABCDE" for b in "FGHIJ"]
    lines = [
        {"content": f"Tank of {name} holds {value} litres."} for value in (10, 20) for name in names
    ]
    assert tenant.agent.post("memories/batch", {"memories": lines}).status_code == 201
    read(tenant)
    with in_workspace(tenant.workspace):
        sizes = [card.members.count() for card in Conflict.objects.all()]
        owners = [
            {m.memory.content.split()[2] for m in ConflictMember.objects.filter(conflict=card)}
            for card in Conflict.objects.all()
        ]
        assert ConflictPair.objects.count() == len(sizes)
    assert (len(sizes), set(sizes)) == (len(names), {2})
    assert {len(of_card) for of_card in owners} == {1}


UNRELATED = (
    "The API rate limit is 1000 requests per second.",
    "The canteen opens at noon.",
    "Backups are kept for 30 days.",
)


@pytest.mark.parametrize("by", ["agent", "reviewer"])
def test_a_report_of_unrelated_memories_is_refused_and_names_one(tenant: Tenant, by: str) -> None:
    ids = [commit(tenant, text) for text in UNRELATED]
    client = getattr(tenant, by)
    refused = client.post("conflicts", {"memory_ids": ids, "note": "?"})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/several-questions")
    [error] = refused.json()["errors"]
    assert (error["field"], ids[0] in error["message"]) == ("memory_ids", True)
    assert cards(tenant) == []
    # Two that somebody names are a question, whatever the rules think.
    assert client.post("conflicts", {"memory_ids": ids[:2], "note": ""}).status_code == 201


def test_the_memory_that_does_not_belong_is_named(tenant: Tenant) -> None:
    texts = ("The stand-up is on Monday.", "We meet for stand-up each Thursday.", UNRELATED[0])
    ids = [commit(tenant, text) for text in texts]
    refused = tenant.agent.post("conflicts", {"memory_ids": ids, "note": ""})
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/several-questions")
    assert refused.json()["errors"][0]["message"].startswith(ids[2])


def test_a_report_of_one_matter_in_far_words_is_taken(tenant: Tenant) -> None:
    texts = (
        "Guests of the Gasthof park behind the barn as ever.",
        "The lot behind the barn is where cars go.",
        "Visitors leave their vehicles at the station by now.",
    )
    ids = [commit(tenant, text) for text in texts]
    assert tenant.agent.post("conflicts", {"memory_ids": ids, "note": ""}).status_code == 201
