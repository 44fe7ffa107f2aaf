"""Quote memory texts as data for language models, in prompts and in text that agents paste."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping

from memories.core.spelling import INVISIBLE

# Invisible characters, and a letter without a shape.
_INVISIBLE = re.compile(f"{INVISIBLE}|\u2800")
# Scripts whose letters a zero-width joiner or non-joiner shapes, and symbols that it combines.
_SHAPED = (
    "\u0620-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17ff\u1820-\u18af\u1b00-\u1cff"
    "\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2100-\u27ff\u2900-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_NEEDED = re.compile(
    f"((?<=[{_SHAPED}])[\u200c\u200d]|[0-9#*]\ufe0f\u20e3"
    f"|[{_PICTURE}][\ufe0e\ufe0f]?(?:\u200d(?=[{_PICTURE}]))?)"
)
_KEPT = frozenset("\n\t")
# The beginnings of chat-template tokens ("<", "[INST]" and similar), and of the address of a
# Markdown link.
_TEMPLATE = re.compile(r"[<\ufe64\uff1c]|\[(?=\s{0,3}/?[A-Za-z][\w ]{0,40}\])|(?<=\])\(")


def visible(text: str) -> str:
    """Return a text without invisible characters.

    Format characters (zero width, direction, tags) and variation selectors are removed; control
    characters and separators, which could end a line, become spaces.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_escape, _INVISIBLE.sub("", text)))


def legible(text: str) -> str:
    """Return a text as `visible()` does, with the invisible characters that reading needs.

    These shape letters of a script (Persian, Indic), or make one symbol of several (emoji).
    """
    parts = _NEEDED.split(text)
    parts[::2] = map(visible, parts[::2])
    return "".join(parts)


def in_one_line(text: str) -> str:
    """Return a text with single blanks and without invisible characters that reading does not need.

    Those that shape letters of a script, or make one symbol of several, are kept.
    """
    return " ".join(legible(text).split())


def _escape(character: str) -> str:
    if character in _KEPT:
        return character
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"} else character


def quote_fields(fields: Mapping[str, str]) -> str:
    """Return fields as one line of JSON whose texts cannot end it, break out or form a token.

    The beginnings of chat-template tokens and links are written as JSON escapes, after invisible
    characters that nobody needs were removed.
    """
    written = json.dumps({k: legible(v) for k, v in fields.items()}, ensure_ascii=False)
    return without_tokens(written)


def quote_line(text: str) -> str:
    """Return a text as one JSON string, escaped as by `quote_fields()`, with single blanks."""
    return without_tokens(json.dumps(in_one_line(text), ensure_ascii=False))


def without_tokens(json_text: str) -> str:
    """Return equivalent JSON text with beginnings of chat-template tokens and links escaped."""
    return _TEMPLATE.sub(lambda match: f"\\u{ord(match[0]):04x}", json_text)


def escape(text: str) -> str:
    """Return any text without invisible characters, with chat-template tokens escaped."""
    return without_tokens(visible(text))
