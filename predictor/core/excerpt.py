"""Choose what a judge reads of a long transcript: what speaks of the notes, and the end."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from memories.core.bm25 import idf
from memories.core.extraction.turns import read_turns
from memories.core.text import terms

BLOCK_CHARS: Final = 500
END_SHARE: Final = 0.25  # of the excerpt: the end of the transcript, whatever it speaks of
GAP: Final = "[…]"


def excerpt(transcript: str, notes: Sequence[str], *, most: int) -> str:
    """Return a transcript of at most `most` characters, whole turns or parts of them, in order.

    A short transcript is returned as it is. Of a longer one the end is kept, and the parts whose
    words are those of the notes; a word counts for more the fewer parts have it. What room is left
    is filled from the end. Gaps between parts are marked.
    """
    text = transcript.strip()
    if len(text) <= most:
        return text
    blocks = list(_blocks(text))
    backwards = range(len(blocks) - 1, -1, -1)
    kept = _fill(blocks, backwards, int(most * END_SHARE), ())
    kept = _fill(blocks, _by_words(blocks, notes), most, kept)
    return _joined(blocks, sorted(_fill(blocks, backwards, most, kept)))


def _fill(
    blocks: Sequence[str], order: Iterable[int], most: int, kept: Collection[int]
) -> set[int]:
    """Return the numbers of blocks that are kept, and of more in an order, up to `most` chars."""
    found = set(kept)
    used = sum(_cost(blocks[i]) for i in found)
    for index in order:
        if index not in found:
            used += _cost(blocks[index])
            if used > most:
                break
            found.add(index)
    return found


def _blocks(text: str) -> Iterator[str]:
    """Yield parts of about `BLOCK_CHARS`: some turns with their speakers, or a piece of one."""
    block = ""
    for part in _parts(text):
        if block and len(block) + len(part) >= BLOCK_CHARS:
            yield block
            block = ""
        block = f"{block}\n{part}" if block else part
    if block:
        yield block


def _parts(text: str) -> Iterator[str]:
    """Yield the turns with their speakers, long ones in pieces."""
    for turn in read_turns(text):
        said = text[turn.start : turn.end].strip()
        name = f"{turn.speaker}: " if turn.speaker else ""
        for start in range(0, len(said), BLOCK_CHARS):
            yield name + said[start : start + BLOCK_CHARS]


def _cost(block: str) -> int:
    return len(block) + len(GAP) + 2  # with a line break and the mark of a gap


def _by_words(blocks: Sequence[str], notes: Sequence[str]) -> list[int]:
    """Return the numbers of the blocks that share words with the notes, the most telling first."""
    wanted = {term for note in notes for term in terms(note)}
    shared = [wanted & terms(block).keys() for block in blocks]
    counts: dict[str, int] = {}
    for found in shared:
        for term in found:
            counts[term] = counts.get(term, 0) + 1
    weights = {term: idf(count, len(blocks)) for term, count in counts.items()}
    scores = [sum(weights[term] for term in sorted(found)) for found in shared]
    return sorted((i for i, score in enumerate(scores) if score), key=lambda i: (-scores[i], -i))


def _joined(blocks: Sequence[str], kept: Sequence[int]) -> str:
    following = [*kept[1:], len(blocks)]
    return "\n".join(
        blocks[index] if after == index + 1 else f"{blocks[index]} {GAP}"
        for index, after in zip(kept, following, strict=True)
    )
