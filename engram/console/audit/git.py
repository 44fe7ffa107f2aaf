"""Read from a Git repository what happened to lines and files; no hook or filter of it is run.

Every function answers without a repository, or without Git, too: nothing is known then.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

_THREADS: Final = 4
_SECONDS: Final = 60  # of one call
_PATHS_A_CALL: Final = 200
# A repository may name programs in its settings; none of these calls needs one.
_SAFE: Final = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false",
    "-c", "diff.external=", "-c", "log.showSignature=false", "-c", "protocol.allow=never",
    "-c", "blame.ignoreRevsFile=", "--literal-pathspecs", "--no-pager",
)  # fmt: skip
_ENVIRONMENT: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_NAME_CHARS: Final = 40  # of a commit


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit that wrote a line or removed a file; `at` is when it was made."""

    name: str
    at: datetime


@dataclass(slots=True, eq=False)
class Repository:
    """A repository; `root` is its folder."""

    root: Path
    too_slow: set[str] = field(default_factory=set)  # calls of Git that were given up
    _lines: dict[Path, dict[int, Commit]] = field(default_factory=dict)

    def has_commits(self) -> bool:
        """Return whether Git reads the repository, and something was committed."""
        return self._call("rev-parse", "--verify", "--quiet", "HEAD") is not None

    def read_lines(self, files: Iterable[Path]) -> None:
        """Read the commits of the lines of files, several at once."""
        missing = [file for file in dict.fromkeys(files) if file not in self._lines]
        with ThreadPoolExecutor(_THREADS) as pool:
            for file, lines in zip(missing, pool.map(self._blame, missing), strict=True):
                self._lines[file] = lines

    def commit_of(self, file: Path, line: int) -> Commit | None:
        """Return the commit that wrote a line; None if it is not committed, or not known."""
        return self._lines.get(file, {}).get(line)

    def _blame(self, file: Path) -> dict[int, Commit]:
        """Return the commits of the lines of a file.

        The last commit is asked, not the file as it is: for that Git would run filters which the
        settings of the repository name. Lines are found there by their place, else by their text.
        """
        name = file.relative_to(self.root).as_posix()
        output = self._call("blame", "--porcelain", "--no-textconv", "HEAD", "--", name)
        try:
            present = file.read_bytes().split(b"\n")
        except OSError:
            present = []
        committed = _read_porcelain(output or b"")
        counts = Counter(text.rstrip(b"\r") for text, _ in committed)
        by_text = {text.rstrip(b"\r"): commit for text, commit in committed}
        found: dict[int, Commit] = {}
        for number, raw in enumerate(present, start=1):
            text = raw.rstrip(b"\r")
            same = committed[number - 1] if number <= len(committed) else None
            if same is not None and same[0].rstrip(b"\r") == text:
                found[number] = same[1]
            elif counts[text] == 1:
                found[number] = by_text[text]
        return found

    def earlier_text(self, commit: str, file: Path) -> str | None:
        """Return the text of a file in a commit; None if it was not there, or is no text."""
        name = file.relative_to(self.root).as_posix()
        output = self._call("cat-file", "blob", f"{commit}:{name}")
        try:
            return None if output is None else output.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None

    def removed(self, paths: Sequence[str]) -> dict[str, Commit]:
        """Return which paths, relative to the root, a commit removed: the latest that did."""
        found: dict[str, Commit] = {}
        for start in range(0, len(paths), _PATHS_A_CALL):
            output = self._call(
                "log", "--no-renames", "--diff-filter=D", "--name-only", "-z", "--no-ext-diff",
                "--format=%x01%H %ct", "--", *paths[start : start + _PATHS_A_CALL],
            )  # fmt: skip
            for part in (output or b"").split(b"\x01")[1:]:
                head, *names = part.decode("utf-8", "replace").replace("\n", "\0").split("\0")
                name, _, seconds = head.partition(" ")
                for path in filter(None, names):
                    found.setdefault(path, Commit(name, _time(seconds)))
        return found

    def _call(self, *arguments: str) -> bytes | None:
        """Return the output of Git; None if it failed or took too long."""
        try:
            done = subprocess.run(  # noqa: S603  no shell, and paths stand behind "--"
                ["git", *_SAFE, *arguments],  # noqa: S607  the one that the user runs
                cwd=self.root,
                capture_output=True,
                check=True,
                timeout=_SECONDS,
                stdin=subprocess.DEVNULL,
                env=os.environ | _ENVIRONMENT,
            )
        except subprocess.TimeoutExpired:
            self.too_slow.add(f"git {arguments[0]} took more than {_SECONDS} seconds")
            return None
        except (OSError, subprocess.SubprocessError, ValueError):
            return None
        return done.stdout


def repository_of(file: Path, known: dict[Path, Repository | None]) -> Repository | None:
    """Return the repository of a file, looked up once per folder in `known`.

    None without one, without Git, and for one that Git does not read, such as another user's.
    """
    folder = file.parent
    if folder not in known:
        root = next((f for f in (folder, *folder.parents) if (f / ".git").exists()), None)
        if root is not None and root not in known:
            repository = Repository(root)
            known[root] = repository if repository.has_commits() else None
        known[folder] = None if root is None else known[root]
    return known[folder]


def _read_porcelain(output: bytes) -> list[tuple[bytes, Commit]]:
    """Return the text and the commit of each line from the output of `git blame --porcelain`."""
    times: dict[str, datetime] = {}
    lines: list[tuple[bytes, Commit]] = []
    name = ""
    for raw in output.split(b"\n"):
        if raw.startswith(b"\t"):
            lines.append((raw[1:], Commit(name, times.get(name, _time("")))))
            continue
        words = raw.split(b" ")
        if len(words) >= 3 and len(words[0]) == _NAME_CHARS and words[2].isdigit():
            name = words[0].decode("ascii", "replace")
        elif words[0] == b"committer-time" and len(words) == 2:
            times[name] = _time(words[1].decode("ascii", "replace"))
    return lines


def _time(seconds: str) -> datetime:
    return datetime.fromtimestamp(int(seconds) if seconds.isdigit() else 0, UTC)


def times_of(places: Mapping[str, Path]) -> dict[str, datetime]:
    """Return when each file was last written, for lines of which no commit is known."""
    found = {}
    for path, place in places.items():
        try:
            found[path] = datetime.fromtimestamp(int(place.stat().st_mtime), UTC)
        except OSError:
            found[path] = datetime.fromtimestamp(0, UTC)
    return found
