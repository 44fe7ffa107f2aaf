"""Find the lines of a transcript that are code or pasted text, in which nobody speaks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

from memories.core.extraction.letters import find_letters

Block = Literal["code", "quoted"]

_FENCE = re.compile(r"[ \t]{0,40}(?P<marks>`{3,80}|~{3,80})(?P<info>[^\n`]{0,200})")
_TAG = re.compile(
    r"[ \t]{0,3}<(?P<close>/?)(?P<tag>[a-z][\w-]{1,30})\b[^<>\n]{0,200}>", re.IGNORECASE
)
_TRIPLE: Final = '"""'


def find_blocks(
    lines: Sequence[str], labels: Sequence[int], speaks: Sequence[bool]
) -> list[Block | None]:
    """Return of each line whether it is in a block, its first and last line too; linear.

    Parameters
    ----------
    lines : sequence of str
    labels : sequence of int
        The length of the label of a speaker with which a line begins, 0 without one.
    speaks : sequence of bool
        Whether the label of a line is certainly that of a speaker.

    Returns
    -------
    list of Block or None
        An unclosed fence ends before a speaker behind an empty line, else before the next speaker;
        other unclosed marks begin no block.
    """
    closers = _closers_after(lines)
    found: list[Block | None] = [None] * len(lines)
    open_at, length = "", 0
    is_closed = True
    last_empty = _last_speaker_behind_empty(lines, speaks)
    for n, line in enumerate(lines):
        if open_at:
            behind_empty = n > 0 and not lines[n - 1].strip()
            if not is_closed and speaks[n] and (behind_empty or last_empty < n):
                open_at = ""
            else:
                found[n] = "code" if open_at in "`~" else "quoted"
                kind, size = _closer(line)
                if kind == open_at and size >= length:
                    open_at = ""
                continue
        kind, size = _opener(line[labels[n] :])
        if not kind:
            continue
        is_closed = closers[n + 1].get(kind, 0) >= size
        if is_closed or kind in "`~":
            open_at, length = kind, size
            found[n] = "code" if kind in "`~" else "quoted"
    shown = find_letters(lines, labels)
    return ["quoted" if block is None and is_letter else block
            for block, is_letter in zip(found, shown, strict=True)]  # fmt: skip


def _opener(text: str) -> tuple[str, int]:
    """Return what opens a block ("" for nothing), and how long its mark is."""
    if fence := _FENCE.match(text):
        is_inline = fence["marks"][:3] in text[fence.end("marks") :]
        return ("", 0) if is_inline else (fence["marks"][0], len(fence["marks"]))
    if tag := _TAG.match(text):
        name = tag["tag"].lower()
        is_inline = bool(tag["close"]) or f"</{name}" in text.lower()
        return ("", 0) if is_inline else (name, 1)
    if text.strip() == _TRIPLE or (text.lstrip().startswith(_TRIPLE) and text.count(_TRIPLE) == 1):
        return _TRIPLE, 1
    return "", 0


def _closer(line: str) -> tuple[str, int]:
    """Return what a line closes ("" for nothing), and how long its mark is."""
    fence = _FENCE.match(line)
    if fence and not line[fence.end("marks") :].strip():
        return fence["marks"][0], len(fence["marks"])
    if (tag := _TAG.match(line)) and tag["close"]:
        return tag["tag"].lower(), 1
    if line.rstrip().endswith(_TRIPLE):
        return _TRIPLE, 1
    return "", 0


def _closers_after(lines: Sequence[str]) -> list[dict[str, int]]:
    """Return for each line the longest closing mark of each kind from there on."""
    after: list[dict[str, int]] = [{}]
    for line in reversed(lines):
        kind, size = _closer(line)
        known = after[-1]
        after.append(known if not kind or known.get(kind, 0) >= size else {**known, kind: size})
    return after[::-1]


def _last_speaker_behind_empty(lines: Sequence[str], speaks: Sequence[bool]) -> int:
    """Return the last line with a speaker behind an empty line, -1 without one."""
    return max(
        (n for n in range(1, len(lines)) if speaks[n] and not lines[n - 1].strip()), default=-1
    )
