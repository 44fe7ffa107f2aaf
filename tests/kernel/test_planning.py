"""Planner options are restored, also on a connection that loads pgvector within the block."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.db import connection, transaction

from engram.kernel.models import Workspace
from engram.kernel.planning import by_index, by_index_in_order, searching, writing
from tests.conftest import Tenant
from tests.statements import statements


def setting(name: str) -> str | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting(%s, true)", [name])
        value: str | None = cursor.fetchone()[0]
        return value


def compare_vectors() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT '[3, 4]'::vector <-> '[0, 0]'::vector")
        distance: float = cursor.fetchone()[0]
        return distance


@pytest.fixture
def new_connection(transactional_db: None) -> None:
    """Open a connection of its own, on which nobody has used pgvector."""
    connection.close()
    connection.close_pool()


@pytest.mark.usefixtures("new_connection")
def test_a_connection_that_used_no_vector_before_loads_pgvector_within_the_block() -> None:
    with transaction.atomic(), by_index_in_order():
        pass  # sets options of an extension that is not loaded
    with transaction.atomic(), by_index_in_order():
        assert setting("hnsw.iterative_scan") == "relaxed_order"
        assert compare_vectors() == 5
    with transaction.atomic():
        assert setting("hnsw.iterative_scan") == "off"
        assert setting("hnsw.ef_search") == "40"


@pytest.mark.usefixtures("db")
def test_options_hold_within_the_block_only() -> None:
    compare_vectors()
    before = setting("enable_seqscan"), setting("hnsw.ef_search")
    with by_index_in_order():
        assert (setting("enable_seqscan"), setting("hnsw.ef_search")) == ("off", "100")
    assert (setting("enable_seqscan"), setting("hnsw.ef_search")) == before


@pytest.mark.django_db(transaction=True)
def test_searching_makes_its_settings_with_the_workspace_and_they_end_with_it() -> None:
    workspace = Workspace.objects.create(slug="acme", name="Acme")
    with statements() as sent, searching(workspace), by_index_in_order(), by_index():
        pass
    assert len(sent) == 1
    with searching(workspace):
        assert (setting("enable_seqscan"), setting("hnsw.ef_search")) == ("off", "100")
        with searching(workspace):
            pass
        assert setting("enable_seqscan") == "off"
    assert setting("enable_seqscan") == "on"


@pytest.mark.django_db(transaction=True)
def test_a_commit_makes_the_settings_with_its_workspace(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": "The barn owl nests in the chapel tower."})
    with statements() as sent:
        answer = tenant.agent.post("memories", {"content": "Refunds need the shift lead."})
    assert answer.status_code == 201
    # The key; the workspace with the settings; known statements; neighbours; rows; words; due.
    assert len(sent) == 7
    assert len([sql for sql in sent if "set_config" in sql]) == 1


@pytest.mark.usefixtures("db")
def test_searching_within_another_transaction_leaves_its_settings_alone() -> None:
    workspace = Workspace.objects.create(slug="acme", name="Acme")
    with searching(workspace), by_index():
        assert setting("enable_seqscan") == "off"
    assert setting("enable_seqscan") == "on"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("block", [searching, writing])
def test_kept_plans_start_no_parallel_workers(
    block: Callable[[Workspace], AbstractContextManager[None]],
) -> None:
    """A plan for all parameters expects more rows than there are: see `planning`."""
    with block(Workspace.objects.create(slug="acme", name="Acme")):
        assert setting("plan_cache_mode") == "force_generic_plan"
        assert setting("max_parallel_workers_per_gather") == "0"
