"""Read the structure of Markdown: headings, code blocks, code spans, struck-out text, comments.

Only what notes need; nothing is rendered. Every function takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

_FENCE = re.compile(r" {0,3}(?:[-*+] {1,3})?(`{3,}|~{3,})([^\n]*)")
_INDENT = re.compile(r"(?: {4}| {0,3}\t)")
_INDENTED_LINE = re.compile(r"(?:^|[\r\n])(?: {4}| {0,3}\t)")
# What later paragraphs may belong to by their indentation: an item, or a footnote.
_HANGING = re.compile(r" {0,3}(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\[\^)")
_BACKTICKS = re.compile(r"`+")
_HASHES = re.compile(r" {0,3}(?:[-*+] {1,3})?(#{1,6})(?:[ \t]+([^\n]*))?")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_MASK = "\x00"
# `~~`, or a line break after which another block begins, where struck-out text cannot go on.
_STRIKE = re.compile(r"(?<![~\\])~~(?!~)|\n(?=[ \t]*(?:\n|\||#{1,6} |[-*+][ \t]|\d{1,9}[.)][ \t]))")
_COMMENT_MARK = re.compile(r"<!--|-->|%%")


class Line(NamedTuple):
    """One line; `level` is 1 to 6 for a heading, else 0, and `title` the heading's text.

    The lines that open and close fenced code are code, too.
    """

    text: str
    is_code: bool = False
    level: int = 0
    title: str = ""
    is_fence: bool = False


def read_lines(text: str) -> list[Line]:
    """Return the lines of a text, without line breaks.

    A heading with a line under it is one `Line` of both. Indented lines are code where a paragraph
    begins, unless they may belong to an item above.
    """
    lines: list[Line] = []
    fence, is_hanging = "", False
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if fence:
            is_closing = _closes(line, fence)
            lines.append(Line(line, is_code=True, is_fence=is_closing))
            fence = "" if is_closing else fence
            continue
        is_after_blank = not lines or not lines[-1].text.strip()
        if line.strip() and _INDENT.match(line):
            is_begin = is_after_blank or lines[-1].is_code or lines[-1].level > 0
            lines.append(Line(line, is_code=is_begin and not is_hanging))
            continue
        if line.strip() and (is_after_blank or _HANGING.match(line)):
            is_hanging = (is_hanging and line[0] == " ") or _HANGING.match(line) is not None
        if (opening := _FENCE.match(line)) and not (opening[1][0] == "`" and "`" in opening[2]):
            fence = opening[1]
            lines.append(Line(line, is_code=True, is_fence=True))
        elif found := _HASHES.fullmatch(line):
            title = _without_closing(found[2] or "")
            lines.append(Line(line, level=len(found[1]), title=title))
        elif lines and _is_underlined(lines, line):
            above = lines.pop()
            level = 1 if "=" in line else 2
            lines.append(Line(f"{above.text}\n{line}", level=level, title=above.text.strip()))
        else:
            lines.append(Line(line))
    return lines


def without_code(text: str) -> str:
    """Return a text in which code, fenced or in spans, is masked character by character.

    Line breaks are unified, otherwise positions stay.
    """
    if "`" not in text and "~~~" not in text and not _INDENTED_LINE.search(text):
        return text
    parts: list[str] = []
    plain: list[str] = []

    def flush() -> None:
        if plain:
            parts.append(_without_spans("\n".join(plain)))
            plain.clear()

    for line in read_lines(text):
        if line.is_code:
            flush()
            parts.append(_MASK * len(line.text))
        elif line.text.strip():
            plain.append(line.text)
        else:
            flush()
            parts.append(line.text)
    flush()
    return "\n".join(parts)


def mask_comments(text: str) -> str:
    """Return a text whose `%% comments %%` and `<!-- comments -->` are masked by character.

    The text is one without code; what is not closed begins no comment.
    """
    return _replaced(text, _comments(text), lambda comment: _MASK * len(comment))


def without_comments(text: str) -> str:
    """Return a text without its comments outside code, the line breaks in them kept."""
    if "%%" not in text and "<!--" not in text:
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = _comments(without_code(text))
    return _replaced(text, found, lambda comment: "\n" * comment.count("\n"))


def _comments(masked: str) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each comment of a text without code."""
    marks = list(_COMMENT_MARK.finditer(masked))
    last = {mark[0]: mark.start() for mark in marks}
    begin, closing = 0, ""
    for mark in marks:
        if closing:
            if mark[0] == closing:
                yield begin, mark.end()
                closing = ""
        elif mark[0] != "-->":
            awaited = "%%" if mark[0] == "%%" else "-->"
            if last.get(awaited, -1) > mark.start():
                begin, closing = mark.start(), awaited


def _replaced(
    text: str, spans: Iterable[tuple[int, int]], replacement: Callable[[str], str]
) -> str:
    """Return a text with the parts at these places, in order, replaced."""
    parts: list[str] = []
    kept_to = 0
    for begin, end in spans:
        parts += [text[kept_to:begin], replacement(text[begin:end])]
        kept_to = end
    return "".join([*parts, text[kept_to:]])


def without_struck_out(text: str) -> str:
    """Return a text without what is struck out (`~~so~~`) outside code, its line breaks kept.

    Struck-out text ends within its block: a paragraph, an item or a row.
    """
    if "~~" not in text:
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    masked = without_code(text)
    parts: list[str] = []
    kept_to, begin = 0, -1
    for mark in _STRIKE.finditer(masked):
        if mark[0] == "\n":
            begin = -1
        elif begin >= 0 and not masked[mark.start() - 1].isspace():
            parts += [text[kept_to:begin], "\n" * text.count("\n", begin, mark.start())]
            kept_to, begin = mark.end(), -1
        elif begin < 0 and not masked[mark.end() : mark.end() + 1].isspace():
            begin = mark.start()
    return "".join([*parts, text[kept_to:]])


def _closes(line: str, fence: str) -> bool:
    """Return whether a line closes a fence of this opening."""
    rest = line.strip()
    return len(rest) >= len(fence) and not rest.strip(fence[0])


def _without_closing(title: str) -> str:
    return _CLOSING.sub("", title.strip()).strip()


def _is_underlined(lines: list[Line], line: str) -> bool:
    """Return whether a line marks the one above, the only one of its paragraph, as a heading."""
    above = lines[-1]
    if above.is_code or above.level or not above.text.strip() or not _UNDERLINE.fullmatch(line):
        return False
    if len(lines) > 1 and lines[-2].text.strip() and not lines[-2].level:
        return False
    return not above.text.lstrip().startswith(("-", "*", "+", ">", "|"))


def _without_spans(paragraph: str) -> str:
    """Mask the code spans of a paragraph: runs of equally many backticks, first to next."""
    runs = list(_BACKTICKS.finditer(paragraph))
    if not runs:
        return paragraph
    following: dict[int, int] = {}  # length of a run → the nearest later run of that length
    nearest: list[int | None] = [None] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = len(runs[index][0])
        nearest[index] = following.get(length)
        following[length] = index
    parts, kept_to, index = [], 0, 0
    while index < len(runs):
        closing = nearest[index]
        if closing is None:
            index += 1
            continue
        begin, end = runs[index].start(), runs[closing].end()
        parts += [paragraph[kept_to:begin], _MASK * (end - begin)]
        kept_to, index = end, closing + 1
    return "".join([*parts, paragraph[kept_to:]])


def headings_above(lines: list[Line]) -> Iterator[tuple[Line, tuple[str, ...]]]:
    """Yield each line with the titles of the headings that it stands under, its own included."""
    open_titles: list[tuple[int, str]] = []
    for line in lines:
        if line.level:
            while open_titles and open_titles[-1][0] >= line.level:
                open_titles.pop()
            open_titles.append((line.level, line.title))
        yield line, tuple(title for _, title in open_titles)
