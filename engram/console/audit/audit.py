"""Run an audit: read files, compare statements, look up links; nothing is stored anywhere.

The scratch workspace is the memory of this process: no row is written, so that a killed audit
leaves nothing behind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from posixpath import dirname
from typing import Protocol

from engram.console.audit.candidates import group_statements, is_compared, is_record
from engram.console.audit.contradictions import (
    Pair,
    compare_near,
    find_contradictions,
    find_rewordings,
)
from engram.console.audit.documents import Document, Statement, read_document
from engram.console.audit.drifted import find_unsupported, leanings_of
from engram.console.audit.exports import EXPORTS, ExportError, NoExportError, read_export
from engram.console.audit.files import Found, find_files, shown, texts_of
from engram.console.audit.findings import (
    KINDS,
    Finding,
    Kind,
    Report,
    Skipped,
    in_order,
    several,
    without_secrets,
)
from engram.console.audit.git import Repository, repository_of, times_of
from engram.console.audit.gone import find_missing
from engram.console.audit.mentions import Mention, find_removed, mentions_of
from engram.console.audit.repeats import find_repeats
from engram.kernel.embedding import model_name
from memories.services.drift.reading import Estimator

MOST_STATEMENTS = 60_000


class Bar(Protocol):
    """A progress bar."""

    total: float | None

    def update(self, count: float, /) -> object:
        """Move on."""


NewBar = Callable[[str, int], AbstractContextManager[Bar]]


@dataclass(slots=True)
class _Audit:
    """The files of an audit, as they were read."""

    found: Found
    documents: list[Document] = field(default_factory=list)
    folders: dict[Path, Repository | None] = field(default_factory=dict)

    def repository(self, path: str) -> Repository | None:
        return repository_of(self.found.files[path], self.folders)


def run(paths: Sequence[str], new_bar: NewBar, kinds: Collection[Kind] = KINDS) -> Report:
    """Audit the files below some paths; `kinds` are the findings that are looked for.

    Raises
    ------
    AuditError
        When a path cannot be audited.
    """
    audit = _Audit(find_files(paths))
    with new_bar("files", len(audit.found.files)) as bar:
        _read(audit, bar.update)
    findings: list[Finding] = []
    if "gone" in kinds:
        findings += _gone(audit)
    if "repeat" in kinds:
        repeats, templates = find_repeats(audit.documents)
        findings += repeats
        audit.found.skipped += templates
    if {"contradiction", "repeat"} & set(kinds):
        with new_bar("pairs", 0) as bar:
            findings += _compared(audit, bar, kinds)
    for repository in dict.fromkeys(filter(None, audit.folders.values())):
        audit.found.skipped += [
            Skipped(shown(repository.root), reason) for reason in sorted(repository.too_slow)
        ]
    skipped = sorted(audit.found.skipped, key=lambda one: (one.path, one.reason))
    return Report(
        findings=in_order(map(without_secrets, findings)),
        skipped=tuple(skipped),
        files=len(audit.documents),
        statements=sum(len(document.statements) for document in audit.documents),
        order="commits" if any(audit.folders.values()) else "files",
    )


def _read(audit: _Audit, advance: Callable[[int], object]) -> None:
    """Read the files; those behind the limit of statements are left out."""
    count = 0
    for path, place, text in texts_of(audit.found, advance):
        if count >= MOST_STATEMENTS:
            audit.found.skipped.append(
                Skipped(path, f"the files before it have {MOST_STATEMENTS:,} statements")
            )
            continue
        try:
            is_data = place.suffix.lower() in EXPORTS
            document = (read_export if is_data else read_document)(path, text)
        except ExportError as error:
            if isinstance(error, NoExportError) and place.resolve() not in audit.found.named:
                continue  # it only looked like one
            audit.found.skipped.append(Skipped(path, str(error)))
            continue
        audit.documents.append(document)
        count += len(document.statements)
        repository_of(place, audit.folders)


def _gone(audit: _Audit) -> list[Finding]:
    """Return links that lead nowhere, paths that were removed, and lost support."""
    findings = find_missing(audit.documents, os.path.exists)
    findings += _removed(audit)
    known = {document.path: document for document in audit.documents}
    leanings = [
        leaning
        for leaning in leanings_of(audit.documents, known)
        if audit.repository(leaning.statement.path) is not None
    ]
    _read_commits(audit, (leaning.statement.path for leaning in leanings))
    model = model_name()

    def earlier(statement: Statement, document: Document) -> tuple[str, datetime] | None:
        repository = audit.repository(statement.path)
        files = audit.found.files
        place = files[document.path]
        if repository is None or not place.is_relative_to(repository.root):
            return None
        commit = repository.commit_of(files[statement.path], statement.line)
        text = repository.earlier_text(commit.name, place) if commit else None
        return None if commit is None or text is None else (text, commit.at)

    unsupported, left = find_unsupported(leanings, earlier, Estimator(model), model)
    if left:
        reason = f"{several(left, 'statement')} with changed documents not checked: too many"
        audit.found.skipped.append(Skipped("links", reason))
    return findings + unsupported


def _removed(audit: _Audit) -> list[Finding]:
    """Return the paths in backticks that a commit removed from their repository."""
    files = audit.found.files

    def folder_of(path: str) -> str | None:
        if (repository := audit.repository(path)) is None:
            return None
        return dirname(files[path].relative_to(repository.root).as_posix())

    findings: list[Finding] = []
    mentions = mentions_of(audit.documents, folder_of)
    for repository in dict.fromkeys(map(audit.repository, (m.document.path for m in mentions))):
        if repository is None:
            continue
        own = [m for m in mentions if audit.repository(m.document.path) is repository]

        def is_present(mention: Mention, root: Path = repository.root) -> bool:
            return any((root / name).exists() for name in mention.meant)

        missing = [m for m in own if not is_present(m)]
        names = sorted({name for mention in missing for name in mention.meant})
        removed = {
            name: f"commit {commit.name[:10]} of {commit.at:%Y-%m-%d} removed it"
            for name, commit in repository.removed(names).items()
        }
        findings += find_removed(missing, is_present, removed)
    return findings


def _compared(audit: _Audit, bar: Bar, kinds: Collection[Kind]) -> list[Finding]:
    """Return contradictions, and statements that say the same in other words."""
    groups = group_statements(
        statement
        for document in audit.documents
        if not is_record(document.path)
        for statement in document.statements
        if is_compared(statement)
    )

    def set_total(total: int) -> None:
        bar.total = total

    pairs = compare_near(groups, bar.update, set_total)
    model = model_name()
    estimate = Estimator(model)
    findings: list[Finding] = []
    if "contradiction" in kinds:
        findings += find_contradictions(pairs, _clock(audit, pairs), estimate, model)
    if "repeat" in kinds:
        findings += find_rewordings(pairs, estimate)
    return findings


def _clock(audit: _Audit, pairs: Iterable[Pair]) -> Callable[[Statement], datetime]:
    """Return what says when a statement was written: by its commit, else by its file."""
    paths = {s.path for pair in pairs for group in (pair.a, pair.b) for s in group.statements}
    _read_commits(audit, sorted(paths))
    of_files = times_of(audit.found.files)

    def time_of(statement: Statement) -> datetime:
        repository = audit.repository(statement.path)
        place = audit.found.files[statement.path]
        commit = repository.commit_of(place, statement.line) if repository else None
        return commit.at if commit else of_files[statement.path]

    return time_of


def _read_commits(audit: _Audit, paths: Iterable[str]) -> None:
    """Read the commits of the lines of files that stand in a repository."""
    by_repository: dict[Path, tuple[Repository, list[Path]]] = {}
    for path in paths:
        if (repository := audit.repository(path)) is not None:
            _, files = by_repository.setdefault(repository.root, (repository, []))
            files.append(audit.found.files[path])
    for repository, files in by_repository.values():
        repository.read_lines(files)
