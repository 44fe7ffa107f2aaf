"""What all exports do: read one moment of the database, write a file whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.db import connection, transaction


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file that only its owner may read; it has its name once it is written whole.

    Raise `FileExistsError` when there is such a file.
    """
    if path.exists():
        raise FileExistsError(f"{path} exists.")
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def one_snapshot() -> Iterator[None]:
    """Read all tables as they are at one moment, whatever is written meanwhile."""
    is_outermost = not connection.in_atomic_block
    with transaction.atomic():
        if is_outermost:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
