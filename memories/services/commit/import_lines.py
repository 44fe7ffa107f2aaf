"""Import memories from JSON Lines: check the whole file before writing, resume where it stopped."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from django.db import connection

from engram.kernel.actors import Actor
from engram.kernel.models import Role, Workspace
from engram.kernel.planning import writing
from engram.kernel.refusals import InvalidError
from engram.kernel.tenancy import in_workspace
from memories.models import (
    ImportProgress,
    Memory,
    MemoryAnswer,
    MemoryVector,
    Observation,
    Posting,
)
from memories.services.commit.commit import Prepared, prepare, write
from memories.services.commit.draft import Draft
from memories.services.index.answers import embed_questions
from memories.services.index.pending import embed_pending

IMPORTER = Actor(kind="system", id="", label="import", role=Role.ADMIN)
LINES_A_TRANSACTION = 50
LINES_THAT_COUNT = 1_000  # after this many new rows the planner's statistics are too old

ParseLine = Callable[[str], Draft]
NumberedLine = tuple[int, str]


class LineError(ValueError):
    """A line that cannot be imported; the message says why."""


@dataclass(frozen=True, slots=True)
class Imported:
    """The counts of an import."""

    lines: int
    skipped_lines: int
    outcomes: dict[str, int]


def digest_of(path: Path) -> str:
    """Return the SHA-256 hex digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def lines_of(path: Path) -> Iterator[NumberedLine]:
    """Yield the number and text of each line that is not blank."""
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line


def check(path: Path, parse: ParseLine, *, max_errors: int = 20) -> tuple[int, list[str]]:
    """Return the number of lines and at most `max_errors` errors, each with its line number."""
    errors: list[str] = []
    count = 0
    for number, line in lines_of(path):
        count += 1
        try:
            parse(line)
        except LineError as error:
            errors.append(f"line {number}: {error}")
            if len(errors) >= max_errors:
                break
    return count, errors


def _locate_refusal(batch: list[NumberedLine], error: InvalidError) -> LineError:
    """Return the error with the number of the line that was refused."""
    _, position, field = error.field.split(".") if "." in error.field else ("", "0", error.field)
    return LineError(f"line {batch[int(position)][0]}: {field}: {error.message}")


def import_file(
    workspace: Workspace,
    path: Path,
    parse: ParseLine,
    *,
    clock: Callable[[], datetime],
    is_detected: bool = True,
    advance: Callable[[int], object] = lambda lines: None,
) -> Imported:
    """Commit all lines in order, in batches; each batch stores the progress in its transaction.

    A line that is refused while it is written (for example, it names a memory that does not exist)
    ends the import with an error that has its number; earlier batches stay.
    """
    digest = digest_of(path)
    with in_workspace(workspace):
        progress, _ = ImportProgress.objects.get_or_create(
            workspace=workspace, file_digest=digest, defaults={"updated_at": clock()}
        )
    skipped = progress.lines_done
    advance(skipped)
    outcomes: dict[str, int] = {}
    batches = _batches(islice(lines_of(path), skipped, None))
    for batch, prepared in _prepare_ahead(batches, parse, workspace.embedding_model):
        now = clock()
        with writing(workspace):
            try:
                results = write(
                    workspace,
                    prepared,
                    actor=IMPORTER,
                    now=now,
                    is_detected=is_detected,
                    asks=False,
                )
            except InvalidError as error:
                raise _locate_refusal(batch, error) from error
            progress.lines_done += len(batch)
            progress.updated_at = now
            progress.save()
        for result in results:
            outcomes[result.outcome] = outcomes.get(result.outcome, 0) + 1
        advance(len(batch))
    embed_pending(workspace)
    embed_questions(workspace)
    done = progress.lines_done - skipped
    if done >= LINES_THAT_COUNT:
        _analyse_tables()
    return Imported(done, skipped, outcomes)


def _batches(lines: Iterator[NumberedLine]) -> Iterator[list[NumberedLine]]:
    while batch := list(islice(lines, LINES_A_TRANSACTION)):
        yield batch


def _prepare_ahead(
    batches: Iterable[list[NumberedLine]], parse: ParseLine, model: str
) -> Iterator[tuple[list[NumberedLine], Prepared]]:
    """Yield each batch with its embeddings, which are computed while the one before is written."""

    def prepare_one(batch: list[NumberedLine]) -> Prepared:
        return prepare([parse(line) for _, line in batch], model)

    thread = ThreadPoolExecutor(1, "embedding")
    ready: tuple[list[NumberedLine], Future[Prepared]] | None = None
    try:
        for batch in batches:
            coming = batch, thread.submit(prepare_one, batch)
            if ready is not None:
                yield ready[0], ready[1].result()
            ready = coming
        if ready is not None:
            yield ready[0], ready[1].result()
    finally:  # after an error or an interrupt nobody waits for what was begun
        thread.shutdown(wait=False, cancel_futures=True)


def _analyse_tables() -> None:
    """Run ANALYZE on the tables that grew, without waiting for autovacuum."""
    with connection.cursor() as cursor:
        for model in (Memory, MemoryVector, MemoryAnswer, Posting, Observation):
            cursor.execute(f"ANALYZE {model._meta.db_table}")
