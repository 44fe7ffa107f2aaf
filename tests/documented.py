"""What the documents of the repository show: their links, commands and shell blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.homes import SOURCE

# Documents for people; the team notes are an example with faults that the audit finds.
DOCUMENTS = sorted(
    str(path.relative_to(SOURCE))
    for pattern in ("*.md", "docs/*.md", "clients/*/README.md", "benchmarks/*/README.md")
    for path in SOURCE.glob(pattern)
)
# Documents whose curl commands run, block by block, in `tests/e2e/test_documented_calls.py`.
RUN = ("README.md", "docs/agents.md", "docs/mcp.md", "docs/webhooks.md")
# Commands of curl that do not run, by document and a part of the line, with the reason.
FRAGMENTS = {
    ("CONTRIBUTING.md", "/why-not?query=…"): "for a memory and a query of the reader's own",
}

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_MAKE = re.compile(r"(?:^|[ ;&(])make ((?:[a-z]+-)*[a-z]+)\b")
_MANAGE = re.compile(r"\bmanage\.py ([a-z_]+)\b([^|;&#()]*)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


class Block(NamedTuple):
    """A fenced block: its document, its language and its text, without the fence's indent."""

    document: str
    language: str
    text: str


class Command(NamedTuple):
    """A command of `manage.py` that a document names, and the options that it shows."""

    document: str
    name: str
    options: frozenset[str]


def read(document: str) -> str:
    """Return the text of a document."""
    return (SOURCE / document).read_text(encoding="utf-8")


def blocks(document: str, language: str = "sh") -> list[Block]:
    """Return the fenced blocks of a language, in order."""
    return [
        Block(document, found[2], re.sub(rf"(?m)^{found[1]}", "", found[3]))
        for found in _FENCE.finditer(read(document))
        if found[2] == language
    ]


def prose(document: str) -> str:
    """Return a document without its fenced blocks."""
    return _FENCE.sub("", read(document))


def links(document: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the anchor of each link that leads to a file of the repository."""
    for found in _LINK.finditer(_CODE.sub("", prose(document))):
        address = found[1] or found[2]
        if "://" in address or address.startswith("mailto:"):
            continue
        path, _, anchor = address.partition("#")
        yield path, anchor


def anchors(path: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    names = (re.sub(r"[`*]|\[|\]\([^)]*\)", "", found).lower() for found in _HEADING.findall(text))
    return {re.sub(r"[^\w\- ]", "", name).replace(" ", "-") for name in names}


def _code_lines(document: str) -> Iterator[str]:
    for block in blocks(document):
        yield from block.text.replace("\\\n", " ").splitlines()
    yield from _CODE.findall(prose(document))


def make_targets(document: str) -> set[str]:
    """Return the targets of `make` that a document's code names."""
    lines = (line.partition(" #")[0] for line in _code_lines(document))
    return {target for line in lines for target in _MAKE.findall(line)}


def manage_commands(document: str) -> list[Command]:
    """Return the commands of `manage.py` that a document's code names."""
    return [
        Command(document, name, frozenset(_OPTION.findall(rest)))
        for line in _code_lines(document)
        for name, rest in _MANAGE.findall(line)
    ]
