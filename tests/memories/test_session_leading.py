"""Constraints and pins of a session: where they hold, how many places they take, what is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as given_
from hypothesis import strategies as st

from engram.kernel.tenancy import in_workspace
from memories.core.briefing import LEFT_OUT
from memories.models import Memory
from memories.services.recall.query import Query, holds, match_pins
from memories.services.sessions.candidates import SessionPlace, candidates_of, read_place
from tests.conftest import NOW, Tenant
from tests.memories.session_world import begin, injected_ids, remember

RULES = [
    "Never restart the ledger by day.",
    "Ask Ingrid before a refund.",
    "Invoices carry two signatures.",
    "Letters leave on Monday.",
]
FACTS = [
    "The kiln was fired at noon.",
    "Cats sleep most of the day.",
    "The harbour office opens at nine.",
    "The archive moved to Oslo.",
]


@pytest.fixture(autouse=True)
def no_ranker(settings: Any) -> None:
    """Begin without a learned ranker."""
    settings.ENGRAM_SESSION_RANKER = ""


def test_half_of_the_places_are_left_for_what_the_session_is_about(tenant: Tenant) -> None:
    rules = [
        remember(tenant, text, kind="constraint", importance=1 - n / 10)
        for n, text in enumerate(RULES)
    ]
    facts = [remember(tenant, text, importance=0.1 - n / 100) for n, text in enumerate(FACTS)]
    started = begin(tenant, k=4)
    assert injected_ids(started) == [*rules[:2], *facts[:2]]
    assert started.left_out == rules[2:]
    assert started.text.splitlines()[-1] == LEFT_OUT.format(count=2)
    again = begin(tenant, k=4)
    assert (again.left_out, again.text) == (started.left_out, started.text)
    answer = tenant.agent.post("sessions", {"session_key": "http", "k": 4}).json()
    assert answer["constraints_left_out"] == [str(i) for i in rules[2:]]


def test_where_nothing_else_is_known_constraints_take_all_places(tenant: Tenant) -> None:
    rules = [
        remember(tenant, text, kind="constraint", importance=1 - n / 10)
        for n, text in enumerate(RULES)
    ]
    started = begin(tenant, k=4)
    assert (injected_ids(started), started.left_out) == (rules, [])
    assert "more constraints" not in started.text
    fewer = begin(tenant, "s2", k=3)
    assert (injected_ids(fewer), fewer.left_out) == (rules[:3], rules[3:])


def test_a_constraint_of_another_place_is_not_called_one(tenant: Tenant) -> None:
    remember(tenant, RULES[0], kind="constraint", scope="dock/a")
    remember(tenant, RULES[1], kind="constraint", scope="dock/b")
    lines = begin(tenant, scope="dock/b", k=4).text.splitlines()[1:]
    assert lines == [f'- constraint: "{RULES[1]}"', f'- "{RULES[0]}"']


def test_constraints_left_out_are_those_that_hold_here_now(
    tenant: Tenant, neighbour: Tenant
) -> None:
    remember(neighbour, "Never tell Acme.", kind="constraint")
    rules = [
        remember(tenant, text, kind="constraint", importance=1 - n / 10)
        for n, text in enumerate(RULES)
    ]
    remember(tenant, "Never paint on a Monday.", kind="constraint", project="paint")
    first = begin(tenant, k=1)
    assert first.left_out == rules[1:]
    tenant.agent.post("memories/forget", {"ids": [str(rules[3])], "confirm": True})
    assert begin(tenant, k=1).left_out == rules[1:3]


PATHS = st.sampled_from(
    ["", "site", "site/crane", "site/crane/boom", "sitemap", "site/cranes", "x"]
)
PROJECTS = st.sampled_from(["", "post", "paint"])


@given_(PATHS, PROJECTS, PATHS, PROJECTS)
def test_a_pin_holds_by_whole_path_segments(
    scope: str, project: str, at_scope: str, at_project: str
) -> None:
    def parts(path: str) -> list[str]:
        return path.split("/") if path else []

    one, other = parts(scope), parts(at_scope)
    shared = min(len(one), len(other))
    expected = (
        not (scope or project)
        or (project != "" and project == at_project)
        or (shared > 0 and one[:shared] == other[:shared])
    )
    assert holds(Query("x", scope=at_scope, project=at_project), scope, project) is expected


def test_recall_and_sessions_agree_where_a_pin_holds(tenant: Tenant) -> None:
    """The rule in Python, as a filter of recall, and in the statement of a session's start."""
    pins = {}
    for n, (scope, project) in enumerate(
        [("", ""), ("site", ""), ("site/crane", ""), ("sitemap", ""), ("", "post"), ("x", "post")]
    ):
        memory_id = remember(tenant, f"{FACTS[n % 4]} ({n})", pinned=True, scope=scope,
                             project=project)  # fmt: skip
        pins[memory_id] = (scope, project)
    places = [("", ""), ("site", ""), ("site/crane", ""), ("site/crane/boom", "paint"),
              ("sitemap", ""), ("sitemap/a", "post"), ("", "post")]  # fmt: skip
    for scope, project in places:
        query = Query("x", scope=scope, project=project)
        expected = {i for i, where in pins.items() if holds(query, *where)}
        with in_workspace(tenant.workspace):
            filtered = Memory.objects.filter(match_pins(query), is_pinned=True)
            assert set(filtered.values_list("pk", flat=True)) == expected
            place = SessionPlace(project, scope)
            found = candidates_of(tenant.workspace, place, read_place(place, now=NOW), now=NOW)
        leading = {fact.id for fact in found.facts if fact.leads}
        assert leading == expected, (scope, project)


def recalled(tenant: Tenant, query: str, **asked: Any) -> list[tuple[str, float]]:
    answer = tenant.reader.post(
        "memories/recall",
        {"query": query, "record": False, "explain": True, "min_score": None, **asked},
    )
    assert answer.status_code == 200, answer.json()
    return [(r["memory"]["content"], r["explain"]["freshness"]) for r in answer.json()["results"]]


def test_recall_in_a_scope_is_led_by_pins_of_the_scopes_above(tenant: Tenant) -> None:
    old = {"observed_at": "2020-01-01T00:00:00Z", "pinned": True}
    for text, scope in (
        ("Helmets are worn.", "site"),
        ("Crumbs are swept.", "sitemap"),
        ("Doors are locked at night.", ""),
    ):
        tenant.agent.post("memories", {"content": text, "scope": scope, **old})
    tenant.agent.post("memories", {"content": "The crane lifts ten tons.", "scope": "site/crane"})
    inside = recalled(tenant, "What does the crane lift?", scope="site/crane")
    assert {text for text, _ in inside[:2]} == {"Helmets are worn.", "Doors are locked at night."}
    assert {freshness for _, freshness in inside[:2]} == {1.0}
    assert "Crumbs are swept." not in [text for text, _ in inside]
    beside = recalled(tenant, "crumbs", scope="sitemap/pages")
    assert [text for text, _ in beside if text == "Helmets are worn."] == []
    anywhere = recalled(tenant, "Which helmets are worn? Which doors are locked at night?")
    ages = dict(anywhere)
    assert anywhere[0] == ("Doors are locked at night.", 1.0)
    assert ages["Helmets are worn."] < 1
    past = recalled(
        tenant, "What does the crane lift?", scope="site/crane", as_of="2021-01-01T00:00:00Z"
    )
    assert {text for text, _ in past} == {"Helmets are worn.", "Doors are locked at night."}


def test_pins_leave_half_of_a_recall_and_what_a_user_stated_leads(tenant: Tenant) -> None:
    for n, text in enumerate(FACTS):
        tenant.agent.post("memories", {"content": text, "pinned": True, "importance": 1 - n / 10})
    tenant.agent.post(
        "memories",
        {"content": RULES[1], "pinned": True, "importance": 0.1, "provenance": "user_stated"},
    )
    tenant.agent.post("memories", {"content": "Invoices leave on Friday."})
    found = [text for text, _ in recalled(tenant, "When do invoices leave?", k=4)]
    assert len(found) == 4
    assert set(found[:2]) == {RULES[1], FACTS[0]}
    assert found[2] == "Invoices leave on Friday."
