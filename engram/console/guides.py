"""The guides of `docs/` as pages: which there are, and each as HTML with its headings."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final

from django.conf import settings
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER: Final = settings.BASE_DIR / "docs"
# By their file names: who they are for, and what is looked up.
GUIDES: Final[Mapping[str, str]] = {
    "reviewers": "Answer what the inbox asks, and find what is known",
    "operators": "Run Engram, its settings, people, imports and retention",
    "agents": "Commit, recall and sessions, for who writes an agent",
    "tuning": "What each threshold does, and how to choose it",
    "security": "Who is trusted with what, and what is protected",
    "rules": "Each rule that opens conflicts, with an example",
    "predictor": "The judge of sessions, training and influence",
    "mcp": "Engram as a server of tools for models",
    "webhooks": "Events sent to an address of yours",
    "digests": "A summary by mail",
    "audit": "What a folder of notes says twice or against itself",
    "backup": "Copies of everything, and a new release",
    "deploy": "Containers and monitoring",
    "sizing": "What a machine needs",
    "scale": "Time and space, measured",
    "comparison": "The same tasks, measured",
    "architecture": "Where code lives",
    "internals": "Decisions, locks and measurements",
}
_NAME_PART: Final = re.compile(r"(?<=[/._=,(\-])(?=\w)")
_NO_ANCHOR: Final = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the second or third level."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide: its title, its headings and its body without the title."""

    name: str
    title: str
    headings: Sequence[Heading]
    body: SafeString


@cache
def read_guide(name: str) -> Guide:
    """Return a guide of `GUIDES`; raw HTML in it is shown as text."""
    tokens = _PARSER.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    title = tokens[1].content
    body = _without_contents(tokens[3:])
    headings = _anchor_headings(body)
    # Escaped by the renderer, which writes no HTML of the source.
    html = mark_safe(_PARSER.renderer.render(body, _PARSER.options, {}))  # noqa: S308
    return Guide(name, title, headings, html)


def _without_contents(tokens: Sequence[Token]) -> list[Token]:
    """Leave out the list of links to its own headings, which the page has beside the text."""
    kept: list[Token] = []
    is_left_out = False
    for index, token in enumerate(tokens):
        if token.type == "bullet_list_open" and token.level == 0:
            inline = next(one for one in tokens[index:] if one.type == "inline")
            is_left_out = inline.content.startswith("[") and "](#" in inline.content
        if not is_left_out:
            kept.append(token)
        if token.type == "bullet_list_close" and token.level == 0:
            is_left_out = False
    return kept


def _anchor_headings(tokens: Sequence[Token]) -> list[Heading]:
    """Give headings the ids that links of the guides name (those of GitHub); return the upper."""
    found: list[Heading] = []
    for opened, inline in pairwise(tokens):
        if opened.type == "heading_open":
            text = "".join(part.content for part in inline.children or ())
            anchor = _NO_ANCHOR.sub("", text.lower()).replace(" ", "-")
            opened.attrSet("id", anchor)
            if opened.tag in {"h2", "h3"}:
                found.append(Heading(int(opened.tag[1]), text, anchor))
    return found


def page_of(target: str) -> str | None:
    """Return where a link of a guide leads on the pages; None if it is no guide and no address."""
    if target.startswith(("#", "https://", "http://")):
        return target
    path, _, anchor = target.partition("#")
    name = path.removesuffix(".md")
    if name not in GUIDES or name == path:
        return None
    return posixpath.join("..", name, f"#{anchor}" if anchor else "")


def _open_link(renderer: Any, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    page = page_of(str(tokens[index].attrGet("href")))
    return format_html('<a href="{}">', page) if page else "<span>"


def _close_link(renderer: Any, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    opened = next(one for one in reversed(tokens[:index]) if one.type == "link_open")
    return "</a>" if page_of(str(opened.attrGet("href"))) else "</span>"


def _show_code(renderer: Any, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    return format_html('<pre class="sample" tabindex="0">{}</pre>', tokens[index].content)


def _show_name(renderer: Any, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    """Show code within a line, which may break behind the signs of paths and calls."""
    parts = [part for part in _NAME_PART.split(tokens[index].content) if part]
    return format_html("<code>{}</code>", format_html_join(mark_safe("<wbr>"), "{}", zip(parts)))


def _open_cell(renderer: Any, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    """Show a cell without the inline style of its alignment, which no page allows."""
    return f"<{_cell_tag(tokens[index], tokens[index + 1])}>"


def _close_cell(renderer: Any, tokens: Sequence[Token], index: int, *rest: Any) -> str:
    return f"</{_cell_tag(tokens[index], tokens[index - 1])}>"


def _cell_tag(cell: Token, text: Token) -> str:
    """Return the tag of a cell; the empty corner of a table is no heading."""
    return cell.tag if text.content else "td"


def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    for name, rule in (
        ("link_open", _open_link),
        ("link_close", _close_link),
        ("fence", _show_code),
        ("code_block", _show_code),
        ("code_inline", _show_name),
        ("th_open", _open_cell),
        ("td_open", _open_cell),
        ("th_close", _close_cell),
    ):
        parser.add_render_rule(name, rule)
    return parser


_PARSER: Final = _make_parser()
