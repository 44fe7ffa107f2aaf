"""`import_memories`: checked whole, resumed where it stopped, errors with line numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from conflicts.models import DetectionDue
from engram.kernel.tenancy import in_workspace
from memories.management.commands.import_memories import parse_line
from memories.models import Memory, MemoryAnswer
from memories.services.commit import import_lines
from memories.services.commit.commit import Prepared
from memories.services.commit.draft import Draft
from tests.conftest import NOW, Tenant


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    def write(*rows: Any) -> Path:
        path = tmp_path / "memories.jsonl"
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"))
        return path

    return write


def run(tenant: Tenant, path: Path, *options: str) -> str:
    out = StringIO()
    call_command(
        "import_memories", str(path), "--workspace", tenant.workspace.slug, *options, stdout=out
    )
    return out.getvalue()


def stored(tenant: Tenant) -> list[str]:
    with in_workspace(tenant.workspace):
        return list(
            Memory.objects.order_by("created_at", "observed_at").values_list("content", flat=True)
        )


def test_lines_bring_what_they_answer(tenant: Tenant, file: Callable[..., Path]) -> None:
    colour = {"question": "Which colour is the kiln?", "answer": "blue", "was": "white"}
    path = file({"content": "The kiln is blue now.", "answers": [colour]}, {"content": "No."})
    assert run(tenant, path) == "2 lines imported: 2 created.\n"
    with in_workspace(tenant.workspace):
        row = MemoryAnswer.objects.get()
        assert (row.question, row.answer, row.was) == tuple(colour.values())
        assert row.embedding is not None  # an import waits for vectors anyway
    bad = [colour, colour | {"answer": "green"}]
    path = file({"content": "The kiln is hot."}, {"content": "The kiln is green.", "answers": bad})
    with pytest.raises(CommandError, match=r"line 2: answers.1.answer: Contradicts answer 0"):
        run(tenant, path)
    assert stored(tenant) == ["The kiln is blue now.", "No."]


def test_a_secret_that_question_and_answer_give_together_is_refused(
    tenant: Tenant, file: Callable[..., Path]
) -> None:
    bare = {"question": "What is the password of staging?", "answer": "hunter2-x9Q"}
    path = file({"content": "No."}, {"content": "Staging is closed.", "answers": [bare]})
    with pytest.raises(CommandError, match="line 2: answers: This looks like a password"):
        run(tenant, path)
    assert stored(tenant) == []


def test_lines_become_memories_with_their_fields(tenant: Tenant, file: Callable[..., Path]) -> None:
    path = file(
        {"content": "The kiln is blue.", "observed_at": "2024-02-03T04:05:06Z", "tags": ["kiln"]},
        "",
        {"content": "The shed is green.", "agent": "maya", "scope": "/yard//shed/"},
    )
    assert run(tenant, path) == "2 lines imported: 2 created.\n"
    with in_workspace(tenant.workspace):
        kiln = Memory.objects.get(content="The kiln is blue.")
        assert kiln.observed_at == datetime.fromisoformat("2024-02-03T04:05:06+00:00")
        assert [row.tag for row in kiln.tags.all()] == ["kiln"]
        assert Memory.objects.get(content="The shed is green.").scope == "yard/shed"
        assert DetectionDue.objects.count() == 2


def test_no_detect_leaves_the_detective_alone(tenant: Tenant, file: Callable[..., Path]) -> None:
    run(tenant, file({"content": "The kiln is blue."}), "--no-detect")
    with in_workspace(tenant.workspace):
        assert DetectionDue.objects.count() == 0


def test_every_wrong_line_is_named_and_nothing_is_imported(
    tenant: Tenant, file: Callable[..., Path]
) -> None:
    path = file(
        {"content": "Fine."},
        "{not json",
        {"content": ""},
        '{"content": "a\\u0000b"}',
        '{"content": "\\ud800"}',
        "\udcff",
        "[1, 2]",
        {"content": "x", "confidence": 3},
        {"content": "The password is Tr0ub4dor&3xyz"},
    )
    with pytest.raises(CommandError) as refused:
        run(tenant, path)
    lines = str(refused.value).splitlines()
    assert lines[0] == "Nothing was imported."
    assert [line.partition(":")[0] for line in lines[1:]] == [
        f"line {number}" for number in range(2, 10)
    ]
    assert stored(tenant) == []


def test_an_unknown_field_is_refused_as_by_the_api(
    tenant: Tenant, file: Callable[..., Path]
) -> None:
    wrong = {"content": "The shed is green.", "confidenc": 1}
    answer = tenant.agent.post("memories", wrong)
    assert answer.status_code == 422
    [error] = answer.json()["errors"]
    with pytest.raises(CommandError) as refused:
        run(tenant, file({"content": "The kiln is blue."}, wrong))
    expected = f"line 2: {error['field']}: {error['message']}"
    assert expected.startswith("line 2: confidenc: ")
    assert str(refused.value) == f"Nothing was imported.\n{expected}"
    assert stored(tenant) == []


def test_a_choice_that_does_not_exist_is_refused_as_by_the_api(
    tenant: Tenant, file: Callable[..., Path]
) -> None:
    wrong = {"content": "The shed is green.", "kind": "memo"}
    [error] = tenant.agent.post("memories", wrong).json()["errors"]
    with pytest.raises(CommandError) as refused:
        run(tenant, file(wrong))
    assert str(refused.value).endswith(f"line 1: {error['field']}: {error['message']}")
    assert stored(tenant) == []


def test_a_second_run_imports_nothing_twice(tenant: Tenant, file: Callable[..., Path]) -> None:
    path = file({"content": "The kiln is blue."}, {"content": "The shed is green."})
    run(tenant, path)
    assert run(tenant, path) == "2 lines were imported before.\n0 lines imported.\n"
    assert stored(tenant) == ["The kiln is blue.", "The shed is green."]


def test_an_interrupted_import_goes_on_where_it_stopped(
    tenant: Tenant, file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_lines, "LINES_A_TRANSACTION", 2)
    path = file(*({"content": f"Shelf {n} holds jars."} for n in range(5)))
    turns = iter([NOW, NOW, NOW])

    def clock() -> datetime:
        return next(turns)  # the third batch finds the clock gone

    with pytest.raises((StopIteration, RuntimeError)):
        import_lines.import_file(tenant.workspace, path, parse_line, clock=clock)
    assert len(stored(tenant)) == 4
    assert run(tenant, path) == "4 lines were imported before.\n1 lines imported: 1 created.\n"
    assert len(stored(tenant)) == 5


def test_lines_before_one_that_cannot_be_embedded_are_imported(
    tenant: Tenant, file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Embedding is ahead of writing, so that it fails while earlier lines are still written."""
    monkeypatch.setattr(import_lines, "LINES_A_TRANSACTION", 2)
    prepare = import_lines.prepare

    def prepare_or_fail(drafts: list[Draft], model: str) -> Prepared:
        if any("Shelf 4" in draft.content for draft in drafts):
            raise MemoryError("no room")
        return prepare(drafts, model)

    monkeypatch.setattr(import_lines, "prepare", prepare_or_fail)
    path = file(*({"content": f"Shelf {n} holds jars."} for n in range(6)))
    with pytest.raises(MemoryError):
        run(tenant, path)
    assert len(stored(tenant)) == 4
    monkeypatch.undo()
    assert run(tenant, path).startswith("4 lines were imported before.\n2 lines imported")


def test_a_line_that_is_refused_while_writing_is_named(
    tenant: Tenant, file: Callable[..., Path]
) -> None:
    path = file(
        {"content": "The kiln is blue."},
        {"content": "x", "supersedes": "00000000-0000-0000-0000-000000000000"},
    )
    with pytest.raises(CommandError, match="line 2: supersedes: There is no such memory"):
        run(tenant, path)
    assert stored(tenant) == []


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_said(tenant: Tenant, tmp_path: Path, name: str) -> None:
    with pytest.raises(CommandError, match=r"No such file|Is a directory"):
        run(tenant, tmp_path / name)


def test_an_unknown_workspace_is_said(db: None, file: Callable[..., Path]) -> None:
    with pytest.raises(CommandError, match="There is no workspace 'nowhere'"):
        call_command("import_memories", str(file()), "--workspace", "nowhere")
