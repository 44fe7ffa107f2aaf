"""The JSON Lines of memories: what `import_memories` reads again, and nothing hidden."""

from __future__ import annotations

import errno
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from engram.console.transfer import json_lines
from engram.kernel.models import Workspace
from tests.conftest import NOW, Tenant


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    body = {"content": content, "observed_at": NOW.isoformat(), **fields}
    memory: str = tenant.admin.post("memories", body).json()["memory"]["id"]
    return memory


def export(slug: str) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("export", "--workspace", slug, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_what_is_exported_is_imported_as_it_was(tenant: Tenant, tmp_path: Path) -> None:
    answer = {"question": "What colour is the kiln?", "answer": "blue", "was": "red"}
    commit(
        tenant, 'The kiln is "blue";\nnaïve 🙂', tags=["b, c", "a"], scope="x/y", pinned=True,
        metadata={"n": [1]}, answers=[answer], provenance="user_stated", agent="ada",
        source="https://example.com/?a=1,2", expires_at="2199-01-01T00:00:00Z",
    )  # fmt: skip
    commit(tenant, "Rita sings in a choir.", kind="constraint", project="p", importance=0.9)
    gone = commit(tenant, "The gate code is on the fridge.")
    tenant.admin.post("memories/forget", {"ids": [gone], "confirm": True})

    first, second = exported = export(tenant.workspace.slug)
    assert first["tags"] == ["a", "b, c"]
    assert first["answers"] == [answer]
    assert (first["pinned"], first["provenance"]) == (True, "user_stated")
    assert (second["content"], second["kind"]) == ("Rita sings in a choir.", "constraint")

    path = tmp_path / "memories.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in exported))
    Workspace.objects.create(slug="copy", name="Copy")
    call_command("import_memories", path, "--workspace", "copy", "--no-detect")
    assert export("copy") == exported


def test_memories_are_read_some_at_a_time(tenant: Tenant, monkeypatch: Any) -> None:
    monkeypatch.setattr(json_lines, "MEMORIES_A_READ", 2)
    said = ["Rita sings in a choir.", "The kiln is blue.", "Tomatoes need water."]
    for content in said:
        commit(tenant, content)
    assert [row["content"] for row in export(tenant.workspace.slug)] == said


def test_one_workspace_must_be_named(tenant: Tenant) -> None:
    with pytest.raises(CommandError, match="--workspace is needed"):
        call_command("export")
    with pytest.raises(CommandError, match="--vectors is not taken"):
        call_command("export", "--workspace", tenant.workspace.slug, "--vectors")
    with pytest.raises(CommandError, match="no workspace 'none'"):
        call_command("export", "--workspace", "none")


class FullDisk(StringIO):
    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


class FullAtTheEnd(StringIO):
    """Takes what is written into its buffer, as files do, and finds no room for it."""

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("output", [FullDisk, FullAtTheEnd])
def test_an_output_that_takes_no_more_is_named(tenant: Tenant, output: type[StringIO]) -> None:
    commit(tenant, "The kiln is blue.")
    with pytest.raises(CommandError, match=r"^standard output: No space left on device$"):
        call_command("export", "--workspace", tenant.workspace.slug, stdout=output())


class Interrupted(StringIO):
    def write(self, text: str) -> int:
        raise KeyboardInterrupt


def test_an_interrupted_export_says_that_it_is_not_whole(tenant: Tenant) -> None:
    commit(tenant, "The kiln is blue.")
    with pytest.raises(CommandError, match="not all of it was written"):
        call_command("export", "--workspace", tenant.workspace.slug, stdout=Interrupted())
