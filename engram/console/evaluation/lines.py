"""Read whole JSON Lines files before a run; report errors by line."""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

MAX_PROBLEMS = 20


class InputRow(BaseModel):
    """A line of an input file; fields that a mode does not use are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


AnyRow = TypeVar("AnyRow", bound=InputRow)


class InputError(Exception):
    """Raised for an invalid file; the message names lines and fields."""


def read_rows(path: Path, row_type: type[AnyRow]) -> list[AnyRow]:
    """Read every line that is not blank as a row, or raise `InputError` with up to 20 problems."""
    rows: list[AnyRow] = []
    problems: list[str] = []
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.removeprefix(BOM_UTF8) if number == 1 else raw
                if not line.strip():
                    continue
                try:
                    if b"\\u0000" in line:
                        raise ValueError("a NUL character, which no memory can hold")
                    rows.append(row_type.model_validate_json(line))
                except ValueError as error:
                    problems.append(f"{path.name}, line {number}: {_describe(error)}")
                    if len(problems) >= MAX_PROBLEMS:
                        problems.append("and perhaps more")
                        break
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    if problems:
        raise InputError("\n".join(problems))
    if not rows:
        raise InputError(f"{path.name}: no lines")
    return rows


def refuse_repeated_ids(path: Path, ids: list[str]) -> None:
    """Raise `InputError` when two rows have the same id."""
    seen: set[str] = set()
    repeated = sorted({i for i in ids if i in seen or seen.add(i)})  # type: ignore[func-returns-value]
    if repeated:
        raise InputError(f"{path.name}: these ids stand more than once: {', '.join(repeated[:5])}")


def _describe(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else str(first["msg"])
