"""The hooks say what project a folder belongs to, without running or waiting for anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from engram_hooks import project


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    (tmp_path / "shop" / "src" / "deep").mkdir(parents=True)
    return tmp_path / "shop"


def test_a_folder_belongs_to_the_repository_around_it(root: Path) -> None:
    (root / ".git" / "HEAD").write_text("ref: refs/heads/fix/refunds\n")
    (root / "README.md").write_text("# Shop")
    assert project.label(str(root / "src" / "deep")) == "shop"
    said = "Work on the project shop.\nBranch fix/refunds.\n# Shop"
    assert project.context(str(root / "src" / "deep")) == said


def test_work_trees_belong_to_their_repository_and_submodules_to_themselves(root: Path) -> None:
    for name, git in (("tree", "worktrees/tree"), ("sub", "modules/sub")):
        (root / ".git" / git).mkdir(parents=True)
        (root / ".git" / git / "HEAD").write_text(f"ref: refs/heads/of-{name}\n")
        (root.parent / name).mkdir()
        (root.parent / name / ".git").write_text(f"gitdir: {root / '.git' / git}\n")
    assert project.label(str(root.parent / "tree")) == "shop"
    assert "Branch of-tree." in project.context(str(root.parent / "tree"))
    assert project.label(str(root.parent / "sub")) == "sub"


def test_the_home_and_what_is_gone_are_no_projects(root: Path) -> None:
    assert project.label(str(root.parent)) == ""
    assert project.context(str(root.parent)) == ""
    assert project.label(str(root.parent / "notes")) == "notes"


def test_only_the_beginning_of_one_document_is_read(root: Path) -> None:
    (root / "README.md").write_text("not read")
    (root / "AGENTS.md").write_bytes(b"\xff" + "ä".encode() * 100_000)
    assert project.context(str(root)) == "Work on the project shop.\n" + "ä" * 600
    (root / "AGENTS.md").unlink()
    os.mkfifo(root / "AGENTS.md")
    assert project.context(str(root)).endswith("not read")
