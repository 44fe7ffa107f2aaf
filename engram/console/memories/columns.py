"""The columns of the list of memories: which are shown, and which say the same in every row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from engram.console.memories.orders import Head, Order, head_of
from engram.console.templatetags.console import percent, provenance_words
from memories.models import Memory

MORE_TAGS = 3  # shown of one memory; the others are counted


@dataclass(frozen=True, slots=True)
class Listed:
    """One memory of a page with what its row shows beside its own fields."""

    memory: Memory
    state: str
    tags: Sequence[str]
    conflicts: Sequence[object]  # ids of its open conflicts
    uses: int = 0  # sessions in which the agent said that it was of use


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in the address, its heading, and what a cell says."""

    name: str
    title: str
    read: Callable[[Listed], str | datetime | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """What a row says in a column: a text, or a time."""

    title: str
    text: str
    at: datetime | None = None


def _tags(row: Listed) -> str:
    more = len(row.tags) - MORE_TAGS
    return ", ".join(row.tags[:MORE_TAGS]) + (f" and {more} more" if more > 0 else "")


def _times(count: int) -> str:
    return f"{count}×" if count else "never"


COLUMNS: tuple[Column, ...] = (
    Column("state", "State", lambda row: row.state),
    Column("kind", "Kind", lambda row: row.memory.get_kind_display()),
    Column("provenance", "Said by", lambda row: provenance_words(row.memory.provenance)),
    Column("scope", "Scope", lambda row: row.memory.scope),
    Column("project", "Project", lambda row: row.memory.project),
    Column("agent", "Agent", lambda row: row.memory.agent),
    Column("session", "Session", lambda row: row.memory.session_key),
    Column("tags", "Tags", _tags),
    Column("confidence", "Confidence", lambda row: percent(row.memory.confidence)),
    Column("importance", "Importance", lambda row: percent(row.memory.importance)),
    Column("recalled", "Recalled", lambda row: _times(row.memory.recall_count)),
    Column("used", "Of use", lambda row: _times(row.uses)),
    Column("weight", "Weight", lambda row: f"{row.memory.weight_factor:.2f}"),
    Column("revision", "Revision", lambda row: str(row.memory.revision)),
    Column("expires", "Expires", lambda row: row.memory.expires_at),
    Column("learned", "Learned", lambda row: row.memory.observed_at),
)
NAMES = tuple(column.name for column in COLUMNS)
CHOSEN_FIRST = ("state", "kind", "scope", "agent", "recalled", "learned")


@dataclass(frozen=True, slots=True)
class Table:
    """A page of the list: its heads, each row with its cells, and what all rows have alike."""

    heads: Sequence[Head]
    rows: Sequence[tuple[Listed, Sequence[Cell]]]
    alike: Sequence[Cell]


def lay_out(rows: Sequence[Listed], chosen: Collection[str], order: Order | None = None) -> Table:
    """Return the table of the chosen columns; one that says the same in all rows stands apart.

    `chosen` are names of columns; unknown ones are ignored, none means `CHOSEN_FIRST`. `order` is
    the present order, None where the list has a single one; its column keeps its head.
    """
    wanted = {*chosen} & {*NAMES} or {*CHOSEN_FIRST}
    shown, alike = [], []
    for column in COLUMNS:
        if column.name not in wanted:
            continue
        cells = [_cell(column, row) for row in rows]
        is_alike = len(rows) > 1 and len({(cell.text, cell.at) for cell in cells}) == 1
        if is_alike and (order is None or order.column != column.name):
            alike.append(cells[0])
        else:
            shown.append((head_of(column.name, column.title, order), cells))
    return Table(
        [head for head, _ in shown],
        [(row, [cells[number] for _, cells in shown]) for number, row in enumerate(rows)],
        [cell for cell in alike if cell.text or cell.at],
    )


def _cell(column: Column, row: Listed) -> Cell:
    found = column.read(row)
    if isinstance(found, datetime):
        return Cell(column.title, "", found)
    return Cell(column.title, found or "")
