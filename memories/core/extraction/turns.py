"""Read a transcript into turns: who said what, with positions in the transcript."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memories.core.extraction.blocks import Block, find_blocks
from memories.core.extraction.label_styles import find_shown
from memories.core.extraction.labels import (
    Role,
    is_colon,
    match_label,
    names_program,
    names_somebody,
    role_of,
)

# Turns that stand on one line; only labels that are certainly roles separate them.
_INLINE = re.compile(r"(?<=[\s.!?])(?P<name>User|Human|Agent|Assistant|AI):[ \t]")
_SAYS_FROM: Final = 4  # words of a line that is more than the value of a field
_ENDS: Final = (".", "!", "?")


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said; `start` and `end` are positions of the text in the transcript.

    `may_be_output`: it stands right behind a tool's turn, whose output it may be part of.
    """

    speaker: str
    role: Role
    start: int
    end: int
    may_be_output: bool = False

    @property
    def is_users(self) -> bool:
        """Return whether the user speaks, or nobody says who."""
        return self.role in {"user", "unknown"}


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    name: str  # of the label, "" without one
    text_start: int
    block: Block | None = None
    is_indented: bool = False  # more than the first line is
    is_marked: bool = False  # the label is no word with a colon, but written as those of roles are
    says: bool = False  # what stands behind the label is more than the value of a field
    is_stamped: bool = False  # the label stands behind a time
    is_shown: bool = False  # the label begins a text of others, see `find_shown`


@dataclass(frozen=True, slots=True)
class _Mark:
    """Where a turn begins, where its text does, and who speaks."""

    start: int
    text_start: int
    name: str
    role: Role | None = None  # None for that of the name


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
        are taken for people: their role is `user` where no label is a user's (see
        `unsure_speakers`), else `other`. A name that stands once within a user's turn, or before
        the first label where one is a user's, says its line alone.
        No turn begins within a block of code or pasted text, or on an indented line, which is
        pasted where it begins with the label of an assistant or a tool; who speaks in
        a text that the transcript shows (see `find_shown`) is a `tool`. Who is the user right
        behind a tool's turn is `unknown`: the output of the tool may show the label.
    """
    lines = read_lines(transcript)
    speakers = _speakers(lines, agent)
    marks = list(_marks(lines, speakers))
    is_tools = bool(marks) and role_of(marks[0].name) == "tool"
    if len(marks) <= 1 and not is_tools:
        marks += _inline_marks(transcript, lines, marks[0].text_start if marks else 0)
    return tuple(_turns(transcript, marks, speakers))


def _marks(lines: list[_Line], speakers: Mapping[str, Role]) -> Iterator[_Mark]:
    speaker, unlabelled = "", "user" if "user" in speakers.values() else "unknown"
    for line in lines:
        lower = line.name.lower()
        if line.is_shown:
            speaker = ""
            yield _Mark(line.start, line.text_start, line.name, "tool")
        elif lower in speakers:
            speaker = line.name
            yield _Mark(line.start, line.text_start, speaker)
        elif _is_lone(line) and speakers.get(speaker.lower(), unlabelled) == "user":
            yield _Mark(line.start, line.text_start, line.name)
            yield _Mark(line.end, line.end, speaker, None if speaker else "unknown")


def _is_lone(line: _Line) -> bool:
    return line.says and line.name[:1].isupper() and names_somebody(line.name)


def _inline_marks(transcript: str, lines: list[_Line], first: int) -> list[_Mark]:
    return [
        _Mark(found.start(), found.end(), found["name"])
        for line in lines
        if line.block is None and not line.is_indented
        for found in _INLINE.finditer(transcript, max(first, line.start), line.end)
    ]


def read_lines(transcript: str) -> list[_Line]:
    """Return the lines with the labels of possible speakers, and whether they are in a block."""
    written = transcript.splitlines(keepends=True)
    margin = next((_indent(line) for line in written if line.strip()), 0)
    labels = [
        found if found is not None and _indent(line) <= margin else None
        for found, line in ((match_label(line), line) for line in written)
    ]
    forms = {_form(found) for found in labels if found and found["open"] and role_of(found["name"])}
    labels = [
        found if found is not None and _is_label(found, line, forms) else None
        for found, line in zip(labels, written, strict=True)
    ]
    labels, shown = find_shown(labels)
    blocks = find_blocks(
        written,
        [found.end() if found else 0 for found in labels],
        [found is not None and role_of(found["name"]) is not None for found in labels],
    )
    lines, start = [], 0
    together = zip(written, labels, blocks, [None, *blocks], strict=False)
    for number, (line, found, block, before) in enumerate(together):
        opens = block is not None and before is None  # "Agent: ```" begins a turn and a block
        label = found if block is None or opens else None
        is_indented = _indent(line) > margin
        is_shown = number in shown
        kind = "quoted" if block is None and is_indented and _shows_another(line) else block
        lines.append(_line(line, start, label, kind, is_indented=is_indented, is_shown=is_shown))
        start += len(line)
    return lines


def _line(
    written: str,
    start: int,
    label: re.Match[str] | None,
    block: Block | None,
    *,
    is_indented: bool,
    is_shown: bool,
) -> _Line:
    """Return a line with the label of a possible speaker, None without one."""
    end = start + len(written)
    if label is None:
        return _Line(start, end, "", start, block, is_indented)
    said = written[label.end() :].rstrip()
    return _Line(
        start,
        end,
        label["name"],
        start + label.end(),
        block,
        is_indented,
        is_marked=not is_colon(label),
        says=len(said.split()) >= _SAYS_FROM or said.endswith(_ENDS),
        is_stamped=label["stamp"] is not None,
        is_shown=is_shown,
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _shows_another(line: str) -> bool:
    """Return whether a line begins with the label of an assistant or a tool."""
    found = match_label(line.lstrip(" \t"))
    return found is not None and names_program(found)


def _form(found: re.Match[str]) -> tuple[str, str, bool]:
    return (found["open"] or "").strip(), found["close"], is_colon(found)


def _is_label(found: re.Match[str], line: str, forms: Collection[tuple[str, str, bool]]) -> bool:
    """Return whether a name has a colon, or stands in marks that are those of a role.

    A heading is a name only where nothing else stands in it.
    """
    if is_colon(found):
        is_name = role_of(found["name"]) is not None or names_somebody(found["name"])
        return is_name or not found["stamp"]  # "2026-11-02 10:00 ERROR: …" names nobody
    if role_of(found["name"]) is not None:
        return bool(found["open"])
    is_alone = not line[found.end() :].strip() or not (found["open"] or "").startswith("#")
    is_name = found["name"][:1].isupper() and names_somebody(found["name"])
    return bool(found["open"]) and _form(found) in forms and is_alone and is_name


def unsure_speakers(turns: Sequence[Turn]) -> frozenset[str]:
    """Return the names that may be the assistant's although their role is `user`.

    A name is the user's where an assistant speaks under another label, no label is a user's, and no
    other name speaks.
    """
    names = {one.speaker for one in turns if one.role == "user" and role_of(one.speaker) is None}
    roles = {one.role for one in turns if one.speaker not in names}
    is_alone = len({name.lower() for name in names}) == 1
    is_sure = is_alone and "assistant" in roles and "user" not in roles
    return frozenset() if is_sure else frozenset(names)


def _speakers(lines: list[_Line], agent: str) -> dict[str, Role]:
    """Return the roles of the labels that are speakers, by the label in lower case."""
    seen: defaultdict[str, list[_Line]] = defaultdict(list)
    for line in lines:
        if line.name and not line.is_shown:
            seen[line.name.lower()].append(line)
    roles = {name: role for name in seen if (role := role_of(name)) is not None}
    if agent.lower() in seen:
        roles.setdefault(agent.lower(), "assistant")
    has_user = "user" in roles.values()
    opening = next((line.name for line in lines if line.end - line.start > 1), "")
    has_times = sum(line.is_stamped for line in lines) > 1
    has_assistant = "assistant" in roles.values()
    for lower, own in seen.items():
        is_name = any(line.name[:1].isupper() for line in own)
        if has_assistant and not has_user:
            is_name = is_name or _opens_a_talk(own, opening)
        if lower in roles or not is_name:
            continue
        if has_user:
            # "Draft:" and "Reason:" stand within a turn.
            is_speaker = (len(own) > 1 and any(map(_is_lone, own))) or own[0].is_marked
        else:
            is_speaker = len(own) > 1 or (own[0].name == opening and len(seen) > 1)
        is_speaker = is_speaker or (has_times and own[0].is_stamped)
        if is_speaker:
            roles[lower] = "other" if has_user else "user"
    return roles


def _opens_a_talk(own: Sequence[_Line], opening: str) -> bool:
    """Return whether a label without a capital is a name: it comes first, and again: "nadia: …"."""
    return own[0].name == opening and len(own) > 1 and names_somebody(opening)


def _turns(transcript: str, marks: list[_Mark], speakers: Mapping[str, Role]) -> Iterator[Turn]:
    if not marks or transcript[: marks[0].start].strip():
        end = marks[0].start if marks else len(transcript)
        if transcript[:end].strip():
            yield Turn("", "unknown", 0, end)
    ends = [*(mark.start for mark in marks[1:]), len(transcript)]
    is_behind_tool = False
    for mark, end in zip(marks, ends, strict=False):
        role = mark.role or speakers.get(mark.name.lower()) or role_of(mark.name) or "other"
        if transcript[mark.text_start : end].strip():
            may_be_output = is_behind_tool and role == "user"
            role = "unknown" if may_be_output else role
            yield Turn(mark.name, role, mark.text_start, end, may_be_output)
        is_behind_tool = role == "tool" and mark.name.lower() != "system"


def last_turn_of_speaker(turns: Sequence[Turn], turn: int) -> int | None:
    """Return the turn before of the same speaker, with at most one of somebody else between."""
    speaker = turns[turn].speaker
    near = (at for at in (turn - 1, turn - 2) if at >= 0 and turns[at].speaker == speaker)
    return next(near, None)


def without_labels(text: str) -> str:
    """Return what one speaker said with no line that `read_turns` would take for another speaker's.

    Such lines are indented; all line breaks become newlines.
    """
    lines = text.splitlines()
    return "\n".join(
        f" {line}" if number and match_label(line) else line for number, line in enumerate(lines)
    )
