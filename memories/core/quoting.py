"""Texts of memories as data for language models: in prompts, and in text that agents paste."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping

from memories.core.spelling import UNSEEN

# What nobody sees, and a letter without a shape.
_UNSEEN = re.compile(f"{UNSEEN}|\u2800")
_KEPT = frozenset("\n\t")
# What begins a token of a chat template: every "<", and "[INST]" and its kind; and the address of
# a Markdown link.
_TEMPLATE = re.compile(r"[<\ufe64\uff1c]|\[(?=\s{0,3}/?[A-Za-z][\w ]{0,40}\])|(?<=\])\(")


def visible(text: str) -> str:
    """Return a text without what cannot be seen.

    Format characters (of width zero, of direction, tags) and variation selectors go; control
    characters and separators, which could end a line, become spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, _UNSEEN.sub("", text)))


def _shown(character: str) -> str:
    if character in _KEPT:
        return character
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"} else character


def quote_fields(fields: Mapping[str, str]) -> str:
    """Return fields as one line of JSON that nothing in them can end, leave or turn into a token.

    The beginnings of chat-template tokens and links are written as JSON escapes, after what hides
    in them was dropped.
    """
    written = json.dumps({k: visible(v) for k, v in fields.items()}, ensure_ascii=False)
    return without_tokens(written)


def quote_line(text: str) -> str:
    """Return a text as one JSON string, escaped as by `quote_fields()`, with single blanks."""
    return without_tokens(json.dumps(" ".join(visible(text).split()), ensure_ascii=False))


def without_tokens(json_text: str) -> str:
    """Return JSON text in which no chat-template token and no link begins; it says the same."""
    return _TEMPLATE.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


def escape(text: str) -> str:
    """Return any text without what cannot be seen, and with chat-template tokens escaped."""
    return without_tokens(visible(text))
