"""What a session is about before anything is said: the project of a working folder."""

from __future__ import annotations

import os

DOCUMENTS = ("CLAUDE.md", "AGENTS.md", "README.md", "README.rst", "README")
READ_BYTES = 4_000
BEGINNING_CHARS = 600
LEVELS = 40


def label(folder: str) -> str:
    """Return the name of a project: of its repository, else of the folder; "" for the home."""
    root, git = _repository(folder)
    if git:
        # Work trees of one repository are one project: .git/worktrees/NAME stands for it.
        above = os.path.dirname(git)
        if os.path.basename(above) == "worktrees":
            root = os.path.dirname(os.path.dirname(above))
    root = root or os.path.realpath(folder)
    if root == os.path.realpath(os.path.expanduser("~")):
        return ""
    return os.path.basename(root)[:200]


def context(folder: str) -> str:
    """Return the project's name, its branch and the beginning of its own description."""
    root, git = _repository(folder)
    parts = [f"Work on the project {label(folder)}." if label(folder) else ""]
    head = _beginning(os.path.join(git, "HEAD")).strip() if git else ""
    if head.startswith("ref: refs/heads/"):
        parts.append(f"Branch {head[len('ref: refs/heads/') :][:200]}.")
    for name in DOCUMENTS:
        said = _beginning(os.path.join(root or folder, name)).strip()
        if said:
            parts.append(said[:BEGINNING_CHARS])
            break
    return "\n".join(part for part in parts if part)


def _repository(folder: str) -> tuple[str, str]:
    """Return a repository's work tree and its folder of git; empty without one."""
    place = os.path.realpath(folder)
    for _ in range(LEVELS):
        git = os.path.join(place, ".git")
        if os.path.isdir(git):
            return place, git
        if os.path.isfile(git):
            named = _beginning(git).strip()
            if named.startswith("gitdir: "):
                return place, os.path.join(place, named[len("gitdir: ") :])
        above = os.path.dirname(place)
        if above == place:
            break
        place = above
    return "", ""


def _beginning(path: str) -> str:
    try:
        if not os.path.isfile(path):  # not a pipe or device, which could block
            return ""
        with open(path, "rb") as file:
            return file.read(READ_BYTES).decode("utf-8", "ignore")
    except OSError:
        return ""
