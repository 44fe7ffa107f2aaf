"""Which files an audit reads, and what it says of those that it does not read."""

import os
from pathlib import Path

import pytest

from engram.console.audit.files import AuditError, find_files
from tests.console.audits import audit, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def left_out(*paths: str) -> dict[str, str]:
    return {one.path: one.reason for one in audit(*paths).skipped}


def test_documents_rules_and_exports_are_read(here: Path) -> None:
    write(
        here,
        {
            "CLAUDE.md": "x", ".cursorrules": "x", ".windsurfrules": "x",
            ".cursor/rules/a.mdc": "x", ".github/copilot-instructions.md": "x",
            ".claude/memory/b.md": "x", "docs/c.markdown": "x",
            "mem0.json": '{"results": [{"memory": "x", "user_id": "u"}]}',
            "history.jsonl": '{"content": "x", "provenance": "user_stated"}',
            "labelled.jsonl": '{"memory": "x", "label": 1}',
            "package.json": '{"name": "x"}', "code.py": "x", ".hidden.md": "x",
        },
    )  # fmt: skip
    assert list(find_files(["."]).files) == [
        ".claude/memory/b.md", ".cursor/rules/a.mdc", ".cursorrules",
        ".github/copilot-instructions.md", ".windsurfrules", "CLAUDE.md", "docs/c.markdown",
        "history.jsonl", "mem0.json",
    ]  # fmt: skip


def test_foreign_hidden_and_ignored_files_are_not_read(here: Path) -> None:
    write(
        here,
        {
            ".git/HEAD": "x", ".git/a.md": "x", "node_modules/a.md": "x", ".venv/a.md": "x",
            "env/pyvenv.cfg": "x", "env/a.md": "x", "build/a.md": "x", "docs/draft.md": "x",
            "docs/kept-draft.md": "x", "docs/a.md": "x",
            ".gitignore": "/build\n*draft.md\n!kept-draft.md\n", "docs/.gitignore": "a.md\n",
            "docs/sub/b.md": "x",
        },
    )  # fmt: skip
    assert list(find_files(["."]).files) == ["docs/kept-draft.md", "docs/sub/b.md"]
    assert list(find_files(["docs"]).files) == ["docs/kept-draft.md", "docs/sub/b.md"]


def test_an_ignored_folder_that_is_named_is_read(here: Path) -> None:
    write(
        here,
        {".git/HEAD": "x", ".gitignore": "/build\n", "build/a.md": "x", "build/sub/b.md": "x",
         "build/.gitignore": "*b.md\n", "c.md": "x"},
    )  # fmt: skip
    assert list(find_files(["."]).files) == ["c.md"]
    assert list(find_files(["build"]).files) == ["build/a.md"]
    assert list(find_files(["build/sub"]).files) == ["build/sub/b.md"]


def test_links_are_not_followed_out_of_the_folder_or_in_circles(here: Path) -> None:
    write(here.parent, {"outside.md": "secret", "other/a.md": "secret"})
    write(here, {"a.md": "x", "sub/b.md": "x"})
    (here / "out.md").symlink_to(here.parent / "outside.md")
    (here / "sub/loop").symlink_to(here)
    (here / "elsewhere").symlink_to(here.parent / "other")
    (here / "AGENTS.md").symlink_to("a.md")
    (here / "dangling.md").symlink_to("nowhere.md")
    assert list(find_files(["."]).files) == ["a.md", "sub/b.md"]
    assert left_out(".") == dict.fromkeys(
        ["AGENTS.md", "dangling.md", "elsewhere", "out.md", "sub/loop"], "it is a symbolic link"
    )


def test_what_cannot_be_read_is_said_with_the_reason(here: Path) -> None:
    write(
        here,
        {
            "ok.md": "Fine.\n", "binary.md": b"a\x00b", "latin.md": "Gr\xfc\xdfe".encode("latin-1"),
            "broken.json": '{"user_id": 1, "memory": ', "utf16.md": "hello".encode("utf-16"),
        },
    )  # fmt: skip
    with (here / "huge.md").open("wb") as file:
        file.truncate(50_000_000)
        file.seek(0)
        file.write(b"x" * 1000)
    (here / "big.md").write_text("word " * 100_000)
    os.mkfifo(here / "pipe.md")
    os.mkfifo(here / "queue.json")
    reasons = left_out(".")
    assert list(reasons) == [
        "big.md", "binary.md", "broken.json", "huge.md", "latin.md", "pipe.md", "queue.json",
        "utf16.md",
    ]  # fmt: skip
    assert reasons["big.md"] == "it has more than 200,000 characters"
    assert reasons["broken.json"] == "line 1 is not JSON"
    assert reasons["latin.md"] == "it is not UTF-8 text"
    assert reasons["pipe.md"] == "it is no regular file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_files_without_permission_are_said(here: Path) -> None:
    write(here, {"a.md": "x", "b.md": "x", "closed/c.md": "x"})
    (here / "b.md").chmod(0)
    (here / "closed").chmod(0)
    try:
        assert left_out(".") == {"b.md": "Permission denied", "closed": "Permission denied"}
    finally:
        (here / "closed").chmod(0o700)


@pytest.mark.parametrize("path", ["nowhere", "a\x00b", "", "x" * 5000, "loop"])
def test_a_path_that_cannot_be_opened_is_refused(here: Path, path: str) -> None:
    (here / "loop").symlink_to("loop")
    with pytest.raises(AuditError):
        find_files([path or "missing/"])


def test_a_folder_without_documents_is_refused_with_a_message(here: Path) -> None:
    write(here, {"code.py": "x"})
    with pytest.raises(AuditError, match=r"nothing to audit in \.: no Markdown files"):
        find_files(["."])


def test_a_file_named_twice_is_read_once(here: Path) -> None:
    write(here, {"docs/a.md": "x"})
    paths = ["docs", "docs/a.md", "../here/docs/../docs/a.md", str(here / "docs")]
    assert list(find_files(paths).files) == ["docs/a.md"]


def test_a_link_that_is_named_is_read_under_its_name(here: Path) -> None:
    write(here.parent, {"other/a.md": "x", "b.md": "x"})
    (here / "linked").symlink_to(here.parent / "other")
    (here / "b.md").symlink_to(here.parent / "b.md")
    assert list(find_files(["linked", "b.md"]).files) == ["b.md", "linked/a.md"]
    report = audit("linked", "b.md")
    assert (report.files, report.skipped) == (2, ())


def test_data_that_is_no_export_is_said_only_if_it_is_named(here: Path) -> None:
    write(here, {"a.md": "x", "settings.json": '{"memory": 512, "metadata": {}}'})
    assert left_out(".") == {}
    reasons = left_out("a.md", "settings.json")
    assert reasons["settings.json"].startswith("it holds no statements under memory")


def test_paths_are_shown_relative_to_the_current_folder(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here, {"docs/a.md": "x", "src/b.py": "x"})
    monkeypatch.chdir(here / "src")
    assert list(find_files([".."]).files) == ["../docs/a.md"]


def test_names_that_are_no_text_are_shown_without_control_characters(here: Path) -> None:
    (here / os.fsdecode(b"bad\xff\x1b[31m.md")).write_text("[x](gone.md)\n")
    (name,) = find_files(["."]).files
    assert name.isprintable()
    assert audit().findings[0].places[0].path == name
