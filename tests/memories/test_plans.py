"""At 10,000 memories every look-up uses an index, as the application's role (census pitfall 43).

Each query is explained at the moment it runs, with the planner's settings of that moment: freshly
loaded tables, whose statistics say that they are empty, and analysed ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from engram.kernel.binary import prepared_cursor
from engram.kernel.embedding import QueryReading
from engram.kernel.models import Membership
from engram.kernel.plain_sql import condition_of
from engram.kernel.planning import by_index_in_order
from engram.kernel.tenancy import in_workspace
from memories.core.baseline import order_key
from memories.models import Memory, MemoryTag, Observation
from memories.services.asks.record import count_asks
from memories.services.gate import neighbours
from memories.services.index import nearest, postings, tokens
from memories.services.index.search_index import ensure_vector_index
from memories.services.recall import facts, turns
from memories.services.sessions import candidates, vectors
from memories.services.sessions.candidates import (
    BEST,
    POOL_MAX,
    SessionPlace,
    candidates_of,
    read_place,
)
from tests.conftest import NOW, Tenant, build_tenant
from tests.memories.scale import MODEL, VOCABULARY, WIDTH, clustered, fill

ROWS = 10_000
LARGE = {
    "memories_memory",
    "memories_memoryvector",
    "memories_posting",
    "memories_observation",
    "memories_memorytag",
}


NEAREST = "vector_nearest_8deee326a9"
LISTS = [
    ({}, {"memory_newest"}),
    ({"tag": "tag-7"}, {"tag_lookup"}),
    ({"q": " ".join(VOCABULARY[:2])}, {"posting_best", "memories_posting_pkey"}),
    ({"scope": "team/a"}, {"memory_newest"}),
    ({"state": "forgotten"}, {"memory_newest"}),
]


class Plans:
    """The plans of the queries that ran."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []

    def __call__(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        """Explain a query, then run it."""
        parts = sql.split(";")
        position = 0
        for part in parts:
            count = part.count("%s")
            own = params if len(parts) == 1 else (params or ())[position : position + count]
            position += count
            if part.lstrip().startswith(("SELECT", "WITH", "INSERT")) and "_config(" not in part:
                self._explain(part, own)
        return execute(sql, params, many, context)

    def _explain(self, sql: str, params: Any) -> None:
        opened = prepared_cursor() if isinstance(params, Mapping) else connection.cursor()
        with opened as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
            plan = cursor.fetchone()[0]
        self._walk((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])

    def _walk(self, node: dict[str, Any]) -> None:
        self.nodes.append(node)
        for inner in node.get("Plans", []):
            self._walk(inner)

    @property
    def scanned_whole(self) -> set[str]:
        """Return the large tables that a plan reads whole."""
        scans = {n["Relation Name"] for n in self.nodes if n["Node Type"] == "Seq Scan"}
        return scans & LARGE

    @property
    def indexes(self) -> set[str]:
        """Return the indexes that the plans use."""
        return {n["Index Name"] for n in self.nodes if "Index Name" in n}


@contextmanager
def explained() -> Iterator[Plans]:
    """Collect the plans of the block's queries."""
    plans = Plans()
    with connection.execute_wrapper(plans):
        yield plans


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[Tenant]:
    """Return a workspace of 10,000 memories beside one of 2,000, freshly loaded."""
    with django_db_blocker.unblock(), transaction.atomic():
        tenant, neighbour = build_tenant("acme"), build_tenant("zenith")
        _forget_statistics()
        with connection.cursor() as cursor:  # a graph of so many is made faster at once
            cursor.execute(f"DROP INDEX {NEAREST}")
        fill(neighbour.workspace, clustered(2000, seed=1), words=6, seed=1)
        ids = fill(
            tenant.workspace, clustered(ROWS - 2000, seed=2), words=6, scope="team/a", seed=2
        )
        fill(tenant.workspace, clustered(1000, seed=3), words=6, is_forgotten=True, seed=3)
        ids += fill(tenant.workspace, clustered(1000, seed=4), words=6, seed=4)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        ensure_vector_index(MODEL, WIDTH)
        with in_workspace(tenant.workspace):
            _tag_and_observe(ids)
        yield tenant
        transaction.set_rollback(True)


def _forget_statistics() -> None:
    """Clear what PostgreSQL has learned from the rows of other tests while these ran."""
    with connection.cursor() as cursor:
        for table in LARGE:
            cursor.execute("SELECT pg_clear_relation_stats('public', %s)", [table])
            cursor.execute(
                "SELECT pg_clear_attribute_stats('public', %s, attname, false) FROM pg_attribute"
                " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
                [table, table],
            )


def _tag_and_observe(ids: list[UUID]) -> None:
    MemoryTag.objects.bulk_create(
        MemoryTag(memory_id=i, tag=f"{name}-{i.int % 500}")
        for i in ids
        for name in ("tag", "team", "city", "month", "tool")
    )
    Observation.objects.bulk_create(
        Observation(
            memory_id=i,
            content=f"said {i}",
            content_hash=i.hex * 2,
            outcome="created",
            provenance="user_stated",
            confidence=1.0,
            observed_at=NOW,
            created_at=NOW,
        )
        for i in ids
    )


@pytest.fixture(scope="module", params=["fresh", "analysed"])
def state(world: Tenant, django_db_blocker: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """Return whether the tables were analysed; statistics are dropped afterwards."""
    with django_db_blocker.unblock(), transaction.atomic():
        if request.param == "analysed":
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE " + ", ".join(sorted(LARGE)))
        assert _is_analysed() == (request.param == "analysed")
        yield str(request.param)
        transaction.set_rollback(True)
    with django_db_blocker.unblock():
        _forget_statistics()  # the numbers of rows and pages are not rolled back


def _is_analysed() -> bool:
    """Return whether the number of tags was counted; statistics of columns are hidden by RLS."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltuples > 0 FROM pg_class WHERE oid = 'memories_memorytag'::regclass"
        )
        return bool(cursor.fetchone()[0])


@pytest.fixture
def full(world: Tenant, state: str, db: None) -> Tenant:
    """Return the large workspace; what a test changes is rolled back."""
    return world


def test_no_large_table_is_read_whole(
    full: Tenant, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    monkeypatch.setattr(nearest, "EXACT_MAX", ROWS * 2)
    # Without statistics the planner may take another index of the workspace, by the number of
    # pages that tests before this one left; never is a table read whole, and the graph is used.
    known = {"posting_best", "memory_session_order"} if state == "analysed" else set()
    scanned = indexes_of_recall(full)
    assert scanned >= known | ({"vector_live"} if state == "analysed" else set())
    assert NEAREST not in scanned
    monkeypatch.setattr(nearest, "EXACT_MAX", 0)
    by_graph = indexes_of_recall(full)
    assert by_graph >= known | {NEAREST}
    assert "vector_live" not in by_graph

    with explained() as plans:
        body = {"content": "The barn owl nests in the chapel tower.", "tags": ["birds"]}
        assert full.agent.post("memories", body).status_code == 201
    assert plans.scanned_whole == set()
    # Without statistics the planner may take another index of the workspace for the hashes.
    assert plans.indexes >= {NEAREST} | ({"memory_hash"} if state == "analysed" else set())

    for params, known in LISTS:
        with explained() as plans:
            assert full.admin.get("memories", params).status_code == 200
        assert (params, plans.scanned_whole) == (params, set())
        # With unknown statistics a list may be sorted; never is the table read whole.
        assert state == "fresh" or known & plans.indexes, (params, plans.indexes)

    with in_workspace(full.workspace):
        memory = Memory.objects.recallable(NOW).first()
    assert memory is not None
    with explained() as plans:
        assert full.reader.get(f"memories/{memory.pk}").status_code == 200
        assert full.reader.get(f"memories/{memory.pk}/history").status_code == 200
    assert plans.scanned_whole == set()


def test_questions_to_a_writer_are_counted_by_its_newest_memories(full: Tenant, state: str) -> None:
    with in_workspace(full.workspace), explained() as plans:
        assert count_asks(200, key=None, excluding=[]) == 0
    assert plans.scanned_whole == set()
    # Without statistics the planner may take another index of the workspace.
    assert state == "fresh" or plans.indexes & {"memory_writer", "memory_newest"}


def test_a_sorted_page_of_memories_is_read_in_the_order_of_an_index(
    full: Tenant, state: str
) -> None:
    user = User.objects.create_user("reader-of-many", is_staff=True)
    Membership.objects.create(workspace=full.workspace, user=user, role="reader")
    client = Client()
    client.force_login(user)
    path = "/console/memories/?sort=-learned"
    for page in ("first", "second"):
        with explained() as plans:
            html = client.get(path).content.decode()
        # With unknown statistics a list may be sorted, as in the test above.
        assert state == "fresh" or "memory_story" in plans.indexes, (page, plans.indexes)
        sorted_rows = [node["Plan Rows"] for node in plans.nodes if node["Node Type"] == "Sort"]
        assert state == "fresh" or max(sorted_rows, default=0) < 1000, page
        following = re.search(r'rel="next" href="([^"]+)"', html)
        assert following is not None
        path = f"/console/memories/{unescape(following[1])}"


def indexes_of_recall(tenant: Tenant) -> set[str]:
    """Recall, and return the indexes that were used; no large table is read whole."""
    query = f"where do {VOCABULARY[0]} and {VOCABULARY[1]} meet?"
    with explained() as plans:
        assert (
            tenant.reader.post("memories/recall", {"query": query, "min_score": None}).json()[
                "results"
            ]
            != []
        )
    assert plans.scanned_whole == set()
    return plans.indexes


def test_no_large_table_is_read_whole_for_a_session(full: Tenant) -> None:
    with in_workspace(full.workspace), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memories_memory SET importance = (abs(hashtext(id::text)) % 41) / 40.0,"
            " is_pinned = abs(hashtext(id::text)) % 1000 = 0"
        )
    vector = clustered(1, seed=2)[0]
    about = f"what now, {VOCABULARY[0]}?"
    place = SessionPlace("", "team/a", about, QueryReading(vector, None))
    with explained() as plans, in_workspace(full.workspace):
        found = candidates_of(full.workspace, place, read_place(place, now=NOW), now=NOW)
    assert plans.scanned_whole == set()
    assert plans.indexes >= {"memory_standing", "memory_always"}
    assert len(found.facts) <= POOL_MAX
    assert [score.total for score in found.scores if score.recall] != []
    with in_workspace(full.workspace):
        place = SessionPlace("", "team/a")
        found = candidates_of(full.workspace, place, read_place(place, now=NOW), now=NOW)
    with in_workspace(full.workspace):
        everything = sorted(
            Memory.objects.recallable(NOW),
            key=lambda m: (
                -order_key(m.importance, m.observed_at, is_pinned=_leads(m)), m.pk
            ),
        )  # fmt: skip
    order = [fact.id for fact in found.facts]
    best = [m.pk for m in everything[:BEST]]
    assert order[: len(set(best) & set(order))] == [i for i in best if i in order]
    assert set(best[:30]) <= set(order)

    body = {"prompt": f"{VOCABULARY[0]} {VOCABULARY[1]} {VOCABULARY[2]}"}
    assert full.agent.post("sessions", {"session_key": "s1", "context": "x"}).status_code == 201
    with explained() as plans:
        assert full.agent.post("sessions/s1/prompts", body).status_code == 200
        assert full.reader.get("sessions/s1").status_code == 200
        assert full.reader.get("sessions").status_code == 200
    assert plans.scanned_whole == set()


def _leads(memory: Memory) -> bool:
    """Tell whether a memory is pinned where the session is: in team/a, below it, or everywhere."""
    holds = memory.scope in {"team", "team/a"} or memory.scope.startswith("team/a/")
    return memory.is_pinned and (holds or not (memory.scope or memory.project))


def test_kept_plans_of_the_hot_statements_use_indexes_at_100_000_rows(
    full: Tenant, state: str
) -> None:
    """The server keeps these plans for all parameters (`binary_cursor(prepares=True)`)."""
    if state == "analysed":
        with connection.cursor() as cursor:
            cursor.execute(  # ten times as many rows a page as there are
                "SELECT pg_restore_relation_stats('schemaname', 'public', 'relname', relname::text,"
                " 'relpages', (pg_relation_size(oid) / 8192)::integer, 'reltuples', 100000::real)"
                " FROM pg_class WHERE relname = ANY(%s)",
                [["memories_memory", "memories_memoryvector", "memories_posting"]],
            )
            cursor.execute(  # an analysed table without rows makes all its indexes cost the same
                "SELECT pg_restore_relation_stats('schemaname', 'public', 'relname',"
                " 'memories_memoryanswer', 'relpages', 0, 'reltuples', (-1)::real)"
            )
    with in_workspace(full.workspace):
        condition = condition_of(Memory.objects.recallable(NOW)).sql
        vocabulary = postings.vocabulary_of(VOCABULARY[:2])
        words = postings.words_sql(vocabulary)
        graph = nearest._GRAPH.format(
            condition=condition, kind=f"vector({WIDTH})", indexed_model=nearest._literal(MODEL)
        )
        hot = {
            nearest._SCAN.format(condition=condition): {"vector_live", "memories_memory_pkey"},
            postings._BEST.format(
                condition=condition, gain=postings.GAIN, postings=postings.POSTINGS
            ): {"posting_best", "memories_memory_pkey"},
            facts._FACTS.format(words=words, asked=facts._ASKED): {
                "vector_once_a_window",
                "answer_of_memory",
            },
            graph: {NEAREST},
            turns._AROUND.format(condition=condition, reach=turns.REACH): {"memory_session_order"},
            tokens._NEAREST.format(): {"vector_once_a_window"},
            candidates._BEST.format(condition=condition): {"memory_standing"},
            candidates._ALWAYS.format(condition=condition): {"memory_always"},
            candidates._FACTS.format(condition=condition): {"memories_memory_pkey"},
            vectors._VECTORS.format(): {"vector_once_a_window"},
            neighbours._NEAREST.format(columns="1", condition=condition): {"vector_live"},
        }
        for statement, indexes in hot.items():
            plans = Plans()
            with by_index_in_order(), connection.connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {_numbered(statement)}")
                plan = cursor.fetchone()[0]
            plans._walk((json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"])
            assert plans.scanned_whole == set()
            # Without statistics all indexes that begin with the workspace seem to cost the same.
            assert state == "fresh" or plans.indexes >= indexes
            assert not {"Hash Join", "Merge Join"} & {node["Node Type"] for node in plans.nodes}


def _numbered(statement: str) -> str:
    """Return a statement with numbered parameters."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    numbered = re.sub(r"%\((\w+)\)s", lambda m: f"${names.index(m[1]) + 1}", statement)
    return numbered.replace("%%", "%")
