"""Folders to audit, and audits of them."""

import os
import subprocess
from collections.abc import Collection, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

from engram.console.audit.audit import run
from engram.console.audit.findings import KINDS, Finding, Kind, Report

OLD = 1_700_000_000  # seconds, of files whose order shall not matter
AUTHOR = ("-c", "user.name=team", "-c", "user.email=team@example.com")


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files below a folder, all of one time."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        os.utime(file, (OLD, OLD))


def audit(*paths: str, kinds: Collection[Kind] = KINDS) -> Report:
    """Audit paths, relative to the current folder, without a progress bar."""

    def no_bar(_unit: str, _total: int) -> nullcontext[SimpleNamespace]:
        return nullcontext(SimpleNamespace(total=None, update=lambda _count: None))

    return run(paths or ["."], no_bar, kinds)


def found(report: Report) -> list[tuple[str, list[str]]]:
    """Return the rule and the places of each finding."""
    return [(f.rule, [f"{p.path}:{p.line}" for p in f.places]) for f in report.findings]


def only(report: Report) -> Finding:
    """Return the one finding of a report."""
    (finding,) = report.findings
    return finding


def commit(folder: Path, message: str, at: str = "2025-03-01T12:00:00Z") -> None:
    """Commit everything in a folder, which becomes a repository if it is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, *AUTHOR, "commit", "-q", "--allow-empty", "-m", message, at=at)


def git(folder: Path, *arguments: str, at: str = "2025-03-01T12:00:00Z") -> str:
    """Run Git in a folder at a time, without the settings of the machine."""
    environment = {
        **os.environ,
        "GIT_AUTHOR_DATE": at,
        "GIT_COMMITTER_DATE": at,
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
    }
    return subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
    ).stdout
