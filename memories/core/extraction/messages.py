"""Write messages with roles as a transcript, and read those that come as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from memories.core.extraction.labels import ROLES
from memories.core.extraction.turns import without_labels

_SPEAKERS: Final = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
_SPOKEN: Final = frozenset([None, "text", "input_text", "output_text"])
_RESULTS: Final = frozenset(["tool_result", "function_call_output"])


def write_transcript(said: Sequence[tuple[str, str]]) -> str:
    """Return messages, each a speaker and a text, as a transcript in which nobody else speaks."""
    transcript = "".join(f"{speaker}: {without_labels(text)}\n\n" for speaker, text in said)
    if len(said) == 1:  # a label in the midst of a transcript of one turn would begin another one
        other = "Assistant" if said[0][0] == "User" else "User"
        transcript = f"{other}:\n{transcript}"
    return transcript


def storable(text: str) -> str:
    """Return a text without what PostgreSQL cannot store: NUL, and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def labelled(text: str) -> str:
    """Return the transcript of messages in JSON, any other text as it is.

    Messages are objects with a `role` and a `content`, which is a text or a list of parts: a list
    of them, such a list under `messages`, or one a line. What stands between them and is none is
    left out, unless it is the larger part: then the text is something else.
    """
    messages = _messages(text)
    if messages is None:
        return text
    said = [(speaker, storable(words)) for one in messages for speaker, words in _said(one)]
    return write_transcript([(speaker, words) for speaker, words in said if words.strip()])


def _messages(text: str) -> list[Mapping[str, Any]] | None:
    """Return the messages of a text in JSON, None where it is something else."""
    if text.lstrip()[:1] not in {"[", "{"}:
        return None
    read = _loaded(text)
    if read is None:
        lines = [line for line in text.splitlines() if line.strip()]
        read = [_loaded(line) for line in lines] if len(lines) > 1 else None
    elif isinstance(read, Mapping):
        read = read.get("messages", [read])
    found = [one for one in read if _is_message(one)] if isinstance(read, list) else []
    is_whole = found and len(found) == len(read)
    is_most = any(one.get("content") for one in found) and 2 * len(found) >= len(read)
    return found if is_whole or is_most else None


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_message(one: Any) -> bool:
    if not isinstance(one, Mapping) or not isinstance(one.get("role"), str):
        return False
    return isinstance(one.get("content"), str | list | None)


def _said(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield who says what in a message; a role that is unknown is a tool's."""
    speaker = _SPEAKERS.get(ROLES.get(message["role"].lower(), ""), "Tool")
    content = message.get("content") or ""
    for part in [content] if isinstance(content, str) else content:
        if isinstance(part, str):
            yield speaker, part
        elif isinstance(part, Mapping):
            yield from _of_part(part, speaker)


def _of_part(part: Mapping[str, Any], speaker: str) -> Iterator[tuple[str, str]]:
    if isinstance(part.get("text"), str):
        is_spoken = isinstance(kind := part.get("type"), str | None) and kind in _SPOKEN
        yield speaker if is_spoken else "Tool", part["text"]  # a file, a page, a tool's result
    elif part.get("type") in _RESULTS:
        within = part.get("content")
        for one in within if isinstance(within, list) else [within]:
            words = one.get("text") if isinstance(one, Mapping) else one
            if isinstance(words, str):
                yield "Tool", words
