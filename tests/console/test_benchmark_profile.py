"""A profile accounts for the whole time of its calls, by parts that are named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from benchmarks.ground.floor import compare
from benchmarks.ground.profile import HTTP, PYTHON, profile, title_of
from memories.services.recall import recall
from tests.conftest import Tenant

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("sql", "title"),
    [
        ("SELECT id FROM memories_memory\n WHERE id = 1", "SELECT memory"),
        ('SELECT 1 FROM "memories_memory" JOIN memories_posting ON true', "SELECT memory, posting"),
        ("INSERT INTO kernel_event (id) SELECT 1 FROM unnest(%s)", "INSERT event"),
        ("SELECT set_config(%s, %s, true)", "SELECT set_config(%s, %s, true)"),
    ],
)
def test_a_statement_is_named_by_its_kind_and_tables(sql: str, title: str) -> None:
    assert title_of(sql) == title


def test_the_parts_of_a_profile_add_up_to_the_calls(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": "The office dog is called Biscuit."})

    def ask() -> None:
        assert tenant.reader.post("memories/recall", {"query": "Biscuit"}).status_code == 200

    found = profile([ask] * 3, service=(recall, "recall"))
    rows = found.rows()
    assert rows["SELECT memory"]["runs"] >= 1
    assert "SELECT find_key, workspace" in found.outside
    assert "SELECT find_key, workspace" not in found.inside
    assert found.statements > 5
    assert min(rows[PYTHON]["ms"], rows[HTTP]["ms"]) > 0
    total = sum(row["ms"] for row in rows.values())
    assert total == pytest.approx(found.elapsed / 3, abs=0.01 * len(rows))


def test_a_path_is_compared_with_the_sum_of_its_floor() -> None:
    path = {"p50_ms": 30.0, "p95_ms": 40.0}
    floor = compare(path, {"p50_ms": 5.0, "p95_ms": 6.0}, {"p50_ms": 10.0, "p95_ms": 14.0})
    assert floor == {"p50_ms": 15.0, "p95_ms": 20.0, "times_p50": 2.0, "times_p95": 2.0}


def run_toy(name: str) -> dict[str, dict[str, Any]]:
    """Run a benchmark at its smallest size; return the rows that it reports."""
    test = connection.settings_dict["TEST"]
    run = subprocess.run(
        [sys.executable, f"benchmarks/{name}.py"],
        cwd=ROOT,
        env=os.environ
        | {
            "BENCH_SIZE": "toy",
            "ENGRAM_TEST_DATABASE": f"{test['NAME']}_bench",
            "PYTHONPATH": ".",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    line = next(line for line in run.stdout.splitlines() if line.startswith('{"benchmark"'))
    rows: dict[str, dict[str, Any]] = json.loads(line)["rows"]
    return rows


@pytest.mark.second_stage
@pytest.mark.usefixtures("django_db_setup")
def test_the_cost_of_a_size_is_measured_by_path_and_by_table() -> None:
    rows = run_toy("cost")

    for title in ("200", "100 identical"):
        for path in ("recall", "commit", "session start", "detection of one commit"):
            assert rows[f"{title}: {path}"]["p95_ms"] > 0
        parts = {
            name.rpartition(", ")[2]: row["bytes"]
            for name, row in rows.items()
            if name.startswith(f"{title}: bytes a memory")
        }
        total = parts.pop("all")
        assert sum(parts.values()) == pytest.approx(total, abs=1)
        assert min(parts["HNSW graph"], parts["memories_memorytokens"]) > 0
        assert rows[f"{title}: resident"]["process_mb"] > 50


@pytest.mark.second_stage
@pytest.mark.usefixtures("django_db_setup")
@pytest.mark.parametrize("name", ["recall", "commit", "session_start"])
def test_a_benchmark_prints_the_floor_and_the_profile_of_its_path(name: str) -> None:
    rows = run_toy(name)
    floors = [row for title, row in rows.items() if title.endswith(": floor")]
    assert floors
    assert all({"p50_ms", "times_p50", "times_p95"} <= row.keys() for row in floors)
    assert sum(title.endswith(": Python") for title in rows) == (
        2 if name == "session_start" else 1
    )
