"""What search finds does not depend on how many memories there are, nor on which index finds it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest
from django.db import connection

from engram.kernel.models import Workspace
from engram.kernel.planning import by_index, by_index_in_order, by_index_sorted
from engram.kernel.tenancy import in_workspace
from memories.core import bm25
from memories.models import Memory, MemoryTag, MemoryVector, Posting
from memories.services.index import filters, nearest, postings
from memories.services.index.nearest import nearest_among
from memories.services.index.search_index import ensure_vector_index, index_vectors, reindex_vectors
from memories.services.recall.facts import facts_of
from memories.services.recall.turns import neighbours
from tests.conftest import NOW, Tenant
from tests.memories.scale import MODEL, VOCABULARY, closest, clustered, fill

BY_SCAN, BY_GRAPH = 10**9, -1


def found(workspace: Workspace, query: np.ndarray, limit: int, **place: str) -> list[UUID]:
    """Return the nearest memories of a place."""
    with in_workspace(workspace):
        recallable = Memory.objects.recallable(NOW).filter(**place)
        return list(nearest.nearest(recallable, query, MODEL, limit))


@pytest.mark.parametrize("exact_max", [BY_SCAN, BY_GRAPH])
@pytest.mark.parametrize("is_marked", [True, False])
def test_a_thousand_tombstones_never_displace_ten_live_neighbours(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, exact_max: int, is_marked: bool
) -> None:
    """Pitfall 6."""
    monkeypatch.setattr(nearest, "EXACT_MAX", exact_max)
    rng = np.random.default_rng(1)
    centre = clustered(1, seed=1)[0]
    near = centre + 0.01 * rng.normal(size=(1010, len(centre))) / len(centre) ** 0.5
    vectors = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
    fill(tenant.workspace, vectors[10:], is_forgotten=True, is_marked=is_marked, seed=1)
    live = fill(tenant.workspace, vectors[:10], seed=2)
    fill(tenant.workspace, clustered(200, seed=3), seed=3)
    reached = set(found(tenant.workspace, centre, 10)) & set(live)
    # Expired memories stay in the graph: among a thousand near-copies it may miss a node or two.
    assert len(reached) == 10 or (not is_marked and exact_max == BY_GRAPH and len(reached) >= 7)


@pytest.mark.parametrize("exact_max", [BY_SCAN, BY_GRAPH])
def test_tenants_of_every_share_find_their_nearest(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, exact_max: int
) -> None:
    """Of one table 0.1, 1, 10 and 89 percent; all the same clusters, so that others are near."""
    monkeypatch.setattr(nearest, "EXACT_MAX", exact_max)
    vectors = clustered(4000, seed=4)
    start = 0
    tenants = []
    for size in (4, 40, 400, 3556):
        workspace = Workspace.objects.create(slug=f"share-{size}", name="Share")
        own = vectors[start : start + size]
        tenants.append((workspace, own, fill(workspace, own, seed=size)))
        start += size
    for workspace, own, ids in tenants:
        hits = total = 0
        for query in clustered(10, seed=4) * 0.7 + vectors[:10] * 0.3:
            unit = query / np.linalg.norm(query)
            expected = closest(own, ids, unit, 10)
            hits += len(set(expected) & set(found(workspace, unit, 10)))
            total += len(expected)
        assert hits / total >= 0.95, (len(ids), hits / total)


@pytest.mark.parametrize("exact_max", [BY_SCAN, BY_GRAPH])
def test_a_narrow_place_in_a_full_workspace_is_searched_whole(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, exact_max: int
) -> None:
    monkeypatch.setattr(nearest, "EXACT_MAX", exact_max)
    fill(tenant.workspace, clustered(600, seed=5), seed=5)
    own = clustered(12, seed=6)
    ids = fill(tenant.workspace, own, scope="attic", seed=6)
    query = clustered(1, seed=7)[0]
    assert found(tenant.workspace, query, 10, scope="attic") == closest(own, ids, query, 10)


def test_windows_of_one_memory_count_once_by_the_nearest(tenant: Tenant) -> None:
    vectors = clustered(2, seed=8)
    ids = fill(tenant.workspace, vectors, seed=8)
    nearer = clustered(1, seed=9)[0]
    with in_workspace(tenant.workspace):
        memory = Memory.objects.get(pk=ids[1])
        MemoryVector.objects.create(memory=memory, model=MODEL, position=1, embedding=nearer)
        cosines = nearest.nearest(Memory.objects.recallable(NOW), nearer, MODEL, 10)
    assert list(cosines) == [ids[1], ids[0]]
    assert cosines[ids[1]] == pytest.approx(1.0, abs=1e-5)


def test_vectors_of_another_model_are_never_compared(tenant: Tenant) -> None:
    """Pitfall 45."""
    ids = fill(tenant.workspace, clustered(3, seed=10), seed=10)
    with in_workspace(tenant.workspace):
        MemoryVector.objects.filter(memory=ids[0]).update(model="another")
    assert set(found(tenant.workspace, clustered(1, seed=10)[0], 10)) == set(ids[1:])


def test_a_hidden_memory_is_indexed_without_being_searched(tenant: Tenant) -> None:
    vectors = clustered(2, seed=11)
    ids = fill(tenant.workspace, vectors, is_forgotten=True, is_marked=False, seed=11)
    with in_workspace(tenant.workspace):
        first, second = (Memory.objects.get(pk=i) for i in ids)
        reindex_vectors(first, vectors[:1], MODEL)
        index_vectors(second, vectors[1:], "another")
        flags = set(MemoryVector.objects.values_list("memory", "model", "is_live"))
    assert flags == {
        (ids[0], MODEL, False),
        (ids[1], MODEL, True),  # as it was written past the services
        (ids[1], "another", False),
    }


@pytest.mark.parametrize("width", [64, 2500])
def test_another_model_gets_an_index_of_its_own(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(nearest, "EXACT_MAX", BY_GRAPH)
    for _ in range(2):
        ensure_vector_index("it's another", width)
    rng = np.random.default_rng(12)
    vectors = rng.normal(size=(60, width))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    ids = fill(tenant.workspace, clustered(60, seed=12), seed=12)
    with in_workspace(tenant.workspace):
        MemoryVector.objects.all().delete()
        for memory, vector in zip(ids, vectors, strict=True):
            MemoryVector.objects.create(memory_id=memory, model="it's another", embedding=vector)
        recallable = Memory.objects.recallable(NOW)
        cosines = nearest.nearest(recallable, vectors[0], "it's another", 5)
    assert list(cosines) == closest(vectors, ids, vectors[0], 5)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_indexes WHERE indexdef LIKE %s", ["%it''s another%"]
        )
        assert cursor.fetchone() == (1,)


def test_neighbours_are_those_of_the_whole_session_in_order(
    tenant: Tenant, neighbour: Tenant
) -> None:
    """Ties in time included; hidden ones, other sessions and other workspaces left out."""
    rng = random.Random(13)
    for seed, workspace in ((13, tenant.workspace), (14, neighbour.workspace)):
        ids = fill(workspace, clustered(60, seed=seed), seed=seed)
        with in_workspace(workspace):
            for memory in Memory.objects.filter(pk__in=ids):
                memory.session_key = rng.choice(["", "a", "b", "c"])
                memory.observed_at = NOW + timedelta(hours=rng.randrange(4))
                memory.created_at = NOW + timedelta(hours=rng.randrange(2))
                memory.retired_at = NOW if rng.random() < 0.2 else None
                memory.save()
    with in_workspace(tenant.workspace):
        recallable = Memory.objects.recallable(NOW)
        sessions: dict[str, list[UUID]] = {}
        for memory in recallable.order_by("observed_at", "created_at", "pk"):
            sessions.setdefault(memory.session_key, []).append(memory.pk)
        sessions.pop("")
        expected = {
            memory: (session[max(at - 2, 0) : at][::-1], session[at + 1 : at + 3])
            for session in sessions.values()
            for at, memory in enumerate(session)
        }
        everything = Memory.objects.values_list("pk", flat=True)
        assert neighbours(recallable, set(everything)) == expected
        some = set(rng.sample(sorted(expected), 7))
        assert neighbours(recallable, some) == {i: expected[i] for i in some}


@pytest.mark.parametrize("words_a_look_up", [0, 1000])  # term by term, memory by memory
def test_words_score_in_the_database_as_bm25_says(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch, words_a_look_up: int
) -> None:
    monkeypatch.setattr(postings, "WORDS_A_LOOK_UP", words_a_look_up)
    fill(neighbour.workspace, clustered(50, seed=15), words=12, seed=15)
    fill(tenant.workspace, clustered(30, seed=16), words=12, is_forgotten=True, seed=16)
    fill(tenant.workspace, clustered(300, seed=17), words=12, seed=17)
    fill(tenant.workspace, clustered(20, seed=18), words=30, scope="attic", seed=18)
    asked = [*VOCABULARY[:6], "unheard"]
    with in_workspace(tenant.workspace), by_index():
        vocabulary = postings.vocabulary_of(asked)
        rows = list(Posting.objects.values_list("term", "memory_id", "frequency"))
        lengths: Counter[UUID] = Counter()
        for _, memory, frequency in rows:
            lengths[memory] += frequency
        scores = bm25.score(
            asked,
            rows,
            document_frequencies=vocabulary.frequencies,
            document_lengths=lengths,
            n_documents=vocabulary.memories,
            average_length=vocabulary.average_words,
        )
        shares = bm25.share(scores, asked, vocabulary.frequencies, vocabulary.memories)
        found = facts_of(list(lengths), vocabulary, None, MODEL)
        said = {i: facts.words for i, facts in found.items() if facts.words is not None}
        assert said == pytest.approx(shares)
        for place, limit in (({}, 25), ({"scope": "attic"}, 25), ({}, 1000)):
            recallable = Memory.objects.recallable(NOW).filter(**place)
            allowed = set(recallable.values_list("pk", flat=True))
            best = sorted(scores.keys() & allowed, key=lambda i: (-round(scores[i], 9), i))[:limit]
            given = postings.by_words(recallable, vocabulary, limit)
            assert [round(scores[i], 9) for i in given] == [round(scores[i], 9) for i in best]
            assert set(given) <= allowed


def test_recall_answers_as_many_as_are_asked_for(tenant: Tenant) -> None:
    """More than its usual breadth, and where nothing has neighbours to bring."""
    ids = fill(tenant.workspace, clustered(130, seed=21), words=120, seed=21)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk__in=ids).update(session_key="")
    query = {"query": " ".join(VOCABULARY[:8]), "k": 100, "min_score": None}
    for stage in (True, False):
        answer = tenant.reader.post("memories/recall", query | {"rerank": stage}).json()
        assert len({r["memory"]["id"] for r in answer["results"]}) == 100


def test_settings_of_the_planner_are_made_once_and_given_back(
    tenant: Tenant, django_assert_num_queries: Callable[[int], AbstractContextManager[object]]
) -> None:
    def read_settings() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('enable_sort'), current_setting('enable_seqscan')"
            )
            return list(cursor.fetchone())

    with in_workspace(tenant.workspace):
        before = read_settings()
        with django_assert_num_queries(2), by_index_in_order(), by_index(), by_index_in_order():
            pass
        with by_index_in_order():
            with by_index_sorted():
                assert read_settings() == ["on", "off"]
            assert read_settings() == ["off", "off"]
        assert read_settings() == before == ["on", "on"]


def test_the_past_is_searched_exactly_hidden_memories_included(tenant: Tenant) -> None:
    vectors = clustered(30, seed=19)
    ids = fill(tenant.workspace, vectors, is_forgotten=True, seed=19)
    query = clustered(1, seed=20)[0]
    with in_workspace(tenant.workspace):
        cosines = nearest_among(Memory.objects.all(), query, MODEL, 10)
    assert list(cosines) == closest(vectors, ids, query, 10)


@pytest.mark.parametrize("few", [0, 10**6])  # each row looked up, named one by one
def test_lists_hold_every_word_and_the_tag(
    tenant: Tenant, neighbour: Tenant, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(filters, "FEW", few)
    for seed, workspace in ((31, neighbour.workspace), (32, tenant.workspace)):
        ids = fill(workspace, clustered(120, seed=seed), words=80, seed=seed)
        with in_workspace(workspace):
            MemoryTag.objects.bulk_create(MemoryTag(memory_id=i, tag="cellar") for i in ids[::2])
    asked = VOCABULARY[:2]
    with in_workspace(tenant.workspace):
        said: dict[UUID, set[str]] = {}
        for memory, term in Posting.objects.values_list("memory_id", "term"):
            said.setdefault(memory, set()).add(term)
        expected = {i for i, words in said.items() if words.issuperset(asked)}
        tagged = set(MemoryTag.objects.values_list("memory_id", flat=True))
        every = Memory.objects.all()
        found = filters.with_words(every, asked)
        assert set(found.values_list("pk", flat=True)) == expected
        both = filters.with_tag(found, "cellar").values_list("pk", flat=True)
        assert set(both) == expected & tagged
        assert len(expected) > len(expected & tagged) > 0
        assert not filters.with_words(every, [*asked, "unheard"]).exists()
