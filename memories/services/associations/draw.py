"""Lay out the strongest links of a memory for a drawing: one row each, below the memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memories.core.associations import MEMORY
from memories.models import Memory, Note
from memories.services.associations.list import KINDS, MemoryLink, links_of_memory

ROWS = 12
ROW_HEIGHT, TOP, WIDTH = 48, 44, 360  # units of the drawing
LABEL_CHARS = 40


@dataclass(frozen=True, slots=True)
class DrawnLink:
    """One row: the link, the text of the other, what the link says, and its height."""

    link: MemoryLink
    text: str
    label: str  # the text, cut to the width
    says: str
    y: int

    @property
    def is_memory(self) -> bool:
        """Return whether it leads to a memory, not to a note."""
        return self.link.other_type == MEMORY


@dataclass(frozen=True, slots=True)
class Drawing:
    """The rows, from the strongest link, and the size of the drawing."""

    rows: list[DrawnLink]
    total: int
    width: int
    height: int


def draw(memory: Memory, now: datetime) -> Drawing:
    """Return the drawing of a memory's strongest links; of one other only its strongest."""
    links = links_of_memory(memory, now)
    best: dict[tuple[str, UUID], MemoryLink] = {}
    for link in links:
        best.setdefault((link.other_type, link.other), link)
    shown = list(best.values())[:ROWS]
    ids = [link.other for link in shown if link.other_type == MEMORY]
    texts = dict(Memory.objects.recallable(now).filter(pk__in=ids).values_list("pk", "content"))
    notes = [link.other for link in shown if link.other_type != MEMORY]
    texts |= dict(Note.objects.filter(pk__in=notes).values_list("pk", "title"))
    rows = [
        DrawnLink(
            link,
            texts[link.other],
            _cut(texts[link.other]),
            "; ".join(_reason(*one) for one in ((link.kind, link.name), *link.also)),
            TOP + number * ROW_HEIGHT + ROW_HEIGHT // 2,
        )
        for number, link in enumerate(link for link in shown if link.other in texts)
    ]
    return Drawing(rows, len(best), WIDTH, TOP + ROW_HEIGHT * len(rows))


def _reason(kind: str, name: str) -> str:
    return f"{KINDS[kind]}: {name}" if name else KINDS[kind]


def _cut(text: str) -> str:
    plain = " ".join(text[: 4 * LABEL_CHARS].split())
    return plain if len(plain) <= LABEL_CHARS else f"{plain[: LABEL_CHARS - 1]}…"
