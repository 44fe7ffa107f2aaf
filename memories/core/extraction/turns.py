"""Read a transcript into turns: who said what, with positions in the transcript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memories.core.extraction.blocks import Block, find_blocks

Role = Literal["user", "assistant", "tool", "unknown"]

_ROLES: Final[dict[str, Role]] = {
    "user": "user", "human": "user", "me": "user",
    "agent": "assistant", "assistant": "assistant", "ai": "assistant", "bot": "assistant",
    "model": "assistant", "system": "tool", "tool": "tool", "function": "tool",
}  # fmt: skip
# "User: …", "**Agent**: …", "### Assistant", "[user] …", "Maya Okoro (09:12): …".
_LABEL = re.compile(
    r"[ \t]{0,3}(?P<open>[*_#<\[]{1,3} ?)?(?P<name>[^\W\d_][\w.'-]{0,29}(?: [\w.'-]{1,29}){0,2})"
    r"(?: ?\((?P<aside>[\d:., -]{1,20})\))?"
    r"(?P<close>[*_>\]]{0,3})(?P<colon>:?[*_]{0,2})(?:[ \t]|$)"
)
# Turns that stand on one line; only labels that are certainly roles separate them.
_INLINE = re.compile(r"(?<=[\s.!?])(?P<name>User|Human|Agent|Assistant|AI):[ \t]")
_LABEL_CHARS: Final = 130


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said; `start` and `end` are positions of the text in the transcript."""

    speaker: str
    role: Role
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    name: str  # of the label, "" without one
    text_start: int
    block: Block | None = None
    is_indented: bool = False  # more than the first line is


def read_turns(transcript: str, agent: str = "") -> tuple[Turn, ...]:
    """Split a transcript at the labels of its speakers.

    Parameters
    ----------
    transcript : str
        Any text; without labels it is one turn of an unknown speaker. Linear in its length.
    agent : str
        The name of the agent whose conversation it is, "" if it is not known.

    Returns
    -------
    tuple of Turn
        In order, without empty ones. A name that is no role speaks when the transcript begins with
        it or when it stands before two lines at least. The agent's name is an `assistant`; others
        are taken for people, so their role is `user` (see `unsure_speakers`).
        No turn begins within a block of code or pasted text, or on an indented line.
    """
    lines = read_lines(transcript)
    speakers = _speakers(lines, agent)
    marks = [
        (line.start, line.text_start, line.name) for line in lines if line.name.lower() in speakers
    ]
    is_tools = bool(marks) and _ROLES.get(marks[0][2].lower()) == "tool"
    if len(marks) <= 1 and not is_tools:
        marks += _inline_marks(transcript, lines, marks[0][1] if marks else 0)
    return tuple(_turns(transcript, marks, speakers))


def _inline_marks(transcript: str, lines: list[_Line], first: int) -> list[tuple[int, int, str]]:
    return [
        (found.start(), found.end(), found["name"])
        for line in lines
        if line.block is None and not line.is_indented
        for found in _INLINE.finditer(transcript, max(first, line.start), line.end)
    ]


def read_lines(transcript: str) -> list[_Line]:
    """Return the lines with the labels of possible speakers, and whether they are in a block."""
    written = transcript.splitlines(keepends=True)
    margin = next((_indent(line) for line in written if line.strip()), 0)
    labels = [_LABEL.match(line[:_LABEL_CHARS]) for line in written]
    labels = [
        found if found and _is_label(found) and _indent(line) <= margin else None
        for found, line in zip(labels, written, strict=True)
    ]
    blocks = find_blocks(
        written,
        [found.end() if found else 0 for found in labels],
        [found is not None and found["name"].lower() in _ROLES for found in labels],
    )
    lines, start = [], 0
    for line, found, block, before in zip(written, labels, blocks, [None, *blocks], strict=False):
        opens = block is not None and before is None  # "Agent: ```" begins a turn and a block
        speaks = found is not None and (block is None or (opens and found.end() > 0))
        name = found["name"] if found is not None and speaks else ""
        text_start = start + (found.end() if found is not None and speaks else 0)
        is_indented = _indent(line) > margin
        lines.append(_Line(start, start + len(line), name, text_start, block, is_indented))
        start += len(line)
    return lines


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _is_label(found: re.Match[str]) -> bool:
    is_role = found["name"].lower() in _ROLES
    has_marks = bool(found["open"]) and is_role
    return found["colon"].startswith(":") or has_marks


def unsure_speakers(turns: Sequence[Turn]) -> frozenset[str]:
    """Return the names that may be the assistant's although their role is `user`.

    A name is a person's where an assistant speaks under another label, and no label is a user's.
    """
    names = {one.speaker for one in turns if one.role == "user" and not _is_role(one.speaker)}
    roles = {one.role for one in turns if one.speaker not in names}
    return frozenset() if "assistant" in roles and "user" not in roles else frozenset(names)


def _is_role(label: str) -> bool:
    return label.lower() in _ROLES


def _speakers(lines: list[_Line], agent: str) -> dict[str, Role]:
    """Return the roles of the labels that are speakers, by the label in lower case."""
    seen = Counter(line.name.lower() for line in lines if line.name)
    roles = {name: _ROLES[name] for name in seen if name in _ROLES}
    if agent.lower() in seen:
        roles.setdefault(agent.lower(), "assistant")
    if {"user", "assistant"} <= set(roles.values()):
        return roles  # "Draft:" and "Reason:" stand within a turn
    opening = next((line.name for line in lines if line.end - line.start > 1), "")
    written = {line.name for line in lines if line.name[:1].isupper()}
    for name in written:
        lower = name.lower()
        is_speaker = seen[lower] > 1 or (name == opening and len(seen) > 1)
        if lower not in roles and is_speaker:
            roles[lower] = "user"
    return roles


def _turns(
    transcript: str, marks: list[tuple[int, int, str]], speakers: Mapping[str, Role]
) -> Iterator[Turn]:
    if not marks or transcript[: marks[0][0]].strip():
        end = marks[0][0] if marks else len(transcript)
        if transcript[:end].strip():
            yield Turn("", "unknown", 0, end)
    ends = [*(mark[0] for mark in marks[1:]), len(transcript)]
    for (_, start, name), end in zip(marks, ends, strict=False):
        if transcript[start:end].strip():
            lower = name.lower()
            yield Turn(name, speakers.get(lower) or _ROLES.get(lower, "user"), start, end)


def without_labels(text: str) -> str:
    """Return what one speaker said with no line that `read_turns` would take for another speaker's.

    Such lines are indented; all line breaks become newlines.
    """
    lines = text.splitlines()
    return "\n".join(
        f" {line}" if number and _LABEL.match(line[:_LABEL_CHARS]) else line
        for number, line in enumerate(lines)
    )
